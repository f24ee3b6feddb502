"""Near-duplicate clusters: passes of candidates and verification, then stars."""

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.clustering import Cut
from dedup_lib.clustering.buckets import pair_with_first
from dedup_lib.clustering.candidates import bucket_members, distinct_pairs, pair_in_buckets
from dedup_lib.clustering.stars import assign_stars, removed_items
from dedup_lib.clustering.verify import Texts, verify_pairs
from dedup_lib.config.settings import ClusterSettings
from dedup_lib.signatures import Scheme

MAX_PASSES = 6  # each pass has a fraction of the rows of the one before; three were enough on every corpus tried


@dataclass(frozen=True)
class NearClusters:
    """`stars` has a row (item, star, similarity, exact) per near duplicate; `edges` and `pairs` tell how it came."""

    stars: DataFrame
    edges: DataFrame
    pairs: DataFrame
    passes: int


def cluster_near(
    contents: DataFrame, texts: Texts, settings: ClusterSettings, scheme: Scheme, cut: Cut
) -> NearClusters:
    """Stars over `contents`, which has one row (item, minhash, bands) per distinct content, and should be stored.

    The first pass pairs each item of a band key with the key's first item. Each further pass looks only at rows of
    items that are still kept, with the first `anchors_per_key` of each key, and leaves out pairs already tested;
    passes end when one finds no new edge.
    """
    buckets = cut(pair_with_first(contents, "bands"), "buckets")
    members = bucket_members(buckets)
    tested = cut(distinct_pairs(buckets), "pairs")
    if tested.isEmpty():
        none = tested.select("anchor", "item", F.lit(0.0).alias("similarity"), F.lit(False).alias("exact"))
        return NearClusters(assign_stars(none, none.select("item")), none, tested, 1)
    edges = cut(verify_pairs(tested, contents, texts, settings, scheme, cut), "edges")
    done = 1
    while True:
        removed = cut(removed_items(edges, settings.driver_edges, settings.max_rounds, cut), "removed")
        if done == MAX_PASSES:
            break
        open_rows = members.join(removed, "item", "left_anti")
        fresh = distinct_pairs(pair_in_buckets(open_rows, settings.anchors_per_key))
        fresh = cut(fresh.join(tested, ["anchor", "item"], "left_anti"), "pairs")
        done += 1
        if fresh.isEmpty():
            break
        tested = tested.unionAll(fresh)
        found = cut(verify_pairs(fresh, contents, texts, settings, scheme, cut), "edges")
        if found.isEmpty():
            break
        edges = edges.unionAll(found)
    return NearClusters(cut(assign_stars(edges, removed), "stars"), edges, tested, done)
