"""The notebook runs as a script, without a display, and shows of a store what is in it."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from clustering.texts import pair_of_texts, words
from reports.explained import KEY, doc_id, page, publish

from dedup_lib.stages.changes import CHANGES
from dedup_lib.tables.keys import SnapshotKey

PROJECT = Path(__file__).parents[2]
FIRST, NEAR = pair_of_texts(85, 5, seed=1)  # 85 of 95
pytestmark = pytest.mark.skipif(importlib.util.find_spec("duckdb") is None, reason="needs the extra `notebooks`")


def run(*arguments):
    """What the script writes, as a process without display."""
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "MPLBACKEND")}
    environment["PYTHONPATH"] = str(PROJECT)
    command = [sys.executable, str(PROJECT / "notebooks" / "inspect_run.py"), *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("it's a store")
    pages = {"first": page("first", FIRST), "near": page("near", NEAR, language="fr")}
    pages |= {f"copy{n}": page(f"copy{n}", FIRST, f"https://mirror.example/{n}", language="fr") for n in range(5)}
    pages |= {f"other{n}": page(f"other{n}", " ".join(words(20, n))) for n in range(3)}
    lost = {"near": ("near", "first", 85 / 95), **{f"copy{n}": ("exact", "first", 1.0) for n in range(5)}}
    fetches = [{"url": "http://x.example/gone", "kind": "error", "archive": "a"}]
    publish(root, pages, lost, fetches=fetches)
    publish(root, {"later": page("later", FIRST)}, {}, key=SnapshotKey("web", "snapshot-b"))
    leftover = root / f"clusters/{KEY.folder}/run=r0/part-9.parquet"
    leftover.parent.mkdir()
    leftover.write_bytes(b"of a run that was killed")
    return root


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """Rows as `crawl-dedup changes --write` has them."""
    folder = tmp_path_factory.mktemp("changes")
    kinds = [("edited", 0.5), ("edited", 0.75), ("new", None), ("unchanged", None)]
    rows = [{"canonical_url": f"http://x/{n}", "kind": kind, "similarity": s} for n, (kind, s) in enumerate(kinds)]
    pq.write_table(pa.Table.from_pylist(rows, schema=CHANGES), folder / "part-0.parquet")
    return folder


@pytest.fixture(scope="module")
def told(root, changed, tmp_path_factory):
    plot = tmp_path_factory.mktemp("plot") / "inspect.png"
    done = run(root, "--changes", changed, "--plot", plot)
    assert done.returncode == 0, done.stderr
    return done.stdout, plot


def cells(page):
    """The lines of the page as lists of words."""
    return [line.split() for line in page.splitlines()]


def test_the_funnel_has_every_step_of_every_snapshot(told):
    lines = cells(told[0])
    assert lines[0] == ["web/snapshot-a", "web/snapshot-b"]
    assert lines[1:7] == [
        ["documents", "10", "100.0", "%", "1", "100.0", "%"],
        ["fetches", "1", "10.0", "%", "0", "0.0", "%"],
        ["exact", "5", "50.0", "%", "0", "0.0", "%"],
        ["near", "1", "10.0", "%", "0", "0.0", "%"],
        ["kept", "4", "40.0", "%", "1", "100.0", "%"],
        [],
    ]


def test_clusters_are_counted_by_size_and_the_largest_shown(told):
    assert ["1", "4", "4", "36.4", "%"] in cells(told[0])
    assert ["4", "to", "7", "1", "7", "63.6", "%"] in cells(told[0])
    assert ["https://x.example/first", "7", "0", "5", "1", "web/snapshot-a"] in cells(told[0])
    assert "7 captures: https://x.example/first\n  exact  https://mirror.example/0\n" in told[0]


def test_hosts_and_languages_are_counted_with_what_is_kept(told):
    assert ["mirror.example", "5", "0", "0.0", "%", "0", "5", "0"] in cells(told[0])
    assert ["x.example", "6", "5", "83.3", "%", "0", "0", "1"] in cells(told[0])
    assert ["fr", "6", "0", "0.0", "%", "0", "5", "1"] in cells(told[0])


def test_pairs_above_the_threshold_are_shown_side_by_side(told):
    shown = told[0].split("removed, just above the threshold (pairs: 1)")[1]
    assert re.search(r"similarity 0\.8947\n  https://x\.example/near\n  https://x\.example/first\n", shown)
    same, differing = [line for line in shown.splitlines() if " = " in line or " | " in line][:2]
    here, there = same.split(" = ")
    assert here.strip() == there.strip()
    assert [side.split()[0] for side in differing.split(" | ")] == [NEAR.split()[89], FIRST.split()[89]]


def test_changes_are_counted_and_the_most_edited_pages_shown(told):
    assert ["edited", "2", "50.0", "%", "0.625"] in cells(told[0])
    assert ["0.50", "http://x/0"] in cells(told[0])


def test_a_plot_is_written_where_matplotlib_is_there(told):
    text, plot = told
    if importlib.util.find_spec("matplotlib"):
        assert plot.read_bytes().startswith(b"\x89PNG")
    else:
        assert "matplotlib is not there" in text


def test_one_snapshot_alone_can_be_shown(root):
    done = run(root, "--snapshot", "snapshot-b")
    assert done.returncode == 0, done.stderr
    assert cells(done.stdout)[:2] == [["web/snapshot-b"], ["documents", "1", "100.0", "%"]]
    assert doc_id("first").hex() not in done.stdout
    assert "no changes: make them with `crawl-dedup changes" in done.stdout


def test_a_folder_without_a_store_is_told_in_a_sentence(tmp_path):
    done = run(tmp_path)
    assert done.returncode != 0
    assert f"nothing that is clustered is published under {tmp_path}: run the pipeline first" in done.stderr
