"""Verification: a candidate pair becomes an edge only if its two documents are as alike as the threshold asks."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, DoubleType, StructField, StructType

from dedup_lib.clustering import Cut
from dedup_lib.config.settings import ClusterSettings
from dedup_lib.signatures import Scheme, estimate_jaccard, exact_jaccard, shingle_sets

STANDARD_ERRORS = 3  # the estimate accepts only this far above the threshold
REJECTING_ERRORS = 4  # and rejects only this far below: at 3 it would hide one in 740 of the pairs at the threshold
SURE_ERRORS = 5  # and removes a document only this far above: it errs 3 times in 10^7 there, once in 740 at 3
Texts = Callable[[DataFrame], DataFrame]  # rows with a column `item` -> rows (item, text)


def standard_error(similarity: float, permutations: int) -> float:
    """Of an estimate by MinHash: sqrt(J (1 - J) / permutations), a binomial share (Broder 1997)."""
    return math.sqrt(similarity * (1 - similarity) / permutations)


@dataclass(frozen=True)
class Bounds:
    """Where the estimate decides: a pair is accepted from `accept` on, rejected below `reject`.

    Below `sure` an accepted pair is compared exactly before a document is removed for it.
    """

    reject: float
    accept: float
    sure: float

    @classmethod
    def of(cls, settings: ClusterSettings, permutations: int) -> "Bounds":
        """Four standard errors below the threshold, three and five above; none for `estimate`."""
        if settings.verify == "none":
            return cls(0.0, 0.0, 0.0)
        if settings.verify == "estimate":
            return cls(settings.threshold, settings.threshold, settings.threshold)
        error = standard_error(settings.threshold, permutations)
        if error == 0:  # at 0 and 1 no estimate proves anything
            return cls(settings.threshold, math.inf, math.inf)
        errors = (-REJECTING_ERRORS, STANDARD_ERRORS, SURE_ERRORS)
        return cls(*(settings.threshold + count * error for count in errors))


def estimate_pairs(pairs: DataFrame, sketches: DataFrame, scheme: Scheme, reject: float) -> DataFrame:
    """The pairs (anchor, item) with their estimated `similarity`, without those below `reject`.

    `sketches` has one row (item, minhash) per item.
    """
    schema = StructType([*pairs.select("anchor", "item").schema.fields, StructField("similarity", DoubleType())])

    def estimate(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            anchor, item, left, right = batch.columns
            similarity = estimate_jaccard(left, right, scheme.minhash_bits)
            found = pa.RecordBatch.from_arrays(
                [anchor, item, pa.array(similarity)], names=["anchor", "item", "similarity"]
            )
            yield found.filter(pa.array(similarity >= reject))

    left = sketches.select(F.col("item").alias("anchor"), F.col("minhash").alias("anchor_minhash"))
    met = (
        pairs.join(left, "anchor", "inner")
        .join(sketches.select("item", "minhash"), "item", "inner")
        .select("anchor", "item", "anchor_minhash", "minhash")
    )
    return met.mapInArrow(estimate, schema)


def exact_similarities(pairs: DataFrame, texts: Texts, scheme: Scheme) -> DataFrame:
    """The pairs (anchor, item) with the exact `similarity` of their texts: Jaccard of the shingle sets.

    Only the texts of the pairs are read, each once. Ids of any type serve; a pair without both texts is left out.
    """
    size, normalisation = scheme.shingle_words, scheme.normalisation
    id_field = pairs.schema["item"]
    set_schema = StructType([StructField("member", id_field.dataType), StructField("shingle_set", BinaryType())])
    schema = StructType([*pairs.select("anchor", "item").schema.fields, StructField("similarity", DoubleType())])

    def to_sets(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            sets = shingle_sets(batch.column("text"), size, normalisation)
            yield pa.RecordBatch.from_arrays([batch.column("item"), sets], names=["member", "shingle_set"])

    members = pairs.select("anchor", "item", F.explode(F.array("anchor", "item")).alias("member"))
    needed = members.select(F.col("member").alias("item")).distinct()
    sets = texts(needed).select("item", "text").mapInArrow(to_sets, set_schema)
    met = members.join(sets, "member", "inner").select("anchor", "item", "member", "shingle_set")
    together = met.repartition("anchor", "item").sortWithinPartitions("anchor", "item", "member")
    return together.select("anchor", "item", "shingle_set").mapInArrow(compare_neighbours, schema)


def compare_neighbours(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows (anchor, item, shingle_set), the two of a pair one after the other, to rows (anchor, item, similarity)."""
    last = None
    for batch in batches:
        if not batch.num_rows:
            continue
        rows = pa.Table.from_batches([batch] if last is None else [last, batch]).combine_chunks()
        first, second = rows.slice(0, rows.num_rows - 1), rows.slice(1)
        same = pc.and_(*(pc.equal(first[name], second[name]) for name in ("anchor", "item")))
        left, right = first.filter(same), second.filter(same)
        sets = (side["shingle_set"].combine_chunks() for side in (left, right))
        similarity = pa.array(exact_jaccard(*sets), pa.float64())
        columns = [left[name].combine_chunks() for name in ("anchor", "item")]
        yield pa.RecordBatch.from_arrays([*columns, similarity], names=["anchor", "item", "similarity"])
        last = batch.slice(batch.num_rows - 1)


def verify_pairs(
    pairs: DataFrame, sketches: DataFrame, texts: Texts, settings: ClusterSettings, scheme: Scheme, cut: Cut
) -> DataFrame:
    """The edges among pairs that each decide about a document: rows (anchor, item, similarity, exact).

    Their similarity is at or above the threshold: by the estimate where that is sure, by the texts below (`verify:
    exact`). `exact` tells which.
    """
    sure = Bounds.of(settings, scheme.permutations).sure
    return edges_of(judge_pairs(pairs, sketches, texts, settings, scheme, cut, sure))


def judge_pairs(
    pairs: DataFrame,
    sketches: DataFrame,
    texts: Texts,
    settings: ClusterSettings,
    scheme: Scheme,
    cut: Cut,
    accept: float | None = None,
) -> DataFrame:
    """What is known of candidate pairs: rows (anchor, item, estimate, exact, accepted).

    By the estimate where it decides: below the lower bound, and from `accept` on, the upper bound if not given. By the
    texts in between (`verify: exact`): only there `exact` is not null. Pairs that the estimate rejects are left out,
    unless `write_pairs` asks for all. The result should be stored.
    """
    bounds = Bounds.of(settings, scheme.permutations)
    least = bounds.accept if accept is None else accept
    estimated = estimate_pairs(pairs, sketches, scheme, 0.0 if settings.write_pairs else bounds.reject)
    estimated = estimated.withColumnRenamed("similarity", "estimate")
    accepted = (F.col("estimate") >= least).alias("accepted")
    known = [*map(F.col, ("anchor", "item", "estimate")), F.lit(None).cast("double").alias("exact"), accepted]
    if settings.verify != "exact":
        return estimated.select(*known)
    estimated = cut(estimated, "estimates")
    between = (F.col("estimate") >= bounds.reject) & (F.col("estimate") < least)
    compared = compare_exactly(estimated.where(between), texts, settings, scheme)
    return estimated.where(~between).select(*known).unionAll(compared)


def compare_exactly(estimated: DataFrame, texts: Texts, settings: ClusterSettings, scheme: Scheme) -> DataFrame:
    """Pairs (anchor, item, estimate), as verified by their texts: rows (anchor, item, estimate, exact, accepted)."""
    compared = exact_similarities(estimated, texts, scheme).withColumnRenamed("similarity", "exact")
    accepted = (F.col("exact") >= settings.threshold).alias("accepted")
    return estimated.join(compared, ["anchor", "item"], "inner").select("anchor", "item", "estimate", "exact", accepted)


def edges_of(verified: DataFrame) -> DataFrame:
    """The accepted pairs as edges: rows (anchor, item, similarity, exact), `exact` telling which similarity it is."""
    similarity = F.coalesce("exact", "estimate").alias("similarity")
    return verified.where("accepted").select("anchor", "item", similarity, F.col("exact").isNotNull().alias("exact"))
