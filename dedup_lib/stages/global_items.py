"""The documents that global dedup works on: the representatives of snapshots, in one order over all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from dedup_lib.clustering.order import priority_order
from dedup_lib.config.settings import Priority
from dedup_lib.stages import TextsOf
from dedup_lib.tables.keys import SnapshotKey

PLACE = ["doc_id", "source", "snapshot"]  # tells a document from the same capture in another snapshot


@dataclass(frozen=True)
class FirstDay:
    """A snapshot and the day of the first capture that a document kept in it is of; None when it kept none."""

    key: SnapshotKey
    day: date | None


def order_snapshots(
    snapshots: Sequence[FirstDay], source_priority: Sequence[str], keep: Literal["oldest", "newest"]
) -> list[SnapshotKey]:
    """The snapshots, those first whose documents stay: by source priority, then by first day, source and snapshot.

    `newest` turns the order within sources of one priority. Sources that `source_priority` does not name come last.

    >>> from datetime import date
    >>> march, april = (FirstDay(SnapshotKey("web", f"m{m}"), date(2026, m, 1)) for m in (3, 4))
    >>> [key.snapshot for key in order_snapshots([april, march], (), "oldest")]
    ['m3', 'm4']
    """
    ranks = {source: rank for rank, source in enumerate(source_priority)}
    by_day = sorted(
        snapshots, key=lambda one: (one.day or date.max, one.key), reverse=keep == "newest"
    )  # a snapshot without documents has no say
    return [one.key for one in sorted(by_day, key=lambda one: ranks.get(one.key.source, len(ranks)))]


def first_days(representatives: DataFrame) -> DataFrame:
    """Rows (source, snapshot, day): one per snapshot that has a representative."""
    return representatives.groupBy("source", "snapshot").agg(F.min("crawl_date").alias("day"))


def order_documents(
    representatives: DataFrame, snapshots: Sequence[SnapshotKey], keep: Sequence[Priority]
) -> DataFrame:
    """Rows (doc_id, source, snapshot, canonical_url, crawl_date, content_hash, captures, url, standing).

    `representatives` has the columns of that table with source and snapshot. `standing` sorts the documents, the one
    that yields to none first: by the place of the snapshot in `snapshots`, then by the priority order within one.
    """
    spark = representatives.sparkSession
    places = [(key.source, key.snapshot, place) for place, key in enumerate(snapshots)]
    named = spark.createDataFrame(places, "source string, snapshot string, place int")
    order = [column.alias(f"by_{number}") for number, column in enumerate(priority_order(keep))]
    return representatives.join(F.broadcast(named), ["source", "snapshot"], "inner").select(
        *PLACE,
        "canonical_url",
        "crawl_date",
        "content_hash",
        F.col("cluster_size").alias("captures"),
        "url",
        F.struct("place", *order).alias("standing"),
    )


def standing_columns(frame: DataFrame) -> list[Column]:
    """The order of documents as sort columns, for `rank_items`."""
    names = frame.select("standing.*").columns
    return [F.col("standing")[name] for name in names]


def texts_by_item(texts_of: TextsOf, names: DataFrame) -> TextsOf:
    """The texts of documents by a name of their own, as verification has it: rows with `item` -> rows (item, text).

    `names` has a row (item, doc_id, source, snapshot) per document; `texts_of` goes by the last three.
    """
    return lambda needed: texts_of(needed.join(names.select("item", *PLACE), "item", "inner")).select("item", "text")


class Newcomers(NamedTuple):
    """Documents that no cluster has yet, and `repeats`: captures that are in several snapshots, each but once."""

    documents: DataFrame
    repeats: DataFrame


def split_newcomers(documents: DataFrame, settled: DataFrame | None) -> Newcomers:
    """The documents that are not yet settled; both frames have the columns of `documents`.

    One capture may be in several snapshots of a source, when they share an archive. A settled one stands for the
    others, else the first of them in the order does: these are repeats, whatever their texts.
    """
    fresh = documents.withColumn("known", F.lit(False))
    if settled is not None:
        names = settled.select("doc_id", F.struct("source", "snapshot").alias("settled_in"))
        here = F.struct("source", "snapshot")
        fresh = (
            documents.join(names, "doc_id", "left")
            .where(F.col("settled_in").isNull() | (F.col("settled_in") != here))
            .withColumn("known", F.col("settled_in").isNotNull())
            .drop("settled_in")
        )
    firsts = fresh.groupBy("doc_id").agg(F.min("standing").alias("first"))
    told = fresh.join(firsts, "doc_id", "inner").withColumn("is_first", F.col("standing") == F.col("first"))
    is_new = F.col("is_first") & ~F.col("known")
    return Newcomers(told.where(is_new).select(*documents.columns), told.where(~is_new).select(*documents.columns))
