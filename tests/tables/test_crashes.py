"""Processes that are killed, that race, and that read while others publish."""

import os
import subprocess
import sys
import textwrap
import threading

import pytest

from dedup_lib.errors import ConflictError
from dedup_lib.tables.objects import objects_at
from dedup_lib.tables.published import read_version
from dedup_lib.tables.runs import RunFile, read_run
from dedup_lib.tables.workspace import open_workspace
from tables.entries import make_stage
from tables.test_workspace import KEY, files_of, named_files, publish

CHILD = """
import os, pathlib, signal, sys
sys.path.insert(0, "tests")
from dedup_lib.tables.runs import RunFile
from dedup_lib.tables.objects import LocalObjects
from tables.test_workspace import publish

def dying(function):
    # Dies before the call, or after it when the number is even.
    def call(*arguments, **named):
        global calls_left
        calls_left -= 2
        if calls_left == -1:
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            return function(*arguments, **named)
        finally:
            if calls_left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    return call

os.fsync = lambda descriptor: None  # for speed: it is a process that dies here, not the machine

def run(root):
    RunFile(root, "r2", command="run", configuration={})
    os.fsync, os.replace, os.unlink = dying(os.fsync), dying(os.replace), dying(os.unlink)
    LocalObjects.delete_folder = dying(LocalObjects.delete_folder)
    publish(root, "r2", fingerprint="f2", replace=True)

for line in sys.stdin:  # one child per line: number of the deadly call, root
    calls_left, root = int(line.split()[0]), pathlib.Path(line.split(maxsplit=1)[1].strip())
    child = os.fork()
    if child == 0:
        run(root)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture
def run_child():
    """Runs a command that is killed at its nth call of the operating system; gives the exit code."""
    with subprocess.Popen(
        [sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:

        def run(root, deadly_call):
            parent.stdin.write(f"{deadly_call} {root}\n")
            parent.stdin.flush()
            return int(parent.stdout.readline())

        yield run
        parent.stdin.close()


@pytest.fixture
def no_fsync(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def test_killed_at_each_step(tmp_path, run_child, no_fsync):
    """Whatever step it dies at: the old or the new version whole, and the next run makes the new one and sweeps."""
    seen = set()
    for deadly_call in range(1, 1000):
        root = tmp_path / str(deadly_call)
        publish(root, "r1")
        exit_code = run_child(root, deadly_call)
        if exit_code == 0:
            break
        assert exit_code == -9
        version = read_version(root, KEY)
        runs = {entry.run for entry in version.stages.values()}
        assert runs in ({"r1"}, {"r2"})
        assert named_files(version) <= files_of(root)

        plans = publish(root, "r3", fingerprint="f2", replace=True)
        seen.add((*runs, *plans.values()))
        after = read_version(root, KEY)
        assert files_of(root) == named_files(after)
        assert {entry.fingerprint for entry in after.stages.values()} == {"f2"}
        assert not list(root.glob("_drafts/**/*.json")) + list(root.glob("_*/**/*.tmp")) + list(root.glob("_tmp/*/*/*"))
        assert read_run(root, "r2")["outcome"] == "killed"
    # nothing finished, extract finished, both finished, published
    assert seen == {("r1", "run", "run"), ("r1", "done", "run"), ("r1", "done", "done"), ("r2", "done", "done")}


def test_of_two_processes_that_race_one_is_refused(tmp_path):
    objects = objects_at(tmp_path)
    version = objects.replace("a.json", b"old", None)
    child = textwrap.dedent("""
        import sys
        from dedup_lib.errors import ConflictError
        from dedup_lib.tables.objects import objects_at
        sys.stdin.readline()
        try:
            objects_at(sys.argv[1]).replace("a.json", sys.argv[2].encode(), sys.argv[3])
        except ConflictError as error:
            sys.exit(error.exit_code)
    """)
    command = [sys.executable, "-c", child, str(tmp_path)]
    racers = [subprocess.Popen([*command, name, version], stdin=subprocess.PIPE) for name in ("a", "b")]
    for racer in racers:
        racer.stdin.write(b"\n")
        racer.stdin.flush()
    codes = [racer.wait() for racer in racers]
    for racer in racers:
        racer.stdin.close()
    assert sorted(codes) == [0, 2]
    assert objects.read("a.json").data == (b"a", b"b")[codes.index(0)]


def test_publishing_over_a_version_that_changed_is_refused(tmp_path):
    publish(tmp_path, "r1")
    with open_workspace(tmp_path, KEY, "r2") as work:
        work.finish_stage(make_stage(work, "extract"))
        path = tmp_path / "_published/source=web/snapshot=A.json"
        path.write_bytes(path.read_bytes().replace(b'"f1"', b'"f9"'))  # someone who does not heed the lock
        with pytest.raises(ConflictError, match="changed by another run"):
            work.publish()
    assert {entry.run for entry in read_version(tmp_path, KEY).stages.values()} == {"r1"}


def test_a_reader_never_sees_a_mix(tmp_path, no_fsync):
    publish(tmp_path, "r0", retain_seconds=60)
    stop, mixes, polls = threading.Event(), [], []

    def poll():
        while not stop.is_set():
            version = read_version(tmp_path, KEY)
            runs = {entry.run for entry in version.stages.values()}
            polls.append(runs)
            if len(runs) != 1 or not named_files(version) <= files_of(tmp_path):
                mixes.append(runs)

    reader = threading.Thread(target=poll)
    reader.start()
    for number in range(1, 51):
        publish(tmp_path, f"r{number}", fingerprint=f"f{number}", replace=True, retain_seconds=60)
    stop.set()
    reader.join()
    assert mixes == []
    assert len({*map(frozenset, polls)}) > 5


def test_run_file(tmp_path):
    with RunFile(tmp_path, "r1", command="run", configuration={"a": 1}, inputs=["x.warc"]) as run:
        assert read_run(tmp_path, "r1")["outcome"] == "running"
        run.count("extract", {"documents": 3})
        run.note(schemes={"signatures": "s1"})
        with run.timed("extract"):
            pass
    record = read_run(tmp_path, "r1")
    assert record["outcome"] == "done"
    assert record["counts"] == {"extract": {"documents": 3}}
    assert record["schemes"] == {"signatures": "s1"}
    assert record["seconds"]["extract"] >= 0
    assert record["finished_at"] >= record["started_at"]
    assert record["versions"]["pyarrow"]
    assert read_run(tmp_path, "r9") is None


@pytest.mark.parametrize(
    ("error", "outcome", "reason"),
    [
        (ConflictError("no"), "failed", "no"),
        (KeyError("some text of a page"), "failed", "KeyError"),
        (KeyboardInterrupt(), "killed", "KeyboardInterrupt"),
    ],
)
def test_run_file_of_a_run_that_fails(tmp_path, error, outcome, reason):
    with pytest.raises(type(error)), RunFile(tmp_path, "r1", command="run", configuration={}):
        raise error
    record = read_run(tmp_path, "r1")
    assert (record["outcome"], record["error"]) == (outcome, reason)
