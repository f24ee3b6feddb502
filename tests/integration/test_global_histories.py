"""Stores that grow, change and shrink: after each `global` they are what the definition makes of them."""

import os
import random
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
from clustering.sessions import few_rows, shuffle_partitions
from clustering.texts import words
from stages.global_model import Model
from stages.global_store import Page, add_snapshot, fates, global_rows, global_version, random_pages

from dedup_lib.tables.keys import GLOBAL
from dedup_lib.tables.published import read_version
from dedup_lib.tables.runs import read_run

from .command import call, spawn, succeed
from .stored import files_below

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


def add(root, name, pages, run="r1"):
    add_snapshot(root, name, pages, month="abcdefgh".index(name) + 1, run=run, files=2)


def coverage_faults(root: Path) -> list[str]:
    """Documents that name none, or one that is not kept; and versions with files that are not theirs."""
    rows = global_rows(root)
    kept = {row["doc_id"] for row in rows if row["reason"] == "kept"}
    faults = [f"{row['canonical_url']} dangles" for row in rows if row["representative_id"] not in kept]
    listed = {file.path for file in global_version(root).stages["global"].files}
    return faults + sorted(listed ^ {path for path in files_below(root) if path.startswith(("global_", "_tmp"))})


@pytest.mark.parametrize(("seed", "partitions"), [(1, 1), (2, 7)])
def test_snapshots_one_by_one_and_all_at_once_are_what_the_definition_says(spark, tmp_path, seed, partitions):
    pages, model, shown = random_pages(seed, "abc"), Model(), {}
    with shuffle_partitions(spark, partitions):
        for name in "abc":
            add(tmp_path, name, pages[name])
            shown[name] = pages[name]
            done = succeed("global", "--output", tmp_path)
            assert fates(tmp_path) == model.update(shown)
            assert coverage_faults(tmp_path) == []
        assert done.summary["counts"]["global"]["anew"] is False
        grown = global_rows(tmp_path)
        done = succeed("global", "--output", tmp_path, "--rebuild")
    assert done.summary["counts"]["global"]["anew"] is True
    assert [without_estimates(row) for row in global_rows(tmp_path)] == [without_estimates(row) for row in grown]
    assert fates(tmp_path) == Model().update(pages)
    assert {fate[0] for fate in fates(tmp_path).values()} == {"kept", "exact", "near"}


def without_estimates(row):
    return {name: value for name, value in row.items() if name != "similarity"}


@pytest.mark.parametrize("seed", [11, 12])
def test_whatever_is_added_replaced_and_removed(spark, tmp_path, seed):
    dice, model = random.Random(seed), Model()
    pool = random_pages(seed, "abcd", families=8)
    shown: dict[str, list[Page]] = {}
    with few_rows(spark):
        for step in range(6):
            name = "abcd"[step] if step < 3 else dice.choice("abcd")
            if step > 3 and name in shown and len(shown) > 1 and dice.random() < 0.4:
                del shown[name]
                succeed("remove", "--source", "web", "--snapshot", name, "--output", tmp_path)
            else:
                others = [page for other, pages in pool.items() if other != name for page in pages]
                shown[name] = dice.sample(pool[name], max(1, 2 * len(pool[name]) // 3)) + dice.sample(others, 3)
                shown[name] = list({page.name: page for page in shown[name]}.values())
                if shown[name] and step > 2:  # a page whose text is another now
                    shown[name][0] = replace(shown[name][0], text=" ".join(words(30, dice.randrange(10**6))))
                add(tmp_path, name, shown[name], run=f"r{step}")
            succeed("global", "--output", tmp_path)
            expected = model.update({one: shown[one] for one in sorted(shown)})
            names = {page.name for pages in pool.values() for page in pages}
            assert fates(tmp_path, *names) == expected, step
            assert coverage_faults(tmp_path) == []


def test_the_newest_stay_in_a_rebuild(spark, tmp_path):
    text = words(124, 1)
    for number, name in enumerate("abc"):
        add(tmp_path, name, [Page(f"{name}-page", " ".join(text[:120] + words(4, number)))])
    with few_rows(spark):
        succeed("global", "--output", tmp_path)
        assert {fate[2] for fate in fates(tmp_path).values()} == {"a-page"}
        newest = ("--set", "global.keep=newest", "--rebuild")
        succeed("global", "--output", tmp_path, *newest)
        assert {fate[2] for fate in fates(tmp_path).values()} == {"c-page"}
        preferred = ("--set", "source_priority=[news, web]", "--rebuild")
        add_snapshot(tmp_path, "news/d", [Page("d-page", " ".join(text))], month=9)
        succeed("global", "--output", tmp_path, *preferred)
        assert {fate[2] for fate in fates(tmp_path).values()} == {"d-page"}


def test_the_newest_stays_newest_only_until_something_is_added(spark, tmp_path):
    text, newest = words(124, 1), ("--set", "global.keep=newest")
    with few_rows(spark):
        for number, name in enumerate("ab"):
            add(tmp_path, name, [Page(f"{name}-page", " ".join(text[:120] + words(4, number)))])
            succeed("global", "--output", tmp_path, *newest)
        assert {fate[2] for fate in fates(tmp_path).values()} == {"a-page"}  # what is there stays
        succeed("global", "--output", tmp_path, *newest, "--rebuild")
        assert {fate[2] for fate in fates(tmp_path).values()} == {"b-page"}


def test_empty_snapshots_and_named_ones(spark, tmp_path):
    pages = random_pages(3, "ab", families=2)
    with few_rows(spark):
        add(tmp_path, "a", [])
        done = succeed("global", "--output", tmp_path)
        assert done.summary["counts"]["global"]["documents"] == 0
        assert done.summary["counts"]["global"]["snapshots"]["web/a"]["first_crawl_date"] is None
        add(tmp_path, "a", pages["a"], run="r2")
        add(tmp_path, "b", pages["b"])
        add(tmp_path, "c", [])
        named = [part for name in ("a", "c") for part in ("--against", f"web/{name}")]
        succeed("global", "--output", tmp_path, *named)
        assert fates(tmp_path) == Model().update({"a": pages["a"]})
        succeed("global", "--output", tmp_path)
        assert fates(tmp_path) == Model().update({"a": pages["a"], "b": pages["b"]})
        succeed("global", "--output", tmp_path, "--against", "web/b")  # what is not named takes no part any more
        gone = [page.name for page in pages["a"]]  # whose clusters members of b took over, under their ids
        assert {name.split(":")[0] for name in fates(tmp_path, *gone)} == {"b"}


def test_by_estimates_alone_no_text_is_read(spark, tmp_path):
    pages = random_pages(4, "ab", families=3)
    for name in "ab":
        add(tmp_path, name, pages[name])
    with few_rows(spark):
        done = succeed("global", "--output", tmp_path, "--set", "cluster.verify=estimate")
    counts = done.summary["counts"]["global"]
    assert (counts["compared_exactly"], counts["checked"]) == (0, 0)
    assert counts["near"] > 0
    assert coverage_faults(tmp_path) == []


def test_the_sample_across_its_snapshots(spark, store, tmp_path):
    root = Path(shutil.copytree(store.root, tmp_path / "store"))
    counts = succeed("global", "--config", "conf/sample.yaml", "--output", root).summary["counts"]["global"]
    kept = [run.summary["counts"]["cluster"]["kept"] for run in store.runs.values()]
    assert counts["documents"] == sum(kept)
    assert counts["kept"] + counts["exact"] + counts["near"] + counts["url"] == sum(kept)
    first, second = counts["snapshots"].values()
    assert (first["removed"], second["removed"] > 0) == (0, True)  # within a snapshot there is nothing left
    assert coverage_faults(root) == []


@pytest.mark.parametrize("folders", [2, 10, 18])
def test_a_killed_run_leaves_the_version_before_and_the_next_one_completes_it(spark, tmp_path, folders):
    pages = random_pages(5, "ab", families=3)
    add(tmp_path, "a", pages["a"])
    with few_rows(spark):
        before = succeed("global", "--output", tmp_path).summary["run"]
    add(tmp_path, "b", pages["b"])
    process = spawn("global", "--output", tmp_path)
    try:
        while len(list((tmp_path / "_tmp/global").glob("*/*"))) < folders:
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    version = read_version(tmp_path, GLOBAL)
    assert version.stages["global"].run == before
    assert all((tmp_path / file.path).stat().st_size == file.bytes for file in version.stages["global"].files)
    killed = max(path.stem for path in (tmp_path / "_runs").glob("*.json"))
    with few_rows(spark):
        succeed("global", "--output", tmp_path)
    assert read_run(tmp_path, killed)["outcome"] == "killed"
    assert fates(tmp_path) == Model().update(pages)
    assert coverage_faults(tmp_path) == []


def test_a_snapshot_that_is_replaced_while_it_is_read_is_said_so(spark, tmp_path, monkeypatch):
    pages = random_pages(6, "a", families=2)
    add(tmp_path, "a", pages["a"])

    def replace_it(*arguments):
        shutil.rmtree(tmp_path / "signatures")
        add(tmp_path, "a", pages["a"], run="r2")
        raise OSError("a file is gone")

    monkeypatch.setattr("dedup_lib.cli.global_maker.cluster_globally", replace_it)
    with few_rows(spark):
        done = call("global", "--output", tmp_path)
    assert done.code == 3
    assert "source web, snapshot a was replaced or removed while it was read: start again" in done.complaint
