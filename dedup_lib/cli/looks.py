"""Commands that look at a store, or write the sample; none needs Spark."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dedup_lib.cli.context import scheme_of
from dedup_lib.config import load_settings
from dedup_lib.errors import CheckFailedError, InputError
from dedup_lib.evaluation import evaluate_store, render_evaluation
from dedup_lib.reports.status import render_status
from dedup_lib.sample import write_sample
from dedup_lib.tables.published import list_versions
from dedup_lib.tables.read import published_files


def sample_command(directory: Path) -> dict[str, Any]:
    """Writes the sample snapshots and their truth."""
    try:
        summary = write_sample(directory)
    except OSError as error:
        raise InputError(f"{directory} cannot be written to ({error.strerror}): name another folder") from error
    return {"command": "sample", **asdict(summary)}


def status_command(root: str) -> str:
    """The snapshots of a store as text."""
    versions = list_versions(root)
    if not versions:
        raise InputError(f"nothing is published under {root}: check the path, or run a snapshot first")
    return render_status(versions)


def paths_command(root: str, table: str) -> list[str]:
    """The published files of a table."""
    return published_files(root, table)


def evaluate_command(
    root: str, truth: Path, config: Path | None, overrides: Sequence[str]
) -> tuple[str, dict[str, Any]]:
    """Scores a store against a truth; CheckFailedError where it does not hold."""
    settings = load_settings(config, overrides)
    scheme = scheme_of(settings)
    evaluation = evaluate_store(root, truth, settings.cluster.threshold, scheme.bands, scheme.rows)
    if evaluation.failures:
        raise CheckFailedError(evaluation.failures, "the store does not agree with the truth")
    return render_evaluation(evaluation), {"command": "evaluate", **evaluation.to_json()}
