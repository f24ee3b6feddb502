"""Star clusters: greedy over verified edges in priority order. An item stays if no kept item is similar to it.

This is the lexicographically first maximal independent set of the edge graph, so it is the same however it is
computed: in rounds over Spark (Blelloch, Fineman and Shun, SPAA 2012: an item is decided once its earlier neighbours
are), or by one sweep where the edges fit on the driver.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from dedup_lib.clustering import Cut
from dedup_lib.errors import CheckFailedError
from dedup_lib.signatures.jit import kernel

_REMOVED = StructType([StructField("item", LongType())])


@kernel
def _sweep(anchors: NDArray[np.int64], items: NDArray[np.int64], removed: NDArray[np.bool_]) -> None:
    """Marks removed items; edges are sorted by item, so each anchor is decided before it is asked."""
    for edge in range(len(items)):
        if not removed[anchors[edge]]:
            removed[items[edge]] = True


def sweep_removed(edges: pa.Table) -> pa.Array:
    """The removed items, ascending, of an edge table (anchor, item) with anchor < item."""
    anchors = edges.column("anchor").to_numpy()
    items = edges.column("item").to_numpy()
    names, dense = np.unique(np.concatenate([anchors, items]), return_inverse=True)
    anchors, items = dense[: len(items)], dense[len(items) :]
    order = np.argsort(items, kind="stable")
    removed = np.zeros(len(names), np.bool_)
    _sweep(anchors[order], items[order], removed)
    return pa.array(names[removed])


def _on_driver(spark: SparkSession, edges: DataFrame) -> DataFrame:
    removed = sweep_removed(edges.select("anchor", "item").toArrow())
    return spark.createDataFrame(pa.table({"item": removed}), _REMOVED)


def removed_items(edges: DataFrame, driver_edges: int, max_rounds: int, cut: Cut) -> DataFrame:
    """The items that some kept item is similar to, as rows (item); all others are kept.

    `edges` has rows (anchor, item), anchor < item, each pair once; it is read in every round, so it should be stored.
    As soon as at most `driver_edges` are open they are swept on the driver. An open greedy after `max_rounds` rounds
    is an error: the priority order makes longer monotone chains than the configuration allows for.
    """
    spark = edges.sparkSession
    open_edges = edges.select("anchor", "item")
    parts: list[DataFrame] = []
    for turn in range(max_rounds + 1):
        left = open_edges.count()
        if left <= driver_edges:
            parts.append(_on_driver(spark, open_edges))
            break
        if turn == max_rounds:
            raise CheckFailedError(
                [f"the greedy over {left} edges is still open after {max_rounds} rounds"],
                "raise cluster.driver_edges or cluster.max_rounds",
            )
        undecided = open_edges.select("item").distinct().withColumnRenamed("item", "anchor")
        free = open_edges.join(undecided, "anchor", "left_anti")
        removed = cut(free.select("item").distinct(), f"removed-{turn}")
        parts.append(removed)
        open_edges = cut(
            open_edges.join(removed, "item", "left_anti").join(
                removed.withColumnRenamed("item", "anchor"), "anchor", "left_anti"
            ),
            f"open-{turn}",
        )
    result = parts[0]
    for part in parts[1:]:
        result = result.unionAll(part)
    return result


def assign_stars(edges: DataFrame, removed: DataFrame) -> DataFrame:
    """For each removed item its star: rows (item, star, similarity, exact), star the first kept item similar to it."""
    to_kept = edges.join(removed.withColumnRenamed("item", "anchor"), "anchor", "left_anti")
    best = F.min(F.struct("anchor", "similarity", "exact")).alias("best")
    return (
        to_kept.groupBy("item")
        .agg(best)
        .select("item", F.col("best.anchor").alias("star"), "best.similarity", "best.exact")
    )
