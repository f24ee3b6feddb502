"""Reading published tables: from their exact files, with their explicit schema."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from dedup_lib.errors import InputError, SchemeMismatchError, UsageError
from dedup_lib.tables.columns import Table
from dedup_lib.tables.objects import objects_at
from dedup_lib.tables.published import StageEntry, TableEntry, Version, list_versions, read_version
from dedup_lib.tables.schemas import OPTIONAL_TABLES, TABLES
from dedup_lib.tables.store_schemas import KEY_OF_TABLE, STORE_TABLES


def table_entry(version: Version[Any], table: Table, allow_stale: bool = False) -> StageEntry:
    """The stage that holds a table in a version. InputError, with the stage to run, when there is none or it is stale.

    A stale stage was made from what has been replaced since. It must not be an input; a report may show it.
    """
    entry = version.stage_of(table.name)
    if entry is None:
        raise InputError(f"there is no table {table.name} of {version.key}: run {table.stage} first")
    cause = version.stale_because(entry.stage)
    if cause and not allow_stale:
        raise InputError(
            f"{table.name} of {version.key} is stale, since {cause} was replaced after it was made: "
            f"run {entry.stage} again"
        )
    return entry


def read_table(
    spark: SparkSession, root: str | Path, version: Version[Any], table: Table, allow_stale: bool = False
) -> DataFrame:
    """A table of a version. Columns out: exactly the table's.

    Pass `Workspace.version` within a run, so that stages it has finished are seen, and `read_version` otherwise.
    InputError when the table is not there, is stale, or was replaced and removed since `version` was read.
    """
    return read_entry(spark, root, table_entry(version, table, allow_stale).tables[table.name], table)


def read_entry(spark: SparkSession, root: str | Path, entry: TableEntry, table: Table) -> DataFrame:
    """The rows of the files of an entry, which need not be published. Columns out: exactly the table's."""
    objects = objects_at(root)
    for file in entry.files:
        if objects.size(file.path) is None:
            raise InputError(f"{objects.local_path(file.path)} is gone: if {table.stage} was replaced, start again")
    if not entry.files:
        return spark.createDataFrame([], schema=table.spark)
    # A list of files is no partitioned tree: source, snapshot and run do not become columns.
    reader = spark.read.schema(table.spark).option("mergeSchema", "false")
    return reader.parquet(*(objects.pattern(file.path) for file in entry.files))


def load_entry(root: str | Path, entry: TableEntry, table: Table) -> pa.Table:
    """The rows of an entry as an Arrow table on the driver: for tables that do not grow with the corpus."""
    objects = objects_at(root)
    parts = [table.arrow.empty_table()]
    for file in entry.files:
        with objects.open(file.path) as stream:
            parts.append(pq.ParquetFile(stream).read().select(table.names).cast(table.arrow))
    return pa.concat_tables(parts)


def published_files(root: str | Path, table: str) -> list[str]:
    """The files of a table in all published versions, as absolute paths. InputError when it was never published."""
    tables = TABLES | OPTIONAL_TABLES | STORE_TABLES
    if table not in tables:
        raise UsageError(f"there is no table {table}: the tables are {', '.join(tables)}")
    objects = objects_at(root)
    of_store = read_version(root, KEY_OF_TABLE[table]) if table in STORE_TABLES else None
    versions: list[Version[Any]] = [of_store] if of_store else list_versions(root)
    entries = [entry for version in versions if (entry := version.stage_of(table))]
    if not entries:
        raise InputError(f"no table {table} is published under {root}: run {tables[table].stage} first")
    return [str(objects.local_path(file.path)) for entry in entries for file in entry.tables[table].files]


def require_scheme(what: str, found: str | None, expected: str | None, remedy: str) -> None:
    """SchemeMismatchError unless the scheme is the expected one."""
    if found != expected:
        raise SchemeMismatchError(what, str(found), str(expected), remedy)


def require_one_scheme(versions: Iterable[Version], stage: str) -> None:
    """SchemeMismatchError unless all versions made a stage by one scheme and one URL scheme."""
    first: StageEntry | None = None
    for version in versions:
        entry = version.stages.get(stage)
        if entry is None:
            continue
        if first is None:
            first, as_in = entry, version.key
        remedy = f"that is how {as_in} was made; run {stage} again with one configuration, or leave the snapshot out"
        require_scheme(f"{stage} of {version.key}", entry.scheme, first.scheme, remedy)
        require_scheme(f"URLs in {stage} of {version.key}", entry.url_scheme, first.url_scheme, remedy)
