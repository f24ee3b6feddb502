"""What a record of an archive is: a document, the trace of a fetch, or a reject."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dedup_lib.archives import ArchiveRecord, Reason, decode_body
from dedup_lib.config.settings import ExtractSettings
from dedup_lib.text import DocumentText, Kind, PageRefused, charset_of, document_kind, media_type, read_document
from dedup_lib.urls import canonical_from_link_header, canonical_links, resolve_link

# Crawlers cut pages at these sizes, and older ones do not say so (Common Crawl: 500 KiB, 1 MiB, 2 MiB, 5 MiB).
CUT_SIZES = frozenset((500 << 10, 1 << 20, 2 << 20, 5 << 20))


@dataclass(frozen=True, slots=True)
class Document:
    """A capture with text: the gathered columns of its row."""

    columns: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fetch:
    """A record that tells of a fetch: `kind` is redirect, error, not_modified, revisit or other_content_type."""

    kind: str
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Reject:
    """A record that should have been a document and is none."""

    reason: str
    detail: str


def judge_record(record: ArchiveRecord, settings: ExtractSettings) -> Document | Fetch | Reject:
    """Decides what a page record is; nothing is dropped without one of the three."""
    if record.record_type == "revisit":
        profile = record.headers.get("warc-profile") or ""
        unchanged = record.http_status == 304 or "not-modified" in profile
        return Fetch("not_modified" if unchanged else "revisit", record.refers_to_uri or record.refers_to)
    status = record.http_status
    if status is not None and not 200 <= status < 300:
        return _unsuccessful(record, status)
    return _read_page(record, settings)


def _unsuccessful(record: ArchiveRecord, status: int) -> Fetch:
    if status == 304:
        return Fetch("not_modified")
    location = record.http_headers.get("location")
    if 300 <= status < 400 and location:
        return Fetch("redirect", resolve_link(record.target_uri, None, location) or location)
    return Fetch("error")


def _read_page(record: ArchiveRecord, settings: ExtractSettings) -> Document | Fetch | Reject:
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
    page = read_document(decoded.body, kind, charset_of(content_type), settings.main_content)
    if isinstance(page, PageRefused):
        return Reject(page.reason, page.detail)
    if not page.content.text.strip():
        return Reject(Reason.NO_TEXT, f"{len(decoded.body)} bytes of {kind.value} without text")
    return Document(_columns(record, record.date, page, media_type(content_type), decoded.body))


def _columns(
    record: ArchiveRecord, date: datetime, page: DocumentText, content_type: str, body: bytes
) -> dict[str, Any]:
    content = page.content
    headers = record.http_headers
    values = headers.get_all("link") if headers.get("link") else []
    candidates = [*content.canonical_links, *(link for value in values for link in canonical_from_link_header(value))]
    return {
        "record_id": record.record_id,
        "url": record.target_uri,
        "canonical_links": canonical_links(record.target_uri, candidates, content.base_href),
        "crawl_date": date.date(),
        "fetched_at": date,
        "http_status": record.http_status,
        "content_type": content_type or None,
        "charset": page.charset,
        "language": page.language,
        "title": content.title or None,
        "text": content.text,
        "truncated": record.truncated is not None or record.http_status == 206 or len(body) in CUT_SIZES,
        "archive_offset": record.offset,
        "archive_length": record.stored_bytes,
    }
