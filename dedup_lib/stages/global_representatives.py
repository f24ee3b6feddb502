"""What the documents that are kept across snapshots stand for."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.clustering.representatives import list_aliases
from dedup_lib.stages.global_items import PLACE


def describe_kept_globally(clusters: DataFrame, documents: DataFrame, aliases_per_row: int) -> DataFrame:
    """What `global_representatives` adds to the columns of a kept document.

    Rows (doc_id, source, snapshot, canonical_url, cluster_id, cluster_size, alias_count, aliases, captures, counts).
    `clusters` has the columns of `global_clusters`; `documents`, as of `order_documents`, the captures and the URL of
    each representative of a snapshot. `counts` is in the order of source and snapshot.
    """
    told = clusters.select(*PLACE, "cluster_id", "representative_id", "canonical_url", "crawl_date", "reason").join(
        documents.select(*PLACE, F.col("captures").alias("own_captures"), "url"), PLACE, "inner"
    )
    by_snapshot = told.groupBy("cluster_id", "source", "snapshot").agg(
        F.count("*").alias("documents"), F.sum("own_captures").alias("captures")
    )
    count = F.struct("source", "snapshot", "documents", "captures")
    counts = by_snapshot.groupBy("cluster_id").agg(F.array_sort(F.collect_list(count)).alias("counts"))  # per snapshot
    aliases = list_aliases(told.where(F.col("reason") != "kept"), aliases_per_row)
    none = F.array().cast("array<struct<url:string,canonical_url:string,crawl_date:date,reason:string>>")
    kept = clusters.where(F.col("reason") == "kept").join(counts, "cluster_id", "inner")
    return kept.join(aliases, "representative_id", "left").select(
        *PLACE,
        "canonical_url",
        "cluster_id",
        "cluster_size",
        (F.col("cluster_size") - 1).alias("alias_count"),
        F.coalesce("aliases", none).alias("aliases"),
        "captures",
        "counts",
    )
