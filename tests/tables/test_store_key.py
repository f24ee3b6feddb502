"""What a store has once, across its snapshots, is published as a snapshot is; and snapshots that are removed."""

from dataclasses import replace

import pytest

from dedup_lib.errors import ConflictError, InputError
from dedup_lib.tables.across import Changes, changes_since
from dedup_lib.tables.keys import GLOBAL, STORE_KEYS, SnapshotKey
from dedup_lib.tables.objects import objects_at
from dedup_lib.tables.published import (
    FileEntry,
    StageEntry,
    TableEntry,
    Version,
    list_removed,
    list_versions,
    published_path,
    read_version,
)
from dedup_lib.tables.read import published_files
from dedup_lib.tables.schemas import TABLES
from dedup_lib.tables.store_schemas import GLOBAL_CLUSTERS, STORE_TABLES
from dedup_lib.tables.workspace import open_workspace
from tables.test_workspace import KEY, files_of, named_files, publish


def make_global(work, **made_from):
    tables = {}
    for table in STORE_TABLES:
        path = f"{work.table_folder(table)}/part-0.parquet"
        with work.objects.create(path) as file:
            file.write(work.run_id.encode())
        tables[table] = TableEntry.of([FileEntry(path, len(work.run_id), 1)])
    return StageEntry("global", work.run_id, "f1", "s1", "u1", made_from, {}, tables)


def publish_global(root, run, retain_seconds=0, **made_from):
    with open_workspace(root, GLOBAL, run, retain_seconds) as work:
        work.finish_stage(make_global(work, **made_from))
        return work.publish()


def test_tables_of_a_store_lie_by_run_alone_and_are_owned_by_a_key():
    assert GLOBAL.runs_folder("global_clusters") == "global_clusters"
    assert KEY.runs_folder("documents") == f"documents/{KEY.folder}"
    assert sorted(table for key in STORE_KEYS.values() for table in key.tables) == sorted(STORE_TABLES)
    assert not set(STORE_TABLES) & set(TABLES)
    assert not GLOBAL.owns("documents")


def test_a_version_of_the_store_is_published_and_read_back(tmp_path):
    version = publish_global(tmp_path, "r1")
    assert published_path(GLOBAL) == "_published/global.json"
    assert read_version(tmp_path, GLOBAL) == version
    assert Version.from_bytes(version.to_bytes(), "x") == version
    assert named_files(version) == files_of(tmp_path) == {f"{table}/run=r1/part-0.parquet" for table in STORE_TABLES}
    assert list_versions(tmp_path) == []
    paths = published_files(tmp_path, "global_clusters")
    assert paths == [str(tmp_path / "global_clusters/run=r1/part-0.parquet")]


def test_a_run_on_the_store_and_runs_on_snapshots_leave_each_other_alone(tmp_path):
    publish(tmp_path, "r1")
    publish_global(tmp_path, "r2")
    publish(tmp_path, "r3", fingerprint="f3", replace=True)
    publish_global(tmp_path, "r4")
    assert files_of(tmp_path) == named_files(read_version(tmp_path, KEY)) | named_files(read_version(tmp_path, GLOBAL))
    with open_workspace(tmp_path, GLOBAL, "r5"), open_workspace(tmp_path, KEY, "r5"):
        pass


def test_the_store_has_one_owner_at_a_time(tmp_path):
    message = "the global version of the store is being written by run r1, process"
    with (
        open_workspace(tmp_path, GLOBAL, "r1"),
        pytest.raises(ConflictError, match=message),
        open_workspace(tmp_path, GLOBAL, "r2"),
    ):
        pass


def test_the_version_before_stays_for_a_while_and_leftovers_are_swept(tmp_path):
    publish_global(tmp_path, "r1")
    publish_global(tmp_path, "r2", retain_seconds=60)
    with pytest.raises(RuntimeError), open_workspace(tmp_path, GLOBAL, "r3", 60) as work:
        make_global(work)
        raise RuntimeError
    assert {path.split("run=")[1].split("/")[0] for path in files_of(tmp_path)} == {"r1", "r2"}
    (tmp_path / "_published/.global.json.1f.tmp").write_text("half")
    with open_workspace(tmp_path, GLOBAL, "r4"):
        pass
    assert files_of(tmp_path) == named_files(read_version(tmp_path, GLOBAL))
    assert not (tmp_path / "_published/.global.json.1f.tmp").exists()


def test_a_finished_stage_of_a_killed_run_is_taken_up(tmp_path):
    with open_workspace(tmp_path, GLOBAL, "r1") as work:
        work.finish_stage(make_global(work))
    with open_workspace(tmp_path, GLOBAL, "r2") as work:
        assert work.plan("global", "f1", {}, replace=True) == "done"
        assert work.publish().stages["global"].run == "r1"


def test_a_removed_snapshot_is_gone_with_its_files_and_drafts(tmp_path):
    publish(tmp_path, "r1")
    publish_global(tmp_path, "r2")
    with open_workspace(tmp_path, KEY, "r3") as work:
        work.finish_stage(replace(work.entry("extract"), run="r3", fingerprint="f9"))
    with open_workspace(tmp_path, KEY, "r4") as work:
        work.withdraw()
    assert read_version(tmp_path, KEY) is None
    assert files_of(tmp_path) == named_files(read_version(tmp_path, GLOBAL))
    assert not list((tmp_path / "_drafts").rglob("*.json"))
    publish(tmp_path, "r5")  # and the key is free again
    assert [version.key for version in list_versions(tmp_path)] == [KEY]


def test_a_removed_snapshot_stays_for_its_readers_and_for_nobody_else(tmp_path):
    publish(tmp_path, "r1")
    files = files_of(tmp_path)
    with open_workspace(tmp_path, KEY, "r2", 60) as work:
        work.withdraw()
    assert files_of(tmp_path) == files
    assert list_versions(tmp_path) == []
    (left,) = list_removed(tmp_path)
    assert (left.key, left.stages) == (KEY, {})
    with pytest.raises(InputError, match="no table documents is published"):
        published_files(tmp_path, "documents")
    with open_workspace(tmp_path, KEY, "r3", 0) as work:
        work.withdraw()
    assert files_of(tmp_path) == set()
    assert list_removed(tmp_path) == []
    assert not (tmp_path / published_path(KEY)).exists()


def test_a_snapshot_that_is_made_again_within_that_time_is_published_beside_what_readers_scan(tmp_path):
    publish(tmp_path, "r1")
    with open_workspace(tmp_path, KEY, "r2", 60) as work:
        work.withdraw()
    publish(tmp_path, "r3", retain_seconds=60)
    version = read_version(tmp_path, KEY)
    assert {entry.run for entry in version.stages.values()} == {"r3"}
    assert [set(old.stages) for old in version.previous] == [{"extract", "resolve"}]
    assert {path.split("run=")[1].split("/")[0] for path in files_of(tmp_path)} == {"r1", "r3"}


def test_removing_over_a_version_that_changed_is_refused(tmp_path):
    publish(tmp_path, "r1")
    path = tmp_path / published_path(KEY)
    with open_workspace(tmp_path, KEY, "r2") as work:
        path.write_bytes(path.read_bytes().replace(b'"f1"', b'"f9"'))  # someone who does not heed the lock
        with pytest.raises(ConflictError, match="changed by another run"):
            work.withdraw()
    assert read_version(tmp_path, KEY) is not None
    objects = objects_at(tmp_path)
    with pytest.raises(ConflictError):
        objects.remove("_published/nothing.json", "v")


def snapshot(name, run="r1", stale=False):
    cluster = StageEntry("cluster", run, "f", "s1", "u1", {"sign": "r0" if stale else "r1"}, {}, {})
    sign = StageEntry("sign", "r1", "f", "s1", "u1", {}, {}, {})
    return Version(SnapshotKey("web", name), "2026", {"sign": sign, "cluster": cluster})


def test_what_changed_since_a_global_version_was_made():
    made_from = {"web/a": "r1", "web/b": "r1", "web/c": "r1", "web/d": "r1", "global": "r0"}
    entry = StageEntry("global", "r2", "f", "s1", "u1", made_from, {}, {GLOBAL_CLUSTERS.name: TableEntry.of([])})
    version = Version(GLOBAL, "2026", {"global": entry})
    assert version.stale_because("global") is None
    now = [snapshot("a"), snapshot("b", "r9"), snapshot("c", stale=True), snapshot("e"), snapshot("f", stale=True)]
    changes = changes_since(version, now)
    assert changes == Changes(("web/b", "web/c"), ("web/d",), ("web/e",))
    assert changes.stale
    same = [snapshot(name) for name in "abcd"]
    assert changes_since(version, same) == Changes((), (), ())
    added = changes_since(version, [*same, snapshot("e")])
    assert (added.added, added.stale) == (("web/e",), False)
