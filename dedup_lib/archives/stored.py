"""The stored bytes of an archive, addressed by their offset in the file, with a bounded window kept in memory."""

import re
from typing import BinaryIO

READ_BYTES = 1 << 18
HEAD_BYTES = 1 << 16  # what a split reads of the head before it goes to its own range
PIECE_BYTES = 1 << 15  # zlib copies what it leaves of a piece, so pieces are near the size of a small member
KEEP_BYTES = 1 << 22  # how far back reading can restart after damage, without a stream that seeks


class StoredBytes:
    """Bytes of a stream by absolute offset. Reads forward; the last `KEEP_BYTES` stay at hand.

    Only `read(n)` is needed of the stream (as object stores give it); `seek` is used where it is there.
    `bytes_read` is the offset of the furthest byte ever read, `ended` whether the stream has come to its end.
    """

    def __init__(self, stream: BinaryIO, read_bytes: int = READ_BYTES) -> None:
        self._stream = stream
        self._seekable = stream.seekable()
        if self._seekable:
            stream.seek(0)
        self._data = bytearray()
        self._base = 0
        self._read_bytes = read_bytes
        self.ended = False
        self.bytes_read = 0

    def piece(self, offset: int, count: int = PIECE_BYTES) -> bytes:
        """At most `count` bytes at `offset`, at least one except at the end of the file."""
        start = offset - self._base
        while start >= len(self._data) and self._more():
            start = offset - self._base
        with memoryview(self._data) as view:
            return bytes(view[start : start + count])

    def peek(self, offset: int, count: int) -> bytes:
        """`count` bytes at `offset`, fewer only at the end of the file. For small counts."""
        while offset + count > self._base + len(self._data) and self._more():
            pass
        start = offset - self._base
        return bytes(self._data[start : start + count])

    def find(self, pattern: re.Pattern[bytes], offset: int, overlap: int, stop: int | None = None) -> int:
        """The offset of the first match at or after `offset` (and before `stop`), or -1.

        `overlap` is the length of the longest match less one.
        """
        while stop is None or offset < stop:
            match = pattern.search(self._data, max(0, offset - self._base))
            if match:
                found = self._base + match.start()
                return found if stop is None or found < stop else -1
            offset = max(offset, self._base + len(self._data) - overlap)
            if not self._more():
                return -1
        return -1

    def earliest(self, offset: int) -> int:
        """`offset`, or where the window begins if that is later."""
        return max(offset, self._base)

    def rewind(self, offset: int) -> int:
        """Goes back to `offset` if the window or the stream allows it; gives where reading can go on."""
        if offset < self._base and self._seekable:
            self._jump(offset)
        return self.earliest(offset)

    def forward(self, offset: int) -> None:
        """Goes on to `offset`, and reads in large steps from there; by a seek unless it is already at hand."""
        self._read_bytes = READ_BYTES
        if not self._base <= offset <= self._base + len(self._data):
            self._jump(offset)

    def _jump(self, offset: int) -> None:
        self._stream.seek(offset)
        self._data.clear()
        self._base = offset
        self.ended = False

    def _more(self) -> bool:
        if self.ended:
            return False
        data = self._stream.read(self._read_bytes)
        if not data:
            self.ended = True
            return False
        if len(self._data) > 2 * KEEP_BYTES:
            surplus = len(self._data) - KEEP_BYTES
            del self._data[:surplus]
            self._base += surplus
        self._data += data
        self.bytes_read = max(self.bytes_read, self._base + len(self._data))
        return True
