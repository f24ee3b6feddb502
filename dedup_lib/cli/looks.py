"""Commands that look at a store, or write the sample; none needs Spark."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dedup_lib.cli.context import scheme_of
from dedup_lib.clustering.verify import STANDARD_ERRORS, standard_error
from dedup_lib.config import Settings, load_settings
from dedup_lib.errors import InputError
from dedup_lib.evaluation import Evaluation, evaluate_store
from dedup_lib.reports.global_version import render_global_status
from dedup_lib.reports.status import render_status
from dedup_lib.sample import write_sample
from dedup_lib.tables.keys import GLOBAL
from dedup_lib.tables.published import list_versions, read_version
from dedup_lib.tables.read import published_files

BORDERLINE = 0.02  # what the extraction of a page may change of its similarity


def sample_command(directory: Path) -> dict[str, Any]:
    """Writes the sample snapshots and their truth."""
    try:
        summary = write_sample(directory)
    except OSError as error:
        raise InputError(f"{directory} cannot be written to ({error.strerror}): name another folder") from error
    return {"command": "sample", **asdict(summary)}


def status_command(root: str) -> str:
    """The snapshots of a store, and what it has across them, as text."""
    versions, across = list_versions(root), read_version(root, GLOBAL)
    if across and across.removed:
        across = None
    if not versions and not across:
        raise InputError(f"nothing is published under {root}: check the path, or run a snapshot first")
    parts = [render_status(versions)] if versions else []
    return "\n".join([*parts, render_global_status(across, versions)] if across else parts)


def paths_command(root: str, table: str) -> list[str]:
    """The published files of a table."""
    return published_files(root, table)


def evaluate_command(root: str, truth: Path, config: Path | None, overrides: Sequence[str]) -> Evaluation:
    """Scores a store against a truth."""
    if not truth.exists():
        raise InputError(f"there is no truth file {truth}: name another one with --truth")
    return evaluate(root, truth, load_settings(config, overrides))


def evaluate(root: str, truth: Path, settings: Settings) -> Evaluation:
    """Scores a store that was made with these settings: the borderline is as wide as `cluster.verify` leaves it."""
    cluster, scheme = settings.cluster, scheme_of(settings)
    error = standard_error(cluster.threshold, scheme.permutations)
    return evaluate_store(
        root,
        truth,
        cluster.threshold,
        scheme.bands,
        scheme.rows,
        verified=cluster.verify != "none",
        borderline=STANDARD_ERRORS * error if cluster.verify == "estimate" else BORDERLINE,
    )
