"""Stage entries with small files of their own, for tests that need no Spark."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dedup_lib.tables.keys import SnapshotKey
from dedup_lib.tables.published import FileEntry, StageEntry, TableEntry, Version, published_path
from dedup_lib.tables.schemas import STAGE_TABLES
from dedup_lib.tables.workspace import Workspace


def make_stage(
    work: Workspace, stage: str, fingerprint: str = "f1", made_from: dict[str, str] | None = None
) -> StageEntry:
    """Write one file per table of a stage, as the stage would; gives the entry for finish_stage."""
    tables = {}
    for table in STAGE_TABLES[stage]:
        path = f"{work.table_folder(table.name)}/part-0.parquet"
        data = f"{stage} {work.run_id}".encode()
        with work.objects.create(path) as file:
            file.write(data)
        tables[table.name] = TableEntry.of([FileEntry(path, len(data), 1)])
    return StageEntry(stage, work.run_id, fingerprint, "s1", "u1", made_from or {}, {"rows": 1}, tables)


def run_of(work: Workspace, stage: str) -> dict[str, str]:
    """made_from of a stage that reads only this one."""
    entry = work.entry(stage)
    assert entry is not None
    return {stage: entry.run}


def write_table(root: Path, table: str, key: SnapshotKey, parts: Iterable[pa.Table]) -> TableEntry:
    """Write rows into the folder of run r1, a file for each part."""
    files = []
    for number, part in enumerate(parts):
        path = f"{table}/{key.folder}/run=r1/part-{number}.parquet"
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(part, root / path)
        files.append(FileEntry(path, (root / path).stat().st_size, part.num_rows))
    return TableEntry.of(files)


def publish_stages(root: Path, key: SnapshotKey, stages: Mapping[str, StageEntry]) -> None:
    """Make these stages the published version."""
    published = root / published_path(key)
    published.parent.mkdir(parents=True, exist_ok=True)
    published.write_bytes(Version(key, "2026-11-30T12:00:00Z", stages).to_bytes())
