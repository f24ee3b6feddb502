"""Reads the records of one source (a compressed member, or an uncompressed file) and goes on after damage."""

from collections.abc import Iterator

from dedup_lib.archives.contents import fault_of, record_of
from dedup_lib.archives.dialects import ARC, WARC, Dialect, dialect_of
from dedup_lib.archives.faults import ArchiveFault, Reason
from dedup_lib.archives.headers import EMPTY_HEADERS, Headers, parse_length
from dedup_lib.archives.records import RECORD_TYPES, Item, ReadLimits, SkippedRecord
from dedup_lib.archives.sources import RecordSource
from dedup_lib.archives.window import ByteWindow

HELD_BYTES = 4 << 20  # content of an unwanted record up to this size is held, to be searched if its length is wrong
REREAD_BYTES = 1 << 30  # read again behind longer lengths that were wrong; beyond that such lengths are not believed
BOUNDARY_HEADER_BYTES = 64 << 10  # a longer header begins no split
LOOK_BYTES = 2 << 20  # how far a boundary's declared length is followed before it is believed

_CUT_REASONS = frozenset((Reason.TRUNCATED_RECORD, Reason.TRUNCATED_MEMBER, Reason.DAMAGED_MEMBER))


class RecordScanner:
    """Iterates over the records and faults of one source.

    `recognised` tells whether a header was ever met, `fault_told` whether the source's own damage was reported with a
    record. Memory is bounded by `max_record_bytes` plus one step of the source. `dialect` is how records are written
    if the source does not begin with one. In an uncompressed file of `size` bytes the scan stops at the first boundary
    at or after `end`; `next` is where that is.
    """

    def __init__(
        self,
        source: RecordSource,
        limits: ReadLimits,
        in_members: bool,
        dialect: Dialect | None = None,
        end: int | None = None,
        size: int = 0,
    ) -> None:
        self.recognised = False
        self.fault_told = False
        self.next: int | None = None
        self.source = source
        self._limits = limits
        self._in_members = in_members
        self._dialect = dialect or WARC
        self._end = end
        self._size = size
        self._window = ByteWindow(source.read)
        self._index = 0
        self._start = 0
        self._endless = 0  # up to here no header ends, which was searched for already
        self._reread = 0

    def __iter__(self) -> Iterator[Item]:
        window = self._window
        window.skip_blank_lines()
        if self._in_members:
            own = WARC if window.starts_with(b"WARC/") else dialect_of(window.peek(0, ARC.candidate_bytes))
            self._dialect = own or self._dialect
        while True:
            window.skip_blank_lines()
            if not window.fill(1):
                return
            self._start = window.position
            if self._end is not None and self.source.offset + self._start >= self._end and self.at_boundary():
                self.next = self.source.offset + self._start
                return
            if (self._dialect is WARC and window.starts_with(b"WARC/")) or self._dialect.begins(self._first_bytes()):
                self.recognised = True
                yield self._next_record()
                self._index += 1
            else:
                skipped = self._skip_to_candidate()
                if self.source.fault is not None and not window.fill(1):
                    return  # the rest of a damaged source, which is told as a whole
                yield ArchiveFault(self._offset(), Reason.GARBAGE, f"{skipped} bytes that belong to no record")

    def alone(self) -> Item | None:
        """The record of a member that holds one sound record and no byte more; None if it needs a closer look.

        Most members do, and this takes half the time of the way that is prepared for everything.
        """
        data = self._window.first_piece()
        if self.source.end is None or not (data.startswith(b"WARC/") and data.endswith(b"\r\n\r\n")):
            return None
        header_bytes = data.find(b"\r\n\r\n") + 4
        block = data[:header_bytes]
        if b"\n\n" in block or b"\r\r" in block:
            return None
        headers = Headers(block)
        length = parse_length(headers.get("content-length"))
        if length != len(data) - header_bytes - 4 or not 0 <= length <= self._limits.max_record_bytes:
            return None
        record_type = (headers.get("warc-type") or "").lower()
        if record_type not in RECORD_TYPES:
            return None
        if record_type not in self._limits.wanted_types:
            return SkippedRecord(record_type)
        return self._record(headers, record_type, data[header_bytes:-4], alone=True)

    def find_boundary(self, stop: int | None) -> int | None:
        """Goes to the first place before `stop` in the file where a record can be seen to begin; None: there is none.

        That is where a header parses and its content ends as contents do at the length declared (beyond `LOOK_BYTES`:
        lies within the file).
        """
        window = self._window
        stop_at = None if stop is None else stop - self.source.offset
        while True:
            self._skip_to_candidate(stop_at)
            if not window.fill(1) or (stop_at is not None and window.position >= stop_at):
                return None
            if self.at_boundary():
                return self.source.offset + window.position
            window.skip(1)

    def _first_bytes(self) -> bytes:
        return self._window.peek(0, self._dialect.candidate_bytes)

    def _skip_to_candidate(self, stop: int | None = None) -> int:
        dialect = self._dialect
        skipped = self._window.skip_to(dialect.candidate, dialect.candidate_bytes, stop)
        return skipped + self._window.skip(dialect.lead)

    def at_boundary(self) -> bool:
        """Whether a record can be seen to begin at the next byte; see `find_boundary`."""
        window, dialect = self._window, self._dialect
        if not dialect.begins(self._first_bytes()):
            return False
        limit = BOUNDARY_HEADER_BYTES
        end = window.search(dialect.header_end, limit, max(0, self._endless - window.position))
        if end is None:
            self._endless = max(self._endless, window.position + min(window.fill(limit), limit))
            return False
        header_end, header_bytes = end[0], window.distance(end, end=True)
        headers = dialect.headers(window.peek(0, header_bytes))
        length = parse_length(headers.get("content-length"))
        if length is None or not headers.get("warc-type"):
            return False
        if length > LOOK_BYTES:
            return self.source.offset + window.position + header_bytes + length <= self._size
        if window.fill(header_bytes + length) < header_bytes + length:
            return False
        return dialect.gap(window.peek(header_bytes + length, dialect.gap_bytes), header_end) is not None

    def _offset(self) -> int:
        return self.source.offset if self._in_members else self.source.offset + self._start

    def _more(self) -> bool:
        """Whether the source, which has ended inside a record, goes on with another member."""
        if not self.source.extend():
            return False
        self._window.resume()
        return True

    def _next_record(self) -> Item:
        window, dialect = self._window, self._dialect
        limit = self._limits.max_header_bytes
        while (end := window.search(dialect.header_end, limit, max(0, self._endless - window.position))) is None:
            held = window.fill(limit)
            self._endless = max(self._endless, window.position + min(held, limit))
            if held >= limit or not self._more():
                return self._headless()
        header_end = end[0]
        headers = dialect.headers(window.take(window.distance(end, end=True)))
        record_type = (headers.get("warc-type") or "").lower()
        length = parse_length(headers.get("content-length"))
        if not record_type:
            return self._lost(headers, Reason.BAD_HEADER, "the record has no WARC-Type")
        if length is None:
            stated = headers.get("content-length")
            detail = "the record has no Content-Length" if stated is None else f"Content-Length is {stated[:40]!r}"
            return self._lost(headers, Reason.BAD_LENGTH, detail)
        record_type = record_type if record_type in RECORD_TYPES else "unknown"
        wanted = record_type in self._limits.wanted_types
        if length > (self._limits.max_record_bytes if wanted else HELD_BYTES):
            return self._pass_over(headers, record_type, length, wanted, header_end)
        return self._hold(headers, record_type, length, wanted, header_end)

    def _hold(self, headers: Headers, record_type: str, length: int, wanted: bool, header_end: bytes) -> Item:
        """A record that fits in memory: its content is only consumed once its length has proved right."""
        window = self._window
        while window.fill(length) < length:
            if not self._more():
                return self._lost(headers, *self.source.cut_reason())
        gap = self._gap(length, header_end)
        if gap is None and self._dialect.converted(header_end):
            length, gap = self._converted_end(length, header_end)
        if gap is None:
            detail = f"Content-Length is {length}, but the record goes on behind that"
            return self._lost(headers, Reason.BAD_LENGTH, detail)
        followed = window.fill(length + gap + 1) > length + gap
        if self.source.fault is not None and self._index == 0 and not followed:
            return self._lost(headers, self.source.fault, self.source.detail)
        if not wanted:
            window.skip(length + gap)
            return SkippedRecord(record_type)
        content = window.take(length)
        window.skip(gap)
        return self._record(headers, record_type, content, alone=self._index == 0 and not followed)

    def _gap(self, distance: int, header_end: bytes) -> int | None:
        """How many bytes part the content that ends at `distance` from the next record; None: it does not end there."""
        return self._dialect.gap(self._window.peek(distance, self._dialect.gap_bytes), header_end)

    def _converted_end(self, length: int, header_end: bytes) -> tuple[int, int | None]:
        """Where a content ends (and the gap behind it) that a conversion of line ends made longer than declared.

        It ends where the next record begins, or the source ends, if no more bytes were added than it has lines.
        """
        text = self._window.peek(0, 2 * length + self._dialect.candidate_bytes)
        following = self._dialect.candidate.search(text, length)
        end = len(text) if following is None else following.start() + self._dialect.lead
        tail = text[max(length, end - 8) : end]
        closing = self._dialect.record_end.search(tail)
        end -= len(closing[0]) if closing is not None else 0
        if end - length > text.count(b"\r\n", 0, end):
            return length, None
        return end, self._gap(end, header_end)

    def _pass_over(self, headers: Headers, record_type: str, length: int, wanted: bool, header_end: bytes) -> Item:
        """A record that is not held in memory: too large, or of no interest."""
        window = self._window
        if self._reread > REREAD_BYTES:
            return self._lost(headers, Reason.BAD_LENGTH, f"Content-Length is {length}, as wrong as others before it")
        content_start = window.position
        left = length - window.skip(length)
        while left and self._more():
            left -= window.skip(left)
        gap = self._gap(0, header_end) if not left else None
        if gap is None:
            reason, detail = Reason.BAD_LENGTH, f"Content-Length is {length}, but the record does not end there"
            if left:
                reason, detail = self.source.cut_reason()
            if self.source.rewind(content_start):
                self._reread += length - left
                window.restart(content_start)
            return self._lost(headers, reason, detail)
        window.skip(gap)
        if not wanted:
            return SkippedRecord(record_type)
        detail = f"{length} bytes, more than {self._limits.max_record_bytes}"
        return self._fault(headers, Reason.TOO_LARGE, detail)

    def _record(self, headers: Headers, record_type: str, content: bytes, alone: bool) -> Item:
        index = self._index if self._in_members else 0
        place = self._offset(), self._stored_bytes(alone), index
        return record_of(headers, record_type, content, *place, verify=self._limits.verify_digests)

    def _stored_bytes(self, alone: bool) -> int | None:
        if not self._in_members:
            return self._window.position - self._start
        end = self.source.end
        return end - self.source.offset if alone and end is not None else None

    def _headless(self) -> ArchiveFault:
        """A header that has no end, by damage or by the end of the source."""
        limit = self._limits.max_header_bytes
        reason, detail = Reason.BAD_HEADER, f"the header has no end within {limit} bytes"
        if self._window.fill(limit) < limit:
            reason, detail = self.source.cut_reason()
            if reason is Reason.BAD_LENGTH:
                reason, detail = Reason.BAD_HEADER, "the header has no end"
        self._window.skip(1)  # so that the search for the next record does not find this one
        return self._lost(EMPTY_HEADERS, reason, detail)

    def _lost(self, headers: Headers, reason: Reason, detail: str) -> ArchiveFault:
        """A fault after which the end of the record is unknown: goes on at the next header that can be found."""
        if not self._dialect.lead or not self._dialect.begins(self._first_bytes()):
            self._skip_to_candidate()
        if reason in _CUT_REASONS and self._window.fill(1):
            reason, detail = Reason.BAD_LENGTH, "the declared length runs over the records that follow"
        return self._fault(headers, reason, detail)

    def _fault(self, headers: Headers, reason: Reason, detail: str) -> ArchiveFault:
        if reason == self.source.fault:
            self.fault_told = True
        return fault_of(headers, self._offset(), reason, detail)
