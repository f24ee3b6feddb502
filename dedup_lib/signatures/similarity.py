"""How alike two documents are: estimated from signatures, or exactly from the shingle sets of their texts."""

from typing import Any

import numpy as np
import pyarrow as pa
from numba import uint64
from numpy.typing import NDArray

from dedup_lib.signatures.jit import kernel
from dedup_lib.signatures.kernels import hash_shingles, hash_words
from dedup_lib.signatures.normalisation import PLAIN, Normalisation
from dedup_lib.signatures.texts import TextBuffers, text_buffers, with_prepared_texts

PAIRS_AT_ONCE = 1 << 13  # whose rows are copied side by side


@kernel
def _count_equal(left: NDArray[Any], right: NDArray[Any], equal: NDArray[np.int32]) -> None:
    for row in range(left.shape[0]):
        same = 0
        for place in range(left.shape[1]):
            same += left[row, place] == right[row, place]
        equal[row] = same


def minhash_rows(column: pa.Array, bits: int) -> NDArray[Any]:
    """A binary column of equally wide values as a two-dimensional array."""
    buffers = text_buffers(column)
    width = int(buffers.offsets[1] - buffers.offsets[0]) if len(column) else 0
    if len(column) and np.any(np.diff(buffers.offsets) != width):
        raise ValueError("minhash values of different widths cannot be compared")
    data = buffers.data[buffers.offsets[0] : buffers.offsets[-1]]
    return data.view(np.uint16 if bits == 16 else np.uint32).reshape(len(column), width * 8 // bits)


def estimate_jaccard(left: pa.Array, right: pa.Array, bits: int) -> NDArray[np.float64]:
    """Estimated Jaccard of each pair of rows: the share of permutations whose kept bits agree.

    Two unlike minima agree in their low b bits with probability 2^-b, which is taken out (Li and Koenig, WWW 2010,
    for sets much smaller than the hash space). Standard error sqrt(J (1 - J) / permutations).
    """
    first, second = minhash_rows(left, bits), minhash_rows(right, bits)
    if first.shape != second.shape:
        raise ValueError(
            f"{len(first)} minhash values of {first.shape[1]} permutations cannot be compared with "
            f"{len(second)} of {second.shape[1]}"
        )
    equal = np.empty(len(first), np.int32)
    _count_equal(first, second, equal)
    return without_chance(equal / max(first.shape[1], 1), bits)


def estimate_rows(
    minima: NDArray[Any], left: NDArray[np.int64], right: NDArray[np.int64], bits: int
) -> NDArray[np.float64]:
    """The same of pairs of rows of `minima` (as `minhash_rows` gives them), named by their numbers."""
    equal = np.empty(len(left), np.int32)
    for start in range(0, len(left), PAIRS_AT_ONCE):
        part = slice(start, start + PAIRS_AT_ONCE)
        _count_equal(minima[left[part]], minima[right[part]], equal[part])
    return without_chance(equal / max(minima.shape[1], 1), bits)


def without_chance(shares: NDArray[np.float64], bits: int) -> NDArray[np.float64]:
    """Shares of agreeing minima without those whose low `bits` agree by chance, as `estimate_jaccard` says."""
    chance = 2.0**-bits
    estimates: NDArray[np.float64] = np.clip((shares - chance) / (1 - chance), 0.0, 1.0)
    return estimates


@kernel
def _all_shingles(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    classes: NDArray[np.uint8],
    combining: NDArray[np.uint8],
    lower: NDArray[np.int32],
    composites: NDArray[np.uint64],
    trusted: bool,
    size: int,
    shingles: NDArray[np.uint64],
    counts: NDArray[np.int64],
) -> None:
    filled = 0
    longest = 0
    for text in range(len(offsets) - 1):
        longest = max(longest, offsets[text + 1] - offsets[text])
    words = np.empty(longest, np.uint64)
    for text in range(len(offsets) - 1):
        start, end = offsets[text], offsets[text + 1]
        count = hash_words(data, start, end, classes, combining, lower, composites, trusted, words)
        windows = max(count - size + 1, 1) if count > 0 else count
        counts[text] = windows
        if windows > 0:
            hash_shingles(words, 0, windows, min(count, size), shingles[filled:])
            filled += windows


@kernel
def _keep_distinct(values: NDArray[np.uint64], counts: NDArray[np.int64]) -> int:
    """Closes up sorted runs of `counts` values to their distinct ones, in place; gives how many are left."""
    read = 0
    filled = 0
    for run in range(len(counts)):
        first = filled
        for place in range(read, read + counts[run]):
            if filled == first or values[place] != values[filled - 1]:
                values[filled] = values[place]
                filled += 1
        read += counts[run]
        counts[run] = filled - first
    return filled


def _sets_of(
    buffers: TextBuffers, size: int, normalisation: Normalisation, trusted: bool
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Sorted distinct shingle hashes, text after text, and how many each text has (-1: Python must prepare it)."""
    values = np.empty(int(buffers.offsets[-1] - buffers.offsets[0]), np.uint64)
    counts = np.empty(len(buffers.offsets) - 1, np.int64)
    _all_shingles(buffers.data, buffers.offsets, *normalisation.tables, trusted, size, values, counts)
    sizes = np.maximum(counts, 0)
    for end, length in zip(np.cumsum(sizes), sizes, strict=True):
        values[end - length : end].sort()  # NumPy sorts with vector instructions where the machine has them
    left = _keep_distinct(values, sizes)
    return values[:left], np.where(counts < 0, counts, sizes)


def shingle_sets(texts: pa.Array | pa.ChunkedArray, size: int, normalisation: Normalisation = PLAIN) -> pa.Array:
    """The distinct shingle hashes of each text, sorted, as one binary value of 8 bytes each.

    A text of fewer words than `size` is one shingle of all its words; a text without words has none.
    """
    buffers = text_buffers(texts)
    values, counts = _sets_of(buffers, size, normalisation, trusted=False)
    left = np.flatnonzero(counts < 0)
    if not len(left):
        return _as_blobs(values, counts)
    counts[left] = 0
    again = with_prepared_texts(buffers, left, normalisation)
    prepared, prepared_counts = _sets_of(again, size, normalisation, trusted=True)
    places = np.repeat(np.cumsum(counts)[left], prepared_counts)
    values = np.insert(values, places, prepared)
    counts[left] = prepared_counts
    return _as_blobs(values, counts)


def _as_blobs(values: NDArray[np.uint64], counts: NDArray[np.int64]) -> pa.Array:
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]) * 8
    wide = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(counts), [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(values))]
    )
    return wide.cast(pa.binary())


@kernel
def _overlap(
    left: NDArray[np.uint64],
    left_ends: NDArray[np.int64],
    right: NDArray[np.uint64],
    right_ends: NDArray[np.int64],
    result: NDArray[np.float64],
) -> None:
    for row in range(len(result)):
        i, j = left_ends[row], right_ends[row]
        last_i, last_j = left_ends[row + 1], right_ends[row + 1]
        union = uint64(last_i - i + last_j - j)
        both = uint64(0)
        while i < last_i and j < last_j:
            a, b = left[i], right[j]
            both += uint64(a == b)
            i += a <= b
            j += b <= a
        union -= both
        result[row] = both / union if union else 0.0


def exact_jaccard(left: pa.Array, right: pa.Array) -> NDArray[np.float64]:
    """Exact Jaccard of each pair of shingle sets (as `shingle_sets` gives them); 0 where both are empty."""
    if len(left) != len(right):
        raise ValueError(f"{len(left)} shingle sets cannot be paired with {len(right)}")
    sides = [text_buffers(side) for side in (left, right)]
    arrays = []
    for side in sides:
        data = side.data[side.offsets[0] : side.offsets[-1]]
        arrays += [np.frombuffer(data.tobytes(), np.uint64), (side.offsets - side.offsets[0]) // 8]
    result = np.empty(len(left), np.float64)
    _overlap(arrays[0], arrays[1], arrays[2], arrays[3], result)
    return result
