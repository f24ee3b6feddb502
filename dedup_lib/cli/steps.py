"""One stage of a run: is it there already, else make it, check it, finish it."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dedup_lib.cli.context import Job
from dedup_lib.cli.makers import MAKERS
from dedup_lib.config import fingerprint
from dedup_lib.tables.published import StageEntry
from dedup_lib.tables.read import table_entry
from dedup_lib.tables.schemas import STAGE_INPUTS, STAGE_TABLES, TABLES

# Rises whenever a stage would make other rows of the same inputs and settings.
VERSIONS = {"extract": 1, "resolve": 1, "sign": 1, "cluster": 1}


def run_stage(job: Job, stage: str) -> bool:
    """Makes a stage unless it is there already with the same inputs and settings; gives whether it was made."""
    made_from = {}
    for table in STAGE_INPUTS[stage]:
        entry = table_entry(job.work.version, TABLES[table])
        made_from[entry.stage] = entry.run
    print_of = fingerprint(_shape(job, stage))
    if job.work.plan(stage, print_of, made_from, job.request.replace) == "done":
        job.tell(f"{stage}: nothing to do")
        return False
    job.tell(f"{stage}: started")
    start = time.monotonic()
    with job.run_file.timed(stage):
        tables, counts = MAKERS[stage](job)
    job.seconds[stage] = round(time.monotonic() - start, 1)
    job.run_file.count(stage, counts)
    scheme = str(job.scheme) if stage in {"sign", "cluster"} else None
    job.work.finish_stage(
        StageEntry(stage, job.work.run_id, print_of, scheme, job.rules.scheme, made_from, counts, tables)
    )
    rows = ", ".join(f"{name} {table.rows:,}" for name, table in tables.items())
    job.tell(f"{stage}: done in {job.seconds[stage]} s ({rows})")
    return True


def _shape(job: Job, stage: str) -> Mapping[str, Any]:
    """Everything that shapes a stage's result, besides the tables it is made from."""
    settings, request = job.settings, job.request
    shapes: dict[str, Callable[[], Mapping[str, Any]]] = {
        "extract": lambda: {
            "extract": settings.extract.model_dump(include={"main_content", "max_record_bytes", "max_body_bytes"}),
            "inputs": [[file.path, file.bytes, Path(file.path).stat().st_mtime_ns] for file in request.inputs],
            "crawl_date": str(request.crawl_date),
            "urls": job.rules.scheme,
        },
        "resolve": lambda: {
            "resolve": settings.resolve.model_dump(),
            "urls": job.rules.scheme,
            "shingle_words": settings.sign.shingle_words,
        },
        "sign": lambda: {"scheme": str(job.scheme)},
        "cluster": lambda: {
            "cluster": settings.cluster.model_dump(exclude={"driver_edges"}),
            "scheme": str(job.scheme),
        },
    }
    schemas = [
        [table.name, [[column.name, str(column.type)] for column in table.columns]] for table in STAGE_TABLES[stage]
    ]
    return {"stage": stage, "version": VERSIONS[stage], "schemas": schemas, **shapes[stage]()}
