"""Walks through the stored bytes of an archive, member by member, or record by record if not compressed.

A walk has a range of the file, and goes from the first boundary at or after its start to the first at or after its
end. A boundary is a place where a record can be seen to begin by looking at what stands there and nothing before: the
same places where reading goes on after damage. So walks of neighbouring ranges meet unless a place inside a record
looks like a boundary (an archived archive), which shows where the one was going and the other began.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from dedup_lib.archives.dialects import ARC, WARC, Dialect
from dedup_lib.archives.faults import ArchiveFault, Reason
from dedup_lib.archives.gzip_members import Gzip
from dedup_lib.archives.heads import Head, read_head
from dedup_lib.archives.records import Item, ReadLimits
from dedup_lib.archives.scanning import RecordScanner
from dedup_lib.archives.sniffing import describe
from dedup_lib.archives.sources import GZIP_MAGIC, Container, PlainSource, RecordSource, begins_record, find_member
from dedup_lib.archives.stored import StoredBytes
from dedup_lib.archives.zstd_frames import ZSTD_MAGIC, Zstd

MAX_LEADING_GARBAGE = 1_000  # stretches without one header, after which a file counts as something else

_CANDIDATE = re.compile(
    b"|".join([re.escape(GZIP_MAGIC), re.escape(ZSTD_MAGIC), WARC.candidate.pattern, ARC.candidate.pattern])
)


class ArchiveWalk:
    """Iterates over the items of an archive, or of a range of it.

    Garbage at its start is held back until a header proves that this is an archive. If none does, one fault
    `not_an_archive` takes the place of the garbage. `first` is where the first record of the range begins (0 for the
    range that begins there, whatever it holds; None if there is none), `next` where the range behind has to go on.
    """

    def __init__(
        self, stored: StoredBytes, size: int, limits: ReadLimits, start: int = 0, end: int | None = None
    ) -> None:
        self.first: int | None = None
        self.next: int | None = None
        self._stored = stored
        self._size = size
        self._limits = limits
        self._start = start
        self._end = end if end is not None and end < size else None
        self._recognised = False

    def __iter__(self) -> Iterator[Item]:
        if self._start > 0:
            yield from self._inner()
            return
        self.first = 0
        leading: list[ArchiveFault] = []
        head = read_head(self._stored)
        for item in self._walk(head):
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
        if self._recognised:
            yield from leading
        elif leading:
            self.next = None
            yield self._foreign(head)
        if self.next is None:
            self.next = self._size

    def _inner(self) -> Iterator[Item]:
        """The items of a range that does not begin with the file."""
        head = read_head(self._stored)
        self._recognised = True
        if head.container is not None:
            self._stored.forward(self._start)
            self.first = find_member(self._stored, head.container, self._start, self._end)
            if self.first is not None:
                yield from self._members(head.container, self.first, head)
        elif head.dialect is not None:
            lead = head.dialect.lead
            self._stored.forward(self._start - lead)
            scanner = self._plain_scanner(self._start - lead, head)
            self.first = scanner.find_boundary(self._end)
            if self.first is not None:
                yield from self._plain(scanner)
        if self.first is not None and self.next is None:
            self.next = self._size

    def _foreign(self, head: Head) -> ArchiveFault:
        what = describe(head.first)
        if head.container is not None:
            name = "gzip" if head.first.startswith(GZIP_MAGIC) else "zstd"
            self._stored.rewind(0)
            inside = describe(head.inside)
            what = f"{name} around something {inside}" if inside.startswith("of") else f"{name} around {inside}"
        return ArchiveFault(0, Reason.NOT_AN_ARCHIVE, f"the file is {what}; no WARC or ARC record was found")

    def _walk(self, head: Head) -> Iterator[Item]:
        if not head.first:
            return
        if head.foreign:
            yield ArchiveFault(0, Reason.GARBAGE, "")
        elif head.container is not None:
            if head.fault is not None:
                yield ArchiveFault(0, Reason.DAMAGED_MEMBER, head.fault)
            yield from self._members(head.container, 0, head)
        elif head.dialect is not None:
            yield from self._plain(self._plain_scanner(head.start, head))
        else:
            self._end = None  # what the file is shows too late for ranges: the first takes all
            yield from self._from_first_candidate(head)

    def _from_first_candidate(self, head: Head) -> Iterator[Item]:
        """A file that does not begin as an archive does: what comes before its first record is garbage."""
        found = self._first_record(head)
        before = self._stored.bytes_read if found is None else found[0]
        yield ArchiveFault(0, Reason.GARBAGE, f"{before} bytes that belong to no record")
        if found is None:
            return
        offset, container, dialect = found
        head = replace(head, dialect=dialect)
        if container is not None:
            yield from self._members(container, offset, head)
        else:
            yield from self._plain(self._plain_scanner(offset, head))

    def _first_record(self, head: Head) -> tuple[int, Container | None, Dialect | None] | None:
        """Where the first member with a record begins, or the first record that is not compressed.

        Damaged members may hold headers in the clear: a header counts if a record is seen to begin with it, or else if
        nothing better is found.
        """
        containers: dict[bytes, Container] = {GZIP_MAGIC: Gzip(self._stored), ZSTD_MAGIC: Zstd(self._stored)}
        offset, seen = -1, 0
        doubtful: tuple[int, Container | None, Dialect | None] | None = None
        while seen < MAX_LEADING_GARBAGE:
            offset = self._stored.find(_CANDIDATE, offset + 1, overlap=ARC.candidate_bytes)
            if offset < 0:
                break
            first = self._stored.peek(offset, len(ZSTD_MAGIC))
            container = containers.get(first) or containers.get(first[: len(GZIP_MAGIC)])
            if container is not None:
                if begins_record(container, offset):
                    return offset, container, None
                continue
            dialect = ARC if first[:1] == b"\n" else WARC
            place = offset + dialect.lead
            begins = self._plain_scanner(place, replace(head, dialect=dialect)).at_boundary()
            offset = self._stored.rewind(offset)
            if begins:
                return self._stored.rewind(place), None, dialect
            doubtful = doubtful or (place, None, dialect)
            seen += 1
        return doubtful if doubtful is not None and self._stored.rewind(doubtful[0]) == doubtful[0] else None

    def _members(self, container: Container, start: int, head: Head) -> Iterator[Item]:
        offset: int | None = start
        lost: int | None = None  # the member before, if it held a fault: it may have swallowed what follows
        while offset is not None:
            if self._ends_at(container, offset):
                return
            magic = self._stored.peek(offset, len(container.magic))
            if magic == container.magic:
                member = container.member(offset)
                scanner = RecordScanner(member, self._limits, True, head.dialect)
                lost = None
                if (item := scanner.alone()) is not None:
                    self._recognised = True
                    yield item
                else:
                    for item in self._records(member, scanner):
                        lost = offset if isinstance(item, ArchiveFault) else lost
                        yield item
                offset = member.resume if member.fault else member.end
            elif not magic:
                return
            elif (behind := self._behind_skippable(container, offset)) is not None:
                offset = behind
            elif container.magic.startswith(magic):
                yield ArchiveFault(offset, Reason.TRUNCATED_MEMBER, "the file ends inside the header of a member")
                return
            else:
                search_from = offset if lost is None else self._stored.rewind(lost + 1)
                lost = None
                following = find_member(self._stored, container, search_from)
                end = self._stored.bytes_read if following is None else following
                if end > offset:
                    yield ArchiveFault(offset, Reason.GARBAGE, f"{end - offset} bytes between the members")
                offset = following

    def _ends_at(self, container: Container, offset: int) -> bool:
        """Whether the range behind this one begins at `offset`; a first range proves thereby that it is an archive."""
        if self._end is None or offset < self._end or not begins_record(container, offset):
            return False
        self.next = offset
        self._recognised = True
        return True

    def _behind_skippable(self, container: Container, offset: int) -> int | None:
        """The offset behind skippable frames, which must lead to a frame or to the end of the file."""
        behind = container.skip(offset)
        if behind == offset or behind > self._size:
            return None
        if behind == self._size or self._stored.peek(behind, len(container.magic)) == container.magic:
            return behind
        self._stored.rewind(offset)
        return None

    def _plain_scanner(self, offset: int, head: Head) -> RecordScanner:
        return RecordScanner(
            PlainSource(self._stored, offset), self._limits, False, head.dialect, end=self._end, size=self._size
        )

    def _plain(self, scanner: RecordScanner) -> Iterator[Item]:
        yield from self._records(scanner.source, scanner)
        if scanner.next is not None:
            self.next = scanner.next
            self._recognised = True

    def _records(self, source: RecordSource, scanner: RecordScanner) -> Iterator[Item]:
        for item in scanner:
            self._recognised = self._recognised or scanner.recognised
            yield item
        if source.fault is not None and not scanner.fault_told:
            yield ArchiveFault(source.offset, source.fault, source.detail)
