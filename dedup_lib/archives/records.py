"""A record of an archive, and what a reader accepts."""

from dataclasses import dataclass
from datetime import datetime

from dedup_lib.archives.faults import ArchiveFault
from dedup_lib.archives.headers import Headers, parse_date

RECORD_TYPES = frozenset(
    ("warcinfo", "response", "resource", "request", "metadata", "revisit", "conversion", "continuation")
)
WANTED_TYPES = frozenset(("response", "resource", "revisit", "conversion"))


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What a reader accepts. Bytes are of records as stored in the archive, inflated."""

    max_record_bytes: int = 64 << 20  # Common Crawl cuts pages at 5 MiB; other crawls hold videos
    max_header_bytes: int = 4 << 20  # real HTTP headers of 1.2 MB exist; WARC headers of 40 kB
    wanted_types: frozenset[str] = WANTED_TYPES
    verify_digests: bool = False  # a record of a wanted type whose block digest does not fit is the fault `bad_digest`


@dataclass(frozen=True, slots=True)
class ArchiveRecord:
    """One intact record of a wanted type.

    `offset` is where its gzip member or zstd frame (or, uncompressed, the record itself) starts in the stored file;
    `stored_bytes` is its length there, or None where it shares its member with others and so cannot be fetched alone;
    `index` is its place within the member (uncompressed: always 0). `payload` is the body behind the HTTP headers, or
    the whole content where there are none (`http_status` is None then); it is not decoded. `date` is in UTC, None if
    missing, unreadable or absurd.
    """

    offset: int
    stored_bytes: int | None
    index: int
    record_type: str
    record_id: str | None
    target_uri: str
    date: datetime | None
    content_type: str | None
    truncated: str | None
    content_length: int
    headers: Headers
    http_status: int | None
    http_headers: Headers
    payload: bytes

    @property
    def refers_to(self) -> str | None:
        """The record id that a revisit refers to."""
        return self.headers.get("warc-refers-to")

    @property
    def refers_to_uri(self) -> str | None:
        """The target URI that a revisit refers to."""
        return bare_uri(self.headers.get("warc-refers-to-target-uri"))

    @property
    def refers_to_date(self) -> datetime | None:
        """The date of the capture that a revisit refers to."""
        return parse_date(self.headers.get("warc-refers-to-date"))


@dataclass(frozen=True, slots=True)
class SkippedRecord:
    """An intact record of a type that nobody asked for."""

    record_type: str


Item = ArchiveRecord | ArchiveFault | SkippedRecord


def bare_uri(value: str | None) -> str | None:
    """The URI without the angle brackets that wget and others put around it (WARC/1.0, section 5.9)."""
    if value is not None and value.startswith("<") and value.endswith(">"):
        value = value[1:-1].strip()
    return value or None
