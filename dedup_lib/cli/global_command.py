"""`crawl-dedup global`: which snapshots take part, what there is to do, and publishing it."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dedup_lib.cli.commands import Options, Tell, request_of
from dedup_lib.cli.context import Request
from dedup_lib.cli.global_job import GlobalJob
from dedup_lib.cli.global_maker import make_global
from dedup_lib.cli.reading import columns_shape
from dedup_lib.cli.remove import sweep_removed
from dedup_lib.config import Settings, fingerprint, settings_record
from dedup_lib.errors import ConflictError, InputError, UsageError
from dedup_lib.tables.across import changes_since, is_ready, name_of, runs_of
from dedup_lib.tables.keys import GLOBAL, StoreKey, new_run_id
from dedup_lib.tables.published import StageEntry, Version, list_versions, read_version
from dedup_lib.tables.read import require_one_scheme
from dedup_lib.tables.runs import RunFile
from dedup_lib.tables.store_schemas import STORE_TABLES
from dedup_lib.tables.workspace import Workspace, open_workspace

STAGE = "global"
VERSION = 1  # rises whenever other rows would be made of the same snapshots and settings
CHANGED = "was replaced or removed while it was read: start again"


@dataclass(frozen=True)
class GlobalOptions:
    """The options of the command; `against` has snapshots as SOURCE/SNAPSHOT, all that are ready when empty."""

    common: Options
    against: Sequence[str] = ()
    rebuild: bool = False


def dedup_globally(options: GlobalOptions, tell: Tell) -> dict[str, Any]:
    """Makes or adds to the global version of a store, and publishes it; gives the summary.

    Nothing is done when the snapshots and the settings are those that it was made from. UsageError for settings other
    than those without `rebuild`, SchemeMismatchError for snapshots of different schemes, InputError for snapshots that
    are not there or not ready, ConflictError when another run is at it.
    """
    request = request_of(options.common, False, tell)
    versions = _choose(request.root, options.against, tell)
    if not versions:
        return _withdraw(request, options.common.dry_run)
    _require_stars(request.settings)
    if options.common.dry_run:
        return _plan(request, versions)
    run_id = new_run_id()
    retain = request.settings.store.retain_seconds
    sweep_removed(request.root, run_id, retain)
    with open_workspace(request.root, GLOBAL, run_id, retain) as work:
        with RunFile(
            request.root,
            run_id,
            command=STAGE,
            configuration=settings_record(request.settings),
            inputs=[{"snapshot": name, "run": run} for name, run in _runs(versions).items()],
            schemes=_schemes(versions),
        ) as record:
            job = GlobalJob(request, work, record, tell, versions=versions)
            made = _run(job, options.rebuild)
            work.publish()
            record.note(made=[STAGE] if made else [])
        entry = work.version.stages[STAGE]
        _tell_changes(work.version, request.root, tell)
    return _summary(run_id, made, entry, job.seconds)


def _choose(root: str, against: Sequence[str], tell: Tell) -> list[Version]:
    """The snapshots that take part; none where none is left, and a global version is."""
    there = {name_of(version.key): version for version in list_versions(root)}
    if unknown := [name for name in against if name not in there]:
        known = ", ".join(there) or "none"
        raise InputError(f"--against {unknown[0]}: {root} has no such snapshot (there are: {known})")
    if against:
        chosen = [there[name] for name in dict.fromkeys(against)]
        if unready := [one for one in chosen if not is_ready(one)]:
            raise InputError(f"{unready[0].key} is not clustered, or its clusters are stale: run cluster on it first")
    else:
        chosen = [one for one in there.values() if is_ready(one)]
        for one in there.values():
            if not is_ready(one):
                tell(f"global: {name_of(one.key)} is left out: it is not clustered, or its clusters are stale")
    if not chosen:
        there_is = read_version(root, GLOBAL)
        if there_is is None or there_is.removed:
            raise InputError(f"no snapshot under {root} is clustered: run a snapshot first")
        tell("global: no snapshot is left that is clustered")
        return []
    require_one_scheme(chosen, "cluster")
    return chosen


def _withdraw(request: Request, dry_run: bool) -> dict[str, Any]:
    """Unpublishes the global version of a store without snapshots: what was removed must not stay in it."""
    run_id, retain = new_run_id(), request.settings.store.retain_seconds
    there = read_version(request.root, GLOBAL)
    removed = {name: entry.run for name, entry in there.stages.items()} if there else {}
    if dry_run:
        return {"command": STAGE, "dry_run": True, "root": request.root, "removed": removed}
    with open_workspace(request.root, GLOBAL, run_id, retain) as work:
        work.withdraw()
    return {"command": STAGE, "run": run_id, "made": [], "removed": removed}


def _require_stars(settings: Settings) -> None:
    shape = settings.cluster.shape
    if shape != "star":
        raise UsageError(f"global dedup makes stars only, and cluster.shape is {shape}: set cluster.shape=star for it")


def _run(job: GlobalJob, rebuild: bool) -> bool:
    """Makes the stage unless it is there; gives whether it was made."""
    work, runs, print_of = job.work, _runs(job.versions), fingerprint(_shape(job))
    there = work.entry(STAGE)
    if there and _is_current(work, there, print_of, runs) and (there.counts["anew"] or not rebuild):
        job.tell("global: nothing to do")
        return False
    base = None if rebuild else there
    if base and base.fingerprint != print_of:
        raise ConflictError(f"{GLOBAL} was made with other settings or another scheme; use --rebuild to make it anew")
    if base and not work.is_whole(base):
        raise InputError(f"files of {GLOBAL} are gone or damaged: use --rebuild to make it anew")
    made_from = runs | ({STAGE: base.run} if base else {})
    if work.plan(STAGE, print_of, made_from, replace=True) == "done":
        job.tell("global: finished by a run that was killed")
        return True
    job.tell(f"global: {'adding to ' + base.run if base else 'all anew'}, {len(runs)} snapshots")
    start = time.monotonic()
    with job.run_file.timed(STAGE):
        try:
            tables, counts = make_global(job, base)
        except Exception as error:
            _blame_changes(job, error)
            raise
    job.seconds[STAGE] = round(time.monotonic() - start, 1)
    job.run_file.count(STAGE, counts)
    url_scheme = job.versions[0].stages["cluster"].url_scheme
    scheme = str(job.scheme)
    work.finish_stage(StageEntry(STAGE, work.run_id, print_of, scheme, url_scheme, made_from, counts, tables))
    return True


def _blame_changes(job: GlobalJob, error: Exception) -> None:
    """InputError in place of an error that comes of a snapshot whose files went while they were read."""
    for version in job.versions:
        now = read_version(job.request.root, version.key)
        if now is None or now.stages.get("cluster") != version.stages["cluster"] or not is_ready(now):
            raise InputError(f"{version.key} {CHANGED}") from error


def _is_current(work: Workspace[StoreKey], entry: StageEntry, print_of: str, runs: Mapping[str, str]) -> bool:
    return entry.fingerprint == print_of and runs_of(entry.made_from) == runs and work.is_whole(entry)


def _runs(versions: Sequence[Version]) -> dict[str, str]:
    return {name_of(version.key): version.stages["cluster"].run for version in versions}


def _schemes(versions: Sequence[Version]) -> dict[str, str]:
    entry = versions[0].stages["cluster"]
    return {"scheme": str(entry.scheme), "url_scheme": str(entry.url_scheme)}


def _shape(job: GlobalJob) -> Mapping[str, Any]:
    """Everything that shapes the result, besides the snapshots."""
    settings = job.settings
    return {
        "stage": STAGE,
        "version": VERSION,
        "schemas": columns_shape(STORE_TABLES.values()),
        "cluster": settings.cluster.model_dump(exclude={"write_pairs", "check_sample"}),
        "global": settings.global_.model_dump(),
        "source_priority": settings.source_priority,
        **_schemes(job.versions),
    }


def _tell_changes(version: Version[StoreKey], root: str, tell: Tell) -> None:
    """What changed of the snapshots since the run looked at them."""
    changes = changes_since(version, list_versions(root))
    if changes.stale:
        tell(f"global: {', '.join((*changes.replaced, *changes.removed))} changed since: run global again")


def _plan(request: Request, versions: Sequence[Version]) -> dict[str, Any]:
    """What the command would do, without doing it."""
    there = read_version(request.root, GLOBAL)
    entry = there.stages.get(STAGE) if there else None
    return {
        "command": STAGE,
        "dry_run": True,
        "root": request.root,
        "snapshots": _runs(versions),
        "published": runs_of(entry.made_from) if entry else None,
        "documents": sum(version.stages["cluster"].tables["representatives"].rows for version in versions),
        **_schemes(versions),
    }


def _summary(run_id: str, made: bool, entry: StageEntry, seconds: Mapping[str, float]) -> dict[str, Any]:
    return {
        "command": STAGE,
        "run": run_id,
        "made": [STAGE] if made else [],
        "counts": {STAGE: dict(entry.counts)},
        "seconds": dict(seconds),
    }
