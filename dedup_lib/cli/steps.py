"""One stage of a run: is it there already, else make it, check it, finish it."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from dedup_lib.cli import reading
from dedup_lib.cli.context import Job
from dedup_lib.cli.makers import MAKERS
from dedup_lib.cli.reading import columns_shape, inputs_shape, reading_shape
from dedup_lib.cli.remake import remake_urls
from dedup_lib.config import fingerprint
from dedup_lib.errors import InputError
from dedup_lib.stages.archive_rows import UNREADABLE
from dedup_lib.tables.published import StageEntry, TableEntry
from dedup_lib.tables.read import require_scheme, table_entry
from dedup_lib.tables.schemas import DOCUMENTS, STAGE_INPUTS, STAGE_TABLES, TABLES

# Rises whenever a stage would make other rows of the same inputs and settings.
VERSIONS = {"extract": reading.VERSION, "resolve": 1, "sign": 1, "cluster": 3}


def run_stage(job: Job, stage: str) -> bool:
    """Makes a stage unless it is there already with the same inputs and settings; gives whether it was made.

    An extraction that is there, but by other URL rules, gets its URL columns remade from its own tables. InputError
    when an input is missing or stale, SchemeMismatchError when its URL columns were made by other rules.
    """
    made_from = {}
    for table in STAGE_INPUTS[stage]:
        entry = table_entry(job.work.version, TABLES[table])
        _require_rules(job, stage, table, entry)
        made_from[entry.stage] = entry.run
    print_of = fingerprint(_shape(job, stage))
    done = job.work.plan(stage, print_of, made_from, job.request.replace, job.rules.scheme) == "done"
    if done and not (job.request.replace and _has_gaps(job, stage)):
        return _keep(job, stage)
    job.tell(f"{stage}: started")
    _make(job, stage, print_of, made_from, MAKERS[stage])
    return True


def settle_rules(job: Job) -> bool:
    """Remakes the URL columns of an extraction by other rules, for a command that does not extract.

    Gives whether it did. InputError when a file of the extraction is gone or damaged.
    """
    entry = job.work.entry("extract")
    if entry is None or entry.url_scheme == job.rules.scheme:
        return False
    if job.work.plan("extract", entry.fingerprint, entry.made_from, False) != "done":
        raise InputError(f"files of extract of {job.work.key} are gone or damaged: run extract again")
    return _keep(job, "extract")


def _has_gaps(job: Job, stage: str) -> bool:
    """Whether storage did not give some of the inputs: then asking to replace the stage is asking for these."""
    entry = job.work.entry(stage)
    return entry is not None and UNREADABLE in entry.counts.get("verdicts", {})


def _keep(job: Job, stage: str) -> bool:
    """Takes a stage as it is there, but for its URL columns where other rules made them; gives whether they did."""
    entry = job.work.entry(stage)
    if stage != "extract" or entry is None or entry.url_scheme == job.rules.scheme:
        job.tell(f"{stage}: nothing to do")
        return False
    job.tell(
        f"extract: URL rules changed ({entry.url_scheme} -> {job.rules.scheme}): "
        f"remaking URL columns of {entry.tables[DOCUMENTS.name].rows:,} documents"
    )
    _make(job, stage, entry.fingerprint, entry.made_from, lambda job: (remake_urls(job, entry), dict(entry.counts)))
    return True


def _make(
    job: Job,
    stage: str,
    print_of: str,
    made_from: Mapping[str, str],
    maker: Callable[[Job], tuple[dict[str, TableEntry], dict[str, Any]]],
) -> None:
    start = time.monotonic()
    with job.run_file.timed(stage):
        tables, counts = maker(job)
    job.seconds[stage] = round(time.monotonic() - start, 1)
    job.run_file.count(stage, counts)
    scheme = str(job.scheme) if stage in {"sign", "cluster"} else None
    job.work.finish_stage(
        StageEntry(stage, job.work.run_id, print_of, scheme, job.rules.scheme, made_from, counts, tables)
    )
    rows = ", ".join(f"{name} {table.rows:,}" for name, table in tables.items())
    job.tell(f"{stage}: done in {job.seconds[stage]} s ({rows})")


def _require_rules(job: Job, stage: str, table: str, entry: StageEntry) -> None:
    """SchemeMismatchError unless an input's URL columns were made by the rules of the configuration."""
    remedy = f"run resolve first, or run {stage} with the rules that {entry.stage} was run with"
    require_scheme(f"URLs in {table} of {job.work.key}", entry.url_scheme, job.rules.scheme, remedy)


def _shape(job: Job, stage: str) -> Mapping[str, Any]:
    """Everything that shapes a stage's result, besides the tables it is made from.

    Of extract, the URL rules are left out: what they shape is remade without reading the inputs.
    """
    settings, request = job.settings, job.request
    shapes: dict[str, Callable[[], Mapping[str, Any]]] = {
        "extract": lambda: {**reading_shape(job), "inputs": inputs_shape(request.inputs)},
        "resolve": lambda: {
            "resolve": settings.resolve.model_dump(),
            "urls": job.rules.scheme,
            "shingles": settings.sign.model_dump(include={"shingle_words", "unicode_form", "digits"}),
        },
        "sign": lambda: {"scheme": str(job.scheme)},
        "cluster": lambda: {
            "cluster": settings.cluster.model_dump(),
            "scheme": str(job.scheme),
        },
    }
    schemas = columns_shape(STAGE_TABLES[stage])
    return {"stage": stage, "version": VERSIONS[stage], "schemas": schemas, **shapes[stage]()}
