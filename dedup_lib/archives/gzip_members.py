"""Archives compressed with gzip: members behind one another, each with one record as a rule (ISO 28500, annex D).

Sound members are inflated by ISA-L, in half the time of zlib. A member that ISA-L refuses is inflated again by zlib,
which can be copied between two steps and so tells to the byte how far the member is sound.
"""

import zlib

from isal import isal_zlib

from dedup_lib.archives.members import Member
from dedup_lib.archives.sources import GZIP_MAGIC, INFLATE_BYTES
from dedup_lib.archives.stored import StoredBytes

GZIP_WBITS = 31  # zlib: a gzip header and trailer around a 32 KiB window
SALVAGE_STEP = 64
PROBE_STORED_BYTES = 4096  # room for the name in a member's header and the tables of its first block


class Gzip:
    """The gzip members of a file."""

    magic = GZIP_MAGIC

    def __init__(self, stored: StoredBytes) -> None:
        self.stored = stored

    def member(self, offset: int) -> "GzipMember":
        """The member at `offset`."""
        return GzipMember(self, offset)

    def first_inflated(self, offset: int, count: int) -> bytes:
        """The first bytes inside the member at `offset`, at most `count`; empty if it does not inflate."""
        inflater = zlib.decompressobj(GZIP_WBITS)
        try:
            return inflater.decompress(self.stored.peek(offset, count + PROBE_STORED_BYTES), count)
        except zlib.error:
            return b""  # no member here, or one that is damaged right at its start

    def skip(self, offset: int) -> int:
        """Nothing but members stands in a gzip file."""
        return offset


class GzipMember(Member):
    """One gzip member; see `CompressedMember`."""

    ends_early = "the record's gzip member ends before its declared length"

    def __init__(self, container: Gzip, offset: int) -> None:
        super().__init__(container, container.stored, offset)

    def _begin(self, offset: int) -> None:
        super()._begin(offset)
        self._next = offset
        self._tail = b""
        self._given = 0
        self._inflater = isal_zlib.decompressobj(GZIP_WBITS)

    def read(self) -> bytes:
        """The next inflated bytes, at most `INFLATE_BYTES`; empty at the end, clean or not."""
        while self.end is None and self.fault is None:
            data = self._tail
            if not data:
                data = self._stored.piece(self._next)
                self._next += len(data)
            try:
                inflated = self._inflater.decompress(data, INFLATE_BYTES)
            except isal_zlib.error as error:  # type: ignore[misc] # a class, whatever its stub says
                return self._salvage(str(error))
            self._tail = self._inflater.unconsumed_tail
            if self._inflater.eof:
                self.end = self._next - len(self._inflater.unused_data)
            elif not data and not inflated:
                begun = self._next - self._start
                self._cut(
                    f"the file ends inside the gzip member, after {begun} bytes of it", "the gzip member has no end"
                )
            if inflated:
                self._given += len(inflated)
                return inflated
        return b""

    def _salvage(self, message: str) -> bytes:
        """What of a damaged member comes before the damage and was not given; looks for the next member."""
        salvaged = b""
        if self._stored.rewind(self._start) == self._start:
            salvaged, message = _sound_rest(self._stored, self._start, self._given, message)
        self._damaged(f"the gzip member does not inflate ({message})")
        return salvaged


def _sound_rest(stored: StoredBytes, offset: int, given: int, message: str) -> tuple[bytes, str]:
    """What the damaged member at `offset` holds behind its first `given` bytes and before the damage; what that is."""
    inflater = zlib.decompressobj(GZIP_WBITS)
    rest = bytearray()
    while not inflater.eof and len(rest) < INFLATE_BYTES:
        data = inflater.unconsumed_tail
        if not data:
            data = stored.piece(offset)
            offset += len(data)
        if not data:
            break
        before = inflater.copy()
        try:
            inflated = inflater.decompress(data, INFLATE_BYTES)
        except zlib.error as error:
            rest += _to_the_damage(before, data)[given:]
            return bytes(rest), str(error)
        rest += inflated[given:]
        given = max(0, given - len(inflated))
    return bytes(rest), message


def _to_the_damage(inflater: "zlib._Decompress", data: bytes) -> bytes:
    """What comes out before the error that `data` holds, in steps so small that little is lost with the last."""
    sound = bytearray()
    try:
        for start in range(0, len(data), SALVAGE_STEP):
            sound += inflater.decompress(data[start : start + SALVAGE_STEP])
    except zlib.error:
        pass  # as expected: this is where the damage shows
    return bytes(sound)
