"""Header blocks of WARC records and of HTTP messages, read as leniently as browsers do.

FastWARC's own header parser wants CRLF, at most 32 KiB and no folded lines; real archives have LF only (ClueWeb,
cc_net), HTTP headers over 1 MB, folded lines and bytes that are not UTF-8.
"""

import re
from datetime import UTC, datetime
from functools import cache

FIRST_YEAR, LAST_YEAR = 1989, 2099  # of captures: the first Web page is of 1990, clocks that say 1970 or 9999 are off

BLANK_LINE = re.compile(rb"\n\r{0,2}\n")  # begins with the end of the last header line
_STATUS_LINE = re.compile(rb"\s*HTTP/\d(?:\.\d+)?[ \t]+(\d{3})(?!\d)", re.IGNORECASE)
_FOLDED = re.compile(rb"\r?\n[ \t]+")
_SPACED_COLON = re.compile(rb"(?m)^([^:\s]+)[ \t]+:")
# Without the fraction, which WARC/1.1 allows with any number of digits.
_FRACTION = re.compile(r"\.(\d+)")


class Headers:
    """Fields of a header block by lower-case name. Kept as bytes and looked up when asked: most fields never are.

    >>> headers = Headers(b"HTTP/1.1 200 OK\\nContent-Type: text/html\\n")
    >>> headers.get("content-type"), headers.get("location")
    ('text/html', None)
    """

    __slots__ = ("_block", "_lower")

    def __init__(self, block: bytes) -> None:
        """Takes a block whose first line is a status or version line; lines without a colon are passed over."""
        if b"\n " in block or b"\n\t" in block:
            block = _FOLDED.sub(b" ", block)
        if b" :" in block or b"\t:" in block:
            block = _SPACED_COLON.sub(rb"\1:", block)
        self._block = block + b"\n"
        self._lower = self._block.lower()

    def get(self, name: str) -> str | None:
        """The first value of the field, whose name is given in lower case."""
        start = self._lower.find(_field_start(name))
        if start < 0:
            return None
        start += len(name) + 2
        return _decode(self._block[start : self._block.find(b"\n", start)])

    def get_all(self, name: str) -> list[str]:
        """All values of the field, in the order they stand."""
        return [value for field, value in self.items() if field == name]

    def joined(self, name: str) -> str | None:
        """All values of a list field as one (RFC 9110, section 5.3), or None."""
        return None if self.get(name) is None else ", ".join(self.get_all(name))

    def items(self) -> list[tuple[str, str]]:
        """All fields, in the order they stand."""
        lines = (line.partition(b":") for line in self._block.split(b"\n")[1:])
        return [(_decode(name).lower(), _decode(value)) for name, colon, value in lines if colon]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Headers) and self.items() == other.items()

    def __hash__(self) -> int:
        return hash(self._lower)

    def __repr__(self) -> str:
        return f"Headers({self.items()!r})"


@cache
def _field_start(name: str) -> bytes:
    return b"\n" + name.encode() + b":"


EMPTY_HEADERS = Headers(b"")


def _decode(value: bytes) -> str:
    try:
        return value.strip().decode("utf-8")
    except UnicodeDecodeError:
        return value.strip().decode("latin-1")


def split_http(content: bytes) -> tuple[int, Headers, bytes] | None:
    """Splits an HTTP response into status, headers and body; None if it has no status line.

    A response whose header block never ends is all headers, with an empty body.
    """
    status = _STATUS_LINE.match(content)
    if status is None:
        return None
    blank = BLANK_LINE.search(content, status.end())
    if blank is None:
        return int(status[1]), Headers(content.lstrip()), b""
    return int(status[1]), Headers(content[: blank.start()].lstrip()), content[blank.end() :]


def parse_length(value: str | None) -> int | None:
    """A Content-Length as a number, or None if it is no plain decimal number of at most 18 digits."""
    if value is None or not value.isascii() or not value.isdigit() or len(value) > 18:
        return None
    return int(value)


def parse_date(value: str | None) -> datetime | None:
    """A WARC-Date (W3C profile of ISO 8601, from a year to fractions of a second) in UTC, or None.

    >>> parse_date("2024-05-18T01:58:10Z")
    datetime.datetime(2024, 5, 18, 1, 58, 10, tzinfo=datetime.timezone.utc)
    """
    if not value:
        return None
    text = value.strip().upper()
    if len(text) in {4, 7}:  # WARC/1.1, section 5.4: YYYY and YYYY-MM are dates too
        text += "-01-01"[: 10 - len(text)] if len(text) == 4 else "-01"
    elif len(text) == 14 and text.isdigit():  # as ARC files and CDX indexes write it
        text = f"{text[:8]}T{text[8:]}Z"
    text = _FRACTION.sub(lambda match: "." + match[1][:6].ljust(6, "0"), text, count=1)
    try:
        date = datetime.fromisoformat(text)
        return date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def capture_date(value: str | None) -> datetime | None:
    """The date of a capture as `parse_date` reads it; None as well for one before the Web or beyond this century."""
    date = parse_date(value)
    return date if date is not None and FIRST_YEAR <= date.year <= LAST_YEAR else None
