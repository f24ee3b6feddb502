"""What each stage reads, calls, writes and checks."""

from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.cli.context import Job
from dedup_lib.cli.reading import make_extract
from dedup_lib.clustering.near import NearClusters
from dedup_lib.clustering.representatives import describe_kept
from dedup_lib.clustering.shapes import compare_shapes
from dedup_lib.errors import CheckFailedError
from dedup_lib.stages.canonicals import FATES
from dedup_lib.stages.checks import check_references, check_similarities
from dedup_lib.stages.cluster import cluster
from dedup_lib.stages.resolve import resolve
from dedup_lib.stages.revisits import KINDS, captures_of_revisits
from dedup_lib.stages.sign import sign
from dedup_lib.tables.published import TableEntry
from dedup_lib.tables.schemas import CLUSTERS, DOCUMENTS, FETCHES, IDENTITIES, PAIRS, SIGNATURES
from dedup_lib.tables.validate import check_table
from dedup_lib.urls import identify_column, undone_rule

REMEDY = "nothing was published; look at the run file, mend the inputs or the settings, and run again"
Tables = dict[str, TableEntry]
Counts = dict[str, Any]


def make_resolve(job: Job) -> tuple[Tables, Counts]:
    """Documents to identities."""
    rules = job.rules
    resolved = resolve(
        job.narrow(DOCUMENTS),
        job.texts_of,
        job.settings.resolve,
        job.scheme,
        lambda url, other: undone_rule(url, other, rules),
        lambda urls: identify_column(urls, rules).url_key,
        job.cut,
    )
    made = {"identities": job.write(resolved.identities, IDENTITIES)}
    identities = job.staged(made["identities"], IDENTITIES)
    found = identities.agg(
        F.count("*").alias("captures"), F.count_if("wins").alias("pages"), F.count_if(F.col("conflict").isNotNull())
    ).collect()[0]  # one row
    counts = {
        "captures": found[0],
        "pages": found[1],
        "url_duplicates": found[0] - found[1],
        "conflicts": found[2],
        "conflicts_by_rule": _most_frequent(identities.where("conflict is not null"), "conflict") if found[2] else {},
        **_declaration_counts(resolved.declarations),
    }
    _require(
        [*check_table(identities, IDENTITIES), *_differ("captures", counts["captures"], job, "extract", "documents")]
    )
    return made, counts


def _declaration_counts(declarations: DataFrame | None) -> Counts:
    """What became of the canonicals that pages declare, and the hosts whose declarations proved wrong most often."""
    if declarations is None:
        return {"canonicals": {"declared": 0, **dict.fromkeys(FATES, 0)}, "canonicals_refused_by_host": {}}
    fates = _by("fate", declarations.groupBy("fate").count())
    refused = declarations.where(F.col("fate").isin("different_text", "over_fan_in"))
    return {
        "canonicals": {"declared": sum(fates.values()), **dict.fromkeys(FATES, 0), **fates},
        "canonicals_refused_by_host": _most_frequent(refused, "host"),
    }


def _most_frequent(frame: DataFrame, name: str) -> dict[str, int]:
    """The hundred most frequent values of a column."""
    return _by(name, frame.groupBy(name).count().orderBy(F.desc("count"), name).limit(100))


def make_sign(job: Job) -> tuple[Tables, Counts]:
    """Documents and identities to the feature store."""
    made = {"signatures": job.write(sign(job.scan(DOCUMENTS), job.read(IDENTITIES), job.scheme), SIGNATURES)}
    signatures = job.staged(made["signatures"], SIGNATURES)
    short = signatures.agg(F.count_if(F.col("shingles") == 0)).collect()[0][0]  # one row
    counts = {"signatures": made["signatures"].rows, "short": short}
    _require(
        [*check_table(signatures, SIGNATURES), *_differ("signatures", counts["signatures"], job, "resolve", "pages")]
    )
    return made, counts


def make_cluster(job: Job) -> tuple[Tables, Counts]:
    """Documents, identities and signatures to clusters and representatives."""
    settings, scheme = job.settings.cluster, job.scheme
    result = cluster(
        job.narrow(DOCUMENTS),
        job.texts_of,
        job.read(IDENTITIES),
        job.read(SIGNATURES),
        settings,
        scheme,
        job.cut,
    )
    made = {"clusters": job.write(result.clusters, CLUSTERS)}
    if settings.write_pairs:
        made["pairs"] = job.write(result.pairs, PAIRS)
    clusters = job.staged(made["clusters"], CLUSTERS)
    revisits = _revisits(job)
    made["representatives"] = job.write_representatives(describe_kept(clusters, settings.aliases_per_row, revisits))
    by_reason = clusters.groupBy("reason").agg(F.count("*").alias("count"), F.max("cluster_size").alias("largest"))
    found = {row["reason"]: row for row in by_reason.collect()}  # one row per reason
    reasons = {reason: found[reason]["count"] if reason in found else 0 for reason in ("kept", "url", "exact", "near")}
    none: tuple[list[str], int, float | None] = ([], 0, None)
    checked = check_similarities(clusters, job.texts_of, settings, scheme, job.cut) if reasons["near"] else none
    counts = {
        "captures": made["clusters"].rows,
        **reasons,
        "largest_cluster": max((row["largest"] for row in found.values()), default=0),
        **_near_counts(job, result.near),
        "revisits": revisits.join(clusters, "doc_id", "left_semi").count() if revisits else 0,
        "checked": checked[1],
        "lowest_checked": checked[2],
    }
    _require(
        [
            *check_table(clusters, CLUSTERS),
            *(check_table(job.staged(made["pairs"], PAIRS), PAIRS) if "pairs" in made else []),
            *check_references(clusters),
            *checked[0],
            *_differ("captures", counts["captures"], job, "extract", "documents"),
            *_differ("url duplicates", counts["url"], job, "resolve", "url_duplicates"),
        ]
    )
    if made["representatives"].rows != counts["kept"]:
        raise CheckFailedError(
            [f"{made['representatives'].rows} representatives were written for {counts['kept']} kept documents"], REMEDY
        )
    return made, counts


def _near_counts(job: Job, near: NearClusters) -> Counts:
    """How the near duplicates came, and what either shape of clusters makes of the same similar pairs."""
    told = near.verified.agg(F.count_if("accepted"), F.count_if(F.col("exact").isNotNull())).collect()[0]  # one row
    return {
        "candidate_pairs": near.pairs.count(),
        "edges": told[0],
        "compared_exactly": told[1],
        "passes": near.passes,
        "relaxed_priority": near.relaxed,
        "shapes": compare_shapes(near.stars, near.edges, job.settings.cluster, job.cut),
    }


def _revisits(job: Job) -> DataFrame | None:
    """The revisits whose capture is in the snapshot; None where there are no revisits at all."""
    entry = job.work.entry("extract")
    kinds = entry.counts["fetches_by_kind"] if entry else {}
    if not any(kinds.get(kind) for kind in KINDS):
        return None
    return job.cut(captures_of_revisits(job.read(FETCHES), job.narrow(DOCUMENTS)), "revisits")


def _differ(what: str, found: int, job: Job, stage: str, count: str) -> list[str]:
    """The failure that a count is not what an earlier stage counted."""
    entry = job.work.entry(stage)
    expected = entry.counts[count] if entry else None
    return [] if found == expected else [f"{found} {what}, but {stage} counted {expected} {count}"]


def _require(failures: list[str]) -> None:
    if failures:
        raise CheckFailedError(failures, REMEDY)


def _by(name: str, counted: DataFrame) -> dict[str, int]:
    """A small grouped count (types, kinds, reasons: a closed list) as a dictionary in the order of its keys."""
    return {row[name]: row["count"] for row in sorted(counted.collect(), key=lambda row: str(row[name]))}


MAKERS: dict[str, Callable[[Job], tuple[Tables, Counts]]] = {
    "extract": make_extract,
    "resolve": make_resolve,
    "sign": make_sign,
    "cluster": make_cluster,
}
