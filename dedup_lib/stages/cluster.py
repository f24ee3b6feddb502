"""The stage `cluster`: exact groups, near duplicates, stars, representatives."""

from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.clustering import Cut
from dedup_lib.clustering.exact import group_exact
from dedup_lib.clustering.near import NearClusters, cluster_near
from dedup_lib.clustering.order import priority_order
from dedup_lib.clustering.ranks import rank_items
from dedup_lib.clustering.representatives import cluster_captures, settle_items
from dedup_lib.config.settings import ClusterSettings
from dedup_lib.signatures import Scheme
from dedup_lib.stages import TextsOf


class ClusterResult(NamedTuple):
    """`clusters` and `pairs` are the tables; `near` tells how the near duplicates in them were found."""

    clusters: DataFrame
    pairs: DataFrame
    near: NearClusters


def cluster(
    documents: DataFrame,
    texts_of: TextsOf,
    identities: DataFrame,
    signatures: DataFrame,
    settings: ClusterSettings,
    scheme: Scheme,
    cut: Cut,
) -> ClusterResult:
    """Clusters the captures of one snapshot.

    The funnel: captures that lost their URL key follow the one that won (`url`); winners with the same content hash
    follow the first of them (`exact`); distinct contents go through bands, verification and stars (`near`). First
    is what `settings.keep` puts first. The result depends on the rows alone, not on how they are partitioned.
    """
    winners = documents.join(signatures.select("doc_id"), "doc_id", "left_semi")
    ranked = rank_items(winners, priority_order(settings.keep), ["doc_id", "content_hash"], cut)
    items = cut(group_exact(ranked, "content_hash").select("item", "doc_id", "first"), "items")
    firsts = items.where(F.col("item") == F.col("first")).select("item", "doc_id")
    sketches = signatures.where(F.col("shingles") > 0).select("doc_id", "minhash", "bands")
    contents = cut(firsts.join(sketches, "doc_id", "inner").select("item", "doc_id", "minhash", "bands"), "contents")

    def texts(needed: DataFrame) -> DataFrame:
        names = needed.join(contents.select("item", "doc_id"), "item", "inner")
        return texts_of(names).select("item", "text")

    near = cluster_near(contents, texts, settings, scheme, cut)
    settled = settle_items(items, near.stars)
    return ClusterResult(cluster_captures(documents, identities, settled), name_pairs(near.verified, contents), near)


def name_pairs(verified: DataFrame, contents: DataFrame) -> DataFrame:
    """The rows of the table `pairs`, from rows (anchor, item, estimate, exact, accepted, pass) and (item, doc_id)."""
    anchors = contents.select(F.col("item").alias("anchor"), F.col("doc_id").alias("anchor_id"))
    named = verified.join(anchors, "anchor", "inner").join(contents.select("item", "doc_id"), "item", "inner")
    return named.select("anchor_id", "doc_id", "estimate", "exact", "accepted", "pass")
