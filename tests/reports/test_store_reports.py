"""Outputs and status of versions."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dedup_lib.reports import render_outputs, render_status, status_json
from dedup_lib.tables.keys import SnapshotKey
from dedup_lib.tables.published import FileEntry, StageEntry, TableEntry, Version

KEY = SnapshotKey("news", "march")


def files(table, run, *rows, size=1000):
    return TableEntry.of(
        [FileEntry(f"{table}/{KEY.folder}/run={run}/part-{n}.parquet", size, count) for n, count in enumerate(rows)]
    )


@pytest.fixture
def version():
    documents = {"documents": files("documents", "r1", 1200, 34), "rejects": files("rejects", "r1")}
    return Version(
        KEY,
        "2026-11-30T12:00:00Z",
        {
            "sign": StageEntry("sign", "r1", "f", "s9", "u1", {"extract": "r0"}, {}, {}),
            "extract": StageEntry("extract", "r1", "f", None, "u1", {}, {}, documents),
        },
    )


def test_status_shows_stages_rows_schemes_and_what_is_stale(version):
    lines = [" ".join(line.split()) for line in render_status([version]).splitlines()]
    assert lines == [
        "source news, snapshot march, published 2026-11-30T12:00:00Z",
        "stage state run table rows size",
        "extract current r1 documents 1,234 2.00 kB",
        "rejects 0 0 B",
        "resolve not run",
        "sign stale: extract was replaced r1 -",
        "cluster not run",
        "scheme s9 (sign)",
        "URL scheme u1 (extract, sign)",
    ]
    assert render_status([]) == "No snapshot is published here.\n"


def test_status_as_json(version):
    (snapshot,) = json.loads(json.dumps(status_json([version])))["snapshots"]
    assert snapshot["missing"] == ["resolve", "cluster"]
    assert list(snapshot["stages"]) == ["extract", "sign"]
    assert snapshot["stages"]["extract"]["tables"]["documents"] == {"rows": 1234, "files": 2, "bytes": 2000}
    assert snapshot["stages"]["sign"]["stale_because"] == "extract"
    assert snapshot["stages"]["extract"]["stale_because"] is None


def test_outputs_name_folders_and_a_line_that_reads(version, tmp_path):
    folder = tmp_path / "documents" / KEY.folder / "run=r1"
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"x": [1, 2, 3]}), folder / "part-0.parquet")
    text = render_outputs(tmp_path, version)
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert "documents documents/source=news/snapshot=march/run=r1 1,234 2 2.00 kB" in rows
    assert "rejects - 0 0 0 B" in rows
    code = rows[-1].removeprefix("Read one with: ")
    imports, call = code.split("; ")
    names = {}
    exec(imports, names)
    assert eval(call, names).column_names == ["x"]
    assert render_outputs(tmp_path, Version(KEY)) == f"Nothing is published of {KEY} under {tmp_path}.\n"
