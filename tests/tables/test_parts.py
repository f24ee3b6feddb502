from dataclasses import replace

import pytest

from dedup_lib.tables.keys import SnapshotKey
from dedup_lib.tables.workspace import open_workspace
from tables.entries import make_stage

KEY = SnapshotKey("web", "A")


def make_part(work, name):
    """A part of extract with files of its own."""
    entry = make_stage(work, "extract", name)
    return replace(entry, tables={table: _renamed(work, found, name) for table, found in entry.tables.items()})


def _renamed(work, table, name):
    files = []
    for file in table.files:
        path = file.path.replace("part-0", name)
        work.objects.local_path(file.path).rename(work.objects.local_path(path))
        files.append(replace(file, path=path))
    return replace(table, files=tuple(files))


def files_of(root):
    return {str(path.relative_to(root)) for path in root.glob("[a-z]*/**/*") if path.is_file()}


class Killed(BaseException):
    """Ends a run as a signal would: nothing but `finally` runs."""


def killed_after(root, run, *names):
    with pytest.raises(Killed), open_workspace(root, KEY, run) as work:
        for name in names:
            work.parts("extract").add(make_part(work, name))
        make_part(work, "unfinished")
        raise Killed


def test_parts_that_a_killed_run_finished_are_found_by_the_next_one_and_the_rest_is_swept(tmp_path):
    killed_after(tmp_path, "r1", "one", "two")
    with open_workspace(tmp_path, KEY, "r2") as work:
        parts = work.parts("extract")
        assert {entry.fingerprint for entry in parts.entries} == {"one", "two"}
        assert parts.get("one").run == "r1"
        assert parts.get("three") is None
        assert files_of(tmp_path) == {file.path for entry in parts.entries for file in entry.files}


def test_a_part_whose_file_is_gone_is_not_finished(tmp_path):
    killed_after(tmp_path, "r1", "one")
    (tmp_path / "documents/source=web/snapshot=A/run=r1/one.parquet").unlink()
    with open_workspace(tmp_path, KEY, "r2") as work:
        assert work.parts("extract").get("one") is None


def test_parts_that_are_no_longer_wanted_are_forgotten_and_swept(tmp_path):
    killed_after(tmp_path, "r1", "one", "two")
    with open_workspace(tmp_path, KEY, "r2") as work:
        work.parts("extract").keep({"two"})
    with open_workspace(tmp_path, KEY, "r3") as work:
        entries = work.parts("extract").entries
        assert [entry.fingerprint for entry in entries] == ["two"]
        assert files_of(tmp_path) == {file.path for entry in entries for file in entry.files}


def test_a_finished_stage_keeps_the_files_of_its_parts_and_forgets_the_parts(tmp_path):
    killed_after(tmp_path, "r1", "one")
    with open_workspace(tmp_path, KEY, "r2") as work:
        part = work.parts("extract").get("one")
        work.finish_stage(replace(part, run="r2", fingerprint="f1"))
        work.publish()
        assert not work.parts("extract").entries
    assert files_of(tmp_path) == {file.path for file in part.files}
    assert not list(tmp_path.glob("_drafts/**/*.json"))


def test_parts_of_a_stage_that_turns_out_done_are_forgotten(tmp_path):
    with open_workspace(tmp_path, KEY, "r1") as work:
        work.finish_stage(make_stage(work, "extract", "f1"))
        work.publish()
    killed_after(tmp_path, "r2", "one")
    with open_workspace(tmp_path, KEY, "r3") as work:
        assert work.plan("extract", "f1", {}, replace=False) == "done"
        assert not work.parts("extract").entries


def test_a_part_that_was_half_recorded_counts_for_nothing(tmp_path):
    killed_after(tmp_path, "r1", "one")
    folder = tmp_path / "_drafts/source=web/snapshot=A.extract"
    (folder / ".two.json.0.tmp").write_bytes(b"{")
    with open_workspace(tmp_path, KEY, "r2") as work:
        assert [entry.fingerprint for entry in work.parts("extract").entries] == ["one"]
    assert [path.name for path in folder.iterdir()] == ["one.json"]
