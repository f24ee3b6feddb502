"""rel=canonical within `resolve`: a page that declares another captured page is that page, if the texts agree.

What a page declares is evidence, not truth: templates name the home page, lists name their first page. So a
declaration is followed only through the check that captures of one key pass, too, and where no crowd follows.
"""

from collections.abc import Callable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from dedup_lib.clustering import Cut
from dedup_lib.clustering.verify import exact_similarities
from dedup_lib.config.settings import ResolveSettings
from dedup_lib.signatures import Scheme
from dedup_lib.stages import TextsOf, by_item

KeysOf = Callable[[pa.Array], pa.Array]  # policy URLs -> their url_key
# What became of a page's declaration of another page; each has exactly one of these.
FATES = ("followed", "not_captured", "over_fan_in", "truncated", "different_text", "chained")
_HOST = r"^https?://([^/?#]*)"


def follow_canonicals(
    identities: DataFrame,
    documents: DataFrame,
    texts_of: TextsOf,
    settings: ResolveSettings,
    scheme: Scheme,
    keys_of: KeysOf,
    cut: Cut,
) -> tuple[DataFrame, DataFrame | None]:
    """The identities with declarations followed, and what became of each: rows (doc_id, host, fate), or None.

    A page (the winner of its name) that declares another page becomes its duplicate, with all captures that were its
    own duplicates, under that page's canonical URL. The other page must be captured in this snapshot, not truncated
    unless the declaring one is, and not declare another itself that could be followed; at most `canonical_fan_in`
    pages of the host may declare it; and each text that is not an older state of the declaring page must have its
    content hash, or exact Jaccard at or above the threshold to it.
    """
    declaring = documents.where("declared_canonical is not null and declared_canonical <> policy_url")
    if declaring.isEmpty():
        return identities, None
    settled = cut(identities, "by-key")
    pages = cut(_pages(declaring, settled, keys_of), "declaring")
    met = cut(_met(pages, settled, documents, settings), "declared")
    unlike = _unlike(met.where("fate is null"), settled, documents, texts_of, settings, scheme, cut)
    judged = cut(met.join(unlike, "doc_id", "left").withColumn("fate", F.coalesce("fate", "unlike")), "judged")
    follow = judged.where("fate is null").select(F.col("doc_id").alias("target_id"), F.lit("chained").alias("chained"))
    fate = F.coalesce("fate", "chained", F.lit("followed"))
    fates = cut(judged.join(follow, "target_id", "left").withColumn("fate", fate), "declarations")
    return _renamed(settled, fates.where("fate = 'followed'")), fates.select("doc_id", "host", "fate")


def _pages(declaring: DataFrame, settled: DataFrame, keys_of: KeysOf) -> DataFrame:
    """Winners that declare a page under another key than their own, with host and `target_key`."""
    captures = declaring.select(
        "doc_id", "url_strict", "url_key", "content_hash", "truncated", "declared_canonical",
        F.regexp_extract("policy_url", _HOST, 1).alias("host"),
    )  # fmt: skip
    schema = StructType([*captures.schema.fields, StructField("target_key", StringType())])

    def add_keys(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            keys = keys_of(batch.column("declared_canonical"))
            yield pa.RecordBatch.from_arrays([*batch.columns, keys], names=[*batch.schema.names, "target_key"])

    winners = captures.join(settled.where("wins").select("doc_id"), "doc_id", "left_semi")
    return winners.mapInArrow(add_keys, schema).where("target_key <> url_key")


def _met(pages: DataFrame, settled: DataFrame, documents: DataFrame, settings: ResolveSettings) -> DataFrame:
    """The pages with the target each declares, and the fate of those that no text has to decide.

    A target is the winner that bears the declared name, or else the one that its key belongs to.
    """
    keys = pages.select(F.col("target_key").alias("url_key")).distinct()
    targets = (
        documents.select("doc_id", "url_key", "content_hash", "truncated")
        .join(keys, "url_key", "left_semi")
        .join(settled.where("wins").select("doc_id", "canonical_url", "conflict"), "doc_id", "inner")
        .select(
            "url_key",
            "canonical_url",
            "conflict",
            F.struct("doc_id", "canonical_url", "content_hash", "truncated").alias("target"),
        )
    )
    by_name = targets.select(F.col("canonical_url").alias("declared_canonical"), F.col("target").alias("named"))
    by_key = targets.where("conflict is null").select(
        F.col("url_key").alias("target_key"), F.col("target").alias("keyed")
    )
    crowds = pages.groupBy("host", "target_key").agg(F.count("*").alias("fan_in"))
    target = F.coalesce("named", "keyed")
    fate = (
        F.when(target.isNull(), "not_captured")
        .when(F.col("fan_in") > settings.canonical_fan_in, "over_fan_in")
        .when(target["truncated"] & ~F.col("truncated"), "truncated")
    )
    return (
        pages.join(crowds, ["host", "target_key"], "inner")
        .join(by_name, "declared_canonical", "left")
        .join(by_key, "target_key", "left")
        .select(
            "doc_id", "host", "url_strict", "content_hash",
            target["doc_id"].alias("target_id"),
            target["canonical_url"].alias("target_name"),
            target["content_hash"].alias("target_hash"),
            fate.alias("fate"),
        )
    )  # fmt: skip


def _unlike(
    pages: DataFrame,
    settled: DataFrame,
    documents: DataFrame,
    texts_of: TextsOf,
    settings: ResolveSettings,
    scheme: Scheme,
    cut: Cut,
) -> DataFrame:
    """The pages, as rows (doc_id, unlike), of which a text does not agree with their target's."""
    pairs = cut(_pairs(pages, settled, documents), "declared-pairs")
    differing = exact_similarities(pairs, by_item(texts_of), scheme).where(F.col("similarity") < settings.threshold)
    found = pairs.join(differing.select("item"), "item", "left_semi").select(F.col("page").alias("doc_id")).distinct()
    return found.select("doc_id", F.lit("different_text").alias("unlike"))


def _pairs(pages: DataFrame, settled: DataFrame, documents: DataFrame) -> DataFrame:
    """The pairs (page, anchor, item) of texts that must agree before a page may follow its target, the anchor.

    Besides the page itself, those captures that became its duplicates by a rule: they would lose to the target.
    """
    anchor, page = F.col("target_id").alias("anchor"), F.col("doc_id").alias("page")
    own = pages.where("content_hash <> target_hash").select(page, anchor, F.col("doc_id").alias("item"))
    captures = documents.select(
        F.col("doc_id").alias("item"), F.col("url_strict").alias("own_strict"), F.col("content_hash").alias("own_hash")
    )
    lost = settled.where("duplicate_of is not null").select(
        F.col("doc_id").alias("item"), F.col("duplicate_of").alias("doc_id")
    )
    others = (
        pages.join(lost, "doc_id", "inner")
        .join(captures, "item", "inner")
        .where("own_strict <> url_strict and own_hash <> content_hash and own_hash <> target_hash")
        .select(page, anchor, "item")
    )
    return own.unionAll(others)


def _renamed(settled: DataFrame, followed: DataFrame) -> DataFrame:
    """The identities with each page that follows, and its duplicates, as duplicates of the page it follows."""
    to = followed.select(F.col("doc_id").alias("page"), "target_id", "target_name")
    found = settled.withColumn("page", F.coalesce("duplicate_of", "doc_id")).join(to, "page", "left")
    return found.select(
        "doc_id",
        F.coalesce("target_name", "canonical_url").alias("canonical_url"),
        "crawl_date",
        (F.col("wins") & F.col("target_id").isNull()).alias("wins"),
        F.coalesce("target_id", "duplicate_of").alias("duplicate_of"),
        "conflict",
    )
