"""Removal of what nothing refers to: files of failed, killed and lost attempts, and replaced versions."""

import logging
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from dedup_lib.tables.keys import Key
from dedup_lib.tables.objects import LocalObjects
from dedup_lib.tables.published import PUBLISHED, Replaced, StageEntry

DRAFTS = "_drafts"
TEMPORARY = "_tmp"

logger = logging.getLogger(__name__)


def unexpired(previous: Iterable[Replaced], retain_seconds: int, now: datetime | None = None) -> tuple[Replaced, ...]:
    """The replaced stages that a reader may still be scanning."""
    oldest = (now or datetime.now(UTC)) - timedelta(seconds=retain_seconds)
    return tuple(old for old in previous if datetime.fromisoformat(old.replaced_at) > oldest)


def sweep_runs(objects: LocalObjects, key: Key, keep: Iterable[StageEntry]) -> None:
    """Delete every file of this key in every table that no entry of `keep` names. Hold the key's lock.

    What cannot be deleted now is logged and left to the next sweep.
    """
    kept = {file.path for entry in keep for file in entry.files}
    kept_folders = {path.rpartition("/")[0] for path in kept}
    for table in objects.list_folders(""):
        if table.startswith(("_", ".")) or not key.owns(table):
            continue
        for run in objects.list_folders(key.runs_folder(table)):
            folder = f"{key.runs_folder(table)}/{run}"
            if not run.startswith("run="):
                continue
            if folder in kept_folders:
                _delete_strays(objects, folder, kept)
            elif not objects.delete_folder(folder):
                logger.warning("could not delete all of %s: the next run will", folder)


def sweep_temporary(objects: LocalObjects, key: Key) -> None:
    """Delete what runs of this key that were killed left of intermediate data and half-written small objects."""
    objects.delete_folder(f"{TEMPORARY}/{key.folder}")
    for path in (f"{PUBLISHED}/{key.folder}", f"{DRAFTS}/{key.folder}"):
        folder, _, own = path.rpartition("/")
        for name in objects.list_files(folder):
            if name.startswith(f".{own}.json.") and name.endswith(".tmp"):
                objects.delete(f"{folder}/{name}")


def _delete_strays(objects: LocalObjects, folder: str, kept: set[str]) -> None:
    for name in objects.list_files(folder):
        if f"{folder}/{name}" not in kept:
            objects.delete(f"{folder}/{name}")
