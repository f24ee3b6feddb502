"""What a call costs all processes below this one: time, CPU time and memory, as Linux tells them."""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

T = TypeVar("T")
SAMPLE_SECONDS = 0.5
TICKS = os.sysconf("SC_CLK_TCK")


class Usage(NamedTuple):
    """Time on the clock and of the processor, and the most memory held at once."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


def process_tree() -> dict[int, list[str]]:
    """The fields of /proc/PID/stat after the name, from the state on, of this process and all below it."""
    fields: dict[int, list[str]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended meanwhile
            fields[int(stat.parent.name)] = stat.read_text().rpartition(")")[2].split()
    found = {os.getpid()}
    while more := {pid for pid, one in fields.items() if int(one[1]) in found} - found:
        found |= more
    return {pid: fields[pid] for pid in found}


def cpu_seconds() -> float:
    """Of the tree and of the processes that ended in it."""
    return sum(sum(map(int, one[11:15])) for one in process_tree().values()) / TICKS


def memory_bytes() -> int:
    """What the tree holds; pages that processes share are counted once (PSS)."""
    held = 0
    for pid in process_tree():
        with suppress(OSError):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            held += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return held


def measure_tree(call: Callable[[], T]) -> tuple[Usage, T]:
    """Makes the call and tells what it cost, and what it gave."""
    done, peak = threading.Event(), [memory_bytes()]

    def watch() -> None:
        while not done.wait(SAMPLE_SECONDS):
            peak.append(memory_bytes())

    watcher = threading.Thread(target=watch)
    cpu, start = cpu_seconds(), time.monotonic()
    watcher.start()
    try:
        result = call()
    finally:
        done.set()
        watcher.join()
    return Usage(time.monotonic() - start, cpu_seconds() - cpu, max(peak)), result
