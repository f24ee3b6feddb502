"""What a run works on, a snapshot of a source, and the ids of runs."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from dedup_lib.errors import UsageError

ID = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,127}")
# Words that a reader of Hive partitions takes for a number, a date, a truth value or nothing, and so would retype.
RETYPED = {"nan", "inf", "infinity", "epoch", "now", "today", "tomorrow", "yesterday", "true", "false", "null", "none"}


def require_id(text: str, what: str) -> str:
    """The text, if it can name a source, snapshot or run in a path.

    >>> require_id("CC-MAIN-2026-10", "snapshot")
    'CC-MAIN-2026-10'
    >>> require_id("2026-10", "snapshot")
    Traceback (most recent call last):
    dedup_lib.errors.UsageError: snapshot '2026-10' is not allowed: an id is a letter, then at most 127 letters, \
digits, dots, underscores and hyphens, and no word that reads as a number or a date (such as nan or today)
    """
    if not ID.fullmatch(text) or text.lower() in RETYPED:
        raise UsageError(
            f"{what} {text!r} is not allowed: an id is a letter, then at most 127 letters, digits, dots, underscores "
            "and hyphens, and no word that reads as a number or a date (such as nan or today)"
        )
    return text


@dataclass(frozen=True, order=True)
class SnapshotKey:
    """One snapshot of one source: what a run owns, and what is published as a whole."""

    source: str
    snapshot: str

    def __post_init__(self) -> None:
        require_id(self.source, "source")
        require_id(self.snapshot, "snapshot")

    def __str__(self) -> str:
        return f"source {self.source}, snapshot {self.snapshot}"

    @property
    def folder(self) -> str:
        """Its place below every folder of the store."""
        return f"source={self.source}/snapshot={self.snapshot}"


def new_run_id() -> str:
    """A new run id, unique, and in the order of time to the second: r20261130T161500-4f2a91c3."""
    return f"r{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid4().hex[:8]}"
