"""Pages of the same bytes, which are read once: mirrors, error pages that say 200, a crawler that came twice."""

import hashlib
from collections import OrderedDict

from dedup_lib.text.guard.dispatch import PageJob
from dedup_lib.text.guard.wire import PageRequest

_Key = tuple[bytes, str, str | None]


class KnownPages:
    """The jobs of the pages met last, by all that their result depends on; at most `most_bytes` of bodies' worth.

    A job may be under way still. What it holds of its body is dropped with `PageJob.forget_body`.
    """

    def __init__(self, most_bytes: int = 32 << 20) -> None:
        self._most_bytes = most_bytes
        self._jobs: OrderedDict[_Key, tuple[PageJob, int]] = OrderedDict()
        self._bytes = 0

    def job_of(self, request: PageRequest) -> tuple[PageJob, bool]:
        """The job that reads this page, and whether it is new."""
        key = hashlib.sha256(request.body).digest(), request.kind.value, request.http_charset
        found = self._jobs.get(key)
        if found is not None:
            self._jobs.move_to_end(key)
            return found[0], False
        job = PageJob(request)
        self._jobs[key] = job, len(request.body)
        self._bytes += len(request.body)
        while self._bytes > self._most_bytes:
            self._bytes -= self._jobs.popitem(last=False)[1][1]
        return job, True
