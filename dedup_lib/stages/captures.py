"""What a record of an archive is: a document, the trace of a fetch, or a reject.

Judged in two steps, so that many pages can be under way in the process that reads them: `open_record` looks at the
record, `close_page` at what its page became.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dedup_lib.archives import ArchiveRecord, Reason, decode_body
from dedup_lib.config.settings import ExtractSettings
from dedup_lib.text import Kind, PageRefused, charset_of, document_kind, media_type
from dedup_lib.text.guard import PageFailed, PageRequest, PageResult
from dedup_lib.urls import canonical_from_link_header, canonical_links, resolve_link

# Crawlers cut pages at these sizes, and older ones do not say so (Common Crawl: 500 KiB, 1 MiB, 2 MiB, 5 MiB).
CUT_SIZES = frozenset((500 << 10, 1 << 20, 2 << 20, 5 << 20))


@dataclass(frozen=True, slots=True)
class Fetch:
    """A record that tells of a fetch: `kind` is redirect, error, not_modified, revisit or other_content_type."""

    kind: str
    target: str | None = None
    refers_to: str | None = None
    refers_to_date: datetime | None = None


@dataclass(frozen=True, slots=True)
class Reject:
    """A record that should have been a document and is none."""

    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Page:
    """A record whose body is to be read: what is known without that."""

    request: PageRequest
    fetched_at: datetime
    content_type: str
    link_headers: tuple[str, ...]
    truncated: bool


def open_record(record: ArchiveRecord, settings: ExtractSettings) -> Page | Fetch | Reject:
    """Decides what a page record is as far as its headers and the coding of its body tell; nothing is dropped."""
    if record.record_type == "revisit":
        profile = record.headers.get("warc-profile") or ""
        unchanged = record.http_status == 304 or "not-modified" in profile
        kind = "not_modified" if unchanged else "revisit"
        return Fetch(kind, record.refers_to_uri, record.refers_to, record.refers_to_date)
    status = record.http_status
    if status is not None and not 200 <= status < 300:
        return _unsuccessful(record, status)
    return _open_page(record, settings)


def _unsuccessful(record: ArchiveRecord, status: int) -> Fetch:
    if status == 304:
        return Fetch("not_modified")
    location = record.http_headers.get("location")
    if 300 <= status < 400 and location:
        return Fetch("redirect", resolve_link(record.target_uri, None, location) or location)
    return Fetch("error")


def _open_page(record: ArchiveRecord, settings: ExtractSettings) -> Page | Fetch | Reject:
    is_http = record.http_status is not None
    content_type = record.http_headers.get("content-type") if is_http else record.content_type
    decoded = decode_body(
        record.payload,
        record.http_headers.joined("transfer-encoding"),
        record.http_headers.joined("content-encoding"),
        settings.max_body_bytes,
    )
    if decoded.too_large:
        return Reject(Reason.TOO_LARGE, f"the decoded body has more than {settings.max_body_bytes} bytes")
    kind = document_kind(content_type, decoded.body)
    if kind is Kind.OTHER:
        return Fetch("other_content_type", media_type(content_type) or None)
    if record.date is None:
        return Reject(Reason.NO_DATE, f"WARC-Date is {record.headers.get('warc-date')!r}")
    return Page(
        PageRequest(decoded.body, kind, charset_of(content_type)),
        record.date,
        media_type(content_type),
        tuple(record.http_headers.get_all("link")) if record.http_headers.get("link") else (),
        record.truncated is not None or record.http_status == 206 or len(decoded.body) in CUT_SIZES,
    )


def close_page(record: ArchiveRecord, page: Page, read: PageResult) -> dict[str, Any] | Reject:
    """The gathered columns of a document from what its page became, or why it is none."""
    if isinstance(read, PageRefused | PageFailed):
        return Reject(read.reason, read.detail)
    content = read.content
    if not content.text.strip():
        return Reject(Reason.NO_TEXT, f"{len(page.request.body)} bytes of {page.request.kind.value} without text")
    links = [link for header in page.link_headers for link in canonical_from_link_header(header)]
    candidates = [*content.canonical_links, *links]
    return {
        "record_id": record.record_id,
        "url": record.target_uri,
        "canonical_links": canonical_links(record.target_uri, candidates, content.base_href) if candidates else None,
        "crawl_date": page.fetched_at.date(),
        "fetched_at": page.fetched_at,
        "http_status": record.http_status,
        "content_type": page.content_type or None,
        "charset": read.charset,
        "language": read.language,
        "title": content.title or None,
        "extraction": content.extraction.value,
        "text": content.text,
        "truncated": page.truncated,
        "archive_offset": record.offset,
        "archive_length": record.stored_bytes,
    }
