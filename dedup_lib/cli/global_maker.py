"""What `global` reads, calls, writes and checks."""

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.cli.global_job import GlobalJob
from dedup_lib.cli.makers import REMEDY, Counts, Tables
from dedup_lib.errors import CheckFailedError
from dedup_lib.stages.global_checks import check_global_references, check_global_similarities
from dedup_lib.stages.global_clusters import GlobalResult, cluster_globally
from dedup_lib.stages.global_items import FirstDay, first_days, order_documents, order_snapshots
from dedup_lib.stages.global_representatives import describe_kept_globally
from dedup_lib.tables.across import name_of
from dedup_lib.tables.keys import SnapshotKey
from dedup_lib.tables.published import StageEntry
from dedup_lib.tables.read import read_entry
from dedup_lib.tables.schemas import REPRESENTATIVES
from dedup_lib.tables.store_schemas import GLOBAL_CLUSTERS, GLOBAL_REPRESENTATIVES
from dedup_lib.tables.validate import check_table

REASONS = ("kept", "url", "exact", "near")


def make_global(job: GlobalJob, base: StageEntry | None) -> tuple[Tables, Counts]:
    """The representatives of snapshots to global clusters; `base` is the version that is added to."""
    settings, root = job.settings.cluster, job.request.root
    days = _first_days(job)
    order = order_snapshots(days, job.settings.source_priority, job.settings.global_.keep)
    documents = job.cut(order_documents(job.representatives(), order, settings.keep), "documents")
    before = read_entry(job.spark, root, base.tables["global_clusters"], GLOBAL_CLUSTERS) if base else None
    result = cluster_globally(documents, before, job.sketches_of, job.texts_of, settings, job.scheme, job.cut)
    made = {"global_clusters": job.write(result.clusters, GLOBAL_CLUSTERS)}
    clusters = job.staged(made["global_clusters"], GLOBAL_CLUSTERS)
    kept = describe_kept_globally(clusters, documents, settings.aliases_per_row)
    made["global_representatives"] = job.write_global_representatives(kept)
    counts = _counts(job, made, clusters, result, days)
    checked = (
        check_global_similarities(clusters, job.texts_of, settings, job.scheme, job.cut) if counts["near"] else None
    )
    failures, counts["checked"], counts["lowest_checked"] = checked or ([], 0, None)
    failures = [*failures, *check_table(clusters, GLOBAL_CLUSTERS), *check_global_references(clusters)]
    if failures := [*failures, *_do_not_close(job, made, counts)]:
        raise CheckFailedError(failures, REMEDY)
    return made, counts


def _first_days(job: GlobalJob) -> list[FirstDay]:
    found = first_days(job.representatives()).collect()  # one row per snapshot
    days = {SnapshotKey(row["source"], row["snapshot"]): row["day"] for row in found}
    return [FirstDay(version.key, days.get(version.key)) for version in job.versions]


def _counts(
    job: GlobalJob, made: Tables, clusters: DataFrame, result: GlobalResult, days: Sequence[FirstDay]
) -> Counts:
    by_reason = clusters.groupBy("source", "snapshot", "reason").agg(
        F.count("*").alias("count"), F.max("cluster_size").alias("largest")
    )
    found = by_reason.collect()  # one row per snapshot and reason
    reasons = {reason: sum(row["count"] for row in found if row["reason"] == reason) for reason in REASONS}
    accepted, compared = F.count_if("accepted"), F.count_if(F.col("exact").isNotNull())
    told = result.near.verified.agg(accepted, compared).collect()[0]  # one row
    snapshots: dict[str, dict[str, Any]] = {}
    for one in days:
        of_this = {row["reason"]: row["count"] for row in found if (row["source"], row["snapshot"]) == _pair(one.key)}
        snapshots[name_of(one.key)] = {
            "documents": sum(of_this.values()),
            "kept": of_this.get("kept", 0),
            "removed": sum(count for reason, count in of_this.items() if reason != "kept"),
            "first_crawl_date": one.day.isoformat() if one.day else None,
        }
    representatives = job.staged(made["global_representatives"], GLOBAL_REPRESENTATIVES)
    across = representatives.agg(F.count_if(F.size("counts") > 1)).collect()[0][0]  # one row
    existing = result.existing
    return {
        "documents": made["global_clusters"].rows,
        **reasons,
        "clusters_across_snapshots": across,
        "largest_cluster": max((row["largest"] for row in found), default=0),
        "anew": existing is None,
        "departed": existing.departed if existing else 0,
        "promoted": existing.promoted if existing else 0,
        "expelled": existing.expelled if existing else 0,
        "candidate_pairs": result.near.pairs.count(),
        "edges": told[0],
        "compared_exactly": told[1],
        "passes": result.near.passes,
        "relaxed_priority": result.near.relaxed,
        "snapshots": snapshots,
    }


def _pair(key: SnapshotKey) -> tuple[str, str]:
    return key.source, key.snapshot


def _do_not_close(job: GlobalJob, made: Tables, counts: Counts) -> list[str]:
    """Each document that came in is in exactly one row, and each kept one was written."""
    failures = []
    for version in job.versions:
        name = name_of(version.key)
        given, found = (
            version.stages["cluster"].tables[REPRESENTATIVES.name].rows,
            counts["snapshots"][name]["documents"],
        )
        if given != found:
            failures.append(f"{name} has {given} representatives, but {found} rows of global_clusters are of it")
    if made["global_representatives"].rows != counts["kept"]:
        failures.append(
            f"{made['global_representatives'].rows} global representatives were written for {counts['kept']} documents"
        )
    return failures
