"""Reads the records of one source (a gzip member, or an uncompressed file) and goes on after damage."""

import re
from collections.abc import Iterator

from dedup_lib.archives.faults import ArchiveFault, Reason
from dedup_lib.archives.headers import BLANK_LINE, EMPTY_HEADERS, Headers, parse_date, parse_length, split_http
from dedup_lib.archives.records import RECORD_TYPES, ArchiveRecord, Item, ReadLimits, SkippedRecord, bare_uri
from dedup_lib.archives.sources import RecordSource
from dedup_lib.archives.window import ByteWindow

HELD_BYTES = 1 << 18  # content of an unwanted record up to this size is searched when its length turns out wrong

_NEXT_RECORD = re.compile(rb"WARC/[01]\.\d{1,2}[ \t]*\r?\n(?=[A-Za-z])")
_NEXT_RECORD_BYTES = 32
_CUT_REASONS = frozenset((Reason.TRUNCATED_RECORD, Reason.TRUNCATED_MEMBER, Reason.DAMAGED_MEMBER))


class RecordScanner:
    """Iterates over the records and faults of one source.

    `recognised` tells whether a WARC header was ever met, `fault_told` whether the source's own damage was reported
    with a record. Memory is bounded by `max_record_bytes` plus one step of the source.
    """

    def __init__(self, source: RecordSource, limits: ReadLimits, in_members: bool) -> None:
        self.recognised = False
        self.fault_told = False
        self._source = source
        self._limits = limits
        self._in_members = in_members
        self._window = ByteWindow(source.read)
        self._index = 0
        self._start = 0

    def __iter__(self) -> Iterator[Item]:
        window = self._window
        while True:
            window.skip_blank_lines()
            if not window.fill(1):
                return
            self._start = window.position
            if window.peek(0, 5).upper() == b"WARC/":
                self.recognised = True
                yield self._next_record()
                self._index += 1
            else:
                skipped = window.skip_to(_NEXT_RECORD, _NEXT_RECORD_BYTES)
                if self._source.fault is not None and not window.fill(1):
                    return  # the rest of a damaged source, which is told as a whole
                yield ArchiveFault(self._offset(), Reason.GARBAGE, f"{skipped} bytes that belong to no record")

    def _offset(self) -> int:
        return self._source.offset if self._in_members else self._source.offset + self._start

    def _next_record(self) -> Item:
        window = self._window
        blank = window.search(BLANK_LINE, self._limits.max_header_bytes)
        if blank is None:
            return self._headless()
        windows_lines = len(blank[0]) > 2
        headers = Headers(window.take(window.distance(blank, end=True)))
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
            return self._pass_over(headers, record_type, length, wanted, windows_lines)
        return self._hold(headers, record_type, length, wanted, windows_lines)

    def _hold(self, headers: Headers, record_type: str, length: int, wanted: bool, windows_lines: bool) -> Item:
        """A record that fits in memory: its content is only consumed once its length has proved right."""
        window = self._window
        if window.fill(length) < length:
            return self._lost(headers, *self._source.cut_reason())
        gap = self._gap(length, windows_lines)
        if gap is None:
            detail = f"Content-Length is {length}, but the record goes on behind that"
            return self._lost(headers, Reason.BAD_LENGTH, detail)
        followed = window.fill(length + gap + 1) > length + gap
        if self._source.fault is not None and self._index == 0 and not followed:
            return self._lost(headers, self._source.fault, self._source.detail)
        if not wanted:
            window.skip(length + gap)
            return SkippedRecord(record_type)
        content = window.take(length)
        window.skip(gap)
        return self._record(headers, record_type, content, alone=self._index == 0 and not followed)

    def _gap(self, distance: int, windows_lines: bool) -> int | None:
        """How many bytes part the content that ends at `distance` from the next record; None: it does not end there.

        A record ends with two line ends (ISO 28500, section 4); writers that forget one or both are tolerated where the
        source ends or a record follows.
        """
        after = self._window.peek(distance, 16)
        if after.startswith(b"\r\n\r\n"):
            return 4
        if after.startswith(b"\n\n") and not windows_lines:
            return 2
        rest = after.lstrip(b"\r\n")
        return len(after) - len(rest) if not rest or rest.startswith(b"WARC/") else None

    def _pass_over(self, headers: Headers, record_type: str, length: int, wanted: bool, windows_lines: bool) -> Item:
        """A record that is not held in memory: too large, or of no interest."""
        window = self._window
        content_start = window.position
        whole = window.skip(length) == length
        gap = self._gap(0, windows_lines) if whole else None
        if gap is None:
            reason, detail = Reason.BAD_LENGTH, f"Content-Length is {length}, but the record does not end there"
            if not whole:
                reason, detail = self._source.cut_reason()
            if self._source.rewind(content_start):
                window.restart(content_start)
            return self._lost(headers, reason, detail)
        window.skip(gap)
        if not wanted:
            return SkippedRecord(record_type)
        detail = f"{length} bytes, more than {self._limits.max_record_bytes}"
        return self._fault(headers, Reason.TOO_LARGE, detail)

    def _record(self, headers: Headers, record_type: str, content: bytes, alone: bool) -> Item:
        target_uri = bare_uri(headers.get("warc-target-uri"))
        if not target_uri:
            return self._fault(headers, Reason.NO_TARGET, f"a {record_type} record without WARC-Target-URI")
        content_type = headers.get("content-type")
        status, http_headers, payload = None, EMPTY_HEADERS, content
        if record_type in {"response", "revisit"}:
            message = split_http(content)
            if message is not None:
                status, http_headers, payload = message
            elif record_type == "response" and _expects_http(content_type, target_uri):
                return self._fault(headers, Reason.BAD_HTTP, "the response has no HTTP status line")
        return ArchiveRecord(
            offset=self._offset(),
            stored_bytes=self._stored_bytes(alone),
            index=self._index if self._in_members else 0,
            record_type=record_type,
            record_id=headers.get("warc-record-id"),
            target_uri=target_uri,
            date=parse_date(headers.get("warc-date")),
            content_type=content_type,
            truncated=headers.get("warc-truncated"),
            content_length=len(content),
            headers=headers,
            http_status=status,
            http_headers=http_headers,
            payload=payload,
        )

    def _stored_bytes(self, alone: bool) -> int | None:
        if not self._in_members:
            return self._window.position - self._start
        end = self._source.end
        return end - self._source.offset if alone and end is not None else None

    def _headless(self) -> ArchiveFault:
        """A WARC header that has no end, by damage or by the end of the source."""
        limit = self._limits.max_header_bytes
        reason, detail = Reason.BAD_HEADER, f"the WARC header has no end within {limit} bytes"
        if self._window.fill(limit) < limit:
            reason, detail = self._source.cut_reason()
            if reason is Reason.BAD_LENGTH:
                reason, detail = Reason.BAD_HEADER, "the WARC header has no end"
        self._window.skip(1)  # so that the search for the next record does not find this one
        return self._lost(EMPTY_HEADERS, reason, detail)

    def _lost(self, headers: Headers, reason: Reason, detail: str) -> ArchiveFault:
        """A fault after which the end of the record is unknown: goes on at the next header that can be found."""
        self._window.skip_to(_NEXT_RECORD, _NEXT_RECORD_BYTES)
        if reason in _CUT_REASONS and self._window.fill(1):
            reason, detail = Reason.BAD_LENGTH, "the declared length runs over the records that follow"
        return self._fault(headers, reason, detail)

    def _fault(self, headers: Headers, reason: Reason, detail: str) -> ArchiveFault:
        if reason == self._source.fault:
            self.fault_told = True
        url = bare_uri(headers.get("warc-target-uri"))
        return ArchiveFault(self._offset(), reason, detail, url, headers.get("warc-record-id"))


def _expects_http(content_type: str | None, target_uri: str) -> bool:
    if content_type is not None:
        return content_type.lower().startswith("application/http")
    return target_uri[:4].lower() == "http"
