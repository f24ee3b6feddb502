"""The parent's end of one child process: starts it, exchanges messages with it, and tells how it ended."""

import contextlib
import fcntl
import math
import mmap
import os
import pickle
import select
import signal
import subprocess
import sys
import tempfile
import weakref
from collections import deque
from pathlib import Path

from dedup_lib.errors import CrawlDedupError
from dedup_lib.text.guard.outcome import STALLED, Death, GuardLimits
from dedup_lib.text.guard.wire import HEADER, PROGRESS_BYTES, READY, Values, WireError, pack, sizes, unpack

_START_SECONDS = 60.0  # takes 0.2 on an idle machine
_STALL_SECONDS = 5.0  # beyond the wall limit of a page, which the child's own timer should have enforced
_PIPE_BYTES = 1 << 20  # what Linux grants to anybody (/proc/sys/fs/pipe-max-size); other systems keep their size
_READ_BYTES = 1 << 18
_WORDS_BYTES = 4096
_WRITTEN_AT_ONCE = 256  # IOV_MAX is 1024 on Linux and macOS
_MODULE = "dedup_lib.text.guard.child"


class ExtractorStartError(CrawlDedupError, RuntimeError):
    """The process that reads pages could not be started."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the extraction process does not start: {why} (extract.guard: none runs without it)")


class ChildLostError(Exception):
    """The child has ended; `death` says how. Never leaves the guard."""

    def __init__(self, death: Death) -> None:
        self.death = death
        super().__init__(death.manner)


class Child:
    """A running child. It ends with this object, with this process, and when the pipe to it closes."""

    def __init__(self, reader: object, options: object, limits: GuardLimits) -> None:
        self._limits = limits
        self._ready = False
        self._seen = -1
        self._outgoing: deque[memoryview] = deque()
        self._incoming = bytearray()
        self._words = b""
        self._process, progress = _started()
        self._stop = weakref.finalize(self, _stopped, self._process, os.getpid())
        self._progress = memoryview(progress).cast("I")
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._requests = self._process.stdin.fileno()
        self._replies = self._process.stdout.fileno()
        self._errors = self._process.stderr.fileno()
        for pipe in (self._requests, self._replies, self._errors):
            os.set_blocking(pipe, False)
        self._poll = select.poll()
        for pipe in (self._replies, self._errors):
            self._poll.register(pipe, select.POLLIN)
        self.send(pack(None, [pickle.dumps((reader, options, limits))]))

    def send(self, buffers: list[bytes]) -> None:
        """Hands a message over, or as much of it as the pipe takes now; the rest follows while replies are awaited."""
        self._outgoing.extend(map(memoryview, buffers))
        self._push()

    def replies(self) -> list[Values]:
        """The values of the messages that have come, at least one; waits for it. Raises ChildLostError."""
        while True:
            self._push()
            events = dict(self._wait())
            if self._errors in events:
                self._hear()
            if self._replies in events:
                ended = self._take()
                try:
                    found = self._messages()
                except WireError as error:
                    raise self.lost(str(error)) from None
                if found:
                    return found
                if ended:
                    raise self.lost()

    def lost(self, why: str = "") -> Exception:
        """The error to raise for a child that has ended, or that is ended here, because of `why`."""
        if why:
            self._process.kill()
        status = self._process.wait()
        with contextlib.suppress(KeyError):
            self._hear()
        words = self._words.decode("utf-8", "replace")
        death = Death(status, self._progress[0], self._progress[1], why, words)
        self.close()
        if not self._ready:
            return ExtractorStartError(f"{death.manner}: {' '.join(words.split())[-1000:]}")
        return ChildLostError(death)

    def close(self) -> None:
        """Ends the child."""
        self._stop()

    def _wait(self) -> list[tuple[int, int]]:
        if self._outgoing:
            self._poll.register(self._requests, select.POLLOUT)
        seconds = self._limits.wall_seconds + _STALL_SECONDS if self._ready else _START_SECONDS
        events = self._poll.poll(math.ceil(1000 * seconds))
        if self._outgoing:
            self._poll.unregister(self._requests)
        if not events:
            if self._seen == self._progress[0]:
                raise self.lost(STALLED)
            self._seen = self._progress[0]
        return events

    def _push(self) -> None:
        while self._outgoing:
            try:
                count = os.writev(self._requests, list(self._outgoing)[:_WRITTEN_AT_ONCE])
            except BlockingIOError:
                return
            except BrokenPipeError:  # its last replies may still lie in the pipe
                self._outgoing.clear()
                return
            while self._outgoing and count >= len(self._outgoing[0]):
                count -= len(self._outgoing.popleft())
            if count:
                self._outgoing[0] = self._outgoing[0][count:]

    def _take(self) -> bool:
        """Reads what has come; true at the end of the pipe."""
        try:
            data = os.read(self._replies, _READ_BYTES)
        except BlockingIOError:
            return False
        self._incoming += data
        return not data

    def _messages(self) -> list[Values]:
        found = []
        while len(self._incoming) >= HEADER.size:
            end = HEADER.size + sum(sizes(self._incoming))
            if len(self._incoming) < end:
                break
            values = unpack(self._incoming[HEADER.size : end])
            del self._incoming[:end]
            if self._ready:
                found.append(values)
            elif values == READY:
                self._ready = True
            else:
                raise WireError("it did not say that it is ready")
        return found

    def _hear(self) -> None:
        with contextlib.suppress(BlockingIOError):
            said = os.read(self._errors, _READ_BYTES)
            self._words = (self._words + said)[-_WORDS_BYTES:]
            if not said:
                self._poll.unregister(self._errors)


def _started() -> tuple["subprocess.Popen[bytes]", mmap.mmap]:
    """A process with the interpreter, the import path and the environment of this one."""
    if not sys.executable:
        raise ExtractorStartError("this interpreter does not know its own path")
    with tempfile.TemporaryFile(buffering=0) as file:
        file.truncate(PROGRESS_BYTES)
        progress = mmap.mmap(file.fileno(), PROGRESS_BYTES)
        command = [sys.executable, "-P", "-m", _MODULE, str(os.getpid()), str(file.fileno())]
        # Ctrl-C goes to the whole group; blocked here, it cannot hit the child before the child minds it
        masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(file.fileno(),),
                env=_environment(),
                bufsize=0,
            )
        except OSError as error:
            raise ExtractorStartError(str(error)) from error
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, masked)
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):  # a user's pipes together may be too large
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)  # type: ignore[arg-type]
    return process, progress


def _environment() -> dict[str, str]:
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    return {
        **os.environ,
        "PYTHONPATH": path,  # with what Spark has added to this process
        "OPENBLAS_NUM_THREADS": "1",  # threads would only take address space
        "RUST_BACKTRACE": "0",  # where memory is short, printing one hangs
    }


def _stopped(process: "subprocess.Popen[bytes]", owner: int) -> None:
    if os.getpid() != owner:  # a fork of the process that the child belongs to
        return
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            pipe.close()
