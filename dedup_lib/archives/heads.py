"""What kind of archive a file is, by its first bytes: every split of it learns the same from them."""

from dataclasses import dataclass

from dedup_lib.archives.arc import MAX_LINE_BYTES
from dedup_lib.archives.dialects import Dialect, dialect_of
from dedup_lib.archives.gzip_members import Gzip
from dedup_lib.archives.sources import GZIP_MAGIC, Container
from dedup_lib.archives.stored import StoredBytes
from dedup_lib.archives.zstd_frames import ZSTD_MAGIC, Zstd, is_skippable

_FOREIGN = (b"\x04\x22\x4d\x18", b"PAR1")  # LZ4 and Parquet may hold the text of records without being archives of them
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Head:
    """The first bytes of a file and what they tell.

    `container` is its compression, if any; `dialect` that of its first record, inside the compression; `inside` what
    its first member begins with; `fault` what is wrong with its head; `start` where its first record stands if it is
    not compressed. All None: it does not begin as an archive does.
    """

    first: bytes
    foreign: bool = False
    container: Container | None = None
    dialect: Dialect | None = None
    inside: bytes = b""
    start: int = 0
    fault: str | None = None


def read_head(stored: StoredBytes) -> Head:
    """Reads the head of a file, a zstd dictionary included."""
    first = stored.peek(0, 64)
    if first.startswith(_FOREIGN):
        return Head(first, foreign=True)
    container: Container
    if first.startswith(GZIP_MAGIC):
        container, fault = Gzip(stored), None
    elif first.startswith(ZSTD_MAGIC) or is_skippable(first):
        container = Zstd(stored)
        fault = container.dictionary_fault
    else:
        start = first.removeprefix(_BYTE_ORDER_MARK).lstrip(b"\r\n")
        blank = len(first) - len(start)
        return Head(first, dialect=dialect_of(stored.peek(blank, MAX_LINE_BYTES)), start=blank)
    inside = container.first_inflated(container.skip(0), MAX_LINE_BYTES)
    return Head(first, container=container, dialect=dialect_of(inside), inside=inside, fault=fault)
