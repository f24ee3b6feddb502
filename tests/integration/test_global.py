"""`crawl-dedup global` and `remove` on small stores: what they say, publish, refuse and leave behind."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from clustering.sessions import few_rows
from clustering.texts import words
from stages.global_store import Page, add_snapshot, fates, global_rows, global_version, key_of

from dedup_lib.signatures import Scheme
from dedup_lib.tables.keys import GLOBAL
from dedup_lib.tables.published import published_path
from dedup_lib.tables.workspace import open_workspace

from .command import Done, call, succeed
from .stored import files_below

BASE, OTHER = words(124, 1), words(60, 2)
A = [
    Page("k", " ".join(BASE), 3),
    Page("short", "a few words"),
    Page("o", " ".join(OTHER), others={"title": "the title", "fetched_at": None}),
]
B = [
    Page("n", " ".join(BASE[:120] + words(4, 3)), 2),
    Page("same", " ".join(OTHER).upper()),
    Page("new", " ".join(words(40, 4))),
    Page("short", "a few words"),
]
FATES = {
    "a:k": ("kept", None, "k", "k"),
    "a:short": ("kept", None, "short", "short"),
    "a:o": ("kept", None, "o", "o"),
    "b:n": ("near", "k", "k", "k"),
    "b:same": ("exact", "o", "o", "o"),
    "b:new": ("kept", None, "new", "new"),
    "b:short": ("url", "short", "short", "short"),
}


@dataclass(frozen=True)
class Built:
    root: Path
    done: Done


@pytest.fixture(scope="module")
def built(spark, tmp_path_factory) -> Built:
    """Two snapshots and their global version. Copy it before changing it."""
    root = tmp_path_factory.mktemp("global")
    add_snapshot(root, "a", A, month=1)
    add_snapshot(root, "b", B, month=2)
    with few_rows(spark):
        return Built(root, succeed("global", "--output", root))


@pytest.fixture
def copied(built, tmp_path) -> Path:
    return Path(shutil.copytree(built.root, tmp_path / "store"))


@pytest.fixture
def two(tmp_path) -> Path:
    """Two snapshots without a global version."""
    add_snapshot(tmp_path, "a", A, month=1)
    add_snapshot(tmp_path, "b", B, month=2)
    return tmp_path


def refused(code: int, *arguments: object) -> str:
    done = call(*arguments)
    assert done.code == code, done.err
    return done.complaint


def test_every_document_has_its_fate(built):
    assert fates(built.root) == FATES


def test_the_last_line_tells_the_counts_and_the_funnel_stands_before_it(built):
    summary = built.done.summary
    counts = summary["counts"]["global"]
    assert (summary["command"], summary["made"]) == ("global", ["global"])
    assert [counts[name] for name in ("documents", "kept", "exact", "near", "url")] == [7, 4, 1, 1, 1]
    assert counts["clusters_across_snapshots"] == 3
    assert counts["anew"] is True
    assert counts["snapshots"] == {
        "web/a": {"documents": 3, "kept": 3, "removed": 0, "first_crawl_date": "2026-01-01"},
        "web/b": {"documents": 4, "kept": 1, "removed": 3, "first_crawl_date": "2026-02-01"},
    }
    assert (counts["checked"], counts["lowest_checked"]) == (1, pytest.approx(116 / 124))
    funnel = [" ".join(line.split()) for line in built.done.out.splitlines()]
    assert "kept 4 57.1 %" in funnel
    assert "web/b 4 1 3" in funnel
    record = json.loads((built.root / f"_runs/{summary['run']}.json").read_text())
    assert (record["outcome"], record["counts"]["global"]) == ("done", counts)
    assert record["inputs"] == [{"snapshot": "web/a", "run": "r1"}, {"snapshot": "web/b", "run": "r1"}]


def test_representatives_carry_the_document_of_their_snapshot_and_what_they_stand_for(built):
    rows = {row["record_id"]: row for row in global_rows(built.root, "global_representatives")}
    assert sorted(rows) == ["k", "new", "o", "short"]
    assert [(rows[name]["snapshot"], rows[name]["text"]) for name in ("k", "new")] == [
        ("a", A[0].text),
        ("b", B[2].text),
    ]
    assert rows["o"]["title"] == "the title"
    assert (rows["k"]["cluster_size"], rows["k"]["captures"], rows["k"]["alias_count"]) == (2, 5, 1)
    assert rows["k"]["counts"] == [
        {"source": "web", "snapshot": "a", "documents": 1, "captures": 3},
        {"source": "web", "snapshot": "b", "documents": 1, "captures": 2},
    ]
    (alias,) = rows["k"]["aliases"]
    assert (alias["url"], alias["reason"]) == ("http://site.example/n", "near")
    assert rows["new"]["aliases"] == []


def test_nothing_but_the_published_version_is_left(built):
    listed = {file.path for file in global_version(built.root).stages["global"].files}
    found = {path for path in files_below(built.root) if path.startswith(("global_", "_drafts", "_tmp"))}
    assert found == listed


def test_again_there_is_nothing_to_do(copied):
    before = (copied / published_path(GLOBAL)).read_bytes()
    for more in ((), ("--rebuild",)):  # it was built anew of these very snapshots
        done = succeed("global", "--output", copied, *more)
        assert done.summary["made"] == []
        assert done.summary["counts"]["global"]["kept"] == 4
        assert "global: nothing to do" in done.err
    assert (copied / published_path(GLOBAL)).read_bytes() == before


def test_status_and_paths_know_it(built):
    lines = [" ".join(line.split()) for line in succeed("status", built.root).out.splitlines()]
    assert f"global current {built.done.summary['run']} global_clusters 7" in " ".join(lines)
    assert "made from web/a, web/b" in lines
    for table in ("global_clusters", "global_representatives"):
        listed = succeed("paths", built.root, table).out.split()
        assert listed == [
            str(built.root / file.path) for file in global_version(built.root).stages["global"].tables[table].files
        ]


def test_status_shows_what_changed_since(copied):
    add_snapshot(copied, "b", B[:1], month=2, run="r2")
    add_snapshot(copied, "c", B[:1], month=3)
    succeed("remove", "--source", "web", "--snapshot", "a", "--output", copied)
    out = " ".join(succeed("status", copied).out.split())
    assert "global stale" in out
    assert "replaced: web/b: run global" in out
    assert "removed: web/a: run global" in out
    assert "not in it yet: web/c: run global" in out


def test_dry_run_shows_the_plan_and_does_nothing(two):
    before = files_below(two)
    summary = succeed("global", "--output", two, "--dry-run").summary
    assert summary["snapshots"] == {"web/a": "r1", "web/b": "r1"}
    assert (summary["documents"], summary["published"]) == (7, None)
    assert files_below(two) == before


def test_other_settings_need_a_rebuild(copied):
    for setting in ("cluster.threshold=0.9", "global.keep=newest", "source_priority=[web]"):
        assert "--rebuild" in refused(2, "global", "--output", copied, "--set", setting)


def test_files_that_are_gone_need_a_rebuild(copied):
    (file, *_) = global_version(copied).stages["global"].tables["global_clusters"].files
    (copied / file.path).unlink()
    assert "--rebuild" in refused(3, "global", "--output", copied)


def test_snapshots_of_other_schemes_are_refused(two):
    add_snapshot(two, "c", B, month=3, scheme=Scheme(bands=16))
    complaint = refused(2, "global", "--output", two)
    for part in (str(Scheme()), str(Scheme(bands=16)), "web, snapshot a", "web, snapshot c", "leave the snapshot out"):
        assert part in complaint
    add_snapshot(two, "c", B, month=3, url_scheme="u2")
    assert "has scheme u2, but u1 is needed" in refused(2, "global", "--output", two)


def test_snapshots_that_are_not_there_or_not_clustered_are_refused(two):
    assert "has no such snapshot (there are: web/a, web/b)" in refused(
        3, "global", "--output", two, "--against", "web/z"
    )
    path = two / published_path(key_of("b"))
    path.write_text(path.read_text().replace('"sign": "r1"', '"sign": "r0"'))  # signed again since
    assert "source web, snapshot b is not clustered" in refused(3, "global", "--output", two, "--against", "web/b")
    assert "no snapshot under" in refused(3, "global", "--output", two / "nowhere")


def test_a_stale_snapshot_is_left_out_and_said_so(two):
    path = two / published_path(key_of("b"))
    path.write_text(path.read_text().replace('"sign": "r1"', '"sign": "r0"'))
    done = succeed("global", "--output", two, "--dry-run")
    assert done.summary["snapshots"] == {"web/a": "r1"}
    assert "web/b is left out" in done.err


def test_of_two_runs_one_is_refused(two):
    with open_workspace(two, GLOBAL, "r1"):
        assert "the global version of the store is being written by run r1" in refused(2, "global", "--output", two)


def test_components_are_refused(two):
    assert "cluster.shape=star" in refused(2, "global", "--output", two, "--set", "cluster.shape=components")


def test_a_snapshot_is_removed_with_all_its_tables(copied):
    key = ("--source", "web", "--snapshot", "b", "--output", copied)
    assert succeed("remove", *key, "--dry-run").summary["removed"] == {"sign": "r1", "cluster": "r1"}
    assert (copied / published_path(key_of("b"))).exists()
    done = succeed("remove", *key)
    assert done.summary["removed"] == {"sign": "r1", "cluster": "r1"}
    assert "is stale: run global" in done.err
    assert not [path for path in files_below(copied) if "snapshot=b" in path and not path.startswith("_locks")]
    assert "there is no source web, snapshot b" in refused(3, "remove", *key)
    assert fates(copied) == FATES  # until `global` is run


def test_a_removed_snapshot_stays_for_readers_as_long_as_is_configured(two):
    key = ("--source", "web", "--snapshot", "b", "--output", two)
    retain = ("--set", "store.retain_seconds=600")
    succeed("remove", *key, *retain)
    assert [path for path in files_below(two) if path.startswith("representatives/") and "snapshot=b" in path]
    assert succeed("global", "--output", two, "--dry-run").summary["snapshots"] == {"web/a": "r1"}
    succeed("remove", "--source", "web", "--snapshot", "a", "--output", two)  # and that time is over for b too
    assert not [path for path in files_below(two) if path.startswith(("representatives/", "_published/"))]


def test_without_snapshots_the_global_version_is_withdrawn(copied):
    for snapshot in ("a", "b"):
        succeed("remove", "--output", copied, "--source", "web", "--snapshot", snapshot)
    assert json.loads(succeed("global", "--output", copied, "--dry-run").out.splitlines()[-1])["dry_run"]
    assert global_rows(copied)
    succeed("global", "--output", copied)
    assert not [path for path in files_below(copied) if path.endswith(".parquet")]
    refused(3, "status", copied)
    refused(3, "global", "--output", copied)


def test_settings_that_change_no_row_need_no_rebuild(copied):
    done = succeed(
        "global", "--output", copied, "--set", "cluster.check_sample=10", "--set", "cluster.write_pairs=true"
    )
    assert json.loads(done.out.splitlines()[-1])["made"] == []
