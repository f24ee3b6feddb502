"""Cluster rows and the documents that stand for their clusters."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F


def settle_items(items: DataFrame, stars: DataFrame) -> DataFrame:
    """What became of each item: rows (doc_id, reason, duplicate_of, similarity, representative_id).

    `items` has rows (item, doc_id, first); `stars` rows (item, star, similarity) over items that are their own first.
    """
    near = stars.select(F.col("item").alias("first"), "star", "similarity")
    copy = F.col("item") != F.col("first")
    is_near = F.col("star").isNotNull()
    decided = items.join(near, "first", "left").select(
        "doc_id",
        F.when(copy, "exact").when(is_near, "near").otherwise("kept").alias("reason"),
        F.when(copy, F.col("first")).when(is_near, F.col("star")).alias("lost_to"),
        F.when(copy, 1.0).when(is_near, F.col("similarity")).alias("similarity"),
        F.coalesce("star", "first").alias("stands"),
    )
    winner_names = items.select(F.col("item").alias("lost_to"), F.col("doc_id").alias("duplicate_of"))
    kept_names = items.select(F.col("item").alias("stands"), F.col("doc_id").alias("representative_id"))
    return (
        decided.join(kept_names, "stands", "inner")
        .join(winner_names, "lost_to", "left")
        .select("doc_id", "reason", "duplicate_of", "similarity", "representative_id")
    )


def cluster_captures(captures: DataFrame, identities: DataFrame, settled: DataFrame) -> DataFrame:
    """One row per capture, in the columns of the table `clusters`.

    `captures` has rows (doc_id, record_id, url); a capture that lost its key follows the one that won.
    """
    winner = F.coalesce("duplicate_of", "doc_id")
    named = identities.select("doc_id", "canonical_url", "crawl_date", "wins", winner.alias("winner"))
    fate = settled.select(
        F.col("doc_id").alias("winner"),
        F.col("reason").alias("winner_reason"),
        F.col("duplicate_of").alias("winner_duplicate_of"),
        F.col("similarity").alias("winner_similarity"),
        "representative_id",
    )
    sizes = named.join(fate, "winner", "inner").groupBy("representative_id").agg(F.count("*").alias("cluster_size"))
    return (
        named.join(fate, "winner", "inner")
        .join(captures.select("doc_id", "record_id", "url"), "doc_id", "inner")
        .join(sizes, "representative_id", "inner")
        .select(
            "doc_id",
            "record_id",
            "url",
            "canonical_url",
            "crawl_date",
            F.col("representative_id").alias("cluster_id"),
            F.when(F.col("wins"), F.col("winner_reason")).otherwise("url").alias("reason"),
            F.when(F.col("wins"), F.col("winner_duplicate_of")).otherwise(F.col("winner")).alias("duplicate_of"),
            F.when(F.col("wins"), F.col("winner_similarity")).alias("similarity"),
            "representative_id",
            "cluster_size",
        )
    )


def other_captures(clusters: DataFrame, revisits: DataFrame | None = None) -> DataFrame:
    """What each kept document also stands for.

    Rows (representative_id, doc_id, url, canonical_url, crawl_date, reason). The captures of its cluster that
    were not kept, and `revisits`: rows (doc_id, url, crawl_date) of fetches that found a capture unchanged.
    """
    columns = ("representative_id", "doc_id", "url", "canonical_url", "crawl_date", "reason")
    captures = clusters.where(F.col("reason") != "kept").select(*columns)
    if revisits is None:
        return captures
    named = clusters.select("doc_id", "representative_id", "canonical_url")
    return captures.unionByName(
        revisits.join(named, "doc_id", "inner").withColumn("reason", F.lit("revisit")).select(*columns)
    )


def list_aliases(others: DataFrame, limit: int) -> DataFrame:
    """The other captures of each cluster, the first `limit` by doc_id: rows (representative_id, aliases).

    The window is cut to its first rows before the shuffle, so a huge cluster is never one task's burden.
    """
    place = ("doc_id", "reason", "crawl_date", "url")
    window = Window.partitionBy("representative_id").orderBy(*place)
    alias = F.struct(*place, "canonical_url")
    listed = (
        others.withColumn("place", F.row_number().over(window))
        .where(F.col("place") <= limit)
        .groupBy("representative_id")
        .agg(F.array_sort(F.collect_list(alias)).alias("aliases"))
    )
    shown = F.transform(
        "aliases",
        lambda one: F.struct(
            one["url"].alias("url"),
            one["canonical_url"].alias("canonical_url"),
            one["crawl_date"].alias("crawl_date"),
            one["reason"].alias("reason"),
        ),
    )
    return listed.select("representative_id", shown.alias("aliases"))


def describe_kept(clusters: DataFrame, aliases_per_row: int, revisits: DataFrame | None = None) -> DataFrame:
    """What `representatives` adds to the columns of a kept document: rows (doc_id, canonical_url, cluster_id,
    cluster_size, alias_count, aliases). `revisits` as in `other_captures`."""
    kept = clusters.where(F.col("reason") == "kept").select("doc_id", "canonical_url", "cluster_id", "cluster_size")
    others = other_captures(clusters, revisits)
    aliases = list_aliases(others, aliases_per_row).withColumnRenamed("representative_id", "doc_id")
    again = F.col("cluster_size") - 1
    if revisits is not None:
        counts = others.where("reason = 'revisit'").groupBy("representative_id").agg(F.count("*").alias("revisits"))
        kept = kept.join(counts.withColumnRenamed("representative_id", "doc_id"), "doc_id", "left")
        again += F.coalesce("revisits", F.lit(0))
    none = F.array().cast("array<struct<url:string,canonical_url:string,crawl_date:date,reason:string>>")
    return kept.join(aliases, "doc_id", "left").select(
        "doc_id",
        "canonical_url",
        "cluster_id",
        "cluster_size",
        again.alias("alias_count"),
        F.coalesce("aliases", none).alias("aliases"),
    )
