"""Parquet files written by Python tasks: one attempt of a task writes several tables, and names what it wrote.

Attempts may be retried or run twice. Each writes files of its own name, and only those that the driver hears of
count (the manifest way of Iceberg): the result is right whichever attempt wins.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import BinaryIO
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import TaskContext

from dedup_lib.tables.objects import LocalObjects

ROW_GROUP_BYTES = 64 << 20  # of Arrow memory; what a task holds per table before it is written
FILE_BYTES = 512 << 20  # size at which a file is closed and the next one begun; it is passed by at most one row group

# What an attempt reports: one row per finished file.
FILES = pa.schema(
    [pa.field("table", pa.string()), pa.field("path", pa.string())]
    + [pa.field(name, pa.int64()) for name in ("bytes", "rows")]
)

Tagged = tuple[str, pa.RecordBatch]
TaggedFunction = Callable[[Iterator[pa.RecordBatch]], Iterable[Tagged]]


@dataclass(frozen=True)
class TaggedSink:
    """The function for mapInArrow that runs `function` and writes the batches it yields, each to its table.

    Columns in: those of `function`. Columns out: FILES. `folders`, `schemas` and `dictionaries` (the columns for which
    Parquet tries one) are by table. An attempt that fails removes its files.
    """

    objects: LocalObjects
    function: TaggedFunction
    folders: Mapping[str, str]
    schemas: Mapping[str, pa.Schema]
    dictionaries: Mapping[str, Sequence[str]] = field(default_factory=dict)
    row_group_bytes: int = ROW_GROUP_BYTES
    file_bytes: int = FILE_BYTES

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Run one attempt of a task."""
        attempt = _attempt_name()
        writers = {
            table: _TableWriter(self, table, f"{folder}/part-{attempt}") for table, folder in self.folders.items()
        }
        try:
            for table, batch in self.function(batches):
                if table not in writers:
                    raise ValueError(f"a batch for table {table}, but this stage writes {', '.join(writers)}")
                writers[table].add(batch)
            rows = [row for writer in writers.values() for row in writer.close()]
        except BaseException:
            for writer in writers.values():
                writer.abort()
            raise
        yield pa.RecordBatch.from_pylist(rows, schema=FILES)


@dataclass
class _TableWriter:
    """One table of one attempt: holds a row group, writes it, begins a new file past the size limit."""

    sink: TaggedSink
    table: str
    prefix: str
    held: list[pa.RecordBatch] = field(default_factory=list)
    held_bytes: int = 0
    finished: list[dict[str, str | int]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    file: BinaryIO | None = None
    writer: pq.ParquetWriter | None = None
    rows: int = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Take a batch; it is written when a row group is full."""
        schema = self.sink.schemas[self.table]
        if batch.schema.names != schema.names or batch.schema.types != schema.types:
            raise TypeError(f"a batch for table {self.table} has the columns\n{batch.schema}\nbut needs\n{schema}")
        batch = pa.RecordBatch.from_arrays(batch.columns, schema=schema)
        limit = self.sink.row_group_bytes
        step = max(1, batch.num_rows * limit // max(batch.nbytes, limit))
        for start in range(0, batch.num_rows, step):
            part = batch.slice(start, step)
            self.held.append(part)
            self.held_bytes += part.nbytes
            if self.held_bytes >= limit:
                self._write_row_group()

    def close(self) -> list[dict[str, str | int]]:
        """Write the rest; gives a row of FILES per file."""
        if self.held:
            self._write_row_group()
        self._end_file()
        return self.finished

    def abort(self) -> None:
        """Remove all files of this attempt."""
        if self.writer is not None and self.file is not None:
            with suppress(OSError, pa.ArrowException):  # a full disk: it is the first error that counts
                self.writer.close()
            self.file.close()
        for path in self.paths:
            self.sink.objects.delete(path)

    def _write_row_group(self) -> None:
        if self.writer is None or self.file is None:
            path = f"{self.prefix}-{len(self.paths):03d}.parquet"
            self.file = self.sink.objects.create(path)
            self.paths.append(path)
            self.writer = pq.ParquetWriter(
                self.file,
                self.sink.schemas[self.table],
                compression="zstd",
                compression_level=3,
                write_page_index=True,
                use_dictionary=list(self.sink.dictionaries.get(self.table, ())),
            )
        group = pa.Table.from_batches(self.held)
        self.writer.write_table(group, row_group_size=group.num_rows)
        self.rows += group.num_rows
        self.held, self.held_bytes = [], 0
        if self.file.tell() >= self.sink.file_bytes:
            self._end_file()

    def _end_file(self) -> None:
        if self.writer is None or self.file is None:
            return
        self.writer.close()
        size = self.file.tell()
        self.file.close()
        self.finished.append({"table": self.table, "path": self.paths[-1], "bytes": size, "rows": self.rows})
        self.file, self.writer, self.rows = None, None, 0


def _attempt_name() -> str:
    """A name that no other attempt has: partition, attempt and, as restarted applications count anew, a random part."""
    context = TaskContext.get()
    partition, attempt = (context.partitionId(), context.taskAttemptId()) if context else (0, 0)
    return f"{partition:05d}-{attempt}-{uuid4().hex}"
