"""Writing a stage's tables into the folders of its run, where no reader sees them before they are published."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from dedup_lib.tables.columns import Column, Table
from dedup_lib.tables.objects import LocalObjects, objects_at
from dedup_lib.tables.published import FileEntry, TableEntry
from dedup_lib.tables.sink import FILE_BYTES, FILES, ROW_GROUP_BYTES, TaggedFunction, TaggedSink


def require_columns(frame: DataFrame, table: Table) -> None:
    """TypeError, with everything that is wrong, unless the frame has exactly the table's columns, in any order."""
    found = {field.name: field.dataType.simpleString() for field in frame.schema}
    wanted = {field.name: field.dataType.simpleString() for field in table.spark}
    problems = [f"{name} is missing" for name in wanted if name not in found]
    problems += [f"{name} is no column of it" for name in found if name not in wanted]
    problems += [
        f"{name} is {found[name]}, not {wanted[name]}"
        for name in wanted
        if found.get(name, wanted[name]) != wanted[name]
    ]
    problems += [f"{name} is there twice" for name in found if frame.columns.count(name) > 1]
    if problems:
        raise TypeError(f"the frame does not fit table {table.name}: " + "; ".join(problems))


def write_frame(
    frame: DataFrame, table: Table, folder: str, root: str | Path, rows_per_file: int | None = None
) -> TableEntry:
    """Write a frame as a table, into a folder of its own (relative to ROOT; `Workspace.table_folder` gives it).

    Columns in: those of the table, in any order; TypeError otherwise. One file per partition (more past
    `rows_per_file`), rows in the table's order within each. Sizes and rows come from the files as written.
    """
    require_columns(frame, table)
    objects = objects_at(root)
    ordered = frame.select(*table.names).sortWithinPartitions(*table.order)
    writer = ordered.write.mode("errorifexists").option("compression", "zstd")
    writer = writer.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
    for column in table.columns:
        if not column.uses_dictionary and not pa.types.is_map(column.type):
            writer = writer.option(f"parquet.enable.dictionary#{_leaf(column)}", "false")
    if rows_per_file:
        writer = writer.option("maxRecordsPerFile", rows_per_file)
    writer.parquet(objects.uri(folder))
    return TableEntry.of([_file_entry(objects, path) for path in _keep_parquet(objects, folder)])


def _leaf(column: Column) -> str:
    """The name of a column's values as Parquet has it."""
    return f"{column.name}.list.element" if pa.types.is_list(column.type) else column.name


def write_tagged(
    frame: DataFrame,
    function: TaggedFunction,
    tables: Sequence[Table],
    folders: Mapping[str, str],
    root: str | Path,
    *,
    sweep: bool = True,
    row_group_bytes: int = ROW_GROUP_BYTES,
    file_bytes: int = FILE_BYTES,
) -> dict[str, TableEntry]:
    """Write several tables in one pass over a frame, by a Python function that runs in the tasks.

    `function` takes an iterator of the frame's Arrow batches and yields (table name, batch of exactly that table's
    columns). Safe under retries and speculation: only files that a winning attempt reported count. Others are
    deleted, unless `sweep` is false, since the folders hold what was written before; then they go when the workspace
    sweeps. Rows keep the order in which they are yielded. The driver holds one row per file. A table without rows has
    no files.
    """
    objects = objects_at(root)
    sink = TaggedSink(
        objects,
        function,
        {table.name: folders[table.name] for table in tables},
        {table.name: table.arrow for table in tables},
        {table.name: [column.name for column in table.columns if column.uses_dictionary] for table in tables},
        row_group_bytes,
        file_bytes,
    )
    files: defaultdict[str, list[FileEntry]] = defaultdict(list)
    for row in frame.mapInArrow(sink.__call__, from_arrow_schema(FILES)).collect():
        if objects.size(row["path"]) != row["bytes"]:
            raise RuntimeError(f"a task wrote {row['path']}, but it is not under {root}: do all executors share it?")
        files[row["table"]].append(FileEntry(row["path"], row["bytes"], row["rows"]))
    entries = {table.name: TableEntry.of(files[table.name]) for table in tables}
    if sweep:
        for table in tables:
            _delete_others(objects, folders[table.name], entries[table.name])
    return entries


def _keep_parquet(objects: LocalObjects, folder: str) -> list[str]:
    """The data files of a folder that Spark wrote; its checksums and markers are deleted, for globs see them too."""
    names = objects.list_files(folder)
    data = [name for name in names if name.endswith(".parquet") and not name.startswith((".", "_"))]
    for name in set(names) - set(data):
        objects.delete(f"{folder}/{name}")
    return [f"{folder}/{name}" for name in data]


def _file_entry(objects: LocalObjects, path: str) -> FileEntry:
    rows = pq.read_metadata(objects.local_path(path)).num_rows
    return FileEntry(path, objects.size(path) or 0, rows)


def _delete_others(objects: LocalObjects, folder: str, entry: TableEntry) -> None:
    """Delete the files of attempts that were lost."""
    kept = {file.path for file in entry.files}
    for name in objects.list_files(folder):
        if f"{folder}/{name}" not in kept:
            objects.delete(f"{folder}/{name}")
