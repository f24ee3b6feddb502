"""Running again: with other settings, stage by stage, over what became stale or was damaged."""

import json

import pytest

from dedup_lib.tables.schemas import STAGES

from .command import KEY, call, succeed
from .stored import all_rows, files_below, rows, strays, version

HIGHER = ("--set", "cluster.threshold=0.9")


def runs_of(root):
    return {stage: entry.run for stage, entry in version(root).stages.items()}


def test_another_setting_is_refused_without_replace(copied):
    files = files_below(copied.root)
    done = call("run", *KEY, "--input", copied.inputs, "--output", copied.root, *HIGHER)
    assert done.code == 2
    assert "--replace" in done.complaint
    assert {path for path in files_below(copied.root) if not path.startswith("_runs/")} == {
        path for path in files if not path.startswith("_runs/")
    }


def test_other_inputs_are_refused_without_replace(copied):
    inputs = sorted(copied.inputs.iterdir())[:1]
    done = call("run", *KEY, "--input", *inputs, "--output", copied.root)
    assert done.code == 2
    assert "extract of source sample, snapshot snapshot-a was made with other inputs" in done.complaint


@pytest.mark.slow
def test_replace_remakes_only_what_the_setting_shapes(copied):
    before = runs_of(copied.root)
    arguments = ("--input", copied.inputs, "--output", copied.root, *HIGHER)
    done = succeed("run", *KEY, *arguments, "--replace")
    assert done.summary["made"] == ["cluster"]
    assert runs_of(copied.root) == before | {"cluster": done.summary["run"]}
    assert strays(copied.root) == []
    near = [row for row in rows(copied.root, "clusters") if row["reason"] == "near"]
    assert all(row["similarity"] >= 0.9 for row in near)
    assert 0 < len(near) < done.summary["counts"]["cluster"]["candidate_pairs"]
    # What has been replaced is what is asked for now: nothing is left to do, also with --replace.
    assert succeed("run", *KEY, *arguments, "--replace").summary["made"] == []


def test_stage_by_stage_gives_the_rows_of_run(small, tmp_path):
    for stage in STAGES:
        inputs = ("--input", small.inputs) if stage == "extract" else ()
        done = succeed(stage, *KEY, *inputs, "--output", tmp_path)
        assert done.summary["made"] == list(done.summary["counts"]) == [stage]
        assert done.summary["counts"][stage] == small.runs["snapshot-a"].summary["counts"][stage]
        assert json.loads((tmp_path / f"_runs/{done.summary['run']}.json").read_text())["outcome"] == "done"
        assert strays(tmp_path) == []
    assert all_rows(tmp_path) == all_rows(small.root)


def test_what_was_made_from_a_replaced_stage_is_stale_until_remade(copied):
    before = runs_of(copied.root)
    everything = ("--set", "extract.main_content=false")
    succeed("extract", *KEY, "--input", copied.inputs, "--output", copied.root, *everything, "--replace")
    assert {stage for stage, run in runs_of(copied.root).items() if before[stage] != run} == {"extract"}
    assert succeed("status", copied.root).out.count("stale: extract was replaced") == 3
    for stage in ("sign", "cluster"):
        refused = call(stage, *KEY, "--output", copied.root)
        assert refused.code == 3
        assert "identities of source sample, snapshot snapshot-a is stale" in refused.complaint
        assert "run resolve again" in refused.complaint
    done = succeed("run", *KEY, "--input", copied.inputs, "--output", copied.root, *everything)
    assert done.summary["made"] == ["resolve", "sign", "cluster"]
    assert "stale" not in succeed("status", copied.root).out
    assert strays(copied.root) == []


@pytest.mark.parametrize(
    ("table", "made"),
    [("clusters", ["cluster"]), pytest.param("signatures", ["sign", "cluster"], marks=pytest.mark.slow)],
)
def test_a_damaged_file_is_noticed_and_made_again(copied, table, made):
    expected = all_rows(copied.root)
    (file, *_) = version(copied.root).stage_of(table).tables[table].files
    with (copied.root / file.path).open("r+b") as stream:
        stream.truncate(file.bytes // 2)
    done = succeed("run", *KEY, "--input", copied.inputs, "--output", copied.root)
    assert done.summary["made"] == made
    assert all_rows(copied.root) == expected
    assert strays(copied.root) == []


def test_a_run_whose_checks_fail_publishes_nothing_and_says_so(tmp_path):
    (tmp_path / "a.warc").write_text("hello, I am no archive\n")
    done = call("run", *KEY, "--input", tmp_path / "a.warc", "--output", tmp_path / "store")
    assert done.code == 4
    assert "1 of 1 records were rejected (not_an_archive 1)" in done.complaint
    assert done.out == ""
    assert files_below(tmp_path / "store/_published") == {}
    drafted = "".join(path.read_text() for path in (tmp_path / "store/_drafts").rglob("*.json"))
    assert all(path in drafted for path in files_below(tmp_path / "store") if path.endswith(".parquet"))
    (run_file,) = (tmp_path / "store/_runs").iterdir()
    record = json.loads(run_file.read_text())
    assert record["outcome"] == "failed"
    assert record["error"] in done.complaint


def test_an_archive_of_no_bytes_is_a_verdict_and_no_error(tmp_path):
    (tmp_path / "a.warc.gz").touch()
    done = succeed("run", *KEY, "--input", tmp_path / "a.warc.gz", "--output", tmp_path / "store")
    assert done.summary["counts"]["extract"]["verdicts"] == {"empty": 1}
    assert [row["verdict"] for row in rows(tmp_path / "store", "archives")] == ["empty"]
    assert rows(tmp_path / "store", "clusters") == []


def test_one_bad_archive_among_good_ones_ends_no_run(small, records, tmp_path):
    inputs = tmp_path / "input"
    inputs.mkdir()
    (inputs / "good.warc.gz").write_bytes(b"".join(record.data for record in records[:40]))
    (inputs / "picture.warc.gz").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (inputs / "none.warc").touch()
    done = succeed("extract", *KEY, "--input", inputs, "--output", tmp_path / "store")
    assert done.summary["counts"]["extract"]["verdicts"] == {"complete": 1, "empty": 1, "not an archive": 1}
    assert "not_an_archive" in {row["reason"] for row in rows(tmp_path / "store", "rejects")}
