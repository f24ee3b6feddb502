"""Tables of several snapshots read as one, and how a store differs from what its global version was made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dedup_lib.tables.columns import Table
from dedup_lib.tables.keys import SnapshotKey, StoreKey
from dedup_lib.tables.published import TableEntry, Version
from dedup_lib.tables.read import read_entry, table_entry
from dedup_lib.tables.scan import SNAPSHOT_COLUMNS, snapshot_columns


def name_of(key: SnapshotKey) -> str:
    """A snapshot as it is named on the command line and in `made_from`.

    >>> name_of(SnapshotKey("news", "march"))
    'news/march'
    """
    return f"{key.source}/{key.snapshot}"


def entry_across(versions: Sequence[Version], table: Table) -> TableEntry:
    """The files of a table of several snapshots. InputError where one is not there or stale."""
    entries = [table_entry(version, table).tables[table.name] for version in versions]
    return TableEntry.of([file for entry in entries for file in entry.files])


def read_across(spark: SparkSession, root: str | Path, versions: Sequence[Version], table: Table) -> DataFrame:
    """The rows of a table of several snapshots, in one scan. Columns out: source, snapshot, then the table's."""
    entry = entry_across(versions, table)
    frame = read_entry(spark, root, entry, table)
    if not entry.files:
        return frame.select(*(F.lit("").alias(name) for name in SNAPSHOT_COLUMNS), *table.names)
    return frame.select(*snapshot_columns(), *table.names)


@dataclass(frozen=True)
class Changes:
    """What changed since a global version was made: names of snapshots, as SOURCE/SNAPSHOT."""

    replaced: tuple[str, ...]
    removed: tuple[str, ...]
    added: tuple[str, ...]

    @property
    def stale(self) -> bool:
        """Whether the version shows documents that are not what the store has; what was added is only not in it."""
        return bool(self.replaced or self.removed)


def runs_of(made_from: Mapping[str, str]) -> dict[str, str]:
    """The snapshots that a global version was made from, with their runs of `cluster`."""
    return {name: run for name, run in made_from.items() if "/" in name}


def is_ready(version: Version) -> bool:
    """Whether a snapshot can take part: it is clustered, and the clusters are not stale."""
    return "cluster" in version.stages and version.stale_because("cluster") is None


def changes_since(version: Version[StoreKey], snapshots: Sequence[Version]) -> Changes:
    """How the published snapshots differ from those that a global version was made from.

    Replaced: clustered anew, or about to be since an earlier stage was replaced. Added: could take part and does not.
    """
    there = {name_of(one.key): one for one in snapshots}
    was = runs_of(version.stages["global"].made_from)
    return Changes(
        tuple(
            name
            for name, run in was.items()
            if (one := there.get(name)) and not (is_ready(one) and one.stages["cluster"].run == run)
        ),
        tuple(name for name in was if name not in there),
        tuple(name for name, one in there.items() if name not in was and is_ready(one)),
    )
