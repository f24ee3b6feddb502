"""Outputs and status of versions."""

import json
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dedup_lib.reports import render_outputs, render_status, status_json
from dedup_lib.reports.status import FATES
from dedup_lib.stages import canonicals
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


@pytest.fixture
def resolved(version):
    """A version whose resolve stage has counts; and the lines of its status below the table."""

    def make(**counts):
        entry = StageEntry("resolve", "r2", "f", None, "u1", {}, counts, {})
        return replace(version, stages={**version.stages, "resolve": entry})

    return make


def lines_below(version):
    lines = render_status([version]).splitlines()
    return lines[lines.index("  URL scheme u1 (extract, resolve, sign)") + 1 :]


def test_status_shows_the_url_rules_that_were_undone(resolved):
    by_rule = {"a.example: tracking pk_id": 34, "b.example: drop_params x, parameter order": 1200}
    assert lines_below(resolved(conflicts=1234, conflicts_by_rule=by_rule)) == [
        "  URL rules undone for 1,234 captures, as their texts differ",
        "    1,200  b.example: drop_params x, parameter order",
        "       34  a.example: tracking pk_id",
    ]


def test_status_shows_ten_rules_and_says_where_the_others_are(resolved):
    by_rule = {f"h{number:02}.example: scheme": 12 - number // 2 for number in range(12)}
    lines = lines_below(resolved(conflicts=114, conflicts_by_rule=by_rule))
    assert lines[1:11] == [f"    {12 - number // 2:>2}  h{number:02}.example: scheme" for number in range(10)]
    assert lines[11:] == [
        "    and 2 more hosts and rules: see counts.resolve.conflicts_by_rule in _runs/r2.json and identities.conflict"
    ]
    full = {f"h{number}.example: scheme": 1 for number in range(100)}
    assert (
        "    and at least 90 more hosts and rules: see"
        in lines_below(resolved(conflicts=500, conflicts_by_rule=full))[11]
    )


def test_status_shows_what_became_of_declared_canonicals(resolved):
    fates = {"declared": 1510, "followed": 1500, "over_fan_in": 3, "truncated": 1, "chained": 1, "not_captured": 5}
    by_host = {f"h{number:02}.example": 1 for number in range(11)} | {"z.example": 7}
    lines = lines_below(resolved(canonicals={**fates, "different_text": 0}, canonicals_refused_by_host=by_host))
    assert lines[:4] == [
        "  another page declared as canonical by 1,510 pages: 1,500 followed, 3 to pages that too many declare, "
        "5 to pages not captured, 1 to pages that declare another themselves, 1 to pages cut short",
        "  hosts whose rel=canonical was refused most often",
        "    7  z.example",
        "    1  h00.example",
    ]
    assert lines[-1] == "    and 2 more hosts: see counts.resolve.canonicals_refused_by_host in _runs/r2.json"
    assert len(lines) == 13


def test_status_is_silent_about_urls_where_nothing_was_undone_or_declared(resolved):
    none = dict.fromkeys(("declared", *FATES), 0)
    for counts in (
        {},
        {"conflicts": 0, "conflicts_by_rule": {}, "canonicals": none, "canonicals_refused_by_host": {}},
    ):
        assert lines_below(resolved(**counts)) == []


def test_status_has_words_for_every_fate_that_resolve_knows():
    assert set(FATES) == set(canonicals.FATES)


def test_status_as_json_has_the_counts_of_urls(resolved):
    counts = {
        "conflicts_by_rule": {"a.example: tracking pk_id": 34},
        "canonicals": {"declared": 1, "followed": 1},
        "canonicals_refused_by_host": {},
    }
    (snapshot,) = status_json([resolved(conflicts=34, **counts)])["snapshots"]
    assert {name: snapshot["stages"]["resolve"][name] for name in counts} == counts
    assert not set(counts) & set(snapshot["stages"]["sign"])


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
