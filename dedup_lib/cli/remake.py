"""What URL rules shape of a finished extraction, made anew from its tables when the rules change."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dedup_lib.cli.context import Job
from dedup_lib.errors import CheckFailedError
from dedup_lib.stages.rename import renamed_documents, renamed_fetches
from dedup_lib.tables.columns import Table
from dedup_lib.tables.objects import objects_at
from dedup_lib.tables.published import StageEntry, TableEntry
from dedup_lib.tables.scan import BATCH_ROWS
from dedup_lib.tables.schemas import DOCUMENTS, FETCHES, TABLES
from dedup_lib.tables.write import write_tagged
from dedup_lib.urls import UrlRules

Renamed = Callable[[pa.RecordBatch, UrlRules], pa.RecordBatch]
RENAMED: dict[str, Renamed] = {DOCUMENTS.name: renamed_documents, FETCHES.name: renamed_fetches}


def remake_urls(job: Job, entry: StageEntry) -> dict[str, TableEntry]:
    """The tables of an extraction as the rules of the configuration would have made them; archives are not opened.

    Each file of `documents` and `fetches` is read, renamed and written by one task. The other tables stay where they
    are. CheckFailedError unless the tables keep their number of rows.
    """
    root, tables = job.request.root, [TABLES[name] for name in RENAMED]
    files = [(table, file.path) for table in tables for file in entry.tables[table.name].files]
    folders = {table.name: job.work.table_folder(table.name) for table in tables}
    numbers = job.spark.range(0, len(files), 1, max(len(files), 1))
    made = write_tagged(numbers, renamer(root, files, job.rules), tables, folders, root)
    failures = [
        f"{entry.tables[name].rows} rows of {name} were read, but {table.rows} were written"
        for name, table in made.items()
        if table.rows != entry.tables[name].rows
    ]
    if failures:
        raise CheckFailedError(failures, "nothing was published; run extract again with --replace")
    return {**entry.tables, **made}


def renamer(
    root: str | Path, files: Sequence[tuple[Table, str]], rules: UrlRules
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[tuple[str, pa.RecordBatch]]]:
    """The function that tasks run: batches with a column of file numbers in, (table, renamed batch) pairs out."""
    objects = objects_at(root)

    def rename(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[str, pa.RecordBatch]]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                table, path = files[number]
                with objects.open(path) as stream:
                    for rows in pq.ParquetFile(stream).iter_batches(BATCH_ROWS, columns=table.names, use_threads=False):
                        yield table.name, RENAMED[table.name](rows, rules)

    return rename
