"""Header lines of ARC files (versions 1 and 2), told as the WARC headers that mean the same.

The format is that of Burner and Kahle, "Arc File Format", Internet Archive, 1996: one line with URL, IP address,
date, media type and length (version 2: status, checksum, location, offset and file name before the length), then the
content, then a line end. Real files have white space in URLs and media types, other words for unknown fields, dates
of other lengths, and the two middle fields in the wrong order; the line is told by its address and its date.
"""

import re

from dedup_lib.archives.headers import Headers

MAX_LINE_BYTES = 8 << 10

_ADDRESS = rb"(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f.]{0,15}){2,8}|None|-)"
_DATE = rb"(?:\d{8,20}|[0-9a-f]{32,40}|-)"
_SCHEME = rb"([A-Za-z][A-Za-z0-9+.-]{1,10}:)"
_LINE = (
    _SCHEME[:-1] + rb"[^\n]{0,6000}?)"
    rb" (?:" + _ADDRESS + rb" (" + _DATE + rb")|(" + _DATE + rb") " + _ADDRESS + rb")"
    rb"(?: ([^\n]{0,2000}?))? (-?[0-9A-Za-z]{1,20})\r{0,2}\n"
)
_HEADER_LINE = re.compile(_LINE)
_MAYBE_LINE = re.compile(_SCHEME + rb"|[^\n]{0,6000}? -?\d{1,20}\r{0,2}\n")
_BEGINS_WITH_SCHEME = re.compile(rb"[\r\n]*" + _SCHEME)

CANDIDATE = re.compile(rb"\n(?=" + _LINE + rb")")


def is_arc_line(first: bytes) -> bool:
    """Whether bytes begin with the header line of an ARC record.

    >>> is_arc_line(b"http://site.example/a b 192.0.2.7 20090704113831 text/html 22791\\n")
    True
    """
    return _HEADER_LINE.match(first) is not None


def may_be_arc_line(first: bytes) -> bool:
    """Whether bytes begin with something that was the header line of an ARC record before a byte of it changed."""
    return _MAYBE_LINE.match(first) is not None


def begins_with_scheme(first: bytes) -> bool:
    """Whether bytes begin, line ends aside, with what every ARC header line begins with; 16 bytes are enough."""
    return _BEGINS_WITH_SCHEME.match(first) is not None


def arc_headers(line: bytes) -> Headers:
    """The WARC headers of the record that an ARC header line begins. The `filedesc` record is the `warcinfo`."""
    found = _HEADER_LINE.match(line)
    if found is None:
        return Headers(b"")
    url, date, swapped_date, rest, length = found.groups(b"")
    scheme = url[: url.find(b":")].lower()
    record_type, media_type = b"resource", rest.split(b" ")[0]
    if scheme == b"filedesc":
        record_type = b"warcinfo"
    elif scheme in {b"http", b"https"}:
        record_type, media_type = b"response", b"application/http"
    fields = (
        (b"WARC-Type", record_type),
        (b"WARC-Target-URI", url.replace(b"\r", b"")),
        (b"WARC-Date", (date or swapped_date)[:14]),
        (b"Content-Type", media_type),
        (b"Content-Length", length),
    )
    return Headers(b"ARC/1\n" + b"".join(b"%s: %s\n" % field for field in fields if field[1]))
