"""The first pass over all band keys: each item of a key with the first item of that key, over packed arrays.

Most band keys are of one item only and there are tens of them per document, so this is the step that sees the most
rows. They are never rows to Spark: a task packs its (key, item) pairs into one pair of arrays per range of keys, Spark
shuffles the arrays, and a task sorts one range at a time with vector instructions. Memory is bounded: past
`HELD_ROWS` the rows of a range wait on the local disk, and what is held is one entry per distinct key, so that a key
shared by 10^7 items is streamed.
"""

import tempfile
from collections.abc import Callable, Iterator
from typing import IO

import numpy as np
import pyarrow as pa
from numba import uint64
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql.types import BinaryType, IntegerType, StructField, StructType

from dedup_lib.clustering.candidates import BUCKET_ARROW, BUCKET_ROWS
from dedup_lib.signatures.jit import kernel

HELD_ROWS = 1 << 23  # 128 MB of keys and items
EMITTED_ROWS = 1 << 16
RANGES_PER_PARTITION = 4  # so that hashing ranges to partitions spreads them evenly
_PACKED = StructType(
    [StructField("range", IntegerType()), StructField("keys", BinaryType()), StructField("items", BinaryType())]
)
Rows = tuple[NDArray[np.int64], NDArray[np.int64]]


@kernel
def _scatter(
    keys: NDArray[np.int64],
    offsets: NDArray[np.int32],
    items: NDArray[np.int64],
    ranges: int,
    starts: NDArray[np.int64],
    out_keys: NDArray[np.int64],
    out_items: NDArray[np.int64],
) -> None:
    """A counting sort of (key, item) pairs by the range of the key: range r lies at starts[r]:starts[r + 1]."""
    for place in range(offsets[0], offsets[len(items)]):
        starts[((uint64(keys[place]) >> uint64(32)) * uint64(ranges) >> uint64(32)) + uint64(1)] += 1
    for one in range(ranges):
        starts[one + 1] += starts[one]
    filled = starts[:-1].copy()
    for row in range(len(items)):
        for place in range(offsets[row], offsets[row + 1]):
            one = (uint64(keys[place]) >> uint64(32)) * uint64(ranges) >> uint64(32)
            out_keys[filled[one]] = keys[place]
            out_items[filled[one]] = items[row]
            filled[one] += 1


def packing(ranges: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that packs batches (item, list of keys) into one row (range, keys, items) per range of keys."""

    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            items, lists = batch.column(0).to_numpy(), batch.column(1)
            offsets = lists.offsets.to_numpy()
            starts = np.zeros(ranges + 1, np.int64)
            out = np.empty((2, int(offsets[-1] - offsets[0])), np.int64)
            _scatter(lists.values.to_numpy(), offsets, items, ranges, starts, out[0], out[1])
            borders = pa.py_buffer((starts * 8).astype(np.int32))
            packed = [
                pa.Array.from_buffers(pa.binary(), ranges, [None, borders, pa.py_buffer(column)]) for column in out
            ]
            numbers = pa.array(np.arange(ranges, dtype=np.int32))
            found = pa.RecordBatch.from_arrays([numbers, *packed], names=_PACKED.names)
            yield found.filter(pa.array(starts[1:] > starts[:-1]))

    return pack


def first_of_keys(keys: NDArray[np.int64], items: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Distinct keys, ascending, with the least item and the number of items of each."""
    order = np.argsort(keys)
    ordered = keys[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(keys) else np.empty(0, np.int64)
    least = np.minimum.reduceat(items[order], starts) if len(keys) else items
    return ordered[starts], least, np.diff(np.append(starts, len(keys)))


class RangeRows:
    """The pairs of one range of keys: what is held, what waits on disk, and the firsts of the keys seen so far."""

    def __init__(self, held_rows: int) -> None:
        self.limit = held_rows
        self.held: list[Rows] = []
        self.rows = 0
        self.spilled: IO[bytes] | None = None
        self.firsts = first_of_keys(np.empty(0, np.int64), np.empty(0, np.int64))

    def add(self, keys: NDArray[np.int64], items: NDArray[np.int64]) -> None:
        """Takes pairs; past the limit, all that is held goes to disk."""
        self.held.append((keys, items))
        self.rows += len(keys)
        if self.rows >= self.limit:
            self._reduce(*self._take())

    def pairs(self) -> Iterator[pa.RecordBatch]:
        """Rows (key, anchor, item) of all keys with several items, and then nothing is held any more."""
        keys, items = self._take()
        if self.spilled is None:
            self.firsts = first_of_keys(keys, items)
            yield from self._emit(keys, items)
            return
        self._reduce(keys, items)
        self.spilled.seek(0)
        while len(chunk := np.frombuffer(self.spilled.read(16 * EMITTED_ROWS), np.int64)):
            both = chunk.reshape(-1, 2)
            yield from self._emit(both[:, 0], both[:, 1])
        self.spilled.close()

    def _take(self) -> Rows:
        empty = np.empty(0, np.int64)
        keys = np.concatenate([empty, *(part[0] for part in self.held)])
        items = np.concatenate([empty, *(part[1] for part in self.held)])
        self.held, self.rows = [], 0
        return keys, items

    def _reduce(self, keys: NDArray[np.int64], items: NDArray[np.int64]) -> None:
        if self.spilled is None:
            self.spilled = tempfile.TemporaryFile()  # noqa: SIM115 (closed when its pairs are given, or with the task)
        self.spilled.write(np.column_stack([keys, items]).tobytes())
        known, least, counts = self.firsts
        new, new_least, new_counts = first_of_keys(keys, items)
        order = np.argsort(both := np.concatenate([known, new]), kind="stable")
        starts = np.flatnonzero(np.r_[True, both[order][1:] != both[order][:-1]]) if len(both) else order
        self.firsts = (
            both[order][starts],
            np.minimum.reduceat(np.concatenate([least, new_least])[order], starts),
            np.add.reduceat(np.concatenate([counts, new_counts])[order], starts),
        )

    def _emit(self, keys: NDArray[np.int64], items: NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
        known, least, counts = self.firsts
        shared = counts > 1
        known, least = known[shared], least[shared]
        if not len(known):
            return
        place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        chosen = (known[place] == keys) & (least[place] != items)
        found = [keys[chosen], least[place[chosen]], items[chosen]]
        for start in range(0, len(found[0]), EMITTED_ROWS):
            columns = [pa.array(column[start : start + EMITTED_ROWS]) for column in found]
            yield pa.RecordBatch.from_arrays(columns, schema=BUCKET_ARROW)


def _pair_ranges(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows (range, keys, items), those of a range together, to rows (key, anchor, item)."""
    current, number = RangeRows(HELD_ROWS), None
    for batch in batches:
        for row in range(batch.num_rows):
            this = batch.column(0)[row].as_py()
            if this != number:
                yield from current.pairs()
                current, number = RangeRows(HELD_ROWS), this
            keys, items = (np.frombuffer(batch.column(place)[row].as_buffer(), np.int64) for place in (1, 2))
            current.add(keys, items)
    yield from current.pairs()


def pair_with_first(items: DataFrame, keys: str) -> DataFrame:
    """Rows (key, anchor, item), anchor < item: each item of a key with the first item of that key.

    `items` has one row (item, keys) per item, `keys` an array of distinct 64-bit hashes; it should be stored. What
    `candidates.pair_in_buckets` gives with one anchor, at a fraction of the cost.
    """
    partitions = int(items.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    packed = items.select("item", keys).mapInArrow(packing(RANGES_PER_PARTITION * partitions), _PACKED)
    placed = packed.repartition(partitions, "range").sortWithinPartitions("range")
    return placed.mapInArrow(_pair_ranges, BUCKET_ROWS)
