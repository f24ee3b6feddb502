"""Reads one archive, or a split of it: every record that can be found, a fault for all else, and a verdict."""

from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO

from dedup_lib.archives.faults import ArchiveFault, Reason
from dedup_lib.archives.framing import ArchiveWalk
from dedup_lib.archives.records import ArchiveRecord, ReadLimits, SkippedRecord
from dedup_lib.archives.splits import SplitEnds
from dedup_lib.archives.stored import HEAD_BYTES, READ_BYTES, StoredBytes
from dedup_lib.archives.verdicts import ArchiveVerdict, Verdict, judge, truncated

__all__ = ["ArchiveReader", "ArchiveVerdict", "Verdict"]


class ArchiveReader:
    """Iterates once over the records and faults of an archive, in the order they are stored; then has a `verdict`.

    `stream` needs `read(n)`, `seekable()` and, for splits, `seek(offset)`; errors it raises pass through. `size` is the
    length of the object as its store states it, so that a stream which ends early is noticed. No content of an archive
    raises. Memory is bounded by `limits`, whatever the archive holds.

    With `start` or `end`, only the split of the archive that begins at `start` is read: the records whose gzip member,
    zstd frame or (not compressed) header begins in [start, end), and what belongs to none between them and the first
    record of the next split. A split that does not begin the file reads `HEAD_BYTES` of its head (of a zstd file the
    dictionary and a block, too), and seeks twice unless there is damage. `ends` then tells whether the splits meet; see
    `splits_meet` and `merge_verdicts`.
    """

    def __init__(
        self, stream: BinaryIO, size: int, limits: ReadLimits | None = None, start: int = 0, end: int | None = None
    ) -> None:
        if start > 0 and not stream.seekable():
            raise ValueError("a split is read from a stream that can seek")
        self._stored = StoredBytes(stream, HEAD_BYTES if start > 0 else READ_BYTES)
        self._size = size
        self._start = start
        self._walk = ArchiveWalk(self._stored, size, limits or ReadLimits(), start, end)
        self._records: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        self._verdict: ArchiveVerdict | None = None

    @property
    def verdict(self) -> ArchiveVerdict:
        """What became of the archive, or of the split; only after the iteration has ended."""
        if self._verdict is None:
            raise RuntimeError("an archive has its verdict only after it was read to the end")
        return self._verdict

    @property
    def ends(self) -> SplitEnds:
        """Where the split began and where it went; only after the iteration has ended."""
        if self._verdict is None:
            raise RuntimeError("a split has its ends only after it was read to the end")
        return SplitEnds(self._start, self._walk.first, self._walk.next)

    def __iter__(self) -> Iterator[ArchiveRecord | ArchiveFault]:
        for item in self._walk:
            if isinstance(item, SkippedRecord):
                self._records[item.record_type] += 1
                continue
            if isinstance(item, ArchiveRecord):
                self._records[item.record_type] += 1
            else:
                self._faults[item.reason.value] += 1
            yield item
        if self._ended_early() and not truncated(self._faults):
            self._faults[Reason.TRUNCATED_RECORD.value] += 1
            detail = f"the stream ended after {self._stored.bytes_read} of {self._size} bytes"
            yield ArchiveFault(self._stored.bytes_read, Reason.TRUNCATED_RECORD, detail)
        self._verdict = ArchiveVerdict(
            verdict=judge(self._records, self._faults),
            size=self._size,
            bytes_read=0 if self._walk.first is None else self._stored.bytes_read,
            records_by_type=dict(self._records),
            faults_by_reason=dict(self._faults),
        )

    def _ended_early(self) -> bool:
        """Whether this walk came to the end of the stream, and that before the end of the file."""
        return self._walk.next == self._size and self._stored.ended and self._stored.bytes_read < self._size
