"""Both snapshots of the sample, run once: the counts close, the truth is met, any reader can read the store."""

import json
from collections import Counter
from time import process_time

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from dedup_lib.evaluation import evaluate_store
from dedup_lib.reports.funnel import funnel_closes
from dedup_lib.sample import SNAPSHOTS, TRUTH_FILE, read_truth
from dedup_lib.tables.keys import SnapshotKey
from dedup_lib.tables.schemas import STAGES, TABLES

from .command import call, execute, succeed, without_java
from .conftest import SAMPLE_PROFILE
from .stored import all_rows, files_below, rows, strays, version

KEYS = [SnapshotKey("sample", name) for name in SNAPSHOTS]


def test_the_summary_is_the_last_line_and_tells_what_was_made(store):
    for key in KEYS:
        summary = store.runs[key.snapshot].summary
        assert (summary["command"], summary["source"], summary["snapshot"]) == ("run", "sample", key.snapshot)
        assert summary["made"] == list(summary["counts"]) == list(STAGES)
        assert summary["run"] == version(store.root, key).stages["cluster"].run


@pytest.mark.parametrize("key", KEYS, ids=SNAPSHOTS)
def test_every_record_is_kept_or_a_duplicate_or_no_document(store, key):
    counts = store.runs[key.snapshot].summary["counts"]
    assert funnel_closes(counts) == []
    found = all_rows(store.root, key=key)
    extract, cluster = counts["extract"], counts["cluster"]
    for name in ("documents", "fetches"):
        assert extract[name] == len(found[name])
    assert extract["rejects"] + extract["faults"] == len(found["rejects"])
    reasons = Counter(row["reason"] for row in found["clusters"])
    assert {reason: cluster[reason] for reason in ("kept", "url", "exact", "near")} == dict(reasons)
    assert len(found["representatives"]) == reasons["kept"]
    captures = {row["doc_id"] for row in found["documents"]}
    for name in ("clusters", "identities"):
        assert {row["doc_id"] for row in found[name]} == captures
        assert len(found[name]) == len(captures)


@pytest.mark.parametrize("key", KEYS, ids=SNAPSHOTS)
def test_who_stands_for_a_capture_is_kept_and_named_once(store, key):
    clusters = rows(store.root, "clusters", key=key)
    kept = {row["doc_id"]: row["cluster_id"] for row in clusters if row["reason"] == "kept"}
    assert len(kept) == len(set(kept.values())) == len({row["cluster_id"] for row in clusters})
    for row in clusters:
        assert kept[row["representative_id"]] == row["cluster_id"]
        assert (row["duplicate_of"] is None) == (row["reason"] == "kept") == (row["doc_id"] in kept)
        assert row["reason"] != "near" or row["similarity"] >= 0.8


def test_the_result_agrees_with_what_was_planted(store):
    evaluation = evaluate_store(str(store.root), store.inputs / TRUTH_FILE, 0.8, 32, 8)
    assert evaluation.failures == []
    text = json.dumps(evaluation.to_json())
    assert all(name in text for name in SNAPSHOTS)


@pytest.mark.parametrize("name", TABLES)
def test_any_reader_finds_the_tables_by_their_folders(store, name):
    found = ds.dataset(store.root / name, format="parquet", partitioning="hive")
    table, extra = TABLES[name], ["source", "snapshot", "run"]
    assert sorted(found.schema.names) == sorted([*table.names, *extra])
    for column in table.columns:
        assert found.schema.field(column.name).type == column.type, column.name
    read = found.to_table()
    runs = {row["run"] for row in read.select(["run"]).to_pylist()}
    assert runs == {version(store.root, key).stages[table.stage].run for key in KEYS}
    assert pc.unique(read["snapshot"]).to_pylist() == list(SNAPSHOTS)
    assert all(read[column.name].null_count == 0 for column in table.columns if column.required)
    assert read.num_rows == sum(len(rows(store.root, name, key=key)) for key in KEYS)


def test_status_shows_both_snapshots_with_every_stage(store):
    out = succeed("status", store.root).out
    assert all(name in out for name in (*SNAPSHOTS, *STAGES, *TABLES))
    assert "stale" not in out
    assert "not run" not in out


def test_paths_names_the_published_files_and_nothing_else(store):
    listed = succeed("paths", store.root, "representatives").out.splitlines()
    expected = {store.root / file.path for key in KEYS for file in _files(store.root, key, "representatives")}
    assert {str(path) for path in expected} == set(listed)
    assert ds.dataset(listed, format="parquet").count_rows() == sum(
        len(rows(store.root, "representatives", key=key)) for key in KEYS
    )


def _files(root, key, table):
    return version(root, key).stage_of(table).tables[table].files


def test_evaluate_agrees_with_the_truth_and_ends_with_its_numbers(store):
    done = succeed("evaluate", store.root, "--truth", store.inputs / TRUTH_FILE)
    assert done.summary["command"] == "evaluate"


def test_evaluate_fails_where_a_planted_duplicate_was_not_found(store, tmp_path):
    truth = read_truth(store.inputs)
    found = truth.to_pylist()
    one, other = [row for row in found if row["snapshot"] == SNAPSHOTS[0] and row["relation"] == "original"][:2]
    one |= {
        "family": other["family"],
        "relation": "mirror",
        "original_record_id": other["record_id"],
        "must_merge": True,
    }
    pq.write_table(pa.Table.from_pylist(found, schema=truth.schema), tmp_path / "truth.parquet")
    done = call("evaluate", store.root, "--truth", tmp_path / "truth.parquet")
    assert done.code == 4
    assert "planted duplicates were not found" in done.complaint


def test_a_second_run_needs_no_java_and_changes_nothing(store, tmp_path):
    before, files = version(store.root, KEYS[0]), files_below(store.root)
    arguments = ("--source", "sample", "--snapshot", SNAPSHOTS[0], "--input", store.inputs / SNAPSHOTS[0])
    done = execute("run", *SAMPLE_PROFILE, *arguments, "--output", store.root, **without_java(tmp_path / "bare"))
    assert done.code == 0, done.err
    assert done.summary["made"] == []
    assert done.summary["counts"] == store.runs[SNAPSHOTS[0]].summary["counts"]
    assert version(store.root, KEYS[0]) == before
    after = files_below(store.root)
    assert {path for path in after.keys() - files.keys() if not path.startswith("_runs/")} == set()
    assert files.keys() <= after.keys()


def test_a_second_run_takes_moments(store):
    start = process_time()
    arguments = ("--source", "sample", "--snapshot", SNAPSHOTS[1], "--input", store.inputs / SNAPSHOTS[1])
    succeed("run", *SAMPLE_PROFILE, *arguments, "--output", store.root)
    assert process_time() - start < 2


def test_a_run_leaves_nothing_but_what_is_published(store):
    assert strays(store.root, *KEYS) == []


def test_the_run_file_tells_what_was_asked_and_what_came_of_it(store):
    for key in KEYS:
        summary = store.runs[key.snapshot].summary
        record = json.loads((store.root / f"_runs/{summary['run']}.json").read_text())
        assert (record["command"], record["outcome"], record["error"]) == ("run", "done", None)
        assert (record["source"], record["snapshot"]) == ("sample", key.snapshot)
        assert record["counts"] == summary["counts"]
        assert list(record["seconds"]) == list(STAGES)
        assert record["started_at"] < record["finished_at"]
        settings = json.dumps(record["configuration"])
        assert '"split_bytes": 1048576' in settings
        assert '"threshold": 0.8' in settings
        inputs = {item["path"]: item["bytes"] for item in record["inputs"]}
        assert inputs == {str(path): path.stat().st_size for path in (store.inputs / key.snapshot).iterdir()}
        entry = version(store.root, key).stages["cluster"]
        assert record["schemes"] == {"scheme": entry.scheme, "url_scheme": entry.url_scheme}
        assert {"python", "pyspark", "pyarrow", "fastwarc", "resiliparse"} <= record["versions"].keys()
