"""What becomes of the clusters of an earlier global version when documents have left the store.

Nothing changes in a cluster that lost nobody. One that lost members keeps its representative. One that lost its
representative is taken over by its best member, and the others are verified against that one.
"""

from collections.abc import Callable
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.clustering import Cut
from dedup_lib.clustering.verify import verify_pairs
from dedup_lib.config.settings import ClusterSettings
from dedup_lib.signatures import Scheme
from dedup_lib.stages import TextsOf
from dedup_lib.stages.global_items import PLACE, texts_by_item

FATE = ["cluster_id", "reason", "duplicate_of", "similarity", "representative_id"]
SketchesOf = Callable[[DataFrame], DataFrame]  # rows with PLACE -> those that have shingles, with minhash and bands


class Existing(NamedTuple):
    """`settled` has the documents that stay in their clusters, with their fates; the others are counts.

    `departed` left the store, `promoted` took a cluster over, `expelled` were not similar to who did.
    """

    settled: DataFrame
    departed: int
    promoted: int
    expelled: int


def settle_existing(
    before: DataFrame,
    documents: DataFrame,
    sketches_of: SketchesOf,
    texts_of: TextsOf,
    settings: ClusterSettings,
    scheme: Scheme,
    cut: Cut,
) -> Existing:
    """The fates of an earlier global version, `before`, for the documents that are still in the store unchanged.

    `documents` as of `order_documents`; columns out: its columns, then cluster_id, reason, duplicate_of, similarity,
    representative_id. A document departs when it is no representative of its snapshot any more, or has another
    content. What is not in the result and still in the store is to be clustered anew: documents that are not similar
    to the member that took their cluster over, and repeats.
    """
    items = before.where(F.col("reason") != "url").select(*PLACE, "content_hash", *FATE)
    staying = cut(documents.join(items, [*PLACE, "content_hash"], "inner").select(*documents.columns, *FATE), "staying")
    departed = cut(items.join(staying, PLACE, "left_anti"), "departed")
    gone = departed.count()
    if gone == 0:
        return Existing(staying, 0, 0, 0)
    touched = departed.select("cluster_id").distinct()
    untouched = staying.join(touched, "cluster_id", "left_anti")
    left = cut(staying.join(touched, "cluster_id", "left_semi"), "touched")
    heads = left.where(F.col("reason") == "kept").select("cluster_id")
    known = items.where(F.col("reason") == "near").join(touched, "cluster_id", "left_semi")
    whole = _rename_heads(left.join(heads, "cluster_id", "left_semi"), known.select("content_hash", "similarity"))
    headless = cut(left.join(heads, "cluster_id", "left_anti"), "headless")
    taken = cut(_take_over(headless, sketches_of, texts_of, settings, scheme, cut), "taken-over")
    names = untouched.columns
    settled = untouched.unionAll(whole.select(*names)).unionAll(taken.select(*names))
    promoted = taken.where(F.col("reason") == "kept").count()
    return Existing(cut(settled, "settled"), gone, promoted, headless.count() - taken.count())


def _rename_heads(left: DataFrame, similarities: DataFrame) -> DataFrame:
    """The rows of clusters that keep their representative; where the first of a content left, the next one follows.

    `similarities` has a row (content_hash, similarity) for each content that is near to its representative.
    """
    rank = F.when(F.col("reason") == "kept", 0).when(F.col("reason") == "near", 1).otherwise(2)
    firsts = left.groupBy("content_hash").agg(F.min(F.struct(rank.alias("rank"), "standing", "doc_id")).alias("first"))
    heads = firsts.select("content_hash", F.col("first.doc_id").alias("head"))
    joined = left.drop("similarity").join(heads, "content_hash", "inner").join(similarities, "content_hash", "left")
    return _with_fates(joined)


def _with_fates(rows: DataFrame) -> DataFrame:
    """Reason, duplicate_of and similarity of rows with representative_id, `head` (the first of the row's content) and
    the head's `similarity` to the representative."""
    is_kept, is_head = F.col("doc_id") == F.col("representative_id"), F.col("doc_id") == F.col("head")
    return (
        rows.withColumn("reason", F.when(is_kept, "kept").when(is_head, "near").otherwise("exact"))
        .withColumn(
            "duplicate_of", F.when(~is_kept, F.when(is_head, F.col("representative_id")).otherwise(F.col("head")))
        )
        .withColumn("similarity", F.when(~is_kept, F.when(is_head, F.col("similarity")).otherwise(1.0)))
        .drop("head")
    )


def _take_over(
    headless: DataFrame,
    sketches_of: SketchesOf,
    texts_of: TextsOf,
    settings: ClusterSettings,
    scheme: Scheme,
    cut: Cut,
) -> DataFrame:
    """The rows of clusters without representative under their best member, but for those not similar to it."""
    best = F.min(F.struct("standing", "doc_id"))["doc_id"]
    leaders = headless.groupBy("cluster_id").agg(best.alias("representative_id"))
    firsts = headless.groupBy("content_hash").agg(best.alias("head"))
    old = ("reason", "duplicate_of", "similarity", "representative_id")
    led = headless.drop(*old).join(leaders, "cluster_id", "inner").join(firsts, "content_hash", "inner")
    led = cut(led, "led")
    heads = led.where(F.col("doc_id") == F.col("head"))
    names = heads.select(F.col("doc_id").alias("item"), *PLACE)
    pairs = heads.where(F.col("head") != F.col("representative_id")).select(
        F.col("representative_id").alias("anchor"), F.col("head").alias("item")
    )
    sketches = sketches_of(names).select("item", "minhash")
    edges = verify_pairs(pairs, sketches, texts_by_item(texts_of, names), settings, scheme, cut)
    similar = edges.select(F.col("item").alias("head"), "similarity")
    judged = led.join(similar, "head", "left")
    stays = F.col("similarity").isNotNull() | (F.col("head") == F.col("representative_id"))
    return _with_fates(judged.where(stays))
