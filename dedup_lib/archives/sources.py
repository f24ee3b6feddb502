"""Where the bytes of records come from: one gzip member at a time, or an uncompressed file.

A damaged member must not harm its neighbours, so each member is inflated by its own decompressor, and after damage
reading goes on at the next member that begins with a WARC record. (Libraries end silently there; see
`research/archives.md`, D1 and D3.)
"""

import re
import zlib
from typing import Protocol

from dedup_lib.archives.faults import Reason
from dedup_lib.archives.stored import StoredBytes

GZIP_MAGIC = b"\x1f\x8b\x08"  # RFC 1952, section 2.3: ID1, ID2, CM = deflate
GZIP_WBITS = 31  # zlib: a gzip header and trailer around a 32 KiB window
INFLATE_BYTES = 1 << 20  # output of one step: bounds memory against decompression bombs
SALVAGE_STEP = 64
PROBE_BYTES = 16

_MAGIC = re.compile(re.escape(GZIP_MAGIC))


class RecordSource(Protocol):
    """Gives the bytes of one stretch of records. `offset` is where it starts in the file as stored."""

    offset: int
    end: int | None
    fault: Reason | None
    detail: str

    def read(self) -> bytes:
        """The next bytes; empty at the end, clean or not."""
        ...

    def cut_reason(self) -> tuple[Reason, str]:
        """Why a record that the end of this source cuts short is a fault."""
        ...

    def rewind(self, position: int) -> bool:
        """Goes back to `position` bytes behind `offset`, if that can be done."""
        ...


class PlainSource:
    """An uncompressed archive from `offset` to the end of the file."""

    def __init__(self, stored: StoredBytes, offset: int) -> None:
        self.offset = offset
        self.end: int | None = None
        self.fault: Reason | None = None
        self.detail = ""
        self._stored = stored
        self._next = offset

    def read(self) -> bytes:
        """The next bytes of the file."""
        data = self._stored.piece(self._next, INFLATE_BYTES)
        self._next += len(data)
        return data

    def cut_reason(self) -> tuple[Reason, str]:
        """The file ended inside the record."""
        return Reason.TRUNCATED_RECORD, "the file ends inside this record"

    def rewind(self, position: int) -> bool:
        """Goes back if the stream can seek, or the bytes are still at hand."""
        if self._stored.rewind(self.offset + position) != self.offset + position:
            return False
        self._next = self.offset + position
        return True


class GzipMember:
    """One gzip member. After its end, `end` is the offset behind it, or None if it is damaged.

    A damaged member has a `fault`, and `resume` is where the next readable member begins (None: nowhere).
    """

    def __init__(self, stored: StoredBytes, offset: int) -> None:
        self.offset = offset
        self.end: int | None = None
        self.resume: int | None = None
        self.fault: Reason | None = None
        self.detail = ""
        self._stored = stored
        self._next = offset
        self._tail = b""
        self._inflater = zlib.decompressobj(GZIP_WBITS)
        self._started = False

    def read(self) -> bytes:
        """The next inflated bytes, at most `INFLATE_BYTES`; empty at the end, clean or not."""
        while self.end is None and self.fault is None:
            data = self._tail
            if not data:
                data = self._stored.piece(self._next)
                self._next += len(data)
            # A copy before each step but the first (which can be repeated from scratch) lets damage cost only what
            # lies behind it.
            before = self._inflater.copy() if self._started else None
            self._started = True
            try:
                inflated = self._inflater.decompress(data, INFLATE_BYTES)
            except zlib.error as error:
                return self._damaged(data, before, str(error))
            self._tail = self._inflater.unconsumed_tail
            if self._inflater.eof:
                self.end = self._next - len(self._inflater.unused_data)
            elif not data and not inflated:
                self._cut()
            if inflated:
                return inflated
        return b""

    def cut_reason(self) -> tuple[Reason, str]:
        """What is wrong with the member, or else with the length that the record declares."""
        if self.fault is not None:
            return self.fault, self.detail
        return Reason.BAD_LENGTH, "the record's gzip member ends before its declared length"

    def rewind(self, position: int) -> bool:
        """A member is not inflated twice."""
        return False

    def _damaged(self, data: bytes, inflater: "zlib._Decompress | None", message: str) -> bytes:
        """Inflates what comes before the damage, and looks for the next member."""
        inflater = inflater or zlib.decompressobj(GZIP_WBITS)
        salvaged = bytearray()
        try:
            for start in range(0, len(data), SALVAGE_STEP):
                salvaged += inflater.decompress(data[start : start + SALVAGE_STEP])
        except zlib.error:
            pass  # as expected: this is where the damage shows
        self.fault = Reason.DAMAGED_MEMBER
        self.detail = f"the gzip member does not inflate ({message})"
        self.resume = find_member(self._stored, self._stored.earliest(self.offset + 1))
        return bytes(salvaged)

    def _cut(self) -> None:
        """The file ended inside this member: cut off, unless damage made it swallow members that follow."""
        self.resume = find_member(self._stored, self._stored.earliest(self.offset + 1))
        if self.resume is None:
            self.fault = Reason.TRUNCATED_MEMBER
            self.detail = f"the file ends inside the gzip member, after {self._next - self.offset} bytes of it"
        else:
            self.fault = Reason.DAMAGED_MEMBER
            self.detail = "the gzip member has no end"


def find_member(stored: StoredBytes, offset: int) -> int | None:
    """The offset of the next gzip member whose content begins with a WARC record, at or after `offset`."""
    while True:
        offset = stored.find(_MAGIC, offset, overlap=len(GZIP_MAGIC) - 1)
        if offset < 0:
            return None
        if first_inflated(stored, offset).lstrip(b"\r\n").startswith(b"WARC/"):
            return offset
        offset += 1


def first_inflated(stored: StoredBytes, offset: int) -> bytes:
    """The first bytes inside the gzip member at `offset`, at most `PROBE_BYTES`; empty if it does not inflate."""
    inflater = zlib.decompressobj(GZIP_WBITS)
    inflated = b""
    try:
        while len(inflated) < PROBE_BYTES and not inflater.eof:
            data = inflater.unconsumed_tail or stored.piece(offset, 4096)
            if not data:
                break
            if not inflater.unconsumed_tail:
                offset += len(data)
            inflated += inflater.decompress(data, PROBE_BYTES)
    except zlib.error:
        pass  # no member here, or one that is damaged right at its start
    return inflated
