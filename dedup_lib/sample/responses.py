"""What the server answered: status, headers and body of each capture, byte for byte."""

import base64
import codecs
import json
import struct
import zlib
from dataclasses import dataclass
from email.utils import format_datetime

from dedup_lib.sample.captures import Capture
from dedup_lib.sample.dice import Dice
from dedup_lib.sample.pages import Page
from dedup_lib.sample.prose import lines
from dedup_lib.sample.templates import render, render_empty

REASONS = {
    200: "OK",
    301: "Moved Permanently",
    302: "Found",
    304: "Not Modified",
    404: "Not Found",
    500: "Internal Server Error",
}
CODECS = {"windows-874": "cp874"}  # labels of the web that Python does not know
CHUNK_BYTES = 1024
# One pixel. Kept as bytes, for a compressor might write it otherwise elsewhere.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PDF = b"""%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] >> endobj
trailer << /Root 1 0 R >>
%%EOF
"""


@dataclass(frozen=True)
class Response:
    """An HTTP response as it is stored. `cut` tells that the crawler stopped reading at its length limit."""

    status: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    cut: bool = False


def codec_of(page: Page) -> str:
    """The Python codec that the page is written in."""
    charset = page.charset or page.site.charset
    return CODECS.get(charset, charset)


def respond(capture: Capture) -> Response:
    """The response of a capture."""
    page = capture.page
    body, content_type = _body(capture)
    length = len(body)
    if page.kind == "truncated":
        body = _cut_at_text_end(page, body)
    headers = [("Date", format_datetime(capture.fetched_at, usegmt=True)), ("Server", "sample/1.0")]
    if page.target is not None:
        headers.append(("Location", page.target))
    if content_type:
        headers.append(("Content-Type", content_type))
    if page.transfer == "gzip+chunked":
        headers.append(("Content-Encoding", "gzip"))
        body = _stored_gzip(body)
    if page.transfer:
        headers.append(("Transfer-Encoding", "chunked"))
        body = _chunk(body)
    elif page.kind != "revisit":
        headers.append(("Content-Length", str(length)))
    return Response(f"{page.status} {REASONS[page.status]}", tuple(headers), body, page.kind == "truncated")


def _body(capture: Capture) -> tuple[bytes, str]:
    """The body before any transfer coding, and its Content-Type."""
    page = capture.page
    if page.kind in {"redirect", "error"}:
        title = f"{page.status} {REASONS[page.status]}"
        html = f"<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>\n"
        return html.encode("ascii"), "text/html"
    if page.kind == "image":
        return PNG, "image/png"
    if page.kind == "pdf":
        return PDF, "application/pdf"
    if page.kind == "json":
        return json.dumps({"url": page.url, "stock": 3}).encode("ascii"), "application/json"
    if page.kind == "revisit":
        return b"", ""
    return _encode(_html(capture), page), _html_type(page)


def _html(capture: Capture) -> str:
    page = capture.page
    in_meta = page.charset is None and page.site.declared in {"meta", "both"}
    if page.text is None:
        return render_empty(page.site, in_meta)
    dice = Dice("html", capture.record_id)
    return render(page.site, page.template, page.text, dice, canonical=page.canonical, declares_charset=in_meta)


def _html_type(page: Page) -> str:
    in_header = page.charset is None and page.site.declared in {"header", "both"}
    return f"text/html; charset={page.site.charset}" if in_header else "text/html"


def _encode(html: str, page: Page) -> bytes:
    if page.charset == "utf-16":
        return codecs.BOM_UTF16_LE + html.encode("utf-16-le")  # the codec "utf-16" would follow the machine
    return html.encode(codec_of(page))


def _cut_at_text_end(page: Page, body: bytes) -> bytes:
    """The body as far as the last line of the page's text."""
    last = lines(page.content)[-1].encode(codec_of(page))
    return body[: body.index(last) + len(last)]


def _chunk(body: bytes) -> bytes:
    """The chunked transfer coding (RFC 9112, section 7.1)."""
    pieces = [body[start : start + CHUNK_BYTES] for start in range(0, len(body), CHUNK_BYTES)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def _stored_gzip(body: bytes) -> bytes:
    """A gzip member of stored blocks (RFC 1951, section 3.2.4): the same bytes whatever zlib is installed."""
    size = 0xFFFF
    pieces = [body[start : start + size] for start in range(0, len(body), size)] or [b""]
    blocks = b"".join(
        struct.pack("<BHH", piece is pieces[-1], len(piece), len(piece) ^ size) + piece for piece in pieces
    )
    return GZIP_HEADER + blocks + gzip_trailer(body)


GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # deflate, no time, operating system unknown (RFC 1952)


def gzip_trailer(data: bytes) -> bytes:
    """What ends a gzip member: the CRC and the length of the plain bytes."""
    return struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)
