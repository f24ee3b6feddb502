"""Takes Transfer-Encoding and Content-Encoding off an HTTP body, and does not believe them where they lie.

Many archives store bodies already decoded and keep the headers (all of Common Crawl before August 2018, CC-NEWS
before May 2019, pywb): a header that does not fit leaves the bytes as they are, with a note. No body raises.
"""

import re
import zlib
from dataclasses import dataclass

import brotli  # type: ignore[import-untyped, unused-ignore]
import zstandard

from dedup_lib.archives.faults import Reason
from dedup_lib.archives.sources import GZIP_MAGIC

MAX_BODY_BYTES = 64 << 20
MAX_RATIO = 250  # decoded to stored; repetitive pages reach 50, a bomb of deflate 1,032
RATIO_FREE_BYTES = 8 << 20  # what may come out of any body, however small
MAX_ZSTD_WINDOW_BYTES = 8 << 20  # RFC 9659, section 3: more may be refused in a content coding
MAX_CODINGS = 4  # nobody means more; each costs a pass

_CHUNK_HEAD = re.compile(rb"[ \t\r\n]{0,4}([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]{0,4096})?\r?\n")
_STEP_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Decoded:
    """A body without its codings. `notes` has a reason for each header that lied; if `too_large`, the body is empty."""

    body: bytes
    notes: tuple[Reason, ...] = ()

    @property
    def too_large(self) -> bool:
        """Whether the decoded body exceeds the cap."""
        return Reason.TOO_LARGE in self.notes


class TooLargeError(Exception):
    """The decoded body exceeds the cap."""


def decode_body(
    payload: bytes,
    transfer_encoding: str | None,
    content_encoding: str | None,
    limit: int = MAX_BODY_BYTES,
    max_ratio: int = MAX_RATIO,
) -> Decoded:
    """Decodes `payload` as RFC 9112 (section 7) and RFC 9110 (section 8.4) say; at most `limit` bytes come out.

    More than `RATIO_FREE_BYTES` come out only of a body that has a `max_ratio`-th of them.

    Known codings: chunked, gzip, deflate (with or without the zlib wrapper), br, zstd. A body that is gzip without
    saying so is decoded too. What can be decoded of a body that is cut off is kept.
    """
    if len(payload) > limit:
        return Decoded(b"", (Reason.TOO_LARGE,))
    limit = min(limit, max(RATIO_FREE_BYTES, max_ratio * len(payload)))
    notes: list[Reason] = []
    transfer, content = _codings(transfer_encoding), _codings(content_encoding)
    body = payload
    if "chunked" in transfer:
        body, sound = _dechunk(body)
        if not sound:
            notes.append(Reason.BAD_CHUNKING)
    codings = [coding for coding in content + transfer if coding not in {"chunked", "identity", "none", "binary"}]
    if not codings and body.startswith(GZIP_MAGIC):
        codings = ["unstated-gzip"]
    try:
        for coding in reversed(codings[:MAX_CODINGS]):
            plain = _decode(body, coding, limit)
            if plain is not None:
                body = plain
            elif coding != "unstated-gzip":
                notes.append(Reason.BAD_ENCODING)
    except TooLargeError:
        return Decoded(b"", (*notes, Reason.TOO_LARGE))
    return Decoded(body, tuple(notes))


def _codings(value: str | None) -> list[str]:
    return [coding.strip().lower() for coding in value.split(",") if coding.strip()] if value else []


def _dechunk(body: bytes) -> tuple[bytes, bool]:
    """Joins the chunks; False tells that one was malformed. What does not begin with a chunk comes back whole."""
    chunks: list[bytes] = []
    at = 0
    while at < len(body):
        head = _CHUNK_HEAD.match(body, at)
        if head is None:
            rest = body[at:] if body[at:].strip() else b""
            return b"".join((*chunks, rest)), not rest
        size = int(head[1], 16)
        if size == 0:
            break  # trailers may follow; nothing in them is of the body
        chunks.append(body[head.end() : head.end() + size])
        at = head.end() + size
    return b"".join(chunks), True


def _decode(body: bytes, coding: str, limit: int) -> bytes | None:
    """The body without one coding, or None if it is not in that coding."""
    if coding in {"gzip", "x-gzip", "unstated-gzip"}:
        return _inflate(body, 31, limit, whole=coding == "unstated-gzip")
    if coding == "deflate":  # RFC 9110, section 8.4.1.2: some send it without the zlib wrapper
        plain = _inflate(body, zlib.MAX_WBITS, limit, whole=False)
        return _inflate(body, -zlib.MAX_WBITS, limit, whole=True) if plain is None else plain
    if coding == "br":
        return _unbrotli(body, limit)
    return _unzstd(body, limit) if coding == "zstd" else None


def _inflate(body: bytes, wbits: int, limit: int, whole: bool) -> bytes | None:
    """Inflates a body; without `whole`, what comes before damage or a cut counts as well."""
    inflater = zlib.decompressobj(wbits)
    parts: list[bytes] = []
    held = 0
    data = body
    try:
        while data and not inflater.eof:
            parts.append(inflater.decompress(data, _STEP_BYTES))
            held += len(parts[-1])
            if held > limit:
                raise TooLargeError
            data = inflater.unconsumed_tail
    except zlib.error:
        return b"".join(parts) if held and not whole else None
    return b"".join(parts) if inflater.eof or (held and not whole) else None


def _unbrotli(body: bytes, limit: int) -> bytes | None:
    decompressor = brotli.Decompressor()
    parts: list[bytes] = []
    held = 0
    data = body
    try:
        while not decompressor.is_finished():
            part = decompressor.process(data, output_buffer_limit=_STEP_BYTES)
            data = b""
            parts.append(part)
            held += len(part)
            if held > limit:
                raise TooLargeError
            if not part and decompressor.can_accept_more_data():
                break  # the body is cut off
    except brotli.error:
        return b"".join(parts) or None
    return b"".join(parts) or None


def _unzstd(body: bytes, limit: int) -> bytes | None:
    decompressor = zstandard.ZstdDecompressor(max_window_size=MAX_ZSTD_WINDOW_BYTES)
    parts: list[bytes] = []
    held = 0
    try:
        with decompressor.stream_reader(body, read_across_frames=True) as reader:
            while part := reader.read(_STEP_BYTES):
                parts.append(part)
                held += len(part)
                if held > limit:
                    raise TooLargeError
    except zstandard.ZstdError:
        pass  # not zstd, or damaged: what came before stays
    return b"".join(parts) or None
