"""What the content of a record is, once its bytes are known: an HTTP message taken apart, or a fault."""

from dedup_lib.archives.digests import digest_fault
from dedup_lib.archives.faults import ArchiveFault, Reason
from dedup_lib.archives.headers import EMPTY_HEADERS, Headers, capture_date, split_http
from dedup_lib.archives.records import ArchiveRecord, bare_uri

COMMON_CRAWL_TRUNCATED = "x-commoncrawl-contenttruncated"  # of 2008 to 2012, whose ARC files have no other place for it


def fault_of(headers: Headers, offset: int, reason: Reason, detail: str) -> ArchiveFault:
    """A fault of the record with these headers, as far as they could be read."""
    return ArchiveFault(offset, reason, detail, bare_uri(headers.get("warc-target-uri")), headers.get("warc-record-id"))


def record_of(
    headers: Headers, record_type: str, content: bytes, offset: int, stored_bytes: int | None, index: int, verify: bool
) -> ArchiveRecord | ArchiveFault:
    """The record with these headers and this content, whose place in the file is given as `ArchiveRecord` has it.

    A fault if it has no target, if it should be HTTP and is not, or if its block digest, to be verified, does not fit.
    """
    target_uri = bare_uri(headers.get("warc-target-uri"))
    if not target_uri:
        return fault_of(headers, offset, Reason.NO_TARGET, f"a {record_type} record without WARC-Target-URI")
    if verify:
        wrong = digest_fault(headers.get("warc-block-digest"), content)
        if wrong is not None:
            return fault_of(headers, offset, Reason.BAD_DIGEST, wrong)
    content_type = headers.get("content-type")
    status, http_headers, payload = None, EMPTY_HEADERS, content
    if record_type in {"response", "revisit"}:
        message = split_http(content)
        if message is not None:
            status, http_headers, payload = message
        elif record_type == "response" and _expects_http(content_type, target_uri):
            return fault_of(headers, offset, Reason.BAD_HTTP, "the response has no HTTP status line")
    return ArchiveRecord(
        offset=offset,
        stored_bytes=stored_bytes,
        index=index,
        record_type=record_type,
        record_id=headers.get("warc-record-id"),
        target_uri=target_uri,
        date=capture_date(headers.get("warc-date")),
        content_type=content_type,
        truncated=headers.get("warc-truncated") or http_headers.get(COMMON_CRAWL_TRUNCATED),
        content_length=len(content),
        headers=headers,
        http_status=status,
        http_headers=http_headers,
        payload=payload,
    )


def _expects_http(content_type: str | None, target_uri: str) -> bool:
    if content_type is not None:
        return content_type.lower().startswith("application/http")
    return target_uri[:4].lower() == "http"
