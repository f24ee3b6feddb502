import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from stand_ins import misbehave

from dedup_lib.text.content_type import Kind
from dedup_lib.text.guard import (
    ExtractorStartError,
    GuardLimits,
    InProcessReader,
    PageGuard,
    PageRequest,
    shared_reader,
)
from dedup_lib.text.options import ReadOptions

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
PARENT = """
import sys
sys.path[:0] = {path!r}
from stand_ins import misbehave
from dedup_lib.text.content_type import Kind
from dedup_lib.text.guard import GuardLimits, PageGuard, PageRequest
guard = PageGuard(limits=GuardLimits(60.0), reader=misbehave)
list(guard.read([(0, PageRequest({tell!r}, Kind.HTML))]))
print("read", flush=True)
list(guard.read([(0, PageRequest({then!r}, Kind.HTML))]))
sys.stdin.read()
"""


def read_one(guard, body):
    ((_, result),) = guard.read([(None, PageRequest(body, Kind.HTML))])
    return result.content.text


def pid_of(guard, tmp_path):
    path = tmp_path / "pid"
    read_one(guard, b"tell " + str(path).encode())
    return int(path.read_text())


def is_running(pid):
    """False for one that is gone, or dead and not yet collected by whoever has inherited it."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


@ON_LINUX
@pytest.mark.parametrize("then", [b"idle", b"spin"])
def test_a_killed_parent_leaves_no_child(tmp_path, then):
    told = tmp_path / "pid"
    script = PARENT.format(path=sys.path, tell=b"tell " + str(told).encode(), then=then)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout.readline() == "read\n"
        child = int(told.read_text())
        assert is_running(child)
        parent.kill()
    deadline = time.monotonic() + 10
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(child)


@ON_LINUX
def test_a_parent_that_ends_leaves_no_child(tmp_path):
    told = tmp_path / "pid"
    script = PARENT.format(path=sys.path, tell=b"tell " + str(told).encode(), then=b"idle")
    done = subprocess.run(
        [sys.executable, "-c", script], input="", capture_output=True, text=True, timeout=60, check=True
    )
    assert (done.stdout, done.stderr) == ("read\n", "")
    assert not is_running(int(told.read_text()))


def test_a_closed_guard_has_collected_its_child_and_starts_another(tmp_path):
    with PageGuard(reader=misbehave) as guard:
        first = pid_of(guard, tmp_path)
        guard.close()
        with pytest.raises(ProcessLookupError):
            os.kill(first, 0)
        assert pid_of(guard, tmp_path) != first
        assert guard.starts == 2


def test_a_child_serves_many_reads_and_is_replaced_when_it_is_killed(tmp_path):
    with PageGuard(reader=misbehave) as guard:
        assert guard.starts == 0
        first = pid_of(guard, tmp_path)
        assert pid_of(guard, tmp_path) == first
        os.kill(first, signal.SIGKILL)
        assert read_one(guard, b"after") == "after"
        assert pid_of(guard, tmp_path) != first


def test_an_interrupt_of_the_group_does_not_reach_pages(tmp_path):
    with PageGuard(reader=misbehave) as guard:
        first = pid_of(guard, tmp_path)
        os.kill(first, signal.SIGINT)
        assert read_one(guard, b"after") == "after"
        assert pid_of(guard, tmp_path) == first


@pytest.mark.parametrize("timer", [signal.SIGPROF, signal.SIGALRM])
def test_the_timers_work_where_the_parent_ignores_their_signals(timer):
    before = signal.signal(timer, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {timer})
    try:
        with PageGuard(limits=GuardLimits(0.05), reader=misbehave) as guard:
            body = b"spin" if timer is signal.SIGPROF else b"sleep"
            ((_, result),) = guard.read([(None, PageRequest(body, Kind.HTML))])
        assert result.reason == "timed_out"
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {timer})
        signal.signal(timer, before)


@pytest.mark.parametrize("executable", ["", "/no/such/python", "/bin/false"])
def test_a_child_that_cannot_start_is_a_clear_error(monkeypatch, executable):
    monkeypatch.setattr(sys, "executable", executable)
    with PageGuard() as guard, pytest.raises(ExtractorStartError, match="does not start") as error:
        list(guard.read([(None, PageRequest(b"<p>x", Kind.HTML))]))
    assert "extract.guard" in str(error.value)


def test_a_child_that_cannot_import_says_what(monkeypatch):
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if not entry.endswith("tests/text/guard")])
    with PageGuard(reader=misbehave) as guard, pytest.raises(ExtractorStartError, match="stand_ins"):
        list(guard.read([(None, PageRequest(b"x", Kind.HTML))]))


def test_the_readers_of_a_process_share_a_child():
    options, limits = ReadOptions(), GuardLimits(page_seconds=3.0)
    guard = shared_reader("child", options, limits)
    assert isinstance(guard, PageGuard)
    assert shared_reader("child", ReadOptions(), GuardLimits(page_seconds=3.0)) is guard
    assert shared_reader("child", options, GuardLimits(page_seconds=4.0)) is not guard
    assert isinstance(shared_reader("none", options, limits), InProcessReader)
    guard = shared_reader("child", options, limits)
    reading = guard.read([(n, PageRequest(b"<p>x</p>", Kind.HTML)) for n in range(2)])
    next(reading)
    assert shared_reader("child", options, limits) is not guard, "one that is busy is left to its user"
    reading.close()


@ON_LINUX
def test_a_fork_leaves_the_child_to_its_owner(tmp_path):
    with PageGuard(reader=misbehave) as guard:
        child = pid_of(guard, tmp_path)
        fork = os.fork()
        if not fork:
            del guard
            os._exit(0)
        os.waitpid(fork, 0)
        assert pid_of(guard, tmp_path) == child
