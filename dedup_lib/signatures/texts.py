"""Arrow columns of text as the two arrays that kernels read, and the texts that Python must prepare first."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dedup_lib.signatures.normalisation import PLAIN, Normalisation
from dedup_lib.signatures.unicode_tables import CONTINUE

CAPITAL_SIGMA = 0x03A3  # lower-cased by its place in the word
_SPACE = 0x20


class TextBuffers(NamedTuple):
    """UTF-8 bytes and where each text starts and ends in them: text i is data[offsets[i]:offsets[i + 1]]."""

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]


def text_buffers(texts: pa.Array | pa.ChunkedArray) -> TextBuffers:
    """The buffers of a string or binary column without a copy of the bytes; a null is empty.

    Chunks are joined first, with wide offsets, since they may hold more than 2 GB together. Views and dictionaries
    are laid out as one array.
    """
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.chunk(0) if texts.num_chunks == 1 else texts.cast(pa.large_binary()).combine_chunks()
    if texts.type not in (pa.string(), pa.binary(), pa.large_string(), pa.large_binary()):
        texts = texts.cast(pa.large_binary())
    if texts.null_count:
        texts = texts.fill_null("")
    wide = texts.type in (pa.large_string(), pa.large_binary())
    _, offset_buffer, data_buffer = texts.buffers()
    if len(texts) == 0 or data_buffer is None:
        return TextBuffers(np.frombuffer(b"", np.uint8), np.zeros(len(texts) + 1, np.int64))
    kind = np.int64 if wide else np.int32
    offsets = np.frombuffer(offset_buffer, kind)[texts.offset : texts.offset + len(texts) + 1]
    data = np.frombuffer(data_buffer, np.uint8)
    data.flags.writeable = False  # Arrow's buffers may be either, and numba compiles once more for the other
    return TextBuffers(data, offsets.astype(np.int64))


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(bytearray(text.encode("utf-32-le")), np.uint32)


def _text_of(codes: NDArray[np.uint32]) -> str:
    return codes.tobytes().decode("utf-32-le")


def prepare_text(text: str, normalisation: Normalisation = PLAIN) -> str:
    """A text as the kernel can take it on trust: in its Unicode form, letters lower-cased that need their neighbours.

    A space stands for each code point that only separates words, those that Unicode 14 has not assigned among them:
    a later Python's opinion of them must not matter.
    """
    classes = normalisation.tables.classes
    codes = _code_points(text)
    codes[classes[codes] == 0] = _SPACE
    text = normalisation.apply(_text_of(codes))
    if chr(CAPITAL_SIGMA) in text:
        codes = _code_points(text)
        words = np.where(classes[codes] & CONTINUE, codes, np.uint32(_SPACE))
        lowered = _code_points(_text_of(words).replace("\u0130", "I").lower())
        text = _text_of(np.where(codes == CAPITAL_SIGMA, lowered, codes))
    return text.replace("\u0130", "i\u0307")


def with_prepared_texts(
    buffers: TextBuffers, places: NDArray[np.int64], normalisation: Normalisation = PLAIN
) -> TextBuffers:
    """Buffers of the texts at `places` alone, each prepared by `prepare_text`."""
    starts, ends = buffers.offsets[places], buffers.offsets[places + 1]
    prepared = [
        prepare_text(buffers.data[start:end].tobytes().decode("utf-8", "replace"), normalisation).encode("utf-8")
        for start, end in zip(starts, ends, strict=True)
    ]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(text) for text in prepared], dtype=np.int64)])
    return TextBuffers(np.frombuffer(b"".join(prepared) or b"\0", np.uint8), offsets)
