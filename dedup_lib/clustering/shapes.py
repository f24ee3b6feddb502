"""What a cluster is: a star around a kept item, or a connected component; and how much the two differ."""

from typing import Literal, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.clustering import Cut
from dedup_lib.clustering.components import component_heads
from dedup_lib.clustering.stars import find_stars
from dedup_lib.config.settings import ClusterSettings

Shape = Literal["star", "components"]


class Grouped(NamedTuple):
    """Rows (item, star, similarity, exact) of all items that are not kept, and how many were decided out of order."""

    assigned: DataFrame
    relaxed: int


def group_edges(edges: DataFrame, shape: Shape, settings: ClusterSettings, cut: Cut) -> Grouped:
    """Clusters over edges (anchor, item, similarity, exact), which should be stored; the result is.

    Under `components`, star is the first item of the component, and the similarity to it is null without an edge.
    """
    if shape == "star":
        return Grouped(*find_stars(edges, settings.driver_edges, settings.max_rounds, cut))
    heads = component_heads(edges, settings.driver_edges, cut)
    named = heads.select("item", F.col("head").alias("anchor"))
    known = named.join(edges, ["anchor", "item"], "left")
    exact = F.coalesce("exact", F.lit(False)).alias("exact")
    return Grouped(cut(known.select("item", F.col("anchor").alias("star"), "similarity", exact), "components"), 0)


def compare_shapes(
    assigned: DataFrame, edges: DataFrame, settings: ClusterSettings, cut: Cut
) -> dict[Shape, dict[str, int]]:
    """What either shape makes of the same edges: clusters of several items, items in the largest, items removed.

    `assigned` are those of the shape that `settings` ask for; the other one is computed from the edges.
    """
    found: dict[Shape, dict[str, int]] = {}
    shapes: tuple[Shape, ...] = ("star", "components")
    for shape in shapes:
        rows = assigned if shape == settings.shape else group_edges(edges, shape, settings, cut).assigned
        sizes = rows.groupBy("star").agg(F.count("*").alias("items"))
        counts = sizes.agg(F.count("*"), F.max("items"), F.sum("items")).collect()[0]  # one row
        found[shape] = {"clusters": counts[0], "largest": (counts[1] or 0) + bool(counts[0]), "removed": counts[2] or 0}
    return found
