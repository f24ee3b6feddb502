"""A window over the bytes of a source: fill, look, then consume."""

import re
from collections.abc import Callable

_COMPACT_BYTES = 1 << 20


class ByteWindow:
    """Bytes from a callable that gives the next ones (empty at the end).

    Looking is by distance from `position`, the offset of the next unconsumed byte in the source.
    """

    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read = read
        self._data: bytes | bytearray = b""  # as the source gave them, until there is more than one piece
        self._at = 0
        self._ended = False
        self.position = 0

    def fill(self, count: int) -> int:
        """Reads until `count` bytes are at hand or the source ends; gives how many are at hand."""
        while len(self._data) - self._at < count and not self._ended:
            self._more()
        return len(self._data) - self._at

    def first_piece(self) -> bytes:
        """All that is at hand of a source of which nothing was consumed, at least what it gives at once."""
        self.fill(1)
        return bytes(self._data)

    def peek(self, distance: int, count: int) -> bytes:
        """`count` bytes at `distance` from the position, fewer only at the end."""
        if len(self._data) - self._at < distance + count:
            self.fill(distance + count)
        start = self._at + distance
        return bytes(self._data[start : start + count])

    def starts_with(self, prefix: bytes) -> bool:
        """Whether the next bytes are `prefix`."""
        if len(self._data) - self._at < len(prefix):
            self.fill(len(prefix))
        return self._data.startswith(prefix, self._at)

    def take(self, count: int) -> bytes:
        """Consumes `count` bytes (fewer at the end) and gives them."""
        if len(self._data) - self._at < count:
            self.fill(count)
        if isinstance(self._data, bytes):
            data = self._data[self._at : self._at + count]
        else:
            with memoryview(self._data) as view:
                data = bytes(view[self._at : self._at + count])
        self._consume(len(data))
        return data

    def skip(self, count: int) -> int:
        """Consumes `count` bytes without holding them; gives how many there were."""
        if len(self._data) - self._at >= count:
            self._consume(count)
            return count
        left = count
        while left and self.fill(1):
            step = min(left, len(self._data) - self._at)
            self._consume(step)
            left -= step
        return count - left

    def skip_blank_lines(self) -> None:
        """Consumes carriage returns and line feeds."""
        while (self._at < len(self._data) or self.fill(1)) and self._data[self._at] in b"\r\n":
            self._consume(1)

    def search(self, pattern: re.Pattern[bytes], limit: int, seen: int = 0) -> re.Match[bytes] | None:
        """The first match within `limit` bytes, reading as far as needed. Use `distance` to place it.

        `seen` is the length of a beginning that is known to hold none.
        """
        while True:
            match = pattern.search(self._data, self._at + max(0, seen - 8), self._at + limit)
            if match is not None:
                return match
            seen = len(self._data) - self._at
            if seen >= limit or self.fill(seen + 1) == seen:
                return None

    def distance(self, match: re.Match[bytes], end: bool = False) -> int:
        """How far the start (or the end) of a match is from the position; valid until more is read or consumed."""
        return (match.end() if end else match.start()) - self._at

    def skip_to(self, pattern: re.Pattern[bytes], overlap: int, stop: int | None = None) -> int:
        """Consumes everything before the first match, or all there is (and little behind position `stop`); gives how
        many bytes that were."""
        skipped = 0
        while True:
            match = pattern.search(self._data, self._at)
            held = len(self._data) - self._at
            step = max(0, held - overlap) if match is None else match.start() - self._at
            self._consume(step)
            skipped += step
            if match is not None or (stop is not None and self.position >= stop):
                return skipped
            rest = held - step
            if self.fill(rest + 1) == rest:
                self._consume(rest)
                return skipped + rest

    def resume(self) -> None:
        """Asks the source again, which had come to an end and was extended."""
        self._ended = False

    def restart(self, position: int) -> None:
        """Forgets what is held: the source has gone back to `position`."""
        self._data = b""
        self._at = 0
        self._ended = False
        self.position = position

    def _consume(self, count: int) -> None:
        self._at += count
        self.position += count
        if self._at > _COMPACT_BYTES:
            self._data = self._data[self._at :]
            self._at = 0

    def _more(self) -> None:
        data = self._read()
        if not data:
            self._ended = True
        elif self._at == len(self._data):
            self._data, self._at = data, 0
        elif isinstance(self._data, bytes):
            self._data = bytearray(self._data[self._at :])
            self._data += data
            self._at = 0
        else:
            self._data += data
