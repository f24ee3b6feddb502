"""Reads one archive from end to end: every record that can be found, a fault for all else, and a verdict."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import BinaryIO

from dedup_lib.archives.faults import ArchiveFault, Reason
from dedup_lib.archives.framing import ArchiveWalk
from dedup_lib.archives.records import ArchiveRecord, ReadLimits, SkippedRecord
from dedup_lib.archives.stored import StoredBytes

_TRUNCATION = frozenset((Reason.TRUNCATED_MEMBER, Reason.TRUNCATED_RECORD))
_DAMAGE = frozenset((Reason.DAMAGED_MEMBER, Reason.GARBAGE, Reason.BAD_HEADER, Reason.BAD_LENGTH))


class Verdict(StrEnum):
    """How an archive as a whole was found: the values of `archives.verdict`."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"  # sound up to where it ends too early
    DAMAGED = "damaged"  # bytes or records inside it are lost
    EMPTY = "empty"  # no bytes, or no records
    NOT_AN_ARCHIVE = "not an archive"


@dataclass(frozen=True, slots=True)
class ArchiveVerdict:
    """What became of one archive; one row of `archives`.

    `records_by_type` counts the intact records, wanted or not; those of wanted types are exactly the ones given.
    `faults_by_reason` counts the faults given. `bytes_read` is less than `size` where the stream ended early, or where
    reading stopped because the file is something else.
    """

    verdict: Verdict
    size: int
    bytes_read: int
    records_by_type: dict[str, int] = field(default_factory=dict)
    faults_by_reason: dict[str, int] = field(default_factory=dict)


class ArchiveReader:
    """Iterates once over the records and faults of an archive, in the order they are stored; then has a `verdict`.

    `stream` needs `read(n)` and `seekable()`; errors it raises pass through. `size` is the length of the object as its
    store states it, so that a stream which ends early is noticed. No content of an archive raises. Memory is bounded by
    `limits`, whatever the archive holds.
    """

    def __init__(self, stream: BinaryIO, size: int, limits: ReadLimits | None = None) -> None:
        self._stored = StoredBytes(stream)
        self._size = size
        self._limits = limits or ReadLimits()
        self._records: Counter[str] = Counter()
        self._faults: Counter[Reason] = Counter()
        self._verdict: ArchiveVerdict | None = None

    @property
    def verdict(self) -> ArchiveVerdict:
        """What became of the archive; only after the iteration has ended."""
        if self._verdict is None:
            raise RuntimeError("an archive has its verdict only after it was read to the end")
        return self._verdict

    def __iter__(self) -> Iterator[ArchiveRecord | ArchiveFault]:
        for item in ArchiveWalk(self._stored, self._limits):
            if isinstance(item, SkippedRecord):
                self._records[item.record_type] += 1
                continue
            if isinstance(item, ArchiveRecord):
                self._records[item.record_type] += 1
            else:
                self._faults[item.reason] += 1
            yield item
        if self._stored.ended and self._stored.bytes_read < self._size and not self._met(_TRUNCATION):
            self._faults[Reason.TRUNCATED_RECORD] += 1
            detail = f"the stream ended after {self._stored.bytes_read} of {self._size} bytes"
            yield ArchiveFault(self._stored.bytes_read, Reason.TRUNCATED_RECORD, detail)
        self._verdict = ArchiveVerdict(
            verdict=self._judge(),
            size=self._size,
            bytes_read=self._stored.bytes_read,
            records_by_type=dict(self._records),
            faults_by_reason={reason.value: count for reason, count in self._faults.items()},
        )

    def _judge(self) -> Verdict:
        if self._met({Reason.NOT_AN_ARCHIVE}):
            return Verdict.NOT_AN_ARCHIVE
        if self._met(_DAMAGE):
            return Verdict.DAMAGED
        if self._met(_TRUNCATION):
            return Verdict.TRUNCATED
        return Verdict.COMPLETE if self._records or self._faults else Verdict.EMPTY

    def _met(self, reasons: frozenset[Reason] | set[Reason]) -> bool:
        return not reasons.isdisjoint(self._faults)
