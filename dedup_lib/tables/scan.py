"""Texts read where they are worked on: by Arrow, in the Python task, instead of through the JVM.

A column of texts that Spark reads is decoded by the JVM, turned into rows and sent to Python; Arrow reads it straight
into the buffers that the kernels take, at about a fifth of the CPU time. What is joined and shuffled is narrow: where a
text lies, not the text.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from dedup_lib.tables.columns import Table
from dedup_lib.tables.objects import LocalObjects, objects_at
from dedup_lib.tables.published import TableEntry
from dedup_lib.tables.read import read_entry

MapFunction = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
BATCH_ROWS = 2048
SNAPSHOT_COLUMNS = ("source", "snapshot")
TASK_BYTES = 64 << 20  # stored bytes of a file that one task scans; a larger file is shared by its row groups


def scan_entry(
    spark: SparkSession,
    root: str | Path,
    entry: TableEntry,
    columns: Sequence[str],
    function: MapFunction,
    schema: StructType,
) -> DataFrame:
    """`function` mapped over some columns of a table: what `read_entry(...).select(columns).mapInArrow` would give."""
    objects = objects_at(root)
    names = list(columns)
    units: list[tuple[str, int, int]] = []
    for file in entry.files:
        shares = max(1, -(-file.bytes // TASK_BYTES))
        units += [(file.path, share, shares) for share in range(shares)]

    def read(path: str, share: int, shares: int) -> Iterator[pa.RecordBatch]:
        with objects.open(path) as stream:
            file = pq.ParquetFile(stream)
            groups = list(range(share, file.num_row_groups, shares))
            if groups:
                yield from file.iter_batches(BATCH_ROWS, row_groups=groups, columns=names, use_threads=False)

    def scan(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from function(read(*units[number]))

    return spark.range(0, len(units), 1, max(len(units), 1)).mapInArrow(scan, schema)


@dataclass
class RowCursor:
    """Reads chosen rows of one Parquet file, in ascending order, in one pass over the row groups that hold them."""

    objects: LocalObjects
    path: str
    columns: Sequence[str]
    starts: NDArray[np.int64] = field(init=False)
    batches: Iterator[pa.RecordBatch] | None = None
    batch: pa.RecordBatch | None = None
    first: int = 0  # row number of the batch's first row
    group: int = -1

    def __post_init__(self) -> None:
        self.stream = self.objects.open(self.path)
        self.file = pq.ParquetFile(self.stream)
        metadata = self.file.metadata
        sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        self.starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])

    def take(self, rows: NDArray[np.int64]) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Batches of these rows (ascending, after all that were taken before), each with how many rows it has."""
        done = 0
        while done < len(rows):
            self._advance(int(rows[done]))
            assert self.batch is not None
            end = int(np.searchsorted(rows, self.first + self.batch.num_rows))
            yield end - done, self.batch.take(pa.array(rows[done:end] - self.first))
            done = end

    def close(self) -> None:
        """Closes the file."""
        self.stream.close()

    def _advance(self, row: int) -> None:
        """Goes on to the batch that holds a row, over row groups without one of the rows."""
        group = int(np.searchsorted(self.starts, row, side="right")) - 1
        if group != self.group:
            self.group, self.first = group, int(self.starts[group])
            self.batches = self.file.iter_batches(
                BATCH_ROWS, row_groups=[group], columns=list(self.columns), use_threads=False
            )
            self.batch = None
        while self.batch is None or row >= self.first + self.batch.num_rows:
            if self.batch is not None:
                self.first += self.batch.num_rows
            assert self.batches is not None
            self.batch = next(self.batches)


def snapshot_columns() -> list[Column]:
    """The columns source and snapshot of rows of any snapshots, told by the folders that their files lie in."""
    pattern = "/source=([^/]+)/snapshot=([^/]+)/run=[^/]+/[^/]+$"
    path = F.col("_metadata.file_path")
    return [F.regexp_extract(path, pattern, group).alias(name) for group, name in enumerate(SNAPSHOT_COLUMNS, start=1)]


def place_rows(spark: SparkSession, root: str | Path, entry: TableEntry, table: Table, needed: DataFrame) -> DataFrame:
    """`needed` (rows with doc_id) with `file_name` and `row_index` before it, those of a file together, in order.

    An entry that spans snapshots may hold a doc_id twice: where `needed` has source and snapshot, they tell which.
    """
    if not entry.files:
        nowhere = needed.select(F.lit("").alias("file_name"), F.lit(0).cast("long").alias("row_index"), "*")
        return nowhere.where("false")
    across = set(SNAPSHOT_COLUMNS) <= set(needed.columns)
    where = read_entry(spark, root, entry, table).select(
        "doc_id",
        *(snapshot_columns() if across else []),
        F.col("_metadata.file_name").alias("file_name"),
        F.col("_metadata.row_index").alias("row_index"),
    )
    placed = needed.join(where, ["doc_id", *(SNAPSHOT_COLUMNS if across else [])], "inner").select(
        "file_name", "row_index", *needed.columns
    )
    tasks = min(max(2 * len(entry.files), 1), 1000)
    return placed.repartition(tasks, "file_name").sortWithinPartitions("file_name", "row_index")


def rows_reader(root: str | Path, entry: TableEntry, columns: Sequence[str]) -> MapFunction:
    """The function that adds `columns`, read from the files, to batches that `place_rows` ordered.

    Columns out: those of the batch but for file_name and row_index, then `columns`.
    """
    objects = objects_at(root)
    paths = {file.path.rpartition("/")[2]: file.path for file in entry.files}
    if len(paths) < len(entry.files):
        raise ValueError("two files of one entry have the same name: rows are placed by the names of files")

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        cursor: RowCursor | None = None
        for part in _by_file(batches):
            path = paths[part.column("file_name")[0].as_py()]
            if cursor is None or cursor.path != path:
                if cursor is not None:
                    cursor.close()
                cursor = RowCursor(objects, path, columns)
            carried = part.drop_columns(["file_name", "row_index"])
            at = 0
            for count, found in cursor.take(part.column("row_index").to_numpy()):
                arrays = [*carried.slice(at, count).columns, *(found.column(name) for name in columns)]
                at += count
                yield pa.RecordBatch.from_arrays(arrays, names=[*carried.schema.names, *columns])
        if cursor is not None:
            cursor.close()

    return read


def _by_file(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches, cut where the next file begins."""
    for batch in batches:
        names = batch.column("file_name").to_numpy(zero_copy_only=False)
        starts = [0, *(np.flatnonzero(names[1:] != names[:-1]) + 1).tolist(), len(names)]
        for start, end in pairwise(starts):
            if end > start:
                yield batch.slice(start, end - start)


def with_columns(
    spark: SparkSession, root: str | Path, entry: TableEntry, table: Table, needed: DataFrame, columns: Sequence[str]
) -> DataFrame:
    """The rows of `needed` whose doc_id the table has, with `columns` of the table: a join that shuffles no text."""
    schema = StructType([*needed.schema.fields, *(table.spark[name] for name in columns)])
    placed = place_rows(spark, root, entry, table, needed)
    return placed.mapInArrow(rows_reader(root, entry, columns), schema)
