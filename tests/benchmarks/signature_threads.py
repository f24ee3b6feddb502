"""Whether threads sign side by side: the kernel must not hold the interpreter's lock. One line of JSON.

    cd tests && python -m benchmarks.signature_threads [FILE.parquet] [--documents N] [--rounds N]

`speedup` is the time on the clock that one thread takes for all texts over that of two with half of them each, and
`cpu_ratio` the CPU time of two over that of one. Beside it stand `sha256_speedup`, of hashlib, which is known to work
without the lock: what the machine has to give just now, near 2 with two idle cores; and `python_speedup`, of pure
Python, which holds it. `wakes` counts how often another thread, which sleeps a millisecond at a time, woke while one
call of the kernel ran: with the lock held, never; `wakes_expected` is how often it wakes in that time beside a thread
that sleeps.
"""

import hashlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa

from benchmarks.texts import read_options, texts_of
from dedup_lib.signatures import Scheme, sign_texts

SCHEME = Scheme()
NAP_SECONDS = 0.001
PYTHON_STEPS = 500_000
BYTES = bytes(20_000_000)


def measure(texts: list[str], rounds: int) -> dict[str, Any]:
    """How two threads compare with one, the best of the rounds each, and whether others run beside the kernel."""
    column = pa.array(texts, pa.string())
    half = len(column) // 2
    halves = [column.slice(0, half), column.slice(half)]
    kernel = _compare([lambda part=part: sign_texts(part, SCHEME) for part in halves], rounds)
    digest = _compare([_digest, _digest], rounds)
    python = _compare([_count, _count], rounds)
    wakes, seconds = wakes_during(lambda: sign_texts(column, SCHEME))
    expected, _ = wakes_during(lambda: time.sleep(seconds))
    return {
        "benchmark": "signature_threads",
        "documents": len(texts),
        "speedup": round(kernel[0], 2),
        "cpu_ratio": round(kernel[1], 2),
        "sha256_speedup": round(digest[0], 2),
        "python_speedup": round(python[0], 2),
        "wakes": wakes,
        "wakes_expected": expected,
    }


def _digest() -> None:
    hashlib.sha256(BYTES).digest()


def _count() -> None:
    for _ in range(PYTHON_STEPS):
        pass


def _compare(tasks: Sequence[Callable[[], object]], rounds: int) -> tuple[float, float]:
    """Time on the clock of one thread over that of one thread per task; CPU time of the latter over the former."""
    clock, cpu = ({1: float("inf"), len(tasks): float("inf")} for _ in range(2))
    for task in tasks:
        task()
    for _ in range(rounds):
        for threads in clock:
            with ThreadPoolExecutor(threads) as pool:
                started, worked = time.perf_counter(), time.process_time()
                for running in [pool.submit(task) for task in tasks]:
                    running.result()
                clock[threads] = min(clock[threads], time.perf_counter() - started)
                cpu[threads] = min(cpu[threads], time.process_time() - worked)
    return clock[1] / clock[len(tasks)], cpu[len(tasks)] / cpu[1]


def wakes_during(task: Callable[[], object]) -> tuple[int, float]:
    """How often this thread wakes from short naps while another does the task, and how many seconds that takes."""
    with ThreadPoolExecutor(1) as pool:
        started = time.perf_counter()
        running = pool.submit(task)
        wakes = 0
        while not running.done():
            time.sleep(NAP_SECONDS)
            wakes += not running.done()
        running.result()
        return wakes, time.perf_counter() - started


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the line."""
    options = read_options("Signs texts with one thread and with two.", arguments)
    sys.stdout.write(json.dumps(measure(texts_of(options), options.rounds)) + "\n")


if __name__ == "__main__":
    main()
