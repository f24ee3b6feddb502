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
    labels: NDArray[np.int64],
    fixed: int,
    state: NDArray[np.int64],
    held: NDArray[np.int64],
    out: NDArray[np.int64],
) -> int:
    """Pairs each row with the rows held for its key, in sorted order; gives the number of rows written to `out`.

    Carried from batch to batch: in `state` the key and how many of its first items are held, fixed ones and others,
    and in `held` these items and their labels, for each of the two kinds.
    """
    written = 0
    for row in range(len(keys)):
        if keys[row] != state[0] or state[1] + state[2] == 0:
            state[0] = keys[row]
            state[1:] = 0
        kind = 0 if items[row] < fixed else 1
        known = False
        for other in range(2):
            for place in range(state[1 + other]):
                if held[other, 1, place] == labels[row]:
                    known = known or other == kind
                elif kind == 1:
                    out[0, written] = keys[row]
                    out[1, written] = held[other, 0, place]
                    out[2, written] = items[row]
                    written += 1
        if not known and state[1 + kind] < held.shape[2]:
            held[kind, 0, state[1 + kind]] = items[row]
            held[kind, 1, state[1 + kind]] = labels[row]
            state[1 + kind] += 1
    return written


def pairing(anchors: int, fixed: int = 0) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that pairs rows (key, item, label), sorted, with the first `anchors` of their key, across batches.

    The first of as many labels, that is; rows of one label are not paired. With `fixed`, with the first `anchors`
    items below it and the first `anchors` others; no two below it are paired.
    """

    def pair(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        state, held = np.zeros(3, np.int64), np.empty((2, 2, anchors), np.int64)
        for batch in batches:
            keys, items, labels = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
            out = np.empty((3, (2 if fixed else 1) * anchors * len(keys)), np.int64)
            written = _pair_with_firsts(keys, items, labels, fixed, state, held, out)
            yield pa.RecordBatch.from_arrays([pa.array(row[:written]) for row in out], schema=BUCKET_ARROW)

    return pair


def pair_in_buckets(rows: DataFrame, anchors: int, fixed: int = 0) -> DataFrame:
    """Rows (key, anchor, item), anchor < item: each item of a key with the first `anchors` items of that key.

    `rows` has one row (key, item, label) per key and item. Items of one label are known to belong together, and are
    not paired; where nothing is known, the label is the item. A key with one item gives nothing. `fixed` as in
    `pairing`.
    """
    columns = ("key", "item", "label")
    sorted_rows = rows.select(*columns).repartition("key").sortWithinPartitions("key", "item")
    return sorted_rows.mapInArrow(pairing(anchors, fixed), BUCKET_ROWS)


def bucket_members(buckets: DataFrame, fixed: int = 0) -> DataFrame:
    """The rows (key, item) of all keys that are shared, from what `pair_with_first` gave.

    With `fixed`, of all keys that an item from it on shares with another.
    """
    anchors = buckets.select("key", F.col("anchor").alias("item")).distinct()
    members = buckets.select("key", "item").unionAll(anchors)
    if fixed:
        return members.join(buckets.where(F.col("item") >= fixed).select("key").distinct(), "key", "left_semi")
    return members


def distinct_pairs(buckets: DataFrame) -> DataFrame:
    """The candidate pairs (anchor, item) of bucket rows, each once however many keys they share."""
    return buckets.select("anchor", "item").distinct()
