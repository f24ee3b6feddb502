"""The content hash: what makes two texts the same text."""

import hashlib
import unicodedata

import numpy as np
import pyarrow as pa
from numba import uint64
from numpy.typing import NDArray

from dedup_lib.signatures.jit import kernel
from dedup_lib.signatures.kernels import NEEDS_PYTHON, UNSURE, after_mark, decode
from dedup_lib.signatures.texts import text_buffers
from dedup_lib.signatures.unicode_tables import COMBINING, MAYBE, SLOW, WHITE, unicode_tables

_SPACE = 0x20


def normalise_content(text: str) -> str:
    """NFC, every run of white space (no-break spaces too) one space, none at the ends, lower case.

    >>> normalise_content("  Cafe\\u0301\\u00a0 au\\n lait ")
    'café au lait'
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return " ".join(text.split()).lower()


@kernel
def _encode(code: np.uint64, out: NDArray[np.uint8], at: int) -> int:
    """Writes a code point as UTF-8 at `at`; gives the place after it."""
    low = uint64(0x3F)
    if code < uint64(0x80):
        out[at] = code
        return at + 1
    if code < uint64(0x800):
        out[at] = uint64(0xC0) | code >> uint64(6)
        out[at + 1] = uint64(0x80) | code & low
        return at + 2
    if code < uint64(0x10000):
        out[at] = uint64(0xE0) | code >> uint64(12)
        out[at + 1] = uint64(0x80) | (code >> uint64(6)) & low
        out[at + 2] = uint64(0x80) | code & low
        return at + 3
    out[at] = uint64(0xF0) | code >> uint64(18)
    out[at + 1] = uint64(0x80) | (code >> uint64(12)) & low
    out[at + 2] = uint64(0x80) | (code >> uint64(6)) & low
    out[at + 3] = uint64(0x80) | code & low
    return at + 4


@kernel
def _normalise(
    data: NDArray[np.uint8],
    start: int,
    end: int,
    classes: NDArray[np.uint8],
    combining: NDArray[np.uint8],
    lower: NDArray[np.int32],
    composites: NDArray[np.uint64],
    out: NDArray[np.uint8],
) -> int:
    """Writes the normalised text to `out`, which has room; gives its length, or NEEDS_PYTHON as `hash_words` does."""
    filled = 0
    context = uint64(0)
    waiting = False  # white space was met and a character may follow
    at, stop = uint64(start), uint64(end)
    while at < stop:
        code = uint64(data[at])
        if code < uint64(0x80):
            at += uint64(1)
            bits = uint64(classes[code])
            context = code << uint64(8)
        else:
            code, at = decode(data, at, stop)
            bits = uint64(classes[code])
            if bits & uint64(SLOW | COMBINING | MAYBE):
                context = after_mark(code, bits, context, combining, composites)
                if context == uint64(UNSURE):
                    return NEEDS_PYTHON
            else:
                context = code << uint64(8)
        if bits & uint64(WHITE):
            waiting = filled > 0
            continue
        if waiting:
            out[filled] = _SPACE
            filled += 1
            waiting = False
        filled = _encode(uint64(lower[code]), out, filled)
    return filled


def content_hash(text: str) -> bytes:
    """SHA-256 of the UTF-8 of the normalised text: 32 bytes."""
    return hashlib.sha256(normalise_content(text).encode("utf-8", "surrogatepass")).digest()


def content_hashes(texts: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The content hash of each text of a column, as binary; null for null. Bytes that are no UTF-8 read as U+FFFD.

    The same as `content_hash` of each. A compiled pass normalises the texts that are in NFC; Python does the others.
    """
    buffers = text_buffers(texts)
    lengths = np.diff(buffers.offsets)
    # Lower-casing makes two bytes three at the most.
    room = np.empty(int(lengths.max(initial=0)) * 3 // 2 + 1, np.uint8)
    tables = unicode_tables()
    hashes: list[bytes] = []
    for start, end in zip(buffers.offsets[:-1].tolist(), buffers.offsets[1:].tolist(), strict=True):
        length = _normalise(buffers.data, start, end, *tables, room)
        if length >= 0:
            hashes.append(hashlib.sha256(room[:length].data).digest())
        else:
            hashes.append(content_hash(buffers.data[start:end].tobytes().decode("utf-8", "replace")))
    valid = texts.is_valid().to_numpy(zero_copy_only=False) if texts.null_count else None
    return pa.array(hashes, pa.binary(), mask=None if valid is None else ~valid)
