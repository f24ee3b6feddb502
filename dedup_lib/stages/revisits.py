"""Revisit records: a page that was fetched again and found unchanged is one more alias of the capture it refers to."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

KINDS = ("revisit", "not_modified")


def captures_of_revisits(fetches: DataFrame, documents: DataFrame) -> DataFrame:
    """The revisits whose capture is in the snapshot: rows (doc_id of the capture, url, crawl_date).

    Told by the WARC-Record-ID that the revisit refers to, or else by URL and time (to the second, as WARC/1.0 writes
    it) of the capture (WARC/1.1, sections 5.6, 5.14 and 5.15). Of several such captures the first by doc_id counts.
    """
    revisits = fetches.where(F.col("kind").isin(*KINDS)).select(
        # Not where it is stored: a file that was read twice does not make two of it.
        F.struct("url", "fetched_at", "kind", "refers_to", "target", "refers_to_date").alias("revisit"),
        "refers_to",
        F.coalesce("target", "url").alias("of_url"),
        F.date_trunc("second", "refers_to_date").alias("at"),
    )
    by_record = revisits.join(
        documents.select(F.col("record_id").alias("refers_to"), "doc_id"), "refers_to", "inner"
    ).select("revisit", F.lit(0).alias("rank"), "doc_id")
    by_moment = revisits.join(
        documents.select(F.col("url").alias("of_url"), F.date_trunc("second", "fetched_at").alias("at"), "doc_id"),
        ["of_url", "at"],
        "inner",
    ).select("revisit", F.lit(1).alias("rank"), "doc_id")
    first = by_record.unionAll(by_moment).groupBy("revisit").agg(F.min(F.struct("rank", "doc_id")).alias("first"))
    return first.select(
        F.col("first.doc_id").alias("doc_id"),
        F.col("revisit.url").alias("url"),
        F.to_date(F.to_utc_timestamp("revisit.fetched_at", F.current_timezone())).alias("crawl_date"),
    )
