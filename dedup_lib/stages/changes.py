"""What became of every page from one snapshot of a source to a later one, told by stored tables alone.

A page is known by its name: the url_key of its capture, or its canonical URL where resolve had to undo a URL rule for
it (`identities.conflict`), since such pages share a key. Every page of either snapshot has exactly one row:

- `unchanged`: a page of both with the same content hash; or no document in the later one but a not-modified answer, or
  a revisit record, unless that refers to a capture, in either snapshot, of another content;
- `edited`: a page of both with another content hash; or a revisit that refers to a capture of another content;
- `redirected`: its captures are under another canonical URL (rel=canonical was followed, a rule merged it), or else the
  last answer for it is a redirect;
- `gone`: fetched and no document any more: the last answer is 404, 410, another content type, or a page without text;
- `not_fetched`: nothing is known of it: no record, or errors alone that do not say that it is gone (403, 429, 5xx);
- `moved`: a page of the later snapshot only, whose content the earlier one has under a name that is redirected, gone
  or not fetched;
- `new`: any other page of the later snapshot only.

A document in the later snapshot outweighs all other answers; among these the last one counts, a redirect to the same
URL (but for scheme and trailing slash) only where there is none else. Fetches are told by url_key, and those of a page
with a conflict, like rejects, by the URL as captured.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from dedup_lib.signatures import Scheme, estimate_jaccard
from dedup_lib.stages.revisits import captures_of_revisits
from dedup_lib.tables.scan import MapFunction
from dedup_lib.tables.schemas import DOC_ID

OF_BOTH = ("unchanged", "edited")
OF_EARLIER = ("redirected", "gone", "not_fetched")  # and no page of the later one
OF_LATER = ("moved", "new")
KINDS = (*OF_BOTH, *OF_EARLIER, *OF_LATER)
GONE_STATUS = (404, 410)  # RFC 9110, sections 15.5.5 and 15.5.11
CHANGES = pa.schema(
    [
        pa.field("canonical_url", pa.string()),  # of the later snapshot where it has the page
        pa.field("kind", pa.string()),
        pa.field("similarity", pa.float64()),  # of edited pages, estimated; null below one shingle
        pa.field("related_url", pa.string()),  # redirected: where to; moved: where from
        pa.field(
            "found", pa.string()
        ),  # what tells: page, capture, a kind of fetch, a reason of a reject; null: nothing
        pa.field("http_status", pa.int32()),  # of the fetch that tells
        pa.field("from_doc_id", DOC_ID.type),
        pa.field("to_doc_id", DOC_ID.type),
        pa.field("from_date", pa.date32()),
        pa.field("to_date", pa.date32()),  # of the page or of the fetch that tells
    ]
)
_COMPARED = pa.schema([*CHANGES, pa.field("from_minhash", pa.binary()), pa.field("to_minhash", pa.binary())])


class SnapshotTables(NamedTuple):
    """The tables of one snapshot that tell of its pages; `documents` may come without texts."""

    documents: DataFrame
    fetches: DataFrame
    rejects: DataFrame
    identities: DataFrame
    signatures: DataFrame


def changes(earlier: SnapshotTables, later: SnapshotTables, scheme: Scheme) -> DataFrame:
    """One row per page of either snapshot, in the columns of `CHANGES`: what the module says of it.

    Both must be signed by `scheme` and named by the same URL rules. Joins by names and hashes that are unique on one
    side, so no product of rows; the result does not depend on how rows are partitioned.
    """
    before, after = _pages(earlier), _pages(later)
    pairs = before.alias("a").join(after.alias("b"), "page", "inner")
    of_both = pairs.select(
        F.col("b.canonical_url").alias("canonical_url"),
        F.when(F.col("a.content_hash") == F.col("b.content_hash"), "unchanged").otherwise("edited").alias("kind"),
        F.lit(None).cast("string").alias("related_url"),
        F.lit("page").alias("found"),
        F.lit(None).cast("int").alias("http_status"),
        F.col("a.doc_id").alias("from_doc_id"),
        F.col("b.doc_id").alias("to_doc_id"),
        F.col("a.crawl_date").alias("from_date"),
        F.col("b.crawl_date").alias("to_date"),
        F.col("a.minhash").alias("from_minhash"),
        F.col("b.minhash").alias("to_minhash"),
    )
    left = _left_pages(before.join(after.select("page"), "page", "left_anti"), earlier, later)
    fresh = _fresh_pages(after.join(before.select("page"), "page", "left_anti"), left)
    rows = of_both.unionByName(left.drop("content_hash")).unionByName(fresh)
    no_similarity = F.lit(None).cast("double")
    compared = rows.withColumn("similarity", no_similarity).select(*_COMPARED.names)
    return compared.mapInArrow(_estimating(scheme), from_arrow_schema(CHANGES))


def _pages(tables: SnapshotTables) -> DataFrame:
    """The pages of a snapshot by their names: rows (page, apart, and columns of signatures), `page` unique."""
    identities = tables.identities.where("wins").select("doc_id", "conflict")
    apart = F.col("conflict").isNotNull()
    return tables.signatures.join(identities, "doc_id", "inner").select(
        F.when(apart, F.col("canonical_url")).otherwise(F.col("url_key")).alias("page"),
        apart.alias("apart"),
        *("doc_id", "url", "canonical_url", "crawl_date", "content_hash", "minhash"),
    )


def _left_pages(gone: DataFrame, earlier: SnapshotTables, later: SnapshotTables) -> DataFrame:
    """What became of pages that the later snapshot has not: rows as compared, and `content_hash`."""
    answers = _last_answers(later.fetches, gone.where("apart"))
    seen = (
        gone.join(_renamed_captures(later), "page", "left")
        .join(answers, "page", "left")
        .join(_rejected(later.rejects), "url", "left")
        .join(_revisited(earlier, later), F.col("answer.url") == F.col("revisit_url"), "left")
    )
    by_fetch = F.col("capture").isNull() & F.col("answer").isNotNull()
    by_reject = F.col("capture").isNull() & F.col("answer").isNull()
    kind = _kind_of_left()
    edited = kind == "edited"
    return seen.select(
        "canonical_url",
        kind.alias("kind"),
        F.when(kind == "redirected", F.coalesce("capture.canonical_url", "answer.target")).alias("related_url"),
        F.when(by_reject, F.col("reject")).when(by_fetch, F.col("answer.kind")).otherwise("capture").alias("found"),
        F.when(by_fetch, F.col("answer.http_status")).alias("http_status"),
        F.col("doc_id").alias("from_doc_id"),
        F.col("capture.doc_id").alias("to_doc_id"),
        F.col("crawl_date").alias("from_date"),
        F.coalesce("capture.crawl_date", F.when(by_fetch, _utc_day("answer.fetched_at"))).alias("to_date"),
        F.when(edited, F.col("minhash")).alias("from_minhash"),
        F.when(edited, F.col("revisit_minhash")).alias("to_minhash"),
        "content_hash",
    )


def _kind_of_left() -> Column:
    answer = F.col("answer.kind")
    other_content = F.col("revisit_hash") != F.col("content_hash")  # null, so not true, where nothing is known
    is_gone = (answer == "error") & F.col("answer.http_status").isin(*GONE_STATUS) | (answer == "other_content_type")
    return (
        F.when(F.col("capture").isNotNull(), "redirected")
        .when((answer == "revisit") & other_content, "edited")
        .when(answer.isin("not_modified", "revisit"), "unchanged")
        .when(answer == "redirect", "redirected")
        .when(is_gone, "gone")
        .when(answer.isNull() & (F.col("reject") == "no_text"), "gone")
        .otherwise("not_fetched")
    )


def _renamed_captures(later: SnapshotTables) -> DataFrame:
    """The last capture under each name that is no page of its own: rows (page, capture)."""
    lost = later.identities.where("not wins").select("doc_id", "canonical_url", "crawl_date")
    captures = later.documents.select("doc_id", "url_key", "url_strict", "fetched_at").join(lost, "doc_id", "inner")
    capture = F.struct("crawl_date", "fetched_at", "doc_id", "canonical_url").alias("capture")
    names = captures.select(F.col("url_key").alias("page"), capture).unionAll(
        captures.select(F.col("url_strict").alias("page"), capture)
    )
    return names.groupBy("page").agg(F.max("capture").alias("capture"))


def _last_answers(fetches: DataFrame, apart: DataFrame) -> DataFrame:
    """The last fetch of each name: rows (page, answer)."""
    names = apart.select("url", F.col("page").alias("apart_page"))
    to_itself = F.coalesce(_bare("target") == _bare("url"), F.lit(False)) & (F.col("kind") == "redirect")
    answer = F.struct(
        (~to_itself).alias("leads"), "fetched_at", "kind", "http_status", "target", F.col("url").alias("url")
    )
    named = fetches.join(names, "url", "left").select(
        F.coalesce("apart_page", "url_key").alias("page"), answer.alias("answer")
    )
    return named.groupBy("page").agg(F.max("answer").alias("answer"))


def _bare(name: str) -> Column:
    return F.regexp_replace(F.col(name), r"^https?://|/+$", "")


def _rejected(rejects: DataFrame) -> DataFrame:
    """Why a URL gave no document: rows (url, reject); `no_text` where that is among the reasons."""
    reason = F.max(F.struct((F.col("reason") == "no_text").alias("empty"), "reason"))["reason"]
    return rejects.where("url is not null").groupBy("url").agg(reason.alias("reject"))


def _revisited(earlier: SnapshotTables, later: SnapshotTables) -> DataFrame:
    """What the last revisit of each URL found again, of either snapshot: rows (revisit_url, hash, minhash)."""
    names = ("doc_id", "record_id", "url", "fetched_at")
    documents = earlier.documents.select(*names).unionAll(later.documents.select(*names))
    revisit = F.struct("fetched_at", "target", "refers_to", "refers_to_date", "kind")
    revisits = later.fetches.where("kind = 'revisit'").groupBy("url").agg(F.max(revisit).alias("last"))
    last = captures_of_revisits(revisits.select("url", "last.*"), documents)
    return (
        last.join(_by_capture(earlier.documents, later.documents, "content_hash"), "doc_id", "inner")
        .join(_by_capture(earlier.signatures, later.signatures, "minhash"), "doc_id", "left")
        .select(
            F.col("url").alias("revisit_url"),
            F.col("content_hash").alias("revisit_hash"),
            F.col("minhash").alias("revisit_minhash"),
        )
    )


def _by_capture(first: DataFrame, second: DataFrame, name: str) -> DataFrame:
    """A column by doc_id from two snapshots; a capture that is in both has the same value in both."""
    both = first.select("doc_id", name).unionAll(second.select("doc_id", name))
    return both.groupBy("doc_id").agg(F.max(name).alias(name))


def _fresh_pages(fresh: DataFrame, left: DataFrame) -> DataFrame:
    """Pages of the later snapshot only: moved from the first by name that had the content and is left, or new."""
    lost = (
        left.where(F.col("kind").isin(*OF_EARLIER))
        .groupBy("content_hash")
        .agg(F.min(F.struct("canonical_url", "from_doc_id", "from_date")).alias("origin"))
    )
    nothing = F.lit(None)
    return fresh.join(lost, "content_hash", "left").select(
        "canonical_url",
        F.when(F.col("origin").isNotNull(), "moved").otherwise("new").alias("kind"),
        F.col("origin.canonical_url").alias("related_url"),
        F.lit("page").alias("found"),
        nothing.cast("int").alias("http_status"),
        F.col("origin.from_doc_id").alias("from_doc_id"),
        F.col("doc_id").alias("to_doc_id"),
        F.col("origin.from_date").alias("from_date"),
        F.col("crawl_date").alias("to_date"),
        nothing.cast("binary").alias("from_minhash"),
        nothing.cast("binary").alias("to_minhash"),
    )


def _utc_day(name: str) -> Column:
    return F.to_date(F.to_utc_timestamp(F.col(name), F.current_timezone()))


def _estimating(scheme: Scheme) -> MapFunction:
    """The function that estimates the similarity of edited pages from their signatures."""

    def estimate(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            left, right = batch.column("from_minhash"), batch.column("to_minhash")
            signed = pc.and_(left.is_valid(), right.is_valid())
            told = pc.and_(signed, pc.equal(batch.column("kind"), "edited")).to_numpy(zero_copy_only=False)
            places = np.flatnonzero(told)
            values = np.zeros(batch.num_rows)
            if len(places):
                rows = pa.array(places)
                values[places] = estimate_jaccard(left.take(rows), right.take(rows), scheme.minhash_bits)
            columns = {name: batch.column(name) for name in CHANGES.names}
            columns["similarity"] = pa.array(values, pa.float64(), mask=~told)
            yield pa.RecordBatch.from_arrays([columns[field.name] for field in CHANGES], schema=CHANGES)

    return estimate
