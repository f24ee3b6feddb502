"""Pages to a child and answers back, whatever becomes of the child.

When it dies, its counters tell which page it was reading. That page is read once more as the first of a fresh child
and is refused only if that one dies too; all pages without an answer are sent again behind it. So whether a page is
refused depends on the page alone, never on the pages around it or on what they left in memory.
"""

from collections import deque
from dataclasses import dataclass, replace

from dedup_lib.text.document import DocumentText
from dedup_lib.text.guard.outcome import Death, GuardLimits, PageFailed
from dedup_lib.text.guard.process import Child, ChildLostError, ExtractorStartError
from dedup_lib.text.guard.wire import PageRequest, Reader, Values, WireError, pack_requests, result_of
from dedup_lib.text.options import ReadOptions
from dedup_lib.text.page import PageRefused

PageResult = DocumentText | PageRefused | PageFailed
_IDLE_DEATHS = 3  # in a row, of children that had begun no page: something else ends them


@dataclass(slots=True)
class PageJob:
    """A page to read, and what became of it once it is known."""

    request: PageRequest
    result: PageResult | None = None

    def forget_body(self) -> None:
        """Lets go of the body of a page that is read."""
        self.request = replace(self.request, body=b"")


class Dispatcher:
    """Messages of pages under way to a child; starts the child at the first, and another when it dies."""

    def __init__(self, reader: Reader, options: ReadOptions, limits: GuardLimits) -> None:
        self._reader, self._options, self._limits = reader, options, limits
        self._child: Child | None = None
        self._under_way: deque[list[PageJob]] = deque()
        self._answered = 0  # pages of which this child's answer has come
        self._idle_deaths = 0
        self.starts = 0  # of children, in all

    @property
    def waiting(self) -> bool:
        """Whether pages are under way."""
        return bool(self._under_way)

    def send(self, message: list[PageJob]) -> None:
        """Sends pages that are read one after the other and answered together."""
        if self._child is None:
            self._child = Child(self._reader, self._options, self._limits)
            self._answered = 0
            self.starts += 1
        self._under_way.append(message)
        self._child.send(pack_requests([job.request for job in message]))

    def gather(self) -> None:
        """Waits for answers, and sets the results of the pages they are about; after a death there may be none."""
        if self._child is None:
            return
        try:
            for values in self._child.replies():
                self._accept(self._child, values)
        except ChildLostError as lost:
            self._recover(lost.death)

    def close(self) -> None:
        """Ends the child and forgets what is under way; the next message starts another."""
        if self._child is not None:
            self._child.close()
        self._child = None
        self._under_way.clear()

    def _accept(self, child: Child, values: Values) -> None:
        try:
            if not isinstance(values, list) or not self._under_way or len(values) != len(self._under_way[0]):
                raise WireError("an answer that does not match the pages sent")
            results = [result_of(value) for value in values]
        except WireError as error:
            raise child.lost(str(error)) from None
        for job, result in zip(self._under_way.popleft(), results, strict=True):
            job.result = result
        self._answered += len(results)
        self._idle_deaths = 0

    def _recover(self, death: Death) -> None:
        messages, self._under_way, self._child = list(self._under_way), deque(), None
        jobs = [job for message in messages for job in message]
        place = death.begun - self._answered - 1
        suspect = jobs[place] if 0 <= place < len(jobs) else None
        if suspect is None:
            self._idle_deaths += 1
            if self._idle_deaths > _IDLE_DEATHS:
                raise ExtractorStartError(f"it ended {self._idle_deaths} times before a page: {death.manner}")
        elif death.begun == 1 and (death.done == 0 or len(messages[0]) == 1):
            suspect.result = death.failure(self._limits)
        else:
            self.send([suspect])
        for message in messages:
            rest = [job for job in message if job is not suspect]
            if rest:
                self.send(rest)
