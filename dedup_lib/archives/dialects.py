"""The two ways in which records are written: WARC and ARC. Where a header begins and ends, and where content does."""

import re
from typing import Protocol

from dedup_lib.archives import arc
from dedup_lib.archives.headers import BLANK_LINE, Headers

PROBE_BYTES = 16  # enough to tell a WARC header, blank lines before it included
GAP_BYTES = arc.MAX_LINE_BYTES


class Dialect(Protocol):
    """What a scanner must know of a format.

    `candidate` matches `lead` bytes before what may be a header, and at most `candidate_bytes` in all; `header_end`
    matches the end of a header, `record_end` what closes a record at the end of a text.
    """

    candidate: re.Pattern[bytes]
    candidate_bytes: int
    lead: int
    header_end: re.Pattern[bytes]
    record_end: re.Pattern[bytes]
    gap_bytes: int

    def begins(self, first: bytes) -> bool:
        """Whether `first` (as long as `candidate_bytes`) begins with a header."""
        ...

    def headers(self, block: bytes) -> Headers:
        """The fields of a header."""
        ...

    def gap(self, after: bytes, header_end: bytes) -> int | None:
        """How many bytes part a content with `after` behind it from the next record; None: it does not end there.

        `after` holds `gap_bytes`, fewer at the end of the source; `header_end` is how the record's header ended.
        """
        ...

    def converted(self, header_end: bytes) -> bool:
        """Whether the header's line ends show that the whole file went through a conversion to Windows line ends."""
        ...


class Warc:
    """ISO 28500, and what came before it (WARC/0.9 to 0.18)."""

    candidate = re.compile(rb"[Ww][Aa][Rr][Cc]/[01]\.\d{1,2}[ \t]*\r{0,2}\n(?=[A-Za-z])")
    candidate_bytes = 32
    lead = 0
    header_end = BLANK_LINE
    record_end = re.compile(rb"(?:\r{0,2}\n){0,2}\Z")
    gap_bytes = 16

    def begins(self, first: bytes) -> bool:
        """A version line."""
        return first[:5].upper() == b"WARC/"

    def headers(self, block: bytes) -> Headers:
        """Named fields."""
        return Headers(block)

    def gap(self, after: bytes, header_end: bytes) -> int | None:
        """A record ends with two line ends (section 4); writers that forget one or both are tolerated where the source
        ends or a record follows."""
        if after.startswith(b"\r\n\r\n"):
            return 4
        if after.startswith(b"\n\n") and len(header_end) == 2:
            return 2
        rest = after.lstrip(b"\r\n")
        return len(after) - len(rest) if not rest or self.begins(rest) else None

    def converted(self, header_end: bytes) -> bool:
        """A carriage return before the one that belongs there."""
        return header_end.endswith(b"\r\r\n")


class Arc:
    """ARC, versions 1 and 2."""

    candidate = arc.CANDIDATE
    candidate_bytes = arc.MAX_LINE_BYTES
    lead = 1
    header_end = re.compile(rb"\r{0,2}\n")
    record_end = re.compile(rb"(?:\r{0,2}\n)?\Z")
    gap_bytes = GAP_BYTES

    def begins(self, first: bytes) -> bool:
        """A line with an address and a date."""
        return arc.is_arc_line(first)

    def headers(self, block: bytes) -> Headers:
        """The fields of the line, as those of a WARC record."""
        return arc.arc_headers(block)

    def gap(self, after: bytes, header_end: bytes) -> int | None:
        """A record ends with one line end, which alone proves little: another record must follow, or the end. (A line
        that may have been its header will do, or damage there would cost this record too.)"""
        rest = after.lstrip(b"\r\n")
        gap = len(after) - len(rest)
        return gap if not rest or (gap and arc.may_be_arc_line(rest)) else None

    def converted(self, header_end: bytes) -> bool:
        """A carriage return, where a line feed alone belongs."""
        return len(header_end) > 1


WARC, ARC = Warc(), Arc()


def dialect_of(first: bytes) -> Dialect | None:
    """The dialect of the record that `first` begins with, line ends aside; None if that is no record."""
    start = first.lstrip(b"\r\n")
    if WARC.begins(start):
        return WARC
    return ARC if ARC.begins(start) else None
