"""Patience with storage: how often it is asked again, and how long is waited in between.

No retry library: what is repeated is no call but the rest of a stream, whose progress starts the count anew, and whose
servers say how long to wait; the arithmetic that is left is one line.
"""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TypeVar

from dedup_lib.archives.stores.errors import Interrupted, StorageUnreachable
from dedup_lib.config.settings import StorageSettings

FIRST_WAIT_SECONDS = 0.5
THROTTLED_WAIT_SECONDS = 4.0
SECONDS_PER_THROTTLED_RETRY = 1.0  # of a process: what Common Crawl asks for
LISTING_ATTEMPTS = 5  # somebody waits at the command line, perhaps for an address that is wrong

_Result = TypeVar("_Result")
_random = random.SystemRandom()  # forked workers must not wait in step


@dataclass(slots=True)
class ReadMeter:
    """What reading from storage took: requests, those of them that were repeated, seconds waited, bytes of bodies.

    Files of this machine are not metered.
    """

    requests: int = 0
    retries: int = 0
    waited_seconds: float = 0.0
    bytes: int = 0

    def add(self, other: "ReadMeter") -> None:
        """Add what another meter counted."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))


class Patience:
    """Waits between attempts on one object, and gives up after too many that brought nothing.

    Waits are drawn evenly from 0 to a bound that doubles ("full jitter": M. Brooker, Exponential Backoff And Jitter,
    AWS Architecture Blog, 2015). A server that says it is overloaded is left alone for at least half of a longer
    bound, for as long as it asks, and asked again at most once a second by all threads of a process together.
    """

    def __init__(self, path: str, storage: StorageSettings, meter: ReadMeter, attempts: int | None = None) -> None:
        self._path, self._storage, self._meter = path, storage, meter
        self._attempts = min(storage.attempts, attempts or storage.attempts)
        self._failed = 0

    def progress(self) -> None:
        """Bytes came: the count of attempts begins anew."""
        self._failed = 0

    def wait(self, trouble: Interrupted) -> None:
        """Waits after a failed attempt. `StorageUnreachable` if it was the last one."""
        self._failed += 1
        if self._failed >= min(self._attempts, trouble.limit or self._attempts):
            remedy = trouble.remedy or "check the network, or raise storage.attempts and storage.max_wait_seconds"
            times = f"{self._failed} attempts in a row" if self._failed > 1 else "the attempt"
            raise StorageUnreachable(
                self._path, f"{self._path} cannot be read, {times} failed ({trouble.what}): {remedy}"
            ) from trouble
        most = self._storage.max_wait_seconds
        if trouble.throttled:
            bound = min(most, THROTTLED_WAIT_SECONDS * 2 ** (self._failed - 1))
            seconds = max(_random.uniform(bound / 2, bound), min(most, trouble.retry_after or 0.0))
        else:
            seconds = _random.uniform(0, min(most, FIRST_WAIT_SECONDS * 2 ** (self._failed - 1)))
            seconds = max(seconds, min(most, trouble.retry_after or 0.0))
        started = time.monotonic()
        time.sleep(seconds)
        if trouble.throttled:
            _gate.pass_through(min(most, SECONDS_PER_THROTTLED_RETRY))
        self._meter.retries += 1
        self._meter.waited_seconds += time.monotonic() - started


class _Gate:
    """Lets the threads of a process pass one by one, at a distance in time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next = 0.0

    def pass_through(self, distance: float) -> None:
        with self._lock:
            now = time.monotonic()
            mine = max(now, self._next)
            self._next = mine + distance
        time.sleep(mine - now)


_gate = _Gate()


def persist(
    path: str, ask: Callable[[], _Result], storage: StorageSettings, meter: ReadMeter, attempts: int = LISTING_ATTEMPTS
) -> _Result:
    """The answer to a request that has no body to speak of, asked again while it is interrupted."""
    patience = Patience(path, storage, meter, attempts)
    while True:
        meter.requests += 1
        try:
            return ask()
        except Interrupted as trouble:
            patience.wait(trouble)
