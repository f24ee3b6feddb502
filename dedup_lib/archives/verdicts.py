"""How an archive as a whole was found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from dedup_lib.archives.faults import Reason

_TRUNCATION = frozenset((Reason.TRUNCATED_MEMBER, Reason.TRUNCATED_RECORD))
_DAMAGE = frozenset((Reason.DAMAGED_MEMBER, Reason.GARBAGE, Reason.BAD_HEADER, Reason.BAD_LENGTH, Reason.BAD_DIGEST))


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
    reading stopped because the file is something else. Of a split, all of this is of its part alone, and `bytes_read`
    is the offset up to which it read, 0 if no record begins in it.
    """

    verdict: Verdict
    size: int
    bytes_read: int
    records_by_type: dict[str, int] = field(default_factory=dict)
    faults_by_reason: dict[str, int] = field(default_factory=dict)


def judge(records: Mapping[str, int], faults: Mapping[str, int]) -> Verdict:
    """The verdict on an archive (or a part of one) with so many records by type and faults by reason."""
    if Reason.NOT_AN_ARCHIVE in faults:
        return Verdict.NOT_AN_ARCHIVE
    if not _DAMAGE.isdisjoint(faults):
        return Verdict.DAMAGED
    if truncated(faults):
        return Verdict.TRUNCATED
    return Verdict.COMPLETE if records or faults else Verdict.EMPTY


def truncated(faults: Mapping[str, int]) -> bool:
    """Whether one of the faults is that the archive ends too early."""
    return not _TRUNCATION.isdisjoint(faults)
