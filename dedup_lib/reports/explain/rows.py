"""A few rows of large tables: found by a narrow scan, then read alone.

A filter that a Parquet reader applies itself decodes the texts of every row group it cannot rule out. Here the columns
that tell are scanned first, and of the rows that match only their own row groups are read.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dedup_lib.errors import InputError
from dedup_lib.tables.columns import Table
from dedup_lib.tables.keys import Key, SnapshotKey
from dedup_lib.tables.objects import objects_at
from dedup_lib.tables.published import TableEntry, Version
from dedup_lib.tables.scan import RowCursor

SCANNED_ROWS = 1 << 16  # rows of the narrow columns that are looked at together
Matches = Callable[[pa.RecordBatch], pa.Array]


class Place(NamedTuple):
    """Where a row lies: the path of its file below ROOT, and its number in it."""

    path: str
    row: int


@dataclass(frozen=True)
class Rows(Generic[Key]):
    """The tables of one published version, row by row. What is stale may be told too."""

    root: str | Path
    version: Version[Key]

    def has(self, table: Table) -> bool:
        """Whether the version has the table."""
        return self.version.stage_of(table.name) is not None

    def places(self, table: Table, columns: Sequence[str], matches: Matches, most: int) -> list[Place]:
        """Where the first rows lie, at most `most`, of which `matches` is true of these columns."""
        found: list[Place] = []
        for path, first, batch in self._scan(table, columns):
            rows = np.flatnonzero(matches(batch).fill_null(False).to_numpy(zero_copy_only=False))
            found += [Place(path, first + int(row)) for row in rows[: most - len(found)]]
            if len(found) == most:
                break
        return found

    def read(self, places: Sequence[Place], columns: Sequence[str]) -> list[dict[str, Any]]:
        """These rows, in the order of files and rows."""
        objects, found = objects_at(self.root), []
        for path in sorted({place.path for place in places}):
            rows = np.array(sorted(place.row for place in places if place.path == path))
            with closing(RowCursor(objects, path, columns)) as cursor:
                for _, batch in cursor.take(rows):
                    found += batch.to_pylist()
        return found

    def where(
        self, table: Table, column: str, values: Collection[object], columns: Sequence[str], most: int = 1000
    ) -> list[dict[str, Any]]:
        """The first rows whose `column` has one of the values; none where the version has not the table."""
        if not values or not self.has(table):
            return []
        wanted = pa.array(list(values), table.arrow.field(column).type)
        most = min(most, len(wanted)) if table.key == (column,) else most
        places = self.places(table, [column], lambda batch: pc.is_in(batch.column(0), value_set=wanted), most)
        return self.read(places, columns)

    def batches(self, table: Table, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """All rows of some narrow columns."""
        return (batch for *_, batch in self._scan(table, columns))

    def _scan(self, table: Table, columns: Sequence[str]) -> Iterator[tuple[str, int, pa.RecordBatch]]:
        """Batches of some columns with their file and the number of their first row."""
        objects = objects_at(self.root)
        for file in self._entry(table).files:
            if objects.size(file.path) is None:
                raise InputError(f"{objects.local_path(file.path)} is gone: if {table.stage} was replaced, start again")
            first = 0
            with objects.open(file.path) as stream:
                for batch in pq.ParquetFile(stream).iter_batches(SCANNED_ROWS, columns=list(columns)):
                    yield file.path, first, batch.select(list(columns))
                    first += batch.num_rows

    def _entry(self, table: Table) -> TableEntry:
        entry = self.version.stage_of(table.name)
        return entry.tables[table.name] if entry else TableEntry(0, ())


class SnapshotRows(Rows[SnapshotKey]):
    """The tables of one published snapshot, row by row."""
