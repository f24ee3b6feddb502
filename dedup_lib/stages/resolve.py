"""The stage `resolve`: which captures are one page, settled before anything is signed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from dedup_lib.clustering import Cut
from dedup_lib.clustering.order import moment
from dedup_lib.clustering.verify import exact_similarities
from dedup_lib.config.settings import ResolveSettings
from dedup_lib.signatures import Scheme
from dedup_lib.stages import TextsOf, by_item
from dedup_lib.stages.canonicals import KeysOf, follow_canonicals
from dedup_lib.urls import REFUSED_KEY

UndoneRule = Callable[
    [str, str], str
]  # (URL of the capture that stays apart, URL of the key's winner) -> host and rule


@dataclass(frozen=True)
class Resolved:
    """The table `identities`, one row per capture, and what became of what pages declare as their canonical.

    `declarations` has a row (doc_id, host, fate) per page that declares another one; None if there is none.
    """

    identities: DataFrame
    declarations: DataFrame | None


def resolve(
    documents: DataFrame,
    texts_of: TextsOf,
    settings: ResolveSettings,
    scheme: Scheme,
    undone_rule: UndoneRule,
    keys_of: KeysOf,
    cut: Cut,
) -> Resolved:
    """Which captures are one page, by their URLs and by what they declare, each time checked against the texts.

    Captures are grouped by url_key; the winner is the latest complete one. Another capture is its duplicate if it has
    the same url_strict, the same content hash, or exact Jaccard at or above the threshold; otherwise a rule was wrong
    for that site: the capture is named by its url_strict and stays a document, and `conflict` names host and rule.
    Where such a name is the winner's canonical URL, the winner too goes by its url_strict. Then rel=canonical is
    followed (`follow_canonicals`). Only texts of captures that are compared are read.
    """
    by_key = _by_key(documents, texts_of, settings, scheme, undone_rule, cut)
    return Resolved(*follow_canonicals(by_key, documents, texts_of, settings, scheme, keys_of, cut))


def _by_key(
    documents: DataFrame,
    texts_of: TextsOf,
    settings: ResolveSettings,
    scheme: Scheme,
    undone_rule: UndoneRule,
    cut: Cut,
) -> DataFrame:
    forms = ("url", "policy_url", "url_key", "crawl_date", "content_hash")
    captures = documents.select("doc_id", *forms, _strict().alias("url_strict"), _precedence().alias("rank"))
    keys = captures.groupBy("url_key").agg(F.count("*").alias("captures")).where("captures > 1").select("url_key")
    alone = captures.join(keys, "url_key", "left_anti").select(*_named(F.col("policy_url")))
    shared = cut(captures.join(keys, "url_key", "left_semi"), "shared-keys")
    if shared.isEmpty():
        return captures.select(*_named(F.col("policy_url")))
    return alone.unionAll(_resolve_shared(shared, texts_of, settings, scheme, undone_rule, cut))


def _strict() -> Column:
    """url_strict; a URL that does not parse (`n/a`, say) names no page: each capture of one has a name of its own."""
    own = F.concat_ws("#", "url_strict", F.lower(F.hex("doc_id")))
    return F.when(F.col("url_key").startswith(REFUSED_KEY), own).otherwise(F.col("url_strict"))


def _precedence() -> Column:
    """Sorts the captures of a key, the winner first: complete, then latest, then doc_id."""
    return F.struct(F.col("truncated"), (-moment()).alias("recency"), F.col("doc_id"))


def _named(canonical: Column, duplicate_of: Column | None = None, conflict: Column | None = None) -> list[Column]:
    """The identity columns of a capture with this canonical URL; it wins unless it is a duplicate of another."""
    nothing = F.lit(None)
    return [
        F.col("doc_id"),
        canonical.alias("canonical_url"),
        F.col("crawl_date"),
        F.lit(duplicate_of is None).alias("wins"),
        (nothing if duplicate_of is None else duplicate_of).cast(BinaryType()).alias("duplicate_of"),
        (nothing if conflict is None else conflict).cast(StringType()).alias("conflict"),
    ]


def _with_first(frame: DataFrame, *group: str) -> DataFrame:
    """The rows with `first`: rank, doc_id, URL forms and content hash of the group's first capture."""
    what = F.struct("rank", "doc_id", "url", "url_strict", "policy_url", "content_hash").alias("what")
    firsts = frame.groupBy(*group).agg(F.min(F.struct("rank", what)).alias("least"))
    return frame.join(firsts.select(*group, F.col("least.what").alias("first")), list(group), "inner")


def _resolve_shared(
    shared: DataFrame, texts_of: TextsOf, settings: ResolveSettings, scheme: Scheme, undone: UndoneRule, cut: Cut
) -> DataFrame:
    grouped = _with_first(shared, "url_key")
    is_first = F.col("doc_id") == F.col("first.doc_id")
    agrees = (F.col("url_strict") == F.col("first.url_strict")) | (F.col("content_hash") == F.col("first.content_hash"))
    judged = grouped.withColumn("agrees", is_first | agrees)

    open_pairs = judged.where("not agrees").select(F.col("first.doc_id").alias("anchor"), F.col("doc_id").alias("item"))
    open_pairs = cut(open_pairs, "same-key-pairs")
    if open_pairs.isEmpty():  # as in most snapshots: every variant of a URL had the same text
        return _same_pages(judged.drop("agrees").withColumn("same_page", F.lit(True)))
    alike = (
        exact_similarities(open_pairs, by_item(texts_of), scheme)
        .where(F.col("similarity") >= settings.threshold)
        .select(F.col("item").alias("doc_id"), F.lit(True).alias("alike"))
    )
    settled = cut(
        judged.join(alike, "doc_id", "left")
        .withColumn("same_page", F.col("agrees") | F.coalesce("alike", F.lit(False)))
        .drop("alike", "agrees"),
        "same-key",
    )
    apart = _with_first(settled.where("not same_page").withColumnRenamed("first", "lost_to"), "url_key", "url_strict")
    return _same_pages(settled).unionAll(_conflicts(apart, undone))


def _same_pages(settled: DataFrame) -> DataFrame:
    """Identities of the captures that are the page of their key, under one canonical URL per key."""
    takes = (~F.col("same_page")) & (F.col("url_strict") == F.col("first.policy_url"))
    taken = settled.where(takes).select("url_key").distinct().withColumn("taken", F.lit(True))
    name = F.when(F.col("taken"), F.col("first.url_strict")).otherwise(F.col("first.policy_url"))
    pages = settled.where("same_page").join(taken, "url_key", "left")
    is_first = F.col("doc_id") == F.col("first.doc_id")
    winners = pages.where(is_first).select(*_named(name))
    return winners.unionAll(pages.where(~is_first).select(*_named(name, F.col("first.doc_id"))))


def _conflicts(apart: DataFrame, undone: UndoneRule) -> DataFrame:
    """Identities of the captures that a rule had wrongly put under their key: each goes by its url_strict."""
    schema = StructType([StructField("doc_id", BinaryType()), StructField("rule", StringType())])

    def name_rules(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            doc_ids, urls, others = (column.to_pylist() for column in batch.columns)
            rules = [
                undone(url, other) if url != other else "a URL that does not parse"
                for url, other in zip(urls, others, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(
                [pa.array(doc_ids, pa.binary()), pa.array(rules, pa.string())], names=["doc_id", "rule"]
            )

    rules = apart.select("doc_id", "url", F.col("lost_to.url").alias("other")).mapInArrow(name_rules, schema)
    named = apart.join(rules, "doc_id", "inner")
    is_first = F.col("doc_id") == F.col("first.doc_id")
    strict, rule = F.col("url_strict"), F.col("rule")
    winners = named.where(is_first).select(*_named(strict, None, rule))
    return winners.unionAll(named.where(~is_first).select(*_named(strict, F.col("first.doc_id"), rule)))
