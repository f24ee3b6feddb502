"""Candidate pairs from band keys: each item of a key is paired with the first items of that key.

A key shared by n items gives n - 1 rows, never n^2, and is streamed in sorted order, never held. What the first item
of a key hides (it may itself be removed, or be unlike the others) comes to light in the passes that follow, over the
rows of the items that were kept.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from dedup_lib.signatures.jit import kernel

BUCKET_ROWS = StructType([StructField(name, LongType()) for name in ("key", "anchor", "item")])
BUCKET_ARROW = pa.schema([pa.field(name, pa.int64()) for name in ("key", "anchor", "item")])


@kernel
def _pair_with_firsts(
    keys: NDArray[np.int64],
    items: NDArray[np.int64],
    state: NDArray[np.int64],
    out: NDArray[np.int64],
) -> int:
    """Pairs each row with the rows held for its key, in sorted order; gives the number of rows written to `out`.

    `state` is carried from batch to batch: the key, how many of its first items are held, and those items.
    """
    limit = len(state) - 2
    written = 0
    for row in range(len(keys)):
        if keys[row] != state[0] or state[1] == 0:
            state[0] = keys[row]
            state[1] = 0
        for held in range(state[1]):
            out[0, written] = keys[row]
            out[1, written] = state[2 + held]
            out[2, written] = items[row]
            written += 1
        if state[1] < limit:
            state[2 + state[1]] = items[row]
            state[1] += 1
    return written


def pairing(anchors: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that pairs rows (key, item), sorted, with the first `anchors` of their key, across batches."""

    def pair(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        state = np.zeros(2 + anchors, np.int64)
        for batch in batches:
            keys, items = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
            out = np.empty((3, anchors * len(keys)), np.int64)
            written = _pair_with_firsts(keys, items, state, out)
            yield pa.RecordBatch.from_arrays([pa.array(row[:written]) for row in out], schema=BUCKET_ARROW)

    return pair


def pair_in_buckets(rows: DataFrame, anchors: int) -> DataFrame:
    """Rows (key, anchor, item), anchor < item: each item of a key with the first `anchors` items of that key.

    `rows` has one row per (key, item). A key with one item gives nothing.
    """
    sorted_rows = rows.select("key", "item").repartition("key").sortWithinPartitions("key", "item")
    return sorted_rows.mapInArrow(pairing(anchors), BUCKET_ROWS)


def bucket_members(buckets: DataFrame) -> DataFrame:
    """The rows (key, item) of all keys that are shared, from what `pair_in_buckets` gave with one anchor."""
    anchors = buckets.select("key", F.col("anchor").alias("item")).distinct()
    return buckets.select("key", "item").unionAll(anchors)


def distinct_pairs(buckets: DataFrame) -> DataFrame:
    """The candidate pairs (anchor, item) of bucket rows, each once however many keys they share."""
    return buckets.select("anchor", "item").distinct()
