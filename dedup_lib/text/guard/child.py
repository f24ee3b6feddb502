"""The process that reads pages for a task: what the task gives it, one after the other, until its pipe closes.

It may be killed at any moment, and on some pages it kills itself: the timers of the kernel end it whatever the native
code is busy with, and allocations above the memory limit fail. Run as `python -m dedup_lib.text.guard.child`.
"""

import ctypes
import mmap
import os
import pickle
import resource
import signal
import sys
from typing import Protocol

from dedup_lib.errors import UsageError
from dedup_lib.text.document import DocumentText
from dedup_lib.text.guard.outcome import OUT_OF_MEMORY_EXIT, GuardLimits
from dedup_lib.text.guard.wire import (
    HEADER,
    PROGRESS_BYTES,
    READY,
    PageRequest,
    Reader,
    Values,
    pack,
    result_values,
    sizes,
    unpack,
    unpack_requests,
)
from dedup_lib.text.page import PageRefused, Refusal

_PR_SET_PDEATHSIG = 1
_KEPT_BYTES = 1 << 20  # a larger buffer is given back after its message


class _Pages(Protocol):
    def __call__(self, values: Values, bodies: memoryview) -> list[tuple[int, Values]]: ...


def main(parent: int, progress_fd: int) -> None:
    """Reads pages from standard input and answers on what was standard output, until the input ends."""
    _end_with(parent)
    requests, replies = _private_pipes()
    values, start = _receive(requests, bytearray())
    reader, options, limits = pickle.loads(start)
    progress = memoryview(mmap.mmap(progress_fd, PROGRESS_BYTES)).cast("I")
    os.close(progress_fd)
    read = _page_reader(reader, options, limits, progress)
    _restrict(limits)
    _send(replies, pack(READY))
    buffer = bytearray(_KEPT_BYTES)
    while True:
        values, bodies = _receive(requests, buffer)
        _send(replies, pack(read(values, bodies)))
        del bodies


def _page_reader(reader: Reader, options: object, limits: GuardLimits, progress: memoryview) -> _Pages:
    """What reads the pages of a message, each under its own timers."""
    peak = _MemoryPeak(limits.page_memory_bytes)
    counted = 0

    def read(values: Values, bodies: memoryview) -> list[tuple[int, Values]]:
        nonlocal counted
        results = []
        for page in unpack_requests(values, bodies):
            counted += 1
            progress[0] = counted
            # Their signals are left to the kernel, which ends the process: no handler of Python would run in time.
            signal.setitimer(signal.ITIMER_PROF, limits.page_seconds)
            signal.setitimer(signal.ITIMER_REAL, limits.wall_seconds)
            result = _attempted(reader, page, options)
            if isinstance(result, PageRefused) and result.reason is Refusal.BAD_PAGE and peak.is_high():
                os._exit(OUT_OF_MEMORY_EXIT)  # the parser says of a failed allocation only that it failed
            results.append(result_values(result))
            progress[1] = counted
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        return results

    return read


def _attempted(reader: Reader, page: PageRequest, options: object) -> DocumentText | PageRefused | UsageError:
    try:
        return reader(page.body, page.kind, page.http_charset, options)
    except UsageError as error:
        return error
    except MemoryError:
        os._exit(OUT_OF_MEMORY_EXIT)
    except BaseException as error:  # noqa: BLE001 (a panic of native code is no Exception)
        return PageRefused(Refusal.BAD_PAGE, f"the extractor failed: {type(error).__name__}: {error}")


class _MemoryPeak:
    """Whether the address space has ever come near its limit; always false where the system does not tell."""

    def __init__(self, allowed: int) -> None:
        self._high = _address_space("VmSize") + allowed // 4  # buffers double: a failed one is most of what was used

    def is_high(self) -> bool:
        return _address_space("VmPeak") > self._high


def _restrict(limits: GuardLimits) -> None:
    """Sets the memory limit: of the address space, above what the started process has.

    RLIMIT_AS and not RLIMIT_DATA: it holds on every Linux (the latter leaves out mapped memory before 4.7 and in
    sandboxes), and in a process of one thread that maps no files it counts the same. It is set once, so a page that
    passes in company, where less is free, also passes alone. macOS knows neither.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    base = _address_space("VmSize")
    if base:
        allowed = base + limits.page_memory_bytes
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        if hard == resource.RLIM_INFINITY or hard > allowed:
            resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))


def _address_space(which: str) -> int:
    """Bytes of address space, by /proc; 0 on a system without it."""
    try:
        with open("/proc/self/status", "rb") as status:  # noqa: PTH123 (a Path takes memory that may be short)
            lines = status.read().decode("ascii", "replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(which + ":")), 0)


def _end_with(parent: int) -> None:
    """Lets the kernel end this process with its parent, also while native code is busy, and minds other signals."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group: the parent decides
    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGPROF, signal.SIGALRM, signal.SIGTERM})
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def _private_pipes() -> tuple[int, int]:
    """The pipes to the task under numbers of their own; what an extractor prints goes to standard error."""
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


def _receive(pipe: int, buffer: bytearray) -> tuple[Values, memoryview]:
    """Values and bodies of the next message; the bodies may lie in `buffer`, and are its until the next call."""
    header = bytearray(HEADER.size)
    _fill(pipe, memoryview(header))
    value_bytes, body_bytes = sizes(header)
    whole = value_bytes + body_bytes
    view = memoryview(buffer if whole <= len(buffer) else bytearray(whole))[:whole]
    _fill(pipe, view)
    return unpack(view[:value_bytes]), view[value_bytes:]


def _fill(pipe: int, view: memoryview) -> None:
    while view:
        count = os.readv(pipe, [view])
        if not count:
            os._exit(0)  # the task is over
        view = view[count:]


def _send(pipe: int, buffers: list[bytes]) -> None:
    view = memoryview(b"".join(buffers))
    while view:
        try:
            view = view[os.write(pipe, view) :]
        except BrokenPipeError:
            os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
