"""Texts to signatures: one compiled pass over the UTF-8 bytes of an Arrow column."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dedup_lib.signatures.jit import kernel
from dedup_lib.signatures.kernels import (
    CHUNK,
    LARGEST,
    band_keys,
    count_bits,
    hash_shingles,
    hash_words,
    lower_minima,
    simhash_of,
)
from dedup_lib.signatures.scheme import Scheme
from dedup_lib.signatures.texts import TextBuffers, text_buffers, with_prepared_texts

WEAKEST_BITS = 16


class Signatures(NamedTuple):
    """Signatures of n texts, one row each.

    `shingles` is the number of windows of consecutive words, repetitions counted; where it is 0 (fewer words than a
    shingle), the other rows are meaningless and must be read as null.
    """

    shingles: NDArray[np.int32]
    simhash: NDArray[np.int64]
    simhash_weakest: NDArray[np.uint8]
    minhash: NDArray[Any]
    bands: NDArray[np.int64]

    def to_arrow(self) -> dict[str, pa.Array]:
        """The columns of the table `signatures` that they fill."""
        short = pa.array(self.shingles == 0)
        width = self.minhash.shape[1] * self.minhash.itemsize
        bands = self.bands.shape[1]
        counts = np.where(self.shingles == 0, 0, bands)
        offsets = np.concatenate([np.zeros(1, np.int32), np.cumsum(counts, dtype=np.int32)])
        keys = self.bands[self.shingles != 0].reshape(-1)
        return {
            "simhash": pa.array(self.simhash, mask=self.shingles == 0),
            "simhash_weakest": _as_binary(self.simhash_weakest, WEAKEST_BITS, short),
            "minhash": _as_binary(self.minhash, width, short),
            "bands": pa.ListArray.from_arrays(pa.array(offsets), pa.array(keys)),
            "shingles": pa.array(self.shingles),
        }


def _as_binary(rows: NDArray[Any], width: int, missing: pa.Array) -> pa.Array:
    """Rows of fixed width as an Arrow binary column, null where `missing`."""
    fixed = pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(rows), [None, pa.py_buffer(rows)])
    return pc.if_else(missing, pa.scalar(None, pa.binary()), fixed.cast(pa.binary()))


@kernel
def _sign(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    classes: NDArray[np.uint8],
    combining: NDArray[np.uint8],
    lower: NDArray[np.int32],
    composites: NDArray[np.uint64],
    trusted: bool,
    size: int,
    multipliers: NDArray[np.uint64],
    permutation_offsets: NDArray[np.uint64],
    rows: int,
    shingle_counts: NDArray[np.int32],
    simhash: NDArray[np.int64],
    weakest: NDArray[np.uint8],
    minhash: NDArray[Any],
    bands: NDArray[np.int64],
) -> None:
    longest = 0
    for text in range(len(offsets) - 1):
        longest = max(longest, offsets[text + 1] - offsets[text])
    words = np.empty(longest, np.uint64)
    chunk = np.empty(CHUNK, np.uint64)
    minima = np.empty(len(multipliers), np.uint64)
    ones = np.empty(64, np.int64)
    for text in range(len(offsets) - 1):
        start, end = offsets[text], offsets[text + 1]
        count = hash_words(data, start, end, classes, combining, lower, composites, trusted, words)
        if count < 0:
            shingle_counts[text] = -1
            continue
        windows = max(count - size + 1, 0)
        shingle_counts[text] = windows
        if windows == 0:
            continue
        minima[:] = LARGEST
        ones[:] = 0
        for first in range(0, windows, CHUNK):
            here = min(CHUNK, windows - first)
            hash_shingles(words, first, here, size, chunk)
            count_bits(chunk, here, ones)
            lower_minima(chunk, here, multipliers, permutation_offsets, minima)
        simhash[text] = np.int64(simhash_of(ones, windows, weakest[text]))
        band_keys(minima, rows, bands[text])
        minhash[text, :] = minima.astype(minhash.dtype)


def _run(buffers: TextBuffers, scheme: Scheme, trusted: bool) -> Signatures:
    texts = len(buffers.offsets) - 1
    result = Signatures(
        np.zeros(texts, np.int32),
        np.zeros(texts, np.int64),
        np.zeros((texts, WEAKEST_BITS), np.uint8),
        np.zeros((texts, scheme.permutations), np.uint16 if scheme.minhash_bits == 16 else np.uint32),
        np.zeros((texts, scheme.bands), np.int64),
    )
    _sign(
        buffers.data,
        buffers.offsets,
        *scheme.normalisation.tables,
        trusted,
        scheme.shingle_words,
        *scheme.maps,
        scheme.rows,
        result.shingles,
        result.simhash,
        result.simhash_weakest,
        result.minhash,
        result.bands,
    )
    return result


def sign_texts(texts: pa.Array | pa.ChunkedArray, scheme: Scheme) -> Signatures:
    """Signs a column of texts (string or large_string; sliced, chunked and null-carrying ones too; null is empty).

    MinHash: Broder 1997, with the permutations of datasketch 2 (`affine64`) over the 64-bit shingle hashes; SimHash:
    Charikar 2002 over frequency-weighted shingles. A text's signature depends on that text and the scheme alone.
    """
    buffers = text_buffers(texts)
    result = _run(buffers, scheme, trusted=False)
    left = np.flatnonzero(result.shingles < 0)
    if len(left):
        again = _run(with_prepared_texts(buffers, left, scheme.normalisation), scheme, trusted=True)
        whole: NDArray[Any]
        pairs: Iterable[tuple[NDArray[Any], NDArray[Any]]] = zip(result, again, strict=True)
        for whole, part in pairs:
            whole[left] = part
    return result
