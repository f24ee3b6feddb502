"""The stage `extract`: inputs are read batch by batch, and each batch that is done is recorded."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from dedup_lib.archives import InputFile
from dedup_lib.cli.context import Job
from dedup_lib.config import fingerprint
from dedup_lib.errors import CheckFailedError, InputError
from dedup_lib.reports.quantities import bytes_text
from dedup_lib.stages.archive_rows import UNREADABLE, Settled, settle_splits
from dedup_lib.stages.extract import extractor, unreadable_rejects
from dedup_lib.stages.plan import plan_batches, plan_tasks, weight
from dedup_lib.stages.reading import ReadingContext
from dedup_lib.stages.repeats import collapse_repeats, count_repeats
from dedup_lib.tables.columns import Table
from dedup_lib.tables.published import StageEntry, TableEntry
from dedup_lib.tables.schemas import ARCHIVES, DOCUMENTS, FETCHES, REJECTS, SPLITS
from dedup_lib.tables.sink import Tagged, TaggedFunction
from dedup_lib.tables.write import write_tagged

TABLES = (DOCUMENTS, FETCHES, REJECTS, ARCHIVES)
# Settings of `extract` that change no row.
UNSHAPING = {"batch_bytes", "split_bytes", "commit_bytes"}
VERSION = 2  # rises whenever other rows would be made of the same inputs and settings
_STORAGE = ("requests", "retries", "waited_seconds", "remote_bytes")
Tables = dict[str, TableEntry]
Counts = dict[str, Any]


def reading_shape(job: Job) -> Mapping[str, Any]:
    """What shapes the rows read from a file, besides the file and the URL rules."""
    settings = job.settings.extract.model_dump(exclude=UNSHAPING)
    return {"extract": settings, "crawl_date": str(job.request.crawl_date)}


def columns_shape(tables: Iterable[Table]) -> list[list[Any]]:
    """The columns of tables, with their types."""
    return [[table.name, [[column.name, str(column.type)] for column in table.columns]] for table in tables]


def inputs_shape(files: Sequence[InputFile]) -> list[list[Any]]:
    """Which files they are, in which version."""
    return [[file.path, file.bytes, file.version] for file in files]


def make_extract(job: Job) -> tuple[Tables, Counts]:
    """Archives or tables of text to documents, fetches, rejects and archives."""
    parts = _read_batches(job)
    made = {table.name: _joined(parts, table.name) for table in TABLES}
    made = _without_repeats(job, made)
    storage = {name: round(sum(part.counts[name] for part in parts), 1) for name in _STORAGE}
    counts = {**_extract_counts(job, made), "batches": len(parts), "storage": storage}
    _require_few_rejects(counts, job.settings.run.max_reject_fraction)
    if counts["documents"] != made["documents"].rows:
        raise CheckFailedError(
            [f"{counts['documents']} documents were read, but {made['documents'].rows} were written"],
            "nothing was published; this is a fault of ours: please report it",
        )
    return made, counts


def _read_batches(job: Job) -> list[StageEntry]:
    """All batches of the inputs; those that a killed run has finished are taken as they are."""
    batches = plan_batches(job.request.inputs, job.settings.extract.commit_bytes)
    shape = [VERSION, columns_shape(TABLES), reading_shape(job), job.rules.scheme]
    prints = [fingerprint(*shape, inputs_shape(batch)) for batch in batches]
    recorded = job.work.parts("extract")
    recorded.keep(prints)
    finished: list[StageEntry] = []
    done, total = 0, sum(map(weight, job.request.inputs))
    for number, (batch, print_of) in enumerate(zip(batches, prints, strict=True), start=1):
        part = recorded.get(print_of)
        how = "was there already" if part else "done"
        if part is None:
            part = _read_batch(job, batch, print_of, kept=number > 1)
            if not part.counts["unreadable"]:  # the next command tries such files again
                recorded.add(part)
        finished.append(part)
        done += sum(map(weight, batch))
        if len(batches) > 1:
            job.tell(f"extract: batch {number} of {len(batches)} {how}, {bytes_text(done)} of {bytes_text(total)}")
    return finished


def _read_batch(job: Job, batch: Sequence[InputFile], print_of: str, kept: bool) -> StageEntry:
    """Reads the files of a batch; again, where the splits of one do not meet or storage does not give one.

    `kept` tells whether a batch before it was recorded.
    """
    settings = job.settings.extract
    context = ReadingContext(job.work.key.source, settings, job.settings.storage, job.rules, job.request.crawl_date)
    cores = int(job.spark.conf.get("spark.sql.shuffle.partitions") or 1)
    whole: set[str] = set()
    failed: dict[str, str] = {}
    storage: Counter[str] = Counter()
    while True:
        files = [file for file in batch if file.path not in failed]
        tasks = plan_tasks(files, settings.split_bytes, cores, whole)
        made = _write(job, (DOCUMENTS, FETCHES, REJECTS, SPLITS), extractor(tasks, context), len(tasks))
        told = job.local(made.pop(SPLITS.name), SPLITS)
        settled = settle_splits(told, failed, {file.path: file.bytes for file in batch})
        storage.update(settled.storage)
        if settled.unreachable:
            before = "; what was read before is kept" if kept else ""
            raise InputError(f"{settled.unreachable}{before}; then run the same command again")
        if not settled.unmet and not settled.failed:
            break
        _tell_again(job, settled)
        whole |= settled.unmet
        failed |= settled.failed
    side = _write(job, (ARCHIVES, REJECTS), _side_rows(settled.archives, failed), 1)
    side["rejects"] = TableEntry.of([*made["rejects"].files, *side["rejects"].files])
    counts = {**storage, "unreadable": len(failed)}
    return StageEntry("extract", job.work.run_id, print_of, None, job.rules.scheme, {}, counts, made | side)


def _write(job: Job, tables: Sequence[Table], function: TaggedFunction, tasks: int) -> dict[str, TableEntry]:
    """Runs a function in so many tasks, which are numbered; what it yields goes to the tables."""
    folders = {table.name: job.work.table_folder(table.name) for table in tables}
    if SPLITS.name in folders:
        folders[SPLITS.name] = f"{job.work.temporary_folder}/{SPLITS.name}"
    numbers = job.spark.range(0, tasks, 1, max(tasks, 1))
    return write_tagged(numbers, function, tables, folders, job.request.root, sweep=False)


def _side_rows(archives: pa.Table, failed: Mapping[str, str]) -> TaggedFunction:
    """What the driver made of the splits, as the function of one task."""
    rejects = unreadable_rejects(failed)

    def give(batches: Iterator[pa.RecordBatch]) -> Iterator[Tagged]:
        for _ in batches:
            yield from ((ARCHIVES.name, batch) for batch in archives.to_batches())
            yield from ((REJECTS.name, batch) for batch in rejects.to_batches())

    return give


def _tell_again(job: Job, settled: Settled) -> None:
    for path in sorted(settled.unmet):
        job.tell(f"extract: {path} cannot be cut into splits that meet: reading its batch again, it whole")
    for path, why in sorted(settled.failed.items()):
        job.tell(f"extract: {why}: reading its batch again, without {path}, which is a reject")


def _joined(parts: Sequence[StageEntry], table: str) -> TableEntry:
    return TableEntry.of([file for part in parts for file in part.tables[table].files])


def _without_repeats(job: Job, made: Tables) -> Tables:
    """The tables with each capture once, whatever files it was read from."""
    repeats = count_repeats(job.staged(made["documents"], DOCUMENTS))
    repeated = repeats.agg(F.count("*"), F.count_if(F.col("contents") > 1)).collect()[0]  # one row
    if repeated[1] and job.request.inputs[0].kind == "texts":
        raise InputError(
            f"{repeated[1]} ids of the input name several pages, so they do not tell rows apart: make them unique, "
            "or leave the column out"
        )
    if not repeated[0]:
        return made
    documents, archives = collapse_repeats(
        job.staged(made["documents"], DOCUMENTS), job.staged(made["archives"], ARCHIVES), repeats
    )
    documents, archives = job.cut(documents, "documents-once"), job.cut(archives, "archives-recounted")
    return made | {"documents": job.rewrite(documents, DOCUMENTS), "archives": job.rewrite(archives, ARCHIVES)}


def _extract_counts(job: Job, made: Tables) -> Counts:
    """The funnel of the stage, from the table `archives` alone: it has one row per input file."""
    archives = job.local(made["archives"], ARCHIVES)
    names = ("bytes", "documents", "repeated", "fetches", "rejects", "skipped", "faults")
    counts = {name: pc.sum(archives.column(name)).as_py() or 0 for name in names}
    pages = counts["documents"] + counts["repeated"] + counts["fetches"] + counts["rejects"]
    return {
        "inputs": archives.num_rows,
        "records": pages + counts["skipped"],
        "page_records": pages,
        **counts,
        "rejected": made["rejects"].rows,
        "records_by_type": _total(archives, "records"),
        "fetches_by_kind": _total(archives, "fetches_by_kind"),
        "rejects_by_reason": _total(archives, "rejects_by_reason"),
        "verdicts": dict(sorted(Counter(archives.column("verdict").to_pylist()).items())),
    }


def _total(table: pa.Table, column: str) -> dict[str, int]:
    """A column of maps, added up."""
    total: Counter[str] = Counter()
    for entries in table.column(column).to_pylist():
        total.update(dict(entries))
    return dict(sorted(total.items()))


def _require_few_rejects(counts: Counts, most: float) -> None:
    remedy = "nothing was published; look at the inputs, or raise run.max_reject_fraction"
    unreadable = counts["verdicts"].get(UNREADABLE, 0)
    if unreadable > most * counts["inputs"]:
        raise CheckFailedError([f"storage did not give {unreadable} of {counts['inputs']} inputs"], remedy)
    rejected, seen = counts["rejects"] + counts["faults"], counts["page_records"] + counts["faults"]
    if rejected > most * seen:
        reasons = ", ".join(f"{reason} {count}" for reason, count in counts["rejects_by_reason"].items())
        raise CheckFailedError([f"{rejected} of {seen} records were rejected ({reasons})"], remedy)
