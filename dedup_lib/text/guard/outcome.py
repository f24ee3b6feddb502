"""What can befall a page that is read in a process of its own, and what a process that ended tells of it."""

import signal
from dataclasses import dataclass
from enum import StrEnum

STALLED = "did not move"  # why the parent ended a child whose own timers should have ended it
OUT_OF_MEMORY_EXIT = 77  # how the child ends when Python's or the parser's allocation fails
_WALL_PER_CPU = 20  # a page that waits, and uses no CPU, gets this many times the seconds
_RUST_ALLOCATION = "memory allocation of"  # how the native code's runtime begins its last line
_DETAIL_CHARS = 500


@dataclass(frozen=True, slots=True)
class GuardLimits:
    """What one page may use: CPU seconds of the process that reads it, and bytes of memory above its start.

    CPU time and not wall time, so that a busy machine refuses no page that an idle one reads. A page that uses no
    CPU and does not come to an end is stopped after `wall_seconds`.
    """

    page_seconds: float = 10.0
    page_memory_bytes: int = 1 << 30

    @property
    def wall_seconds(self) -> float:
        """Seconds after which a page is stopped however little CPU it got."""
        return _WALL_PER_CPU * self.page_seconds


class Failure(StrEnum):
    """How the extraction of a page came to an end that is none: values of `rejects.reason`."""

    TIMED_OUT = "timed_out"
    CRASHED = "crashed"
    OUT_OF_MEMORY = "out_of_memory"


@dataclass(frozen=True, slots=True)
class PageFailed:
    """A page on which the extractor hung, crashed or ran out of memory, alone in a fresh process."""

    reason: Failure
    detail: str


@dataclass(frozen=True, slots=True)
class Death:
    """The end of a child process.

    `status` is that of `subprocess`: an exit code, or the negative number of a signal. `begun` and `done` count the
    pages that the child began and finished; `ended_for` is why the parent ended it, empty if it ended by itself;
    `last_words` is the end of what it wrote on its standard error.
    """

    status: int
    begun: int
    done: int
    ended_for: str
    last_words: str

    def failure(self, limits: GuardLimits) -> PageFailed:
        """What the page is refused for that was being read."""
        words = " ".join(self.last_words.split())[-_DETAIL_CHARS:]
        if self.status == OUT_OF_MEMORY_EXIT or _RUST_ALLOCATION in self.last_words:
            allowed = f"needs more than {limits.page_memory_bytes} bytes of memory"
            return PageFailed(Failure.OUT_OF_MEMORY, f"{allowed}: {words}" if words else allowed)
        if self.status == -signal.SIGPROF:
            return PageFailed(Failure.TIMED_OUT, f"took more than {limits.page_seconds:g} seconds of CPU")
        if self.status == -signal.SIGALRM or self.ended_for == STALLED:
            return PageFailed(Failure.TIMED_OUT, f"did not end within {limits.wall_seconds:g} seconds")
        return PageFailed(Failure.CRASHED, f"{self.manner}: {words}" if words else self.manner)

    @property
    def manner(self) -> str:
        """How the process ended, in words.

        >>> Death(-11, 1, 0, "", "").manner, Death(3, 1, 0, "", "").manner
        ('SIGSEGV', 'exit code 3')
        """
        if self.ended_for:
            return self.ended_for
        if self.status >= 0:
            return f"exit code {self.status}"
        try:
            return signal.Signals(-self.status).name
        except ValueError:  # real-time signals have no names of their own
            return f"signal {-self.status}"
