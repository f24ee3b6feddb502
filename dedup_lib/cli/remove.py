"""`crawl-dedup remove`: takes a snapshot out of a store."""

from contextlib import suppress
from typing import Any

from dedup_lib.cli.commands import Options, Tell, request_of
from dedup_lib.config import settings_record
from dedup_lib.errors import ConflictError, InputError
from dedup_lib.tables.across import name_of, runs_of
from dedup_lib.tables.keys import GLOBAL, SnapshotKey, new_run_id
from dedup_lib.tables.published import list_removed, list_versions, read_version
from dedup_lib.tables.runs import RunFile
from dedup_lib.tables.workspace import open_workspace


def remove_snapshot(options: Options, tell: Tell) -> dict[str, Any]:
    """Unpublishes a snapshot and deletes its tables, for readers in mid-scan after `store.retain_seconds`.

    A global version that was made from it is stale from then on; the next `global` takes the snapshot out of it.
    InputError when there is no such snapshot, ConflictError when another run owns it.
    """
    key = SnapshotKey(options.source, options.snapshot)
    request = request_of(options, False, tell)
    retain, run_id = request.settings.store.retain_seconds, new_run_id()
    version = read_version(request.root, key)
    if version is None or version.removed:
        known = ", ".join(name_of(one.key) for one in list_versions(request.root)) or "none"
        raise InputError(f"there is no {key} under {request.root} (there are: {known})")
    if options.dry_run:
        return _summary(key, None, {name: entry.run for name, entry in version.stages.items()})
    with open_workspace(request.root, key, run_id, retain) as work:
        configuration = settings_record(request.settings)
        with RunFile(request.root, run_id, command="remove", configuration=configuration) as record:
            record.note(source=key.source, snapshot=key.snapshot)
            stages = {name: entry.run for name, entry in work.published.stages.items()} if work.published else {}
            work.withdraw()
            record.note(removed=stages)
    sweep_removed(request.root, run_id, retain)
    whole = read_version(request.root, GLOBAL)
    if whole and not whole.removed and name_of(key) in runs_of(whole.stages["global"].made_from):
        tell(f"remove: the global version was made from {name_of(key)}, and is stale: run global")
    return _summary(key, run_id, stages)


def sweep_removed(root: str, run_id: str, retain_seconds: int) -> None:
    """Deletes what was kept of removed snapshots for readers, where that time is over."""
    for version in list_removed(root):
        with suppress(ConflictError), open_workspace(root, version.key, run_id, retain_seconds) as work:
            if work.published is not None and work.published.removed:
                work.withdraw()


def _summary(key: SnapshotKey, run_id: str | None, stages: dict[str, str]) -> dict[str, Any]:
    dry = {} if run_id else {"dry_run": True}
    return {
        "command": "remove",
        **dry,
        "source": key.source,
        "snapshot": key.snapshot,
        "run": run_id,
        "removed": stages,
    }
