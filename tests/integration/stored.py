"""What a store holds, read without Spark: rows to compare, and files that should not be there."""

import io
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dedup_lib.tables.keys import SnapshotKey
from dedup_lib.tables.published import Version, read_version
from dedup_lib.tables.schemas import TABLES

KEY = SnapshotKey("sample", "snapshot-a")
PLACES = ("archive", "archive_offset", "archive_length")  # of a record: they change when files are cut differently


def version(root: Path, key: SnapshotKey = KEY) -> Version:
    found = read_version(root, key)
    assert found is not None
    return found


def table(root: Path, name: str, key: SnapshotKey = KEY) -> pa.Table:
    """The published rows of a table, from its listed files alone."""
    entry = version(root, key).stage_of(name)
    assert entry is not None
    parts = [read_file(root / file.path) for file in entry.tables[name].files]
    return pa.concat_tables(parts) if parts else TABLES[name].arrow.empty_table()


def read_file(path: Path) -> pa.Table:
    """One file; read from memory, since pyarrow makes columns of the folders in a path."""
    return pq.read_table(io.BytesIO(path.read_bytes()))


def rows(root: Path, name: str, without: Collection[str] = (), key: SnapshotKey = KEY) -> list[dict[str, Any]]:
    """The rows of a table in an order of their own, archives by their names."""
    found = table(root, name, key).to_pylist()
    for row in found:
        if "archive" in row:
            row["archive"] = Path(row["archive"]).name
        for column in without:
            row.pop(column, None)
    return sorted(found, key=lambda row: (row.get("doc_id", b""), repr(row)))


def all_rows(root: Path, without: Collection[str] = (), key: SnapshotKey = KEY) -> dict[str, list[dict[str, Any]]]:
    """The rows of all tables."""
    return {name: rows(root, name, without, key) for name in TABLES}


def files_below(root: Path) -> dict[str, int]:
    """Every file with its size, by its path below ROOT."""
    return {path.relative_to(root).as_posix(): path.stat().st_size for path in root.rglob("*") if path.is_file()}


def strays(root: Path, *keys: SnapshotKey) -> list[str]:
    """Files that no published version lists and that are neither run files nor locks nor the versions themselves."""
    versions = [version(root, key) for key in keys or (KEY,)]
    listed = {file.path for one in versions for entry in one.stages.values() for file in entry.files}
    return sorted(
        path
        for path in files_below(root)
        if path not in listed and not path.startswith(("_runs/", "_locks/", "_published/"))
    )
