"""What each command does. The command line and the files in `jobs/` are two doors to these functions."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from dedup_lib.archives import InputFile, expand_inputs, read_texts
from dedup_lib.cli.context import Job, Request, rules_of, scheme_of
from dedup_lib.cli.steps import run_stage, settle_rules
from dedup_lib.config import load_settings, settings_record
from dedup_lib.config.settings import StorageSettings
from dedup_lib.errors import CheckFailedError, UsageError
from dedup_lib.reports.funnel import funnel_closes
from dedup_lib.tables.keys import SnapshotKey, new_run_id
from dedup_lib.tables.published import Version, read_version
from dedup_lib.tables.runs import RunFile
from dedup_lib.tables.schemas import STAGES
from dedup_lib.tables.workspace import open_workspace
from dedup_lib.text import require_engine

Tell = Callable[[str], None]
MOST_REMOTE_TRIALS = 8


@dataclass(frozen=True)
class Options:
    """The options that all stages take, as given on the command line."""

    root: str
    source: str
    snapshot: str
    config: Path | None = None
    overrides: Sequence[str] = ()
    inputs: Sequence[str] = ()
    crawl_date: str | None = None
    replace: bool = False
    dry_run: bool = False


def run_stages(command: str, stages: Sequence[str], options: Options, tell: Tell) -> dict[str, Any]:
    """Makes stages of one snapshot that are not there yet, and publishes them at once; gives the summary.

    What a killed run had finished is taken up again. Nothing is published unless all stages pass their checks.
    """
    key = SnapshotKey(options.source, options.snapshot)
    request = request_of(options, "extract" in stages, tell)
    if options.dry_run:
        return _plan(command, stages, key, request)
    run_id = new_run_id()
    with open_workspace(request.root, key, run_id, request.settings.store.retain_seconds) as work:
        record = RunFile(
            request.root,
            run_id,
            command=command,
            configuration=settings_record(request.settings),
            inputs=[{"path": file.path, "bytes": file.bytes, "version": file.version} for file in request.inputs],
            schemes={"scheme": str(scheme_of(request.settings)), "url_scheme": rules_of(request).scheme},
        )
        with record:
            record.note(source=key.source, snapshot=key.snapshot)
            job = Job(request, work, record, tell)
            made = ["extract"] if "extract" not in stages and "resolve" in stages and settle_rules(job) else []
            made += [stage for stage in stages if run_stage(job, stage)]
            counts = {
                stage: dict(entry.counts) for stage, entry in work.version.stages.items() if stage in {*stages, *made}
            }
            if failures := funnel_closes(counts):
                raise CheckFailedError(failures, "nothing was published; this is a fault of ours: please report it")
            work.publish()
            record.note(made=made)
    return _summary(command, key, run_id, made, counts, job.seconds)


def published(root: str, source: str, snapshot: str) -> Version | None:
    """The published version of a snapshot."""
    return read_version(root, SnapshotKey(source, snapshot))


def request_of(options: Options, reads_inputs: bool, tell: Tell) -> Request:
    """What the options ask for, with the settings and the inputs that they name."""
    if not options.root.strip():
        raise UsageError("--output is empty: name the folder of the store")
    try:
        options.root.encode()
    except UnicodeEncodeError as error:
        raise UsageError("--output has a name that is not UTF-8: name another folder") from error
    if not all(name.strip() for name in options.inputs):
        raise UsageError("an --input is empty: name WARC files, tables of text, folders or globs")
    settings = load_settings(options.config, options.overrides)
    files: list[InputFile] = []
    if reads_inputs:
        if not options.inputs:
            raise UsageError("no input was given: name WARC files, tables of text, folders or globs with --input")
        files = expand_inputs(options.inputs, settings.storage, tell)
        require_engine(settings.extract.engine)
        _try_tables(files, _day(options.crawl_date), settings.storage)
    elif options.inputs:
        raise UsageError("--input is read by extract and run only")
    return Request(
        options.root,
        settings,
        files,
        _day(options.crawl_date),
        options.replace,
        options.config.resolve().parent if options.config else None,
    )


def _try_tables(files: Sequence[InputFile], crawl_date: date | None, storage: StorageSettings) -> None:
    """Reads a row of each table of text: one that lacks a column is told at once, and not by a task of Spark's.

    Of tables in storage, where each costs requests, only of the first few.
    """
    tables = [file for file in files if file.kind == "texts"]
    remote = [file for file in tables if "://" in file.path]
    for file in [file for file in tables if "://" not in file.path] + remote[:MOST_REMOTE_TRIALS]:
        next(read_texts(file, crawl_date, max_rows=1, storage=storage), None)


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise UsageError(f"--crawl-date {text} is no date: write it as 2026-11-30") from error


def _plan(command: str, stages: Sequence[str], key: SnapshotKey, request: Request) -> dict[str, Any]:
    """What the command would do, without doing it."""
    version = read_version(request.root, key)
    there = sorted(version.stages, key=STAGES.index) if version else []
    return {
        "command": command,
        "dry_run": True,
        "source": key.source,
        "snapshot": key.snapshot,
        "root": request.root,
        "stages": list(stages),
        "published": there,
        "inputs": len(request.inputs),
        "input_bytes": sum(max(file.bytes, 0) for file in request.inputs),
        "scheme": str(scheme_of(request.settings)),
        "url_scheme": rules_of(request).scheme,
    }


def _summary(
    command: str,
    key: SnapshotKey,
    run_id: str,
    made: Sequence[str],
    counts: dict[str, dict[str, Any]],
    seconds: dict[str, float],
) -> dict[str, Any]:
    return {
        "command": command,
        "source": key.source,
        "snapshot": key.snapshot,
        "run": run_id,
        "made": list(made),
        "counts": counts,
        "seconds": seconds,
    }


def as_json(summary: dict[str, Any]) -> str:
    """A summary as the one line that ends the standard output of a command."""
    return json.dumps(summary, ensure_ascii=False, default=str)
