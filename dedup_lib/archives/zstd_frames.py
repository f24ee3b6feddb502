"""Archives compressed with zstd: one or several frames for each record, often with a dictionary in front.

Zstandard Compression for WARC Files 1.0 (IIPC, proposed): a dictionary stands in a skippable frame with magic number
0x184D2A5D, which is the first of the file, raw or itself a zstd frame. Frames are laid out as RFC 8878, section 3.1
says; their blocks are walked here one by one, so that the end of a frame is known to the byte and no step inflates to
more than a block (128 KiB).
"""

import zstandard

from dedup_lib.archives.members import Member
from dedup_lib.archives.stored import StoredBytes

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
SKIPPABLE_MAGIC = b"\x2a\x4d\x18"  # behind a first byte of 0x50 to 0x5F
DICTIONARY_MAGIC = b"\x5d\x2a\x4d\x18"
MAX_DICTIONARY_BYTES = 64 << 20
MAX_WINDOW_BYTES = 128 << 20  # as the zstd command has it; a frame that wants more of a reader counts as damaged
MAX_BLOCK_BYTES = 128 << 10

_CONTENT_SIZE_BYTES = (0, 2, 4, 8)  # by the two highest bits of the descriptor; with a single segment, 0 means 1
_DICTIONARY_ID_BYTES = (0, 1, 2, 4)
_RLE, _RESERVED = 1, 3


class NoDictionaryError(Exception):
    """The dictionary of an archive cannot be read."""


def is_skippable(first: bytes) -> bool:
    """Whether bytes begin with a skippable frame (RFC 8878, section 3.1.2)."""
    return first[1:4] == SKIPPABLE_MAGIC and 0x50 <= first[0] <= 0x5F


class Zstd:
    """The zstd frames of a file. `dictionary_fault` says what is wrong with the dictionary in front, if anything is."""

    magic = ZSTD_MAGIC

    def __init__(self, stored: StoredBytes) -> None:
        self.stored = stored
        self.dictionary_fault: str | None = None
        dictionary = None
        try:
            dictionary = _dictionary(stored)
            self._probe = _decompressor(dictionary)
        except (NoDictionaryError, zstandard.ZstdError) as error:
            self.dictionary_fault = f"the dictionary in front of the frames cannot be read ({error})"
            dictionary = None
            self._probe = _decompressor(None)
        self.decompressor = _decompressor(dictionary)

    def member(self, offset: int) -> "ZstdFrame":
        """The frame at `offset`."""
        return ZstdFrame(self, offset)

    def first_inflated(self, offset: int, count: int) -> bytes:
        """The first bytes inside the frame at `offset`, about `count`; empty if it does not inflate."""
        blocks = _Blocks(self.stored, offset)
        inflater = self._probe.decompressobj()
        inflated = b""
        try:
            while len(inflated) < count and not blocks.ended:
                data = blocks.next_block()
                if not data:
                    break
                inflated += inflater.decompress(data)
        except (zstandard.ZstdError, _BadFrameError):
            pass  # no frame here, or one that is damaged right at its start
        return inflated

    def skip(self, offset: int) -> int:
        """The offset behind the skippable frames at `offset`."""
        while is_skippable(head := self.stored.peek(offset, 8)) and len(head) == 8:
            offset += 8 + int.from_bytes(head[4:], "little")
        return offset


def _decompressor(dictionary: zstandard.ZstdCompressionDict | None) -> zstandard.ZstdDecompressor:
    decompressor = zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=MAX_WINDOW_BYTES)
    decompressor.decompressobj()  # raises if the dictionary does not load
    return decompressor


def _dictionary(stored: StoredBytes) -> zstandard.ZstdCompressionDict | None:
    head = stored.peek(0, 8)
    if head[:4] != DICTIONARY_MAGIC:
        return None
    size = int.from_bytes(head[4:], "little")
    if size > MAX_DICTIONARY_BYTES:
        raise NoDictionaryError(f"it has {size} bytes")
    content = stored.peek(8, size)
    if len(content) < size:
        raise NoDictionaryError("the file ends inside it")
    if content.startswith(ZSTD_MAGIC):
        with zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES).stream_reader(content) as reader:
            content = reader.read(MAX_DICTIONARY_BYTES)
    return zstandard.ZstdCompressionDict(content) if content else None


class _BadFrameError(Exception):
    """The header of a frame or a block is none."""


class _Blocks:
    """The blocks of one frame, as they are stored; the first has the frame's header before it, the last its checksum.

    `next` is the offset of what comes next, behind the frame once it has `ended`.
    """

    def __init__(self, stored: StoredBytes, offset: int) -> None:
        self.next = offset
        self.ended = False
        self._start = offset
        self._stored = stored
        self._checksum_bytes = 0

    def next_block(self) -> bytes:
        """The next block; empty if the file ends before it does."""
        start = at = self.next
        if start == self._start:
            at += self._header_bytes()
        head = int.from_bytes(self._stored.peek(at, 3), "little")
        last, kind, size = head & 1, head >> 1 & 3, head >> 3
        if kind == _RESERVED or size > MAX_BLOCK_BYTES:
            raise _BadFrameError(f"a block of kind {kind} and size {size}")
        at += 3 + (1 if kind == _RLE else size) + (self._checksum_bytes if last else 0)
        data = self._stored.peek(start, at - start)
        if len(data) < at - start:
            return b""
        self.next = at
        self.ended = bool(last)
        return data

    def _header_bytes(self) -> int:
        """The length of the frame's header (RFC 8878, section 3.1.1.1)."""
        head = self._stored.peek(self._start, 5)
        if not head.startswith(ZSTD_MAGIC[: len(head)]):
            raise _BadFrameError("no frame")
        descriptor = head[4] if len(head) == 5 else 0
        single_segment = descriptor >> 5 & 1
        self._checksum_bytes = 4 if descriptor & 4 else 0
        content_size = _CONTENT_SIZE_BYTES[descriptor >> 6] or single_segment
        return 6 - single_segment + _DICTIONARY_ID_BYTES[descriptor & 3] + content_size


class ZstdFrame(Member):
    """One zstd frame; see `CompressedMember`."""

    ends_early = "the record's zstd frames end before its declared length"

    def __init__(self, container: Zstd, offset: int) -> None:
        self._zstd = container
        super().__init__(container, container.stored, offset)

    def _begin(self, offset: int) -> None:
        super()._begin(offset)
        self._blocks = _Blocks(self._stored, offset)
        self._inflater = self._zstd.decompressor.decompressobj()

    def read(self) -> bytes:
        """The next inflated bytes, of one block; empty at the end, clean or not."""
        while self.end is None and self.fault is None:
            try:
                data = self._blocks.next_block()
                inflated = self._inflater.decompress(data) if data else b""
                if self._blocks.ended and not self._inflater.eof:
                    raise _BadFrameError("its blocks end before it does")
            except (zstandard.ZstdError, _BadFrameError) as error:
                self._damaged(f"the zstd frame does not inflate ({error})")
                return b""
            if not data:
                self._cut("the file ends inside the zstd frame", "the zstd frame has no end")
            elif self._blocks.ended:
                self.end = self._blocks.next
            if inflated:
                return inflated
        return b""
