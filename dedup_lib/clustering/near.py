"""Near-duplicate clusters: passes of candidates and verification, then stars or components."""

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.clustering import Cut
from dedup_lib.clustering.buckets import pair_with_first
from dedup_lib.clustering.candidates import bucket_members, distinct_pairs, pair_in_buckets
from dedup_lib.clustering.frames import frame_of
from dedup_lib.clustering.hot import further_keys
from dedup_lib.clustering.on_driver import VERIFIED, DriverPasses, Gathered, gather
from dedup_lib.clustering.shapes import Grouped, group_edges
from dedup_lib.clustering.verify import Bounds, Texts, compare_exactly, edges_of, exact_similarities, judge_pairs
from dedup_lib.config.settings import ClusterSettings
from dedup_lib.signatures import Scheme

MAX_PASSES = 6  # each pass has a fraction of the rows of the one before; three were enough on every corpus tried
PAIR = ["anchor", "item"]


@dataclass(frozen=True)
class NearClusters:
    """How the near duplicates are clustered, and how that came.

    `stars` has a row (item, star, similarity, exact) per near duplicate: what it lost to (the head of its component
    under `components`), and how similar the two are, null where they were not compared. `edges`, rows (anchor, item,
    similarity, exact), are the pairs that are similar; `pairs`, rows (anchor, item), those that were candidates;
    `verified`, rows (anchor, item, estimate, exact, accepted, pass), what was found of them. `relaxed` is how many
    items were decided in another than the priority order.
    """

    stars: DataFrame
    edges: DataFrame
    pairs: DataFrame
    verified: DataFrame
    passes: int
    relaxed: int


@dataclass(frozen=True)
class _Work:
    """What every step of one clustering needs."""

    contents: DataFrame
    texts: Texts
    settings: ClusterSettings
    scheme: Scheme
    cut: Cut
    fixed: int

    def verify(self, pairs: DataFrame, number: int) -> DataFrame:
        """What is known of the candidates of a pass, stored. Each edge decides under `components`: all must be sure."""
        closing = self.settings.shape == "components"
        accept = Bounds.of(self.settings, self.scheme.permutations).sure if closing else None
        verified = judge_pairs(pairs, self.contents, self.texts, self.settings, self.scheme, self.cut, accept)
        return self.cut(verified.withColumn("pass", F.lit(number)), "verified")

    def candidates(self, rows: DataFrame) -> DataFrame:
        """Pairs of items of different labels that share a key, from rows (key, item, label) that are stored."""
        anchors = self.settings.anchors_per_key
        further = further_keys(rows, self.contents, self.scheme, anchors)
        return distinct_pairs(pair_in_buckets(rows.unionAll(further), anchors, self.fixed))

    def group(self, verified: DataFrame) -> Grouped:
        """Clusters over what is known so far."""
        return group_edges(edges_of(verified), self.settings.shape, self.settings, self.cut)

    def open_rows(self, members: DataFrame, grouped: Grouped) -> DataFrame:
        """The rows (key, item, label) that may still hide a pair: of kept items, or of all items by component."""
        if self.settings.shape == "star":
            gone = grouped.assigned.select("item")
            return members.join(gone, "item", "left_anti").select("key", "item", F.col("item").alias("label"))
        heads = grouped.assigned.select("item", "star")
        label = F.coalesce("star", "item").alias("label")
        return members.join(heads, "item", "left").select("key", "item", label)

    def confirm(self, verified: DataFrame, grouped: Grouped) -> tuple[DataFrame, Grouped, bool]:
        """The same without a star that an estimate shows and the texts do not: exact where the estimate is not sure.

        Tells too whether there was such a star.
        """
        freed = False
        if self.settings.verify != "exact" or self.settings.shape != "star":
            return verified, grouped, freed
        sure = Bounds.of(self.settings, self.scheme.permutations).sure
        while True:
            unsure = grouped.assigned.where(~F.col("exact") & (F.col("similarity") < sure)).select(
                F.least("star", "item").alias("anchor"),
                F.greatest("star", "item").alias("item"),
                F.col("similarity").alias("estimate"),
            )
            compared = self.cut(compare_exactly(unsure, self.texts, self.settings, self.scheme), "confirmed")
            if compared.isEmpty():
                return verified, grouped, freed
            freed = freed or not compared.where(~F.col("accepted")).isEmpty()
            told = compared.select(*PAIR, F.col("exact").alias("found"), F.col("accepted").alias("holds"))
            verified = verified.join(told, PAIR, "left").select(
                *PAIR,
                "estimate",
                F.coalesce("found", "exact").alias("exact"),
                F.coalesce("holds", "accepted").alias("accepted"),
                "pass",
            )
            verified = self.cut(verified, "verified")
            grouped = self.group(verified)

    def go_on_at_driver(self, gathered: Gathered, pairs: DataFrame, verified: DataFrame) -> NearClusters:
        """The passes after the first, with all but the texts on the driver."""
        spark = pairs.sparkSession

        def compare(asked: pa.Table) -> pa.Table:
            estimated = self.cut(frame_of(spark, asked), "asked")
            return exact_similarities(estimated, self.texts, self.scheme).toArrow()

        passes = DriverPasses(gathered, self.settings, self.scheme, compare, MAX_PASSES, self.fixed)
        found = passes.run(pairs.select(*PAIR).toArrow(), verified.select(*VERIFIED).toArrow())
        assigned, tested, told = (
            self.cut(frame_of(spark, table), name)  # else every task that joins them would carry its part
            for table, name in ((found.assigned, "stars"), (found.pairs, "pairs"), (found.verified, "verified"))
        )
        return NearClusters(assigned, edges_of(told), tested, told, found.passes, 0)


def cluster_near(
    contents: DataFrame, texts: Texts, settings: ClusterSettings, scheme: Scheme, cut: Cut, fixed: int = 0
) -> NearClusters:
    """Clusters `contents`, which has one row (item, minhash, bands) per distinct content, and should be stored.

    The first pass pairs each item of a band key with the key's first item. Each further pass looks only at rows of
    items that are still kept, with the first `anchors_per_key` of each key and of the further keys of hot ones
    (`hot`), and leaves out pairs already tested; passes end when one finds no new edge. In the end, where an item
    would be removed by an estimate that is not sure, the texts are compared; what that frees gets further passes. Under
    `components` each further pass looks at pairs of different components.

    Items below `fixed` are anchors of earlier runs, never compared with each other, and under `star` they stay,
    whatever they are similar to. Any other item meets, already in the first pass, the first `anchors_per_key` of them
    that share a key with it, so that it goes to the first anchor similar to it.
    """
    work = _Work(contents, texts, settings, scheme, cut, fixed)
    buckets = cut(pair_with_first(contents, "bands"), "buckets")
    members = bucket_members(buckets, fixed)
    if fixed:
        members = cut(members, "members")
        first = work.candidates(members.withColumn("label", F.col("item")))
    else:
        first = distinct_pairs(buckets)
    tested = cut(first, "pairs")
    verified = work.verify(tested, 1)
    all_found = settings.shape == "components" and settings.verify == "none"  # each key is within one component
    if not all_found and (gathered := gather(members, contents, settings, scheme)):
        return work.go_on_at_driver(gathered, tested, verified)
    grouped = work.group(verified)
    passes, freed = 1, True
    while freed:
        while passes < MAX_PASSES and not all_found:
            rows = cut(work.open_rows(members, grouped), "open-rows")
            fresh = cut(work.candidates(rows).join(tested, PAIR, "left_anti"), "pairs")
            passes += 1
            if fresh.isEmpty():
                break
            tested = tested.unionAll(fresh)
            found = work.verify(fresh, passes)
            verified = verified.unionAll(found)
            if found.where("accepted").isEmpty():
                break
            grouped = work.group(verified)
        verified, grouped, freed = work.confirm(verified, grouped)
        freed = freed and passes < MAX_PASSES
    return NearClusters(grouped.assigned, edges_of(verified), tested, verified, passes, grouped.relaxed)
