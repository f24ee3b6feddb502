"""Runs that are killed, and readers in between: whole versions, the same rows in the end, nothing left behind."""

import json
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest

from dedup_lib.tables.published import Version, read_version
from dedup_lib.tables.schemas import STAGES

from .command import KEY, spawn, succeed
from .stored import KEY as SNAPSHOT_KEY
from .stored import all_rows, read_file, strays, version

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

SEED = 20261130
FRESH_TRIALS, REPLACE_TRIALS = 5, 3
# Another result, stage by stage from `sign` on; and the version before stays, so that no reader is ever refused a file.
OTHER = ("--set", "sign.bands=16", "--set", "cluster.threshold=0.9", "--set", "store.retain_seconds=600", "--replace")


@dataclass
class Reader:
    """Polls the published version and opens all that it lists; notes whatever is not a whole version."""

    root: Path
    faults: list[str] = field(default_factory=list)
    seen: list[dict[str, str] | None] = field(default_factory=list)
    polls: int = 0

    def poll(self) -> None:
        found = read_version(self.root, SNAPSHOT_KEY)
        runs = {stage: entry.run for stage, entry in found.stages.items()} if found else None
        if not self.seen or self.seen[-1] != runs:
            self.seen.append(runs)
        self.polls += 1
        if found:
            self.faults += faults_of(self.root, found)


def faults_of(root: Path, found: Version) -> list[str]:
    """What a reader of a version trips over."""
    faults = [f"{stage} is missing" for stage in STAGES if stage not in found.stages]
    faults += [f"{stage} is stale" for stage in found.stages if found.stale_because(stage)]
    for entry in found.stages.values():
        for file in entry.files:
            try:
                if read_file(root / file.path).num_rows != file.rows:
                    faults.append(f"{file.path} has other rows")
            except (OSError, pa.ArrowException) as error:
                faults.append(f"{file.path}: {error}")
    return faults


@contextmanager
def reading(root: Path) -> Iterator[Reader]:
    """A reader at work; what it met is judged at the end."""
    reader, stop = Reader(root), threading.Event()

    def work() -> None:
        while not stop.wait(0.02):
            reader.poll()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield reader
    finally:
        stop.set()
        thread.join()
    assert reader.polls > 0
    assert reader.faults == []


def kill_after(seconds: float, *arguments: object) -> bool:
    """Start a run and kill its whole process group after some time; false if it had ended before that."""
    process = spawn("run", *KEY, *arguments)
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    _, err = process.communicate()
    told = [line for line in err.splitlines() if line.partition(":")[0] in STAGES]
    print(f"after {seconds:.1f} s, at {told[-1] if told else 'the start'}: exit {process.returncode}")  # noqa: T201
    assert process.returncode in {0, -signal.SIGKILL}, err
    return process.returncode != 0


def moments(seed: int, trials: int, seconds: float) -> list[float]:
    """One random moment in each of so many equal parts of a run."""
    dice = random.Random(seed)
    return [seconds * (trial + dice.random()) / trials for trial in range(trials)]


@pytest.fixture(scope="module")
def undisturbed_seconds(small, tmp_path_factory) -> float:
    """How long a run takes as a process of its own; it must give what the run in this process gave."""
    root = tmp_path_factory.mktemp("undisturbed")
    start = time.monotonic()
    process = spawn("run", *KEY, "--input", small.inputs, "--output", root)
    _, err = process.communicate()
    assert process.returncode == 0, err
    seconds = time.monotonic() - start
    assert all_rows(root) == all_rows(small.root)
    return seconds


@pytest.fixture(scope="module")
def other(small, tmp_path_factory):
    """The small store after an undisturbed run with other settings."""
    root = tmp_path_factory.mktemp("other") / "store"
    shutil.copytree(small.root, root)
    succeed("run", *KEY, "--input", small.inputs, "--output", root, *OTHER)
    return root


def assert_settled(root: Path) -> None:
    """No run is left without an outcome, no file without a listing."""
    outcomes = {json.loads(path.read_text())["outcome"] for path in (root / "_runs").iterdir()}
    assert outcomes <= {"done", "killed"}
    assert strays(root) == []


@pytest.mark.parametrize("trial", range(FRESH_TRIALS))
def test_a_killed_run_is_taken_up_again_to_the_same_rows(small, undisturbed_seconds, tmp_path, trial):
    moment = moments(SEED, FRESH_TRIALS, undisturbed_seconds)[trial]
    root, killed = tmp_path / "store", False
    while not killed:  # a run on a machine that is less busy than it was may be done sooner: it is no trial
        shutil.rmtree(root, ignore_errors=True)
        with reading(root) as reader:
            killed = kill_after(moment, "--input", small.inputs, "--output", root)
            done = succeed("run", *KEY, "--input", small.inputs, "--output", root)
            reader.poll()
        moment *= 0.7
    print(f"then made {done.summary['made']}")  # noqa: T201
    assert reader.seen in ([None, _runs(root)], [_runs(root)])
    assert all_rows(root) == all_rows(small.root)
    assert_settled(root)


@pytest.mark.parametrize("trial", range(REPLACE_TRIALS))
def test_a_killed_replacement_shows_the_old_version_or_the_new(small, other, undisturbed_seconds, tmp_path, trial):
    moment = moments(SEED + 1, REPLACE_TRIALS, undisturbed_seconds)[trial]
    root, killed, old = tmp_path / "store", False, _runs(small.root)
    arguments = ("--input", small.inputs, "--output", root, *OTHER)
    while not killed:
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(small.root, root)
        with reading(root) as reader:
            reader.poll()
            killed = kill_after(moment, *arguments)
            done = succeed("run", *KEY, *arguments)
            reader.poll()
        moment *= 0.7
    print(f"then made {done.summary['made']}")  # noqa: T201
    assert reader.seen == [old, _runs(root)]
    assert all_rows(root) == all_rows(other)
    # The old version may still be read; it goes with the first run after its time.
    succeed("run", *KEY, *arguments, "--set", "store.retain_seconds=0")
    assert_settled(root)


def test_a_terminated_run_says_so_and_leaves_a_sound_store(small, tmp_path):
    process = spawn("run", *KEY, "--input", small.inputs, "--output", tmp_path)
    assert process.stderr is not None
    told = []
    for line in process.stderr:
        told.append(line)
        if line.startswith("resolve: started"):
            break
    time.sleep(1)
    process.terminate()
    out, rest = process.communicate(timeout=120)
    assert process.returncode == 130, rest
    # Spark's Java may have something to say after it, about the tasks it breaks off.
    assert "\ncrawl-dedup: stopped; what is published is untouched" in "\n" + rest
    assert "Traceback" not in "".join(told) + rest
    assert out == ""
    assert read_version(tmp_path, SNAPSHOT_KEY) is None
    (record,) = [json.loads(path.read_text()) for path in (tmp_path / "_runs").iterdir()]
    assert record["outcome"] == "killed"
    done = succeed("run", *KEY, "--input", small.inputs, "--output", tmp_path)
    assert done.summary["made"] == ["resolve", "sign", "cluster"]  # extract was finished, and is not made again
    assert all_rows(tmp_path) == all_rows(small.root)
    assert_settled(tmp_path)


def _runs(root: Path) -> dict[str, str]:
    return {stage: entry.run for stage, entry in version(root).stages.items()}
