import os
import pickle
import subprocess
import sys

import pytest

from dedup_lib.errors import ConflictError, InputError, UsageError
from dedup_lib.tables.objects import objects_at


def test_replace_compares_the_version(tmp_path):
    objects = objects_at(tmp_path)
    first = objects.replace("a/b.json", b"one", None)
    assert objects.read("a/b.json").data == b"one"
    assert objects.read("a/b.json").version == first
    objects.replace("a/b.json", b"two", first)
    for expected in (None, first):
        with pytest.raises(ConflictError):
            objects.replace("a/b.json", b"three", expected)
    assert objects.read("a/b.json").data == b"two"
    assert objects.list_files("a") == ["b.json"]


def test_a_failed_replace_leaves_no_trace(tmp_path, monkeypatch):
    objects = objects_at(tmp_path)
    version = objects.replace("a.json", b"one", None)
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        objects.replace("a.json", b"two", version)
    assert objects.read("a.json").data == b"one"
    assert objects.list_files("") == ["a.json"]


def test_absent_objects(tmp_path):
    objects = objects_at(tmp_path / "nowhere")
    assert objects.read("a.json") is None
    assert objects.size("a.json") is None
    assert objects.list_files("a") == objects.list_folders("a") == []
    objects.delete("a.json")


def test_roots(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (
        objects_at("out")
        == objects_at(f"file://{tmp_path}/out")
        == objects_at(f"file:{tmp_path}/out")
        == objects_at(tmp_path / "out")
    )
    assert pickle.loads(pickle.dumps(objects_at("out"))) == objects_at("out")
    with pytest.raises(UsageError, match="s3a"):
        objects_at("s3a://bucket/out")


def test_a_root_that_cannot_be_written_to(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write to the output folder"):
        objects_at(tmp_path / "file").prepare()


def test_the_lock_refuses_names_its_owner_and_is_freed(tmp_path):
    objects = objects_at(tmp_path)
    with objects.exclusive_lock("_locks/a.lock", "snapshot X", "run r1") as died:
        assert died == ""
        with (
            pytest.raises(ConflictError, match="snapshot X is being written by run r1: wait"),
            objects.exclusive_lock("_locks/a.lock", "snapshot X", "run r2"),
        ):
            pass
    with objects.exclusive_lock("_locks/a.lock", "snapshot X", "run r2") as died:
        assert died == ""


def test_the_lock_of_a_killed_process_is_free_and_tells_its_name(tmp_path):
    child = (
        "import os, signal, sys; from dedup_lib.tables.objects import objects_at\n"
        "with objects_at(sys.argv[1]).exclusive_lock('a.lock', 'X', 'run r1, process 7'):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", child, tmp_path], check=False).returncode == -9
    with objects_at(tmp_path).exclusive_lock("a.lock", "X", "run r2") as died:
        assert died == "run r1, process 7"
