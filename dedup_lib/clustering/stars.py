"""Star clusters: greedy over verified edges in priority order. An item stays if no kept item is similar to it.

This is the lexicographically first maximal independent set of the edge graph, so it is the same however it is
computed: in rounds over Spark (Blelloch, Fineman and Shun, SPAA 2012: an item is decided once its earlier neighbours
are), or by one sweep where the edges fit on the driver. Rounds are as many as the longest chain of ever later
neighbours asks for; in a random order they are O(log n) (Fischer and Noever, SODA 2018).
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from dedup_lib.clustering import Cut
from dedup_lib.clustering.frames import frame_of
from dedup_lib.errors import CheckFailedError
from dedup_lib.signatures.jit import kernel

RELAXED_ROUNDS = 64  # in the order of a hash about ten are enough for 10^9 items


class Removed(NamedTuple):
    """Rows (item): those that a kept item is similar to; and how many items were decided in another order."""

    items: DataFrame
    relaxed: int


@kernel
def _sweep(anchors: NDArray[np.int64], items: NDArray[np.int64], stars: NDArray[np.int64]) -> None:
    """Gives each removed item the edge to its star, -1 to the others; an anchor is decided before it is asked."""
    for edge in range(len(items)):
        if stars[items[edge]] < 0 and stars[anchors[edge]] < 0:
            stars[items[edge]] = edge


def sweep_stars(edges: pa.Table) -> pa.Table:
    """The edges of the removed items to their stars, of an edge table (anchor, item, place and any other columns).

    `place` orders the items, ties by item, and an anchor comes before its item. The star of a removed item is the
    first kept one among its anchors.
    """
    anchors, items = (edges.column(name).to_numpy() for name in ("anchor", "item"))
    names, dense = np.unique(np.concatenate([anchors, items]), return_inverse=True)
    order = np.lexsort((anchors, items, edges.column("place").to_numpy()))
    stars = np.full(len(names), -1, np.int64)
    _sweep(dense[: len(items)][order], dense[len(items) :][order], stars)
    return edges.take(pa.array(order[stars[stars >= 0]]))


def _removed_on_driver(edges: DataFrame, place: Column) -> DataFrame:
    stars = sweep_stars(edges.select("anchor", "item", place.alias("place")).toArrow())
    return frame_of(edges.sparkSession, stars.select(["item"]))


def find_stars(edges: DataFrame, driver_edges: int, max_rounds: int, cut: Cut) -> tuple[DataFrame, int]:
    """Rows (item, star, similarity, exact): each removed item with the first kept item similar to it.

    And how many items were decided in another than the priority order, as in `removed_items`. `edges` has rows
    (anchor, item, similarity, exact), anchor < item, each pair once, and should be stored.
    """
    if edges.count() > driver_edges:
        removed = removed_items(edges, driver_edges, max_rounds, cut)
        return cut(assign_stars(edges, removed), "stars"), removed.relaxed
    columns = edges.select("anchor", "item", "similarity", "exact", F.col("item").alias("place"))
    found = sweep_stars(columns.toArrow()).select(["item", "anchor", "similarity", "exact"])
    stars = frame_of(edges.sparkSession, found.rename_columns(["item", "star", "similarity", "exact"]))
    return cut(stars, "stars"), 0  # else every task that joins them would carry its part of the rows


def removed_items(edges: DataFrame, driver_edges: int, max_rounds: int, cut: Cut) -> Removed:
    """The items that some kept item is similar to; all others are kept.

    `edges` has rows (anchor, item), anchor < item, each pair once; it is read in every round, so it should be stored.
    As soon as at most `driver_edges` are open they are swept on the driver. What is still open after `max_rounds`
    rounds is a longer chain than the configuration allows for: its items are decided in the order of a hash of the
    item, so that for each removed one there is a kept one all the same, which may come after it.
    """
    parts, open_edges = _decide(edges.select("anchor", "item"), F.col("item"), driver_edges, max_rounds, "", cut)
    relaxed = 0
    if open_edges is not None:
        ends = open_edges.select("item").unionAll(open_edges.select("anchor")).distinct()
        relaxed = ends.count()
        order = (F.struct(F.xxhash64(end).alias("place"), F.col(end).alias("end")) for end in ("anchor", "item"))
        first, last = F.least(*(pair := list(order))), F.greatest(*pair)
        turned = open_edges.select(first["end"].alias("anchor"), last["end"].alias("item"))
        more, left = _decide(turned, F.xxhash64("item"), driver_edges, RELAXED_ROUNDS, "relaxed-", cut)
        if left is not None:
            raise CheckFailedError(
                [f"the greedy is still open after {max_rounds} + {RELAXED_ROUNDS} rounds"],
                "raise cluster.driver_edges or cluster.max_rounds",
            )
        parts += more
    result = parts[0]
    for part in parts[1:]:
        result = result.unionAll(part)
    return Removed(result, relaxed)


def _decide(
    open_edges: DataFrame, place: Column, driver_edges: int, rounds: int, name: str, cut: Cut
) -> tuple[list[DataFrame], DataFrame | None]:
    """At most so many rounds: the removed items in parts, and the edges that are still open, or None.

    An item that is no edge's `item` is kept, so its neighbours are removed, and with them their edges.
    """
    parts: list[DataFrame] = []
    for turn in range(rounds + 1):
        if open_edges.count() <= driver_edges:
            return [*parts, _removed_on_driver(open_edges, place)], None
        if turn == rounds:
            break
        undecided = open_edges.select("item").distinct().withColumnRenamed("item", "anchor")
        free = open_edges.join(undecided, "anchor", "left_anti")
        removed = cut(free.select("item").distinct(), f"removed-{name}{turn}")
        parts.append(removed)
        open_edges = cut(
            open_edges.join(removed, "item", "left_anti").join(
                removed.withColumnRenamed("item", "anchor"), "anchor", "left_anti"
            ),
            f"open-{name}{turn}",
        )
    return parts, open_edges


def assign_stars(edges: DataFrame, removed: Removed) -> DataFrame:
    """For each removed item its star: rows (item, star, similarity, exact), star the first kept item similar to it."""
    columns = ("item", "anchor", "similarity", "exact")
    near = edges.select(*columns)
    if removed.relaxed:  # then what is kept may come after what is removed
        turned = edges.select(F.col("anchor").alias("item"), F.col("item").alias("anchor"), *columns[2:])
        near = near.unionAll(turned.join(removed.items, "item", "left_semi"))
    to_kept = near.join(removed.items.withColumnRenamed("item", "anchor"), "anchor", "left_anti")
    best = F.min(F.struct("anchor", "similarity", "exact")).alias("best")
    return (
        to_kept.groupBy("item")
        .agg(best)
        .select("item", F.col("best.anchor").alias("star"), "best.similarity", "best.exact")
    )
