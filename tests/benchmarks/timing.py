"""CPU time of methods that take turns, so that a busy machine is busy for all of them."""

import time
from collections.abc import Callable, Mapping


def best_cpu_seconds(methods: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Seconds of CPU time by method, of all threads of the process: the best of `rounds`, each a turn of every method.

    What is compiled or cached on the first call is not measured: every method has a turn before.
    """
    for method in methods.values():
        method()
    best = dict.fromkeys(methods, float("inf"))
    for _ in range(rounds):
        for name, method in methods.items():
            started = time.process_time()
            method()
            best[name] = min(best[name], time.process_time() - started)
    return best
