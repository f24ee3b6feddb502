"""Walks through the stored bytes of an archive, gzip member by gzip member, or record by record if not compressed."""

import re
from collections.abc import Iterator

from dedup_lib.archives.faults import ArchiveFault, Reason
from dedup_lib.archives.records import Item, ReadLimits
from dedup_lib.archives.scanning import RecordScanner
from dedup_lib.archives.sniffing import describe
from dedup_lib.archives.sources import GZIP_MAGIC, GzipMember, PlainSource, RecordSource, find_member, first_inflated
from dedup_lib.archives.stored import StoredBytes

MAX_LEADING_GARBAGE = 1_000  # stretches without one WARC header, after which a file counts as something else

_CANDIDATE = re.compile(re.escape(GZIP_MAGIC) + rb"|WARC/[01]\.\d")
_CANDIDATE_BYTES = 8
_FOREIGN = (b"filedesc:", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18", b"PAR1")  # ARC, zstd, LZ4, Parquet


class ArchiveWalk:
    """Iterates over the items of an archive.

    Garbage at its start is held back until a WARC header proves that this is an archive. If none does, one fault
    `not_an_archive` takes the place of the garbage.
    """

    def __init__(self, stored: StoredBytes, limits: ReadLimits) -> None:
        self._stored = stored
        self._limits = limits
        self._recognised = False

    def __iter__(self) -> Iterator[Item]:
        leading: list[ArchiveFault] = []
        first = self._stored.peek(0, 64)
        for item in self._walk(first):
            if self._recognised:
                yield from leading
                leading.clear()
                yield item
            elif isinstance(item, ArchiveFault) and item.reason is Reason.GARBAGE:
                leading.append(item)
                if len(leading) == MAX_LEADING_GARBAGE:
                    break
            else:
                yield item
        if leading:
            yield self._foreign(first)

    def _foreign(self, first: bytes) -> ArchiveFault:
        what = describe(first)
        if first.startswith(GZIP_MAGIC):
            inside = describe(first_inflated(self._stored, self._stored.rewind(0)))
            what = f"gzip around something {inside}" if inside.startswith("of") else f"gzip around {inside}"
        return ArchiveFault(0, Reason.NOT_AN_ARCHIVE, f"the file is {what}; no WARC record was found")

    def _walk(self, first: bytes) -> Iterator[Item]:
        if not first:
            return
        if _is_foreign(first):
            yield ArchiveFault(0, Reason.GARBAGE, "")
            return
        offset = 0 if first.startswith(GZIP_MAGIC) else self._first_candidate()
        if offset != 0 and self._stored.peek(0, 64)[:offset].strip(b"\xef\xbb\xbf\r\n"):
            before = self._stored.bytes_read if offset is None else offset
            yield ArchiveFault(0, Reason.GARBAGE, f"{before} bytes that belong to no record")
        if offset is None:
            return
        if self._stored.peek(offset, 3) == GZIP_MAGIC:
            yield from self._members(offset)
        else:
            yield from self._records(PlainSource(self._stored, offset), in_members=False)

    def _first_candidate(self) -> int | None:
        """Where the first record or gzip member with a record in it begins, in a file that does not start with one."""
        offset = 0
        while True:
            offset = self._stored.find(_CANDIDATE, offset, overlap=_CANDIDATE_BYTES)
            if offset < 0:
                return None
            if self._stored.peek(offset, 5) == b"WARC/" or first_inflated(self._stored, offset).startswith(b"WARC/"):
                return offset
            offset += 1

    def _members(self, start: int) -> Iterator[Item]:
        offset: int | None = start
        while offset is not None:
            magic = self._stored.peek(offset, len(GZIP_MAGIC))
            if magic == GZIP_MAGIC:
                member = GzipMember(self._stored, offset)
                yield from self._records(member, in_members=True)
                offset = member.resume if member.fault else member.end
            elif magic and GZIP_MAGIC.startswith(magic):
                yield ArchiveFault(offset, Reason.TRUNCATED_MEMBER, "the file ends inside the header of a gzip member")
                return
            elif magic:
                following = find_member(self._stored, offset)
                end = self._stored.bytes_read if following is None else following
                yield ArchiveFault(offset, Reason.GARBAGE, f"{end - offset} bytes between gzip members")
                offset = following
            else:
                return

    def _records(self, source: RecordSource, in_members: bool) -> Iterator[Item]:
        scanner = RecordScanner(source, self._limits, in_members)
        for item in scanner:
            self._recognised = self._recognised or scanner.recognised
            yield item
        if source.fault is not None and not scanner.fault_told:
            yield ArchiveFault(source.offset, source.fault, source.detail)


def _is_foreign(first: bytes) -> bool:
    """Whether the file is of a kind that may hold the text of WARC records without being an archive of them."""
    return first.startswith(_FOREIGN) or (first[1:4] == b"\x2a\x4d\x18" and 0x50 <= first[0] <= 0x5F)
