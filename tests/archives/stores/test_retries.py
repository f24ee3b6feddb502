"""How long is waited for storage, and how often: by the formula, with the clock held still."""

import threading
import time

import pytest

from dedup_lib.archives.stores import ReadMeter, StorageError, retries
from dedup_lib.archives.stores.answers import failure
from dedup_lib.archives.stores.errors import Interrupted
from dedup_lib.config.settings import StorageSettings

BROKEN, OVERLOADED = Interrupted("broken"), Interrupted("overloaded", throttled=True)


@pytest.fixture
def waits(monkeypatch):
    """The waits that were asked for, none of which is waited."""
    asked = []
    monkeypatch.setattr(retries.time, "sleep", lambda seconds: asked.append(seconds) if seconds else None)
    monkeypatch.setattr(retries, "_gate", retries._Gate())
    return asked


def waited(waits, trouble, count, **settings):
    """The waits after each of `count` failures, drawn 50 times: the least and the most of each."""
    draws = []
    for _ in range(50):
        patience = retries.Patience("s3://b/k", StorageSettings(attempts=100, **settings), ReadMeter())
        waits.clear()
        for _ in range(count):
            patience.wait(trouble)
        draws.append(list(waits))
    return [(min(column), max(column)) for column in zip(*draws, strict=True)]


def test_waits_are_spread_from_zero_to_a_bound_that_doubles_up_to_the_cap(waits):
    bounds = [0.5, 1, 2, 4, 8, 16, 20, 20]
    for (least, most), bound in zip(waited(waits, BROKEN, 8, max_wait_seconds=20.0), bounds, strict=True):
        assert 0 <= least < bound / 4  # missed by all of 50 draws once in two million times
        assert bound * 3 / 4 < most <= bound


def test_an_overloaded_server_is_left_alone_for_at_least_half_of_a_longer_bound(waits, monkeypatch):
    monkeypatch.setattr(retries._gate, "pass_through", lambda distance: None)
    bounds = [4, 8, 16, 30, 30]
    for (least, most), bound in zip(waited(waits, OVERLOADED, 5, max_wait_seconds=30.0), bounds, strict=True):
        assert bound / 2 <= least < most <= bound


@pytest.mark.parametrize(("asked", "seconds"), [(25.0, 25.0), (500.0, 30.0)])
def test_a_server_is_left_alone_as_long_as_it_asks_up_to_the_cap(waits, monkeypatch, asked, seconds):
    monkeypatch.setattr(retries._gate, "pass_through", lambda distance: None)
    trouble = Interrupted("overloaded", throttled=True, retry_after=asked)
    assert waited(waits, trouble, 1, max_wait_seconds=30.0) == [(seconds, seconds)]


def test_threads_of_a_process_ask_an_overloaded_server_one_by_one():
    gate, passed = retries._Gate(), []

    def go():
        gate.pass_through(0.05)
        passed.append(time.monotonic())

    threads = [threading.Thread(target=go) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    passed.sort()
    assert passed[-1] - passed[0] >= 0.05 * 5 - 0.02


def test_attempts_that_bring_nothing_are_counted_and_progress_starts_anew(waits):
    meter = ReadMeter()
    patience = retries.Patience("s3://b/k", StorageSettings(attempts=3), meter)
    for _ in range(5):
        patience.wait(BROKEN)
        patience.wait(BROKEN)
        patience.progress()
    patience.wait(BROKEN)
    patience.wait(BROKEN)
    with pytest.raises(StorageError, match=r"^s3://b/k cannot be read, 3 attempts in a row failed \(broken\): check"):
        patience.wait(BROKEN)
    assert meter.retries == len(waits) == 12


@pytest.mark.parametrize(
    ("status", "throttled"), [(503, True), (429, True), (500, False), (502, False), (504, False), (408, False)]
)
def test_statuses_that_may_pass(status, throttled):
    trouble = failure("s3://b/k", status, {"Retry-After": "7"})
    assert isinstance(trouble, Interrupted)
    assert (trouble.throttled, trouble.retry_after) == (throttled, 7.0)


@pytest.mark.parametrize("value", ["soon", ""])
def test_a_retry_after_that_says_nothing_is_passed_over(value):
    assert failure("s3://b/k", 503, {"Retry-After": value}).retry_after is None


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 410, 301])
def test_other_statuses_are_errors_at_once(status):
    assert isinstance(failure("s3://b/k", status, {}), StorageError)
