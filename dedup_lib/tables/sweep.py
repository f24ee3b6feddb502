"""Removal of what nothing refers to: files of failed, killed and lost attempts, and replaced versions."""

import logging
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from dedup_lib.tables.keys import SnapshotKey
from dedup_lib.tables.objects import LocalObjects
from dedup_lib.tables.published import PUBLISHED, Replaced, StageEntry

DRAFTS = "_drafts"
TEMPORARY = "_tmp"

logger = logging.getLogger(__name__)


def unexpired(previous: Iterable[Replaced], retain_seconds: int, now: datetime | None = None) -> tuple[Replaced, ...]:
    """The replaced stages that a reader may still be scanning."""
    oldest = (now or datetime.now(UTC)) - timedelta(seconds=retain_seconds)
    return tuple(old for old in previous if datetime.fromisoformat(old.replaced_at) > oldest)


def sweep_runs(objects: LocalObjects, key: SnapshotKey, keep: Iterable[StageEntry]) -> None:
    """Delete every file of this key in every table that no entry of `keep` names. Hold the key's lock.

    What cannot be deleted now is logged and left to the next sweep.
    """
    kept = {file.path for entry in keep for file in entry.files}
    kept_folders = {path.rpartition("/")[0] for path in kept}
    for table in objects.list_folders(""):
        if table.startswith(("_", ".")):
            continue
        for run in objects.list_folders(f"{table}/{key.folder}"):
            folder = f"{table}/{key.folder}/{run}"
            if not run.startswith("run="):
                continue
            if folder in kept_folders:
                _delete_strays(objects, folder, kept)
            elif not objects.delete_folder(folder):
                logger.warning("could not delete all of %s: the next run will", folder)


def sweep_temporary(objects: LocalObjects, key: SnapshotKey) -> None:
    """Delete what runs of this key that were killed left of intermediate data and half-written small objects."""
    objects.delete_folder(f"{TEMPORARY}/{key.folder}")
    source, _, snapshot = key.folder.partition("/")
    for folder in (f"{PUBLISHED}/{source}", f"{DRAFTS}/{source}"):
        for name in objects.list_files(folder):
            if name.startswith(f".{snapshot}.json.") and name.endswith(".tmp"):
                objects.delete(f"{folder}/{name}")


def _delete_strays(objects: LocalObjects, folder: str, kept: set[str]) -> None:
    for name in objects.list_files(folder):
        if f"{folder}/{name}" not in kept:
            objects.delete(f"{folder}/{name}")
