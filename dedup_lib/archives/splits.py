"""Whether the splits of an archive, read apart, together are the archive; and the verdict of the whole."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dedup_lib.archives.verdicts import ArchiveVerdict, judge


@dataclass(frozen=True, slots=True)
class SplitEnds:
    """Where one split of an archive began and where it went.

    `start` is the offset that the split was given; `first` where its first record begins (0 for the split that begins
    the file), None if none begins in its range; `next` is where the walk would have gone on: the first boundary at or
    after the split's end, the size of the file if there is none. `next` is None where `first` is.
    """

    start: int
    first: int | None
    next: int | None


def splits_meet(parts: Sequence[SplitEnds], size: int) -> bool:
    """Whether each split begins exactly where the one before went on, from the start of the file to its end.

    Then the items of the splits, in order, are those of the whole archive read at once. If not (one of them took
    something inside a record for a record), the archive has to be read whole. In any order.
    """
    expected = 0
    for part in sorted(parts, key=lambda one: one.start):
        if part.first is None:
            continue
        if part.first != expected or part.next is None:
            return False
        expected = part.next
    return expected == size


def merge_verdicts(parts: Sequence[ArchiveVerdict]) -> ArchiveVerdict:
    """The verdict of an archive from those of all of its splits, which must meet; equal to that of the whole."""
    records: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    for part in parts:
        records.update(part.records_by_type)
        faults.update(part.faults_by_reason)
    return ArchiveVerdict(
        verdict=judge(records, faults),
        size=max(part.size for part in parts),
        bytes_read=max(part.bytes_read for part in parts),
        records_by_type=dict(records),
        faults_by_reason=dict(faults),
    )
