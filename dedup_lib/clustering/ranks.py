"""The priority order as dense integers: item 0 is the document that yields to none.

Everything after this compares, joins and shuffles 8-byte integers instead of order keys and digests, and "the first
of a group" is `min(item)`.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from dedup_lib.clustering import Cut


def _number_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Adds the number of the partition and of the row in it."""
    context = TaskContext.get()
    partition = context.partitionId() if context else 0
    row = 0
    for batch in batches:
        numbers = np.arange(row, row + batch.num_rows, dtype=np.int64)
        row += batch.num_rows
        yield pa.RecordBatch.from_arrays(
            [pa.array(np.full(batch.num_rows, partition, np.int32)), pa.array(numbers), *batch.columns],
            names=["partition", "row", *batch.schema.names],
        )


def rank_items(frame: DataFrame, order: Sequence[Column], columns: Sequence[str], cut: Cut) -> DataFrame:
    """The `columns` of `frame` with a column `item` before them: the row's place in the total order, from 0, no gaps.

    `order` must be a total order (end in a unique column): then the result depends neither on partitions nor on how
    the rows came. Sorted by range partitions and numbered within them; no stage is one task.
    """
    keys = [f"order_{place}" for place in range(len(order))]
    keyed = frame.select(*[column.alias(key) for key, column in zip(keys, order, strict=True)], *columns)
    placed = keyed.repartitionByRange(*keys).sortWithinPartitions(*keys).drop(*keys)
    schema = StructType(
        [StructField("partition", IntegerType()), StructField("row", LongType()), *placed.schema.fields]
    )
    numbered = cut(placed.mapInArrow(_number_rows, schema), "ranks")
    counts = numbered.groupBy("partition").agg(F.count("*").alias("rows"))  # one row per partition
    earlier = counts.select(F.col("partition").alias("earlier"), F.col("rows").alias("earlier_rows"))
    starts = (
        counts.join(earlier, F.col("earlier") < F.col("partition"), "left")
        .groupBy("partition")
        .agg(F.coalesce(F.sum("earlier_rows"), F.lit(0)).alias("start"))
    )
    return numbered.join(F.broadcast(starts), "partition", "inner").select(
        (F.col("start") + F.col("row")).alias("item"), *columns
    )
