"""The content hash: what makes two texts the same text."""

import hashlib
import unicodedata

import pyarrow as pa


def normalise_content(text: str) -> str:
    """NFC, every run of white space (no-break spaces too) one space, none at the ends, lower case.

    >>> normalise_content("  Cafe\\u0301\\u00a0 au\\n lait ")
    'café au lait'
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return " ".join(text.split()).lower()


def content_hash(text: str) -> bytes:
    """SHA-256 of the UTF-8 of the normalised text: 32 bytes."""
    return hashlib.sha256(normalise_content(text).encode("utf-8", "surrogatepass")).digest()


def content_hashes(texts: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The content hash of each text of a column, as binary; null for null. Bytes that are no UTF-8 read as U+FFFD."""
    encoded = texts.cast(pa.large_binary()).to_pylist()
    return pa.array(
        [None if text is None else content_hash(text.decode("utf-8", "replace")) for text in encoded], pa.binary()
    )
