"""The closed list of reasons why something in the input is not a document, and the row that carries one."""

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why a part of an input was rejected: the values of `rejects.reason`, each with what a person should make of it.

    The list is closed: tables, reports and the rooms above use these values and no others.
    """

    # framing: the stored bytes themselves
    TRUNCATED_MEMBER = "truncated_member"  # the file ends inside a gzip member or zstd frame
    DAMAGED_MEMBER = "damaged_member"  # a gzip member or zstd frame does not inflate, or its checksum differs
    GARBAGE = "garbage"  # bytes that belong to no record
    NOT_AN_ARCHIVE = "not_an_archive"  # no WARC or ARC record in the whole file
    UNREADABLE = "unreadable"  # storage refused the file, or it changed while it was read: nothing of it counts
    # records
    TRUNCATED_RECORD = "truncated_record"  # an uncompressed file ends inside a record
    BAD_HEADER = "bad_header"  # a header that does not parse, never ends, or names no type
    BAD_LENGTH = "bad_length"  # Content-Length missing, not a number, or not what is there
    BAD_DIGEST = "bad_digest"  # the content does not have the block digest that its header states
    TOO_LARGE = "too_large"  # a record, a decoded body or a page over the cap
    NO_TARGET = "no_target"  # no WARC-Target-URI
    NO_DATE = "no_date"  # no date that can be read
    # HTTP
    BAD_HTTP = "bad_http"  # a response without an HTTP status line
    BAD_CHUNKING = "bad_chunking"  # Transfer-Encoding says chunked, the body is not
    BAD_ENCODING = "bad_encoding"  # Content-Encoding names a coding that the body is not in
    # pages
    BAD_URL = "bad_url"  # the URL does not parse
    NO_TEXT = "no_text"  # nothing is left after extraction
    TOO_DEEP = "too_deep"  # markup so nested or so repetitive that parsing it would take minutes
    BAD_PAGE = "bad_page"  # the extractor refused the page
    TIMED_OUT = "timed_out"  # the extractor did not come to an end with the page
    CRASHED = "crashed"  # the extractor's process died of the page
    OUT_OF_MEMORY = "out_of_memory"  # the page needs more memory than a page may take
    # tables of text
    BAD_ROW = "bad_row"  # a row without url or text, or one that does not parse


@dataclass(frozen=True, slots=True)
class ArchiveFault:
    """One row for `rejects`.

    `offset` is where the trouble lies in the file as stored: bytes for archives (the start of the gzip member or zstd
    frame for compressed ones), the row number from 0 for tables of text. `url` and `record_id` are known where the
    header could still be read.
    """

    offset: int
    reason: Reason
    detail: str
    url: str | None = None
    record_id: str | None = None
