import random
import time

import pytest
from stand_ins import misbehave

from dedup_lib.archives.faults import Reason
from dedup_lib.errors import UsageError
from dedup_lib.text.caps import PageLimits
from dedup_lib.text.content_type import Kind
from dedup_lib.text.guard import (
    Failure,
    GuardLimits,
    InProcessReader,
    PageFailed,
    PageGuard,
    PageRequest,
    Window,
)
from dedup_lib.text.guard import process as guard_process
from dedup_lib.text.options import ReadOptions
from dedup_lib.text.page import PageRefused, Refusal

TIGHT = GuardLimits(page_seconds=0.05, page_memory_bytes=64 << 20)
PATIENT = GuardLimits(page_seconds=5, page_memory_bytes=64 << 20)  # filling memory takes a busy machine a while
ONE_BY_ONE = Window(items=1)


def pages(*bodies):
    """Items numbered from 0; a body of None is an item without a page."""
    return [(n, None if body is None else PageRequest(body, Kind.HTML)) for n, body in enumerate(bodies)]


def said(result):
    """What a page became, in short."""
    if isinstance(result, PageFailed | PageRefused):
        return str(result.reason)
    return None if result is None else result.content.text


@pytest.fixture(scope="module")
def guard():
    with PageGuard(limits=TIGHT, reader=misbehave) as guard:
        yield guard


def test_failures_are_reasons_of_the_closed_list():
    assert {failure.value for failure in Failure} <= {reason.value for reason in Reason}


def test_a_page_reads_the_same_in_a_child():
    article = "<p>" + "The quick brown fox jumps over the lazy dog near the river bank. " * 20 + "</p>"
    html = f'<title>Füchse</title><link rel=canonical href=" /a "><base href=/b/><main>{article}</main>'
    requests = [
        PageRequest(html.encode(), Kind.HTML, None),
        PageRequest(html.encode("utf-16"), Kind.HTML, "latin1"),
        PageRequest(html.encode("cp1252"), Kind.HTML, '"windows-1252"'),
        PageRequest(b"Erste Zeile\r\n\r\nzweite", Kind.PLAIN, "ascii"),
        PageRequest(b"", Kind.HTML, ""),
        PageRequest(b"<div>" * 9000, Kind.HTML, None),
        PageRequest(b"<p>a\0\xff\xfe\xed\xa0\x80b</p>" * 5, Kind.HTML, "\ud800"),
    ]
    items = list(enumerate(requests))
    with PageGuard() as guard:
        found = list(guard.read(items))
        assert found == list(InProcessReader().read(items))
        assert guard.starts == 1
    assert said(found[5][1]) == "too_deep"
    assert found[0][1].content.title == "Füchse"


def test_items_without_a_page_keep_their_places(guard):
    found = list(guard.read(pages(None, b"one", None, None, b"two", None)))
    assert [item for item, _ in found] == list(range(6))
    assert [said(result) for _, result in found] == [None, "one", None, None, "two", None]
    assert list(guard.read(pages(None, None))) == [(0, None), (1, None)]
    assert list(guard.read([])) == []


@pytest.mark.parametrize(
    ("deed", "reason", "detail"),
    [
        ("segfault", Failure.CRASHED, "SIGSEGV"),
        ("abort", Failure.CRASHED, "SIGABRT: assertion failed: the tree has no root"),
        ("exit", Failure.CRASHED, "exit code 5"),
        ("killed", Failure.CRASHED, "SIGKILL"),
        ("garbage", Failure.CRASHED, "no message begins with"),
        ("spin", Failure.TIMED_OUT, "took more than 0.05 seconds of CPU"),
        ("sleep", Failure.TIMED_OUT, "did not end within 1 seconds"),
        ("allocate", Failure.OUT_OF_MEMORY, "needs more than 67108864 bytes of memory"),
        ("swallow", Failure.OUT_OF_MEMORY, "needs more than 67108864 bytes of memory"),
    ],
)
def test_a_page_that_ends_the_extractor_is_refused_and_its_neighbours_are_read(deed, reason, detail):
    limits = TIGHT if reason is Failure.TIMED_OUT else PATIENT
    with PageGuard(limits=limits, reader=misbehave) as guard:
        found = list(guard.read(pages(b"before", deed.encode(), None, b"after")))
    assert [item for item, _ in found] == [0, 1, 2, 3]
    assert [said(found[place][1]) for place in (0, 2, 3)] == ["before", None, "after"]
    refused = found[1][1]
    assert isinstance(refused, PageFailed)
    assert refused.reason is reason
    assert refused.detail.startswith(detail)


def test_a_stopped_child_is_noticed(monkeypatch):
    monkeypatch.setattr(guard_process, "_STALL_SECONDS", 0.1)
    limits = GuardLimits(page_seconds=0.02)
    with PageGuard(limits=limits, reader=misbehave) as guard:
        found = list(guard.read(pages(b"before", b"stop", b"after")))
    assert [said(result) for _, result in found] == ["before", "timed_out", "after"]


def test_an_exception_of_the_extractor_costs_no_child(guard):
    list(guard.read(pages(b"one")))
    starts = guard.starts
    found = dict(guard.read(pages(b"raise", b"after", b"refuse")))
    assert guard.starts == starts
    assert found[0] == PageRefused(
        Refusal.BAD_PAGE, "the extractor failed: ValueError: invalid literal for int() with base 10: 'none'"
    )
    assert [said(found[1]), said(found[2])] == ["after", "bad_page"]


def test_an_error_of_usage_fails_the_task_and_not_the_page():
    with PageGuard(reader=misbehave) as guard:
        with pytest.raises(UsageError, match="install it"):
            list(guard.read(pages(b"one", b"usage", b"two")))
        assert [said(result) for _, result in guard.read(pages(b"three"))] == ["three"]


def test_what_an_extractor_prints_goes_nowhere(guard, capfd):
    found = list(guard.read(pages(b"chatter", b"after")))
    assert [said(result) for _, result in found] == ["chatter", "after"]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("window", [ONE_BY_ONE, Window(items=2, message_pages=2), Window()])
def test_a_page_that_crashes_only_in_company_is_read(window):
    with PageGuard(limits=TIGHT, reader=misbehave, window=window) as guard:
        found = list(guard.read(pages(b"a", b"company 1", b"b", b"company 2", b"c")))
    assert [said(result) for _, result in found] == ["a", "company 1", "b", "company 2", "c"]


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 12))])
def test_results_do_not_depend_on_the_window(seed):
    draw = random.Random(seed)
    deeds = ["segfault", "exit", "company", "raise", "refuse", "killed", "swallow"]
    bodies = [f"page {n}".encode() * draw.choice((1, 100, 30_000)) if n % 7 else None for n in range(60)]
    for deed in draw.sample(deeds, 5):
        place = draw.randrange(len(bodies))
        bodies[place] = f"{deed} {place}".encode()
    expected = [None if body is None else _DEATHS.get(body.split(b" ")[0], body.decode()) for body in bodies]
    windows = (Window(items=2, message_pages=1), Window(items=7, message_pages=3), Window())
    for window in windows:
        with PageGuard(limits=PATIENT, reader=misbehave, window=window) as guard:
            found = list(guard.read(pages(*bodies)))
        assert [item for item, _ in found] == list(range(len(bodies)))
        assert [said(result) for _, result in found] == expected


_DEATHS = {
    b"segfault": "crashed",
    b"exit": "crashed",
    b"killed": "crashed",
    b"swallow": "out_of_memory",
    b"raise": "bad_page",
    b"refuse": "bad_page",
}


def test_pages_larger_than_pipes_and_windows_pass(guard):
    bodies = [b"x" * (3 << 20), b"y", b"z" * (9 << 20), b"", b"w" * (1 << 20)]
    found = list(guard.read(pages(*bodies)))
    assert [result.content.text.encode() for _, result in found] == bodies


def test_items_are_taken_ahead_no_further_than_the_window():
    taken = []
    window = Window(items=6, bytes=1000, message_pages=2)
    with PageGuard(limits=TIGHT, reader=misbehave, window=window) as guard:
        ahead = []
        for n, (item, _) in enumerate(guard.read((taken.append(i), PageRequest(b"p", Kind.HTML)) for i in range(40))):
            assert item is None
            ahead.append(len(taken) - n)
        assert 2 < max(ahead) <= 6
        taken.clear()
        for n, _ in enumerate(guard.read((taken.append(i), PageRequest(b"p" * 400, Kind.HTML)) for i in range(20))):
            assert len(taken) - n <= 3


def test_a_read_that_is_left_in_the_middle_does_not_spoil_the_next(guard):
    reading = guard.read(pages(*[b"%d" % n for n in range(300)]))
    assert [said(next(reading)[1]) for _ in range(3)] == ["0", "1", "2"]
    with pytest.raises(RuntimeError, match="reading already"):
        next(guard.read(pages(b"x")))
    reading.close()
    assert [said(result) for _, result in guard.read(pages(b"next"))] == ["next"]


def test_real_poison_is_timed_out_and_the_pages_around_it_come_out():
    article = b"<p>" + b"The quick brown fox jumps over the lazy dog near the river bank. " * 20
    options = ReadOptions(limits=PageLimits(max_depth=10**9, max_levels=10**15, max_attributes=10**9))
    attributes = b"<a " + b" ".join(b"a%d" % n for n in range(100_000)) + b">"
    start = time.monotonic()
    with PageGuard(options, GuardLimits(page_seconds=0.3)) as guard:
        found = list(guard.read(pages(article, b"<div>" * 200_000, article, attributes, article)))
    assert time.monotonic() - start < 60
    assert [said(found[place][1]) for place in (1, 3)] == ["timed_out", "timed_out"]
    assert found[0][1] == found[2][1] == found[4][1]
    assert "quick brown fox" in said(found[0][1])
