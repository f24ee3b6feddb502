"""Pages to documents in the order of the records, with a window of pages that are under way."""

import os
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from dedup_lib.text.document import read_document
from dedup_lib.text.guard.dispatch import Dispatcher, PageJob, PageResult
from dedup_lib.text.guard.known import KnownPages
from dedup_lib.text.guard.outcome import GuardLimits
from dedup_lib.text.guard.wire import PageRequest, Reader
from dedup_lib.text.options import DEFAULT_OPTIONS, ReadOptions

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Window:
    """How much is under way at most: items and bytes of bodies in all, and pages and bytes per message.

    Pages of a message are answered together, so that small ones share the cost of waking both processes. A body
    larger than a bound goes alone.
    """

    items: int = 256
    bytes: int = 4 << 20
    message_pages: int = 64
    message_bytes: int = 1 << 19


class InProcessReader:
    """Reads pages in this very process: a page that hangs or crashes takes it along."""

    def __init__(self, options: ReadOptions = DEFAULT_OPTIONS) -> None:
        self._options = options

    def read(self, items: Iterable[tuple[T, PageRequest | None]]) -> Iterator[tuple[T, PageResult | None]]:
        """As `PageGuard.read`, one item at a time."""
        known = KnownPages()
        for item, page in items:
            if page is None:
                yield item, None
                continue
            job, is_new = known.job_of(page)
            if is_new:
                job.result = read_document(page.body, page.kind, page.http_charset, self._options)
                job.forget_body()
            yield item, job.result


class PageGuard:
    """Reads pages in a child process, which is started at the first of them and replaced when it dies.

    `reader` is called in the child as `reader(body, kind, http_charset, options)`; both are pickled, so it must be
    importable there.
    """

    def __init__(
        self,
        options: ReadOptions = DEFAULT_OPTIONS,
        limits: GuardLimits | None = None,
        window: Window | None = None,
        reader: Reader = read_document,
    ) -> None:
        self._window = window or Window()
        self._dispatcher = Dispatcher(reader, options, limits or GuardLimits())
        self.busy = False

    def __enter__(self) -> "PageGuard":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def starts(self) -> int:
        """How many children were started: one, and one or two more for each page that failed."""
        return self._dispatcher.starts

    def close(self) -> None:
        """Ends the child; the next page starts another."""
        self._dispatcher.close()

    def read(self, items: Iterable[tuple[T, PageRequest | None]]) -> Iterator[tuple[T, PageResult | None]]:
        """Gives each item back, in order, with what its page became; an item without a page passes with None.

        Takes items ahead, up to the window; reads pages of the same bytes once. Raises ExtractorStartError if there
        can be no child. One `read` at a time; one that is left in the middle costs the child.
        """
        if self.busy:
            raise RuntimeError("this guard is reading already: finish that, or use another")
        self.busy = True
        held = _Held[T](self._dispatcher, self._window)
        try:
            for item, request in items:
                held.take(item, request)
                yield from held.finished()
                while held.is_full:
                    held.wait()
                    yield from held.finished()
            while held:
                held.wait()
                yield from held.finished()
        finally:
            self.busy = False
            if self._dispatcher.waiting:
                self._dispatcher.close()


class _Held(Generic[T]):
    """The items taken and not yet given back, and the message that is being filled."""

    def __init__(self, dispatcher: Dispatcher, window: Window) -> None:
        self._dispatcher, self._window = dispatcher, window
        self._known = KnownPages()
        self._items: deque[tuple[T, PageJob | None, int]] = deque()
        self._bytes = 0
        self._message: list[PageJob] = []
        self._message_bytes = 0

    def __len__(self) -> int:
        return len(self._items)

    @property
    def is_full(self) -> bool:
        return len(self._items) >= self._window.items or self._bytes >= self._window.bytes

    def take(self, item: T, request: PageRequest | None) -> None:
        if request is None:
            self._items.append((item, None, 0))
            return
        job, is_new = self._known.job_of(request)
        self._items.append((item, job, len(request.body)))
        self._bytes += len(request.body)
        if not is_new:
            return
        self._message.append(job)
        self._message_bytes += len(request.body)
        if len(self._message) >= self._window.message_pages or self._message_bytes >= self._window.message_bytes:
            self._flush()

    def wait(self) -> None:
        """Waits for results of the first pages held."""
        if not self._dispatcher.waiting:
            self._flush()
        self._dispatcher.gather()

    def finished(self) -> Iterator[tuple[T, PageResult | None]]:
        """Gives back the items up to the first whose page has no result yet."""
        while self._items:
            item, job, size = self._items[0]
            if job is not None and job.result is None:
                return
            self._items.popleft()
            if job is None:
                yield item, None
            else:
                self._bytes -= size
                job.forget_body()
                yield item, job.result

    def _flush(self) -> None:
        if self._message:
            self._dispatcher.send(self._message)
        self._message, self._message_bytes = [], 0


_shared: dict[tuple[int, ReadOptions, GuardLimits], PageGuard] = {}


def shared_reader(
    guard: Literal["child", "none"], options: ReadOptions, limits: GuardLimits
) -> PageGuard | InProcessReader:
    """The reader of this process, kept over its tasks so that they share a child; with `none`, one without a child."""
    if guard == "none":
        return InProcessReader(options)
    key = os.getpid(), options, limits  # a fork has no claim to the child
    found = _shared.get(key)
    if found is None or found.busy:
        _shared.clear()  # a child ends with the last user of its guard
        found = _shared[key] = PageGuard(options, limits)
    return found
