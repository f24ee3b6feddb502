"""Pages of the same bytes are read once in a task, and each of their captures gets the whole answer."""

from pathlib import Path

import pytest
from stand_ins import misbehave

from dedup_lib.text import guard as guard_package
from dedup_lib.text.content_type import Kind
from dedup_lib.text.guard import GuardLimits, InProcessReader, PageFailed, PageGuard, PageRequest, Window
from dedup_lib.text.guard import reader as reader_module
from dedup_lib.text.guard.known import KnownPages

LIMITS = GuardLimits(page_seconds=5, page_memory_bytes=64 << 20)
PAGE = b"<title>One page</title><main><p>" + b"It says the same in every capture of it. " * 30 + b"</main>"


def note_and_read(body, kind, http_charset, options):
    """Adds a line to the file that the body names, so that reads in the child can be counted."""
    with Path(body.decode()).open("a") as file:
        file.write(f"{kind} {http_charset}\n")
    return misbehave(body, kind, http_charset, options)


@pytest.mark.parametrize("window", [Window(items=1), Window(message_pages=1), Window()])
def test_a_child_reads_the_bytes_of_many_captures_once(tmp_path, window):
    body = str(tmp_path / "reads").encode()
    items = [(number, PageRequest(body, Kind.PLAIN, "utf-8")) for number in range(20)]
    items.insert(7, ("no page", None))
    with PageGuard(limits=LIMITS, window=window, reader=note_and_read) as guard:
        found = list(guard.read(items))
    assert [item for item, _ in found] == [item for item, _ in items]
    texts = {result.content.text for _, result in found if result is not None}
    assert texts == {body.decode()}
    assert (tmp_path / "reads").read_text().splitlines() == [f"{Kind.PLAIN} utf-8"]


def test_the_same_bytes_of_another_kind_or_charset_are_read_again(tmp_path):
    body = str(tmp_path / "reads").encode()
    requests = [PageRequest(body, kind, charset) for kind in (Kind.HTML, Kind.PLAIN) for charset in (None, "utf-8")]
    with PageGuard(limits=LIMITS, reader=note_and_read) as guard:
        found = list(guard.read([(0, request) for request in requests * 3]))
    assert len(found) == 12
    assert sorted((tmp_path / "reads").read_text().splitlines()) == sorted(
        f"{request.kind} {request.http_charset}" for request in requests
    )


def test_a_page_that_kills_its_child_is_refused_in_all_its_captures_at_the_cost_of_one(tmp_path):
    with PageGuard(limits=LIMITS, reader=misbehave) as guard:
        once = list(guard.read([(0, PageRequest(b"exit", Kind.HTML)), (1, PageRequest(b"fine", Kind.HTML))]))
        starts = guard.starts
    with PageGuard(limits=LIMITS, reader=misbehave) as guard:
        often = list(
            guard.read([(number, PageRequest(b"exit" if number % 2 else b"fine", Kind.HTML)) for number in range(40)])
        )
        assert guard.starts <= starts + 1
    refused = {result.detail for _, result in (*once, *often) if isinstance(result, PageFailed)}
    assert len(refused) == 1
    assert sum(isinstance(result, PageFailed) for _, result in often) == 20


def test_without_a_child_the_bytes_are_read_once_too(monkeypatch):
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return read(*arguments)

    read = reader_module.read_document
    monkeypatch.setattr(reader_module, "read_document", counted)
    found = list(InProcessReader().read([(number, PageRequest(PAGE, Kind.HTML)) for number in range(5)]))
    assert len(calls) == 1
    assert [result.content.title for _, result in found] == ["One page"] * 5


def test_pages_are_forgotten_from_the_oldest_on_when_their_bodies_are_too_many_bytes():
    known = KnownPages(most_bytes=1000)
    first, second, third = (PageRequest(letter * 400, Kind.HTML) for letter in (b"a", b"b", b"c"))
    jobs = {request.body: known.job_of(request)[0] for request in (first, second)}
    assert known.job_of(first) == (jobs[first.body], False)
    assert known.job_of(third)[1]
    assert known.job_of(first) == (jobs[first.body], False)  # it was asked for after `second`
    assert known.job_of(second)[1]


def test_a_job_of_a_page_that_is_read_holds_no_body():
    job, _ = KnownPages().job_of(PageRequest(PAGE, Kind.HTML, "utf-8"))
    job.forget_body()
    assert job.request == guard_package.PageRequest(b"", Kind.HTML, "utf-8")
