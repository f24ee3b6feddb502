"""What each stage reads, calls, writes and checks."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.cli.context import Job
from dedup_lib.clustering.representatives import describe_kept
from dedup_lib.errors import CheckFailedError, InputError
from dedup_lib.stages.canonicals import FATES
from dedup_lib.stages.checks import check_references, check_similarities
from dedup_lib.stages.cluster import cluster
from dedup_lib.stages.extract import extractor, pack_inputs
from dedup_lib.stages.repeats import collapse_repeats, count_repeats
from dedup_lib.stages.resolve import resolve
from dedup_lib.stages.sign import sign
from dedup_lib.tables.published import TableEntry
from dedup_lib.tables.schemas import (
    ARCHIVES,
    CLUSTERS,
    DOCUMENTS,
    FETCHES,
    IDENTITIES,
    REJECTS,
    SIGNATURES,
)
from dedup_lib.tables.validate import check_table
from dedup_lib.tables.write import write_tagged
from dedup_lib.urls import identify_column, undone_rule

REMEDY = "nothing was published; look at the run file, mend the inputs or the settings, and run again"
Tables = dict[str, TableEntry]
Counts = dict[str, Any]


def make_extract(job: Job) -> tuple[Tables, Counts]:
    """Archives or tables of text to documents, fetches, rejects and archives."""
    request, settings = job.request, job.settings
    tasks = int(job.spark.conf.get("spark.sql.shuffle.partitions") or 1)
    packs = pack_inputs(request.inputs, settings.extract.split_bytes, tasks)
    reading = extractor(packs, job.work.key.source, settings.extract, job.rules, request.crawl_date)
    tables = (DOCUMENTS, FETCHES, REJECTS, ARCHIVES)
    folders = {table.name: job.work.table_folder(table.name) for table in tables}
    numbers = job.spark.range(0, len(packs), 1, len(packs))
    made = write_tagged(numbers, reading, tables, folders, request.root)
    repeats = count_repeats(job.staged(made["documents"], DOCUMENTS))
    repeated = repeats.agg(F.count("*"), F.count_if(F.col("contents") > 1)).collect()[0]  # one row
    if repeated[1] and request.inputs[0].kind == "texts":
        raise InputError(
            f"{repeated[1]} ids of the input name several pages, so they do not tell rows apart: make them unique, "
            "or leave the column out"
        )
    if repeated[0]:
        documents, archives = collapse_repeats(
            job.staged(made["documents"], DOCUMENTS), job.staged(made["archives"], ARCHIVES), repeats
        )
        documents, archives = job.cut(documents, "documents-once"), job.cut(archives, "archives-recounted")
        made |= {"documents": job.rewrite(documents, DOCUMENTS), "archives": job.rewrite(archives, ARCHIVES)}
    counts = _extract_counts(job, made)
    _require_few_rejects(counts, settings.run.max_reject_fraction)
    if counts["documents"] != made["documents"].rows:
        raise CheckFailedError(
            [f"{counts['documents']} documents were read, but {made['documents'].rows} were written"], REMEDY
        )
    return made, counts


def _extract_counts(job: Job, made: Tables) -> Counts:
    """The funnel of the stage, from the table `archives` alone: it has one row per input file."""
    archives = job.local(made["archives"], ARCHIVES)
    names = ("bytes", "documents", "repeated", "fetches", "rejects", "skipped", "faults")
    counts = {name: pc.sum(archives.column(name)).as_py() or 0 for name in names}
    pages = counts["documents"] + counts["repeated"] + counts["fetches"] + counts["rejects"]
    return {
        "inputs": archives.num_rows,
        "records": pages + counts["skipped"],
        "page_records": pages,
        **counts,
        "rejected": made["rejects"].rows,
        "records_by_type": _total(archives, "records"),
        "fetches_by_kind": _total(archives, "fetches_by_kind"),
        "rejects_by_reason": _total(archives, "rejects_by_reason"),
        "verdicts": dict(sorted(Counter(archives.column("verdict").to_pylist()).items())),
    }


def _total(table: pa.Table, column: str) -> dict[str, int]:
    """A column of maps, added up."""
    total: Counter[str] = Counter()
    for entries in table.column(column).to_pylist():
        total.update(dict(entries))
    return dict(sorted(total.items()))


def _require_few_rejects(counts: Counts, most: float) -> None:
    rejected, seen = counts["rejects"] + counts["faults"], counts["page_records"] + counts["faults"]
    if rejected > most * seen:
        reasons = ", ".join(f"{reason} {count}" for reason, count in counts["rejects_by_reason"].items())
        raise CheckFailedError(
            [f"{rejected} of {seen} records were rejected ({reasons})"],
            "nothing was published; look at the inputs, or raise run.max_reject_fraction",
        )


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
    clusters = job.staged(made["clusters"], CLUSTERS)
    made["representatives"] = job.write_representatives(describe_kept(clusters, settings.aliases_per_row))
    by_reason = clusters.groupBy("reason").agg(F.count("*").alias("count"), F.max("cluster_size").alias("largest"))
    found = {row["reason"]: row for row in by_reason.collect()}  # one row per reason
    reasons = {reason: found[reason]["count"] if reason in found else 0 for reason in ("kept", "url", "exact", "near")}
    none: tuple[list[str], int, float | None] = ([], 0, None)
    checked = check_similarities(clusters, job.texts_of, settings, scheme, job.cut) if reasons["near"] else none
    edges = result.near.edges.agg(F.count("*"), F.count_if("exact")).collect()[0]  # one row
    counts = {
        "captures": made["clusters"].rows,
        **reasons,
        "largest_cluster": max((row["largest"] for row in found.values()), default=0),
        "candidate_pairs": result.near.pairs.count(),
        "edges": edges[0],
        "compared_exactly": edges[1],
        "passes": result.near.passes,
        "checked": checked[1],
        "lowest_checked": checked[2],
    }
    _require(
        [
            *check_table(clusters, CLUSTERS),
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
