"""Which responses are documents: by the type the server states, or by the first bytes where it states none."""

import re
from enum import StrEnum

_HTML_TYPES = frozenset(("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"))
_UNSTATED = frozenset(("", "unk", "no-type", "application/octet-stream", "binary/octet-stream"))
_SNIFF_BYTES = 1024
_MARKUP = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|meta|script|div|table|p|h1|a|br|!--)[\s>/]", re.IGNORECASE
)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # WHATWG MIME Sniffing, section 3: binary data bytes


class Kind(StrEnum):
    """How the text of a response is to be read."""

    HTML = "html"
    PLAIN = "plain"
    OTHER = "other"


def media_type(content_type: str | None) -> str:
    """The type of a Content-Type header without its parameters, in lower case; empty if there is none.

    >>> media_type("Text/HTML; charset=utf-8")
    'text/html'
    """
    return re.split(r"[;,\s]", content_type.strip(), maxsplit=1)[0].lower() if content_type else ""


def document_kind(content_type: str | None, body: bytes) -> Kind:
    """Decides by the stated type; a missing or empty-handed one (octet-stream) is decided by the first bytes."""
    stated = media_type(content_type)
    if stated in _HTML_TYPES:
        return Kind.HTML
    if stated == "text/plain":
        return Kind.PLAIN
    if stated not in _UNSTATED and "/" in stated:
        return Kind.OTHER
    return _sniffed(body[:_SNIFF_BYTES])


def _sniffed(first: bytes) -> Kind:
    if _CONTROL.search(first) and not first.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Kind.OTHER
    if _MARKUP.search(first):
        return Kind.HTML
    if not first.strip() or first.lstrip().startswith((b"%PDF", b"{", b"[", b"<")):
        return Kind.OTHER
    try:
        first[:-4].decode("utf-8") if len(first) == _SNIFF_BYTES else first.decode("utf-8")
    except UnicodeDecodeError as error:
        return Kind.PLAIN if error.start > len(first) - 8 else Kind.OTHER
    return Kind.PLAIN
