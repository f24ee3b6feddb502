"""What a run works on, a snapshot of a source or what a store has once, and the ids of runs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from typing_extensions import TypeVar

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

    def owns(self, table: str) -> bool:
        """Whether a table may hold runs of this key: a snapshot may have rows in any."""
        return True

    def runs_folder(self, table: str) -> str:
        """Where the runs of a table lie, one folder each."""
        return f"{table}/{self.folder}"

    def to_json(self) -> dict[str, str]:
        """As a published version names it."""
        return {"source": self.source, "snapshot": self.snapshot}


@dataclass(frozen=True, order=True)
class StoreKey:
    """What a store has once, across its snapshots: what a run owns and publishes as a whole, as a snapshot is."""

    name: str
    tables: tuple[str, ...] = field(compare=False)

    def __str__(self) -> str:
        return f"the {self.name} version of the store"

    @property
    def folder(self) -> str:
        """Its place among drafts, locks and published versions."""
        return self.name

    def owns(self, table: str) -> bool:
        """Whether a table holds runs of this key."""
        return table in self.tables

    def runs_folder(self, table: str) -> str:
        """Where the runs of a table lie, one folder each."""
        return table

    def to_json(self) -> dict[str, str]:
        """As a published version names it."""
        return {"store": self.name}


GLOBAL = StoreKey("global", ("global_clusters", "global_representatives"))
STORE_KEYS = {GLOBAL.name: GLOBAL}
Key = TypeVar("Key", bound=SnapshotKey | StoreKey, default=SnapshotKey)


def key_of(data: Mapping[str, Any]) -> SnapshotKey | StoreKey:
    """The key that `to_json` wrote, among other values. KeyError or UsageError when there is none."""
    if "store" in data:
        return STORE_KEYS[data["store"]]
    return SnapshotKey(data["source"], data["snapshot"])


def new_run_id() -> str:
    """A new run id, unique, and in the order of time to the second: r20261130T161500-4f2a91c3."""
    return f"r{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid4().hex[:8]}"
