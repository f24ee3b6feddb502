"""Stage entries with small files of their own, for tests that need no Spark."""

from dedup_lib.tables.published import FileEntry, StageEntry, TableEntry
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
