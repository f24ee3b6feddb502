from dataclasses import replace as changed

import pytest

from dedup_lib.errors import ConflictError, UsageError
from dedup_lib.tables.keys import SnapshotKey
from dedup_lib.tables.published import published_path, read_version
from dedup_lib.tables.workspace import open_workspace
from tables.entries import make_stage, run_of

KEY = SnapshotKey("web", "A")


def publish(root, run, stages=("extract", "resolve"), *, retain_seconds=0, fingerprint="f1", replace=False):
    """A command as the jobs write it; gives what each stage's plan was."""
    plans = {}
    with open_workspace(root, KEY, run, retain_seconds) as work:
        for stage in stages:
            made_from = {} if stage == "extract" else run_of(work, "extract")
            plans[stage] = work.plan(stage, fingerprint, made_from, replace)
            if plans[stage] == "run":
                work.finish_stage(make_stage(work, stage, fingerprint, made_from))
        work.publish()
    return plans


def files_of(root):
    return {str(path.relative_to(root)) for path in root.glob("[a-z]*/**/*") if path.is_file()}


def named_files(version):
    return {file.path for entry in version.stages.values() for file in entry.files}


def test_publish_makes_all_finished_stages_visible_at_once(tmp_path):
    with open_workspace(tmp_path, KEY, "r1") as work:
        for stage in ("extract", "resolve"):
            work.finish_stage(make_stage(work, stage))
            assert read_version(tmp_path, KEY) is None
        assert set(work.version.stages) == {"extract", "resolve"}
        version = work.publish()
    assert read_version(tmp_path, KEY) == version
    assert set(version.stages) == {"extract", "resolve"}
    assert files_of(tmp_path) == named_files(version)
    assert not (tmp_path / "_drafts/source=web/snapshot=A.json").exists()


def test_a_rerun_does_nothing(tmp_path):
    publish(tmp_path, "r1")
    before = (tmp_path / published_path(KEY)).read_bytes()
    for replace in (False, True):
        assert publish(tmp_path, "r2", replace=replace) == {"extract": "done", "resolve": "done"}
    assert (tmp_path / published_path(KEY)).read_bytes() == before


def test_other_settings_are_refused_unless_replace(tmp_path):
    publish(tmp_path, "r1")
    with pytest.raises(ConflictError, match=r"extract of source web, snapshot A was made with other .* --replace"):
        publish(tmp_path, "r2", fingerprint="f2")
    assert publish(tmp_path, "r3", fingerprint="f2", replace=True) == {"extract": "run", "resolve": "run"}
    version = read_version(tmp_path, KEY)
    assert {entry.run for entry in version.stages.values()} == {"r3"}
    assert files_of(tmp_path) == named_files(version)


def test_unmade_stages_are_carried_over_and_become_stale(tmp_path):
    publish(tmp_path, "r1")
    publish(tmp_path, "r2", stages=["extract"], fingerprint="f2", replace=True)
    version = read_version(tmp_path, KEY)
    assert version.stages["resolve"].run == "r1"
    assert version.stale_because("resolve") == "extract"
    # remaking a stale stage replaces nothing that is of use, so it need not be asked for
    assert publish(tmp_path, "r3", stages=["resolve"], fingerprint="f3") == {"resolve": "run"}
    assert read_version(tmp_path, KEY).stale_because("resolve") is None


def test_a_stage_whose_files_are_gone_is_not_done(tmp_path):
    publish(tmp_path, "r1")
    (tmp_path / "identities/source=web/snapshot=A/run=r1/part-0.parquet").unlink()
    assert publish(tmp_path, "r2") == {"extract": "done", "resolve": "run"}


def stop_after(root, run, stage, fingerprint="f1"):
    """A command that fails after its first stage."""
    with pytest.raises(RuntimeError), open_workspace(root, KEY, run) as work:
        assert work.plan(stage, fingerprint, {}, True) == "run"
        work.finish_stage(make_stage(work, stage, fingerprint))
        make_stage(work, "resolve")
        raise RuntimeError


def test_a_stopped_command_resumes_after_its_last_finished_stage(tmp_path):
    stop_after(tmp_path, "r1", "extract")
    assert {path.split("/")[0] for path in files_of(tmp_path)} == {"documents", "fetches", "rejects", "archives"}
    assert publish(tmp_path, "r2") == {"extract": "done", "resolve": "run"}
    version = read_version(tmp_path, KEY)
    assert version.stages["extract"].run == "r1"
    assert version.stages["resolve"].run == "r2"
    assert files_of(tmp_path) == named_files(version)


def test_a_draft_that_is_not_wanted_any_more_is_dropped_with_what_was_made_from_it(tmp_path):
    with open_workspace(tmp_path, KEY, "r1") as work:
        for stage, made_from in (("extract", {}), ("resolve", {"extract": "r1"})):
            work.finish_stage(make_stage(work, stage, "f1", made_from))
    with open_workspace(tmp_path, KEY, "r2") as work:
        assert work.plan("extract", "f2", {}, False) == "run"
        assert work.plan("resolve", "f1", {"extract": "r1"}, False) == "run"
    assert files_of(tmp_path) == set()
    assert not (tmp_path / "_drafts/source=web/snapshot=A.json").exists()


def test_a_draft_of_another_command_is_neither_read_nor_published(tmp_path):
    publish(tmp_path, "r1")
    stop_after(tmp_path, "r2", "extract", "f2")
    with open_workspace(tmp_path, KEY, "r3") as work:
        assert work.entry("extract").run == "r1"
        work.finish_stage(make_stage(work, "sign", made_from={"extract": "r1"}))
        version = work.publish()
    assert {stage: entry.run for stage, entry in version.stages.items()} == {
        "extract": "r1",
        "resolve": "r1",
        "sign": "r3",
    }
    assert files_of(tmp_path) == named_files(version)


def test_the_replaced_version_is_kept_for_a_while(tmp_path):
    publish(tmp_path, "r1")
    for number in (2, 3):
        publish(tmp_path, f"r{number}", fingerprint=f"f{number}", replace=True, retain_seconds=60)
    assert {path.split("run=")[1].split("/")[0] for path in files_of(tmp_path)} == {"r1", "r2", "r3"}
    version = read_version(tmp_path, KEY)
    assert [old.stages["extract"].run for old in version.previous] == ["r1", "r2"]
    with open_workspace(tmp_path, KEY, "r4", 0):
        pass
    assert files_of(tmp_path) == named_files(version)


def test_unpublished_and_foreign_files(tmp_path):
    version = publish(tmp_path, "r1") and read_version(tmp_path, KEY)
    stray = ["documents/source=web/snapshot=A/run=r0/x", "documents/source=web/snapshot=A/run=r1/zombie.parquet"]
    ours = ["_tmp/source=web/snapshot=A/r0/a/x", "_published/source=web/.snapshot=A.json.1f.tmp"]
    others = ["documents/source=web/snapshot=AB/run=r0/x", "_tmp/source=web/snapshot=B/r0/x", "notes/x"]
    for path in stray + ours + others:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    with open_workspace(tmp_path, KEY, "r2"):
        pass
    assert not any((tmp_path / path).exists() for path in stray + ours)
    assert all((tmp_path / path).exists() for path in others)
    assert named_files(version) <= files_of(tmp_path)


def test_a_second_run_is_refused(tmp_path):
    with (
        open_workspace(tmp_path, KEY, "r1"),
        pytest.raises(ConflictError, match="source web, snapshot A is being written by run r1, process"),
        open_workspace(tmp_path, KEY, "r2"),
    ):
        pass
    with open_workspace(tmp_path, KEY, "r3"), open_workspace(tmp_path, SnapshotKey("web", "B"), "r3"):
        pass


def test_wrong_ids(tmp_path):
    with pytest.raises(UsageError), open_workspace(tmp_path, KEY, "../r1"):
        pass
    with open_workspace(tmp_path, KEY, "r1") as work:
        entry = make_stage(work, "extract")
    with open_workspace(tmp_path, KEY, "r2") as work, pytest.raises(ValueError, match="names run r1"):
        work.finish_stage(entry)


def test_what_a_killed_run_made_by_other_url_rules_gives_way_to_what_is_published(tmp_path):
    publish(tmp_path, "r1")
    before = (tmp_path / published_path(KEY)).read_bytes()
    with open_workspace(tmp_path, KEY, "r2") as work:  # renamed by other rules, and killed before it was published
        entry = make_stage(work, "extract")
        work.finish_stage(changed(entry, url_scheme="u2"))
    with open_workspace(tmp_path, KEY, "r3") as work:
        assert work.plan("extract", "f1", {}, replace=False, url_scheme="u1") == "done"
        assert work.entry("extract").run == "r1"
        work.publish()
    assert (tmp_path / published_path(KEY)).read_bytes() == before
    assert files_of(tmp_path) == named_files(read_version(tmp_path, KEY))


def test_what_a_killed_run_made_by_the_url_rules_that_are_asked_for_is_taken_up(tmp_path):
    publish(tmp_path, "r1")
    with open_workspace(tmp_path, KEY, "r2") as work:
        work.finish_stage(changed(make_stage(work, "extract"), url_scheme="u2"))
    with open_workspace(tmp_path, KEY, "r3") as work:
        assert work.plan("extract", "f1", {}, replace=False, url_scheme="u2") == "done"
        assert work.entry("extract").run == "r2"
