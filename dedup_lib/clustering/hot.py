"""Further keys for the items of a hot key: one that more items share than there are anchors.

Boilerplate gives thousands of unlike documents one band key. Two of them that are near duplicates and meet under no
other key would stay hidden, since each meets the key's first items alone. So the items of a hot key are spread over
further keys: the hot key with some of the minima. The same pairing then takes these, a constant number per row.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numba import uint64
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from dedup_lib.signatures import Scheme
from dedup_lib.signatures.jit import kernel
from dedup_lib.signatures.kernels import mix
from dedup_lib.signatures.similarity import minhash_rows

FURTHER_KEYS = 16  # of two documents at 0.8 that share one band key only, 99.8 % share one of these:
FURTHER_ROWS = 4  # 1 - (1 - p^4)^16, p = (0.8 - 0.8^8) / (1 - 0.8^8) = 0.76 for minima outside of that band
_ROWS = StructType([StructField(name, LongType()) for name in ("key", "item", "label")])


@kernel
def _spread(keys: NDArray[np.int64], minima: NDArray[Any], groups: int, out: NDArray[np.int64]) -> None:
    """`groups` further keys of each key: with minima far apart, so that no two of a key are of one band."""
    step = minima.shape[1] // FURTHER_ROWS
    for row in range(len(keys)):
        for group in range(groups):
            value = mix(uint64(keys[row]) + uint64(group))
            for place in range(group, FURTHER_ROWS * step, step):
                value = mix(value ^ uint64(minima[row, place]))
            out[row, group] = np.int64(mix(value))


def spread_keys(keys: NDArray[np.int64], minima: NDArray[Any], groups: int) -> NDArray[np.int64]:
    """The further keys of each key, a row of `groups` each; `minima` has a row of kept bits for each key."""
    found = np.empty((len(keys), groups), np.int64)
    _spread(keys, minima, groups, found)
    return found


def groups_of(scheme: Scheme) -> int:
    """How many further keys a key has."""
    return min(FURTHER_KEYS, scheme.permutations // FURTHER_ROWS)


def further_keys(rows: DataFrame, sketches: DataFrame, scheme: Scheme, anchors: int) -> DataFrame:
    """Rows (key, item, label): the rows (key, item, label) of all keys of more than `anchors` labels, under their
    further keys. `sketches` has one row (item, minhash) per item."""
    hot = rows.select("key", "label").distinct().groupBy("key").count().where(F.col("count") > anchors).select("key")
    met = rows.join(hot, "key", "left_semi").join(sketches.select("item", "minhash"), "item", "inner")

    def spread(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            key, item, label, minhash = batch.columns
            found = spread_keys(key.to_numpy(), minhash_rows(minhash, scheme.minhash_bits), groups)
            repeated = (pa.array(np.repeat(column.to_numpy(), groups)) for column in (item, label))
            yield pa.RecordBatch.from_arrays([pa.array(found.reshape(-1)), *repeated], names=_ROWS.names)

    groups = groups_of(scheme)
    return met.select("key", "item", "label", "minhash").mapInArrow(spread, _ROWS)
