"""The stage `global`: clusters across the snapshots of a store, built anew or added to."""

from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from dedup_lib.clustering import Cut
from dedup_lib.clustering.exact import group_exact
from dedup_lib.clustering.near import NearClusters, cluster_near
from dedup_lib.clustering.ranks import rank_items
from dedup_lib.clustering.representatives import settle_items
from dedup_lib.config.settings import ClusterSettings
from dedup_lib.signatures import Scheme
from dedup_lib.stages import TextsOf
from dedup_lib.stages.global_existing import FATE, Existing, SketchesOf, settle_existing
from dedup_lib.stages.global_items import PLACE, split_newcomers, standing_columns, texts_by_item
from dedup_lib.tables.store_schemas import GLOBAL_CLUSTERS

ID_BYTES = 16
MAX_NAMES = 100  # of a document whose cluster cannot have its name; one is needed for each time it left and came back


class GlobalResult(NamedTuple):
    """`clusters` is the table; `near` and `existing` tell how it came, the latter None when all was built anew."""

    clusters: DataFrame
    near: NearClusters
    existing: Existing | None


def cluster_globally(
    documents: DataFrame,
    before: DataFrame | None,
    sketches_of: SketchesOf,
    texts_of: TextsOf,
    settings: ClusterSettings,
    scheme: Scheme,
    cut: Cut,
) -> GlobalResult:
    """Clusters the representatives of snapshots; `documents` as of `order_documents`, and stored.

    Without `before` all are clustered, in the order of `standing`. With the rows of an earlier version, that is added
    to: its representatives stay, under their cluster ids, as anchors before all others; what left the store leaves
    its cluster (`settle_existing`); a new document follows the one of the same content (`exact`), or goes to the first
    anchor similar to it (`near`), and the others are clustered among themselves.

    The greedy is prefix-consistent: whether a document stays depends on those before it alone. So snapshots added one
    by one, in their order, give the stars of all at once. What can differ: a pair that shares a crowded band key may
    become a candidate in one way and not in the other, since only the first `anchors_per_key` kept documents of a key
    are tried; snapshots added in another order than theirs keep the documents that came first; and a document that
    took over a cluster stays, although an earlier anchor of another cluster may be similar to it. A rebuild settles
    all three. In either way each removed document names a kept one that is similar to it.
    """
    existing = (
        settle_existing(before, documents, sketches_of, texts_of, settings, scheme, cut) if before is not None else None
    )
    settled = existing.settled if existing else None
    newcomers = split_newcomers(documents, settled)
    fresh, repeats = cut(newcomers.documents, "newcomers"), cut(newcomers.repeats, "repeats")
    if settled is None:
        matched, unmatched = None, fresh
    else:
        heads = settled.where(F.col("reason") != "exact").select(
            "content_hash", "cluster_id", F.col("doc_id").alias("head"), "representative_id"
        )
        told = cut(fresh.join(heads, "content_hash", "left"), "same-contents")
        matched = told.where(F.col("head").isNotNull()).select(*PLACE, "cluster_id", *_exact_fate())
        unmatched = told.where(F.col("head").isNull()).select(*fresh.columns)
    fates, near = _cluster_new(unmatched, settled, sketches_of, texts_of, settings, scheme, cut)
    if settled is not None and matched is not None:
        known = settled.where(F.col("reason") != "kept").select(*PLACE, *FATE)
        fates = fates.unionByName(matched).unionByName(known)
    fates = cut(fates, "fates")
    fates = fates.unionByName(_follow(repeats, fates))
    return GlobalResult(_as_table(documents, fates), near, existing)


def _exact_fate() -> list[Column]:
    return [
        F.lit("exact").alias("reason"),
        F.col("head").alias("duplicate_of"),
        F.lit(1.0).alias("similarity"),
        F.col("representative_id"),
    ]


def _cluster_new(
    new: DataFrame,
    settled: DataFrame | None,
    sketches_of: SketchesOf,
    texts_of: TextsOf,
    settings: ClusterSettings,
    scheme: Scheme,
    cut: Cut,
) -> tuple[DataFrame, NearClusters]:
    """The fates of documents whose contents no cluster has, and again those of the anchors: rows of PLACE and FATE."""
    columns = [*PLACE, "content_hash", "standing"]
    rows, fixed, anchors = new.select(*columns, F.lit(True).alias("is_new")), 0, None
    if settled is not None:
        anchors = settled.where(F.col("reason") == "kept")
        fixed = anchors.count()
        rows = rows.unionAll(anchors.select(*columns, F.lit(False).alias("is_new")))
    order = [F.col("is_new"), *standing_columns(rows)]
    ranked = rank_items(rows, order, [*PLACE, "content_hash"], cut)
    grouped = group_exact(ranked.where(F.col("item") >= fixed), "content_hash").select("item", *PLACE, "first")
    alone = ranked.where(F.col("item") < fixed).select("item", *PLACE, F.col("item").alias("first"))
    items = cut(grouped.unionAll(alone), "items")
    firsts = items.where(F.col("item") == F.col("first")).select("item", *PLACE)
    contents = cut(sketches_of(firsts).select("item", *PLACE, "minhash", "bands"), "contents")
    near = cluster_near(contents, texts_by_item(texts_of, contents), settings, scheme, cut, fixed)
    fates = cut(settle_items(items.select("item", "doc_id", "first"), near.stars), "new-fates")
    names = _name_clusters(fates.where(F.col("reason") == "kept").select("doc_id"), anchors, cut)
    placed = fates.join(items.select(*PLACE), "doc_id", "inner").join(names, "representative_id", "inner")
    return placed.select(*PLACE, *FATE), near


def _name_clusters(kept: DataFrame, anchors: DataFrame | None, cut: Cut) -> DataFrame:
    """Rows (representative_id, cluster_id): an anchor's cluster keeps its id, a new one has that of its document.

    A document that founded a cluster, left, and comes back unlike those who stayed finds its name taken: then the
    cluster is called by a hash of it.
    """
    own = kept.select(F.col("doc_id").alias("representative_id"))
    if anchors is None:
        return own.withColumn("cluster_id", F.col("representative_id"))
    named = anchors.select(F.col("doc_id").alias("representative_id"), "cluster_id")
    used = named.select("cluster_id")
    nameless = own.join(named, "representative_id", "left_anti").withColumn("cluster_id", F.col("representative_id"))
    for number in range(1, MAX_NAMES):
        taken = cut(nameless.join(used, "cluster_id", "left_semi").select("representative_id"), "taken-names")
        named = named.unionAll(nameless.join(taken, "representative_id", "left_anti").select(*named.columns))
        if taken.isEmpty():
            return named
        name = F.substring(
            F.unhex(F.sha2(F.concat("representative_id", F.lit(str(number).encode())), 256)), 1, ID_BYTES
        )
        nameless = taken.withColumn("cluster_id", name)
    raise RuntimeError(f"a document founded a cluster and left the store {MAX_NAMES} times")


def _follow(repeats: DataFrame, fates: DataFrame) -> DataFrame:
    """The fates of captures that are in several snapshots: each follows the one of them that was clustered."""
    first = fates.select("doc_id", "cluster_id", "representative_id")
    return (
        repeats.select(*PLACE)
        .join(first, "doc_id", "inner")
        .select(
            *PLACE,
            "cluster_id",
            F.lit("url").alias("reason"),
            F.col("doc_id").alias("duplicate_of"),
            F.lit(None).cast("double").alias("similarity"),
            "representative_id",
        )
    )


def _as_table(documents: DataFrame, fates: DataFrame) -> DataFrame:
    """The rows of `global_clusters`: what documents are, what became of them, and how large their clusters are."""
    rows = documents.join(fates, PLACE, "inner")
    sizes = rows.groupBy("cluster_id").agg(F.count("*").alias("cluster_size"), F.sum("captures").alias("total"))
    return (
        rows.join(sizes, "cluster_id", "inner")
        .drop("captures")
        .withColumn("captures", F.col("total"))
        .withColumn("merged_into", F.lit(None).cast("binary"))
        .select(*GLOBAL_CLUSTERS.names)
    )
