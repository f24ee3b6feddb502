"""Where the bytes of records come from: one compressed member at a time, or an uncompressed file.

A damaged member must not harm its neighbours, so each member is inflated by its own decompressor, and after damage
reading goes on at the next member that begins with a record. (Libraries end silently there; see
`research/archives.md`, D1 and D3.)
"""

import re
from typing import Protocol

from dedup_lib.archives.arc import MAX_LINE_BYTES, begins_with_scheme
from dedup_lib.archives.dialects import PROBE_BYTES, dialect_of
from dedup_lib.archives.faults import Reason
from dedup_lib.archives.stored import StoredBytes

GZIP_MAGIC = b"\x1f\x8b\x08"  # RFC 1952, section 2.3: ID1, ID2, CM = deflate
INFLATE_BYTES = 1 << 20  # output of one step: bounds memory against decompression bombs


class RecordSource(Protocol):
    """Gives the bytes of one stretch of records. `offset` is where it starts in the file as stored."""

    offset: int
    end: int | None
    fault: Reason | None
    detail: str

    def read(self) -> bytes:
        """The next bytes; empty at the end, clean or not."""
        ...

    def extend(self) -> bool:
        """Whether there is more to read behind the end, for a record that has not come to its own."""
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

    def extend(self) -> bool:
        """Nothing is behind the end of a file."""
        return False

    def cut_reason(self) -> tuple[Reason, str]:
        """The file ended inside the record."""
        return Reason.TRUNCATED_RECORD, "the file ends inside this record"

    def rewind(self, position: int) -> bool:
        """Goes back if the stream can seek, or the bytes are still at hand."""
        if self._stored.rewind(self.offset + position) != self.offset + position:
            return False
        self._next = self.offset + position
        return True


class CompressedMember(RecordSource, Protocol):
    """One member of a compressed archive, and those behind it that continue its last record.

    After its end, `end` is the offset behind it, or None if it is damaged. A damaged member has a `fault`, and
    `resume` is where the next member with a record begins (None: nowhere).
    """

    resume: int | None


class Container(Protocol):
    """A compression whose members stand behind one another. `magic` begins each of them."""

    magic: bytes

    def member(self, offset: int) -> CompressedMember:
        """The member at `offset`."""
        ...

    def first_inflated(self, offset: int, count: int) -> bytes:
        """The first bytes inside the member at `offset`, about `count`; empty if it does not inflate."""
        ...

    def skip(self, offset: int) -> int:
        """The offset behind what stands at `offset` that is sound and holds no records; `offset` if nothing does."""
        ...


def begins_record(container: Container, offset: int) -> bool:
    """Whether the member at `offset` begins with a record: there a split begins, and reading goes on after damage."""
    first = container.first_inflated(offset, PROBE_BYTES)
    if dialect_of(first) is not None:
        return True
    return begins_with_scheme(first) and dialect_of(container.first_inflated(offset, MAX_LINE_BYTES)) is not None


def find_member(stored: StoredBytes, container: Container, offset: int, stop: int | None = None) -> int | None:
    """The offset of the next member that begins with a record, at or after `offset` and before `stop`."""
    magic = re.compile(re.escape(container.magic))
    while True:
        offset = stored.find(magic, offset, overlap=len(container.magic) - 1, stop=stop)
        if offset < 0:
            return None
        if begins_record(container, offset):
            return offset
        offset += 1
