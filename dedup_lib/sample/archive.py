"""Writes captures as WARC.gz files: warcinfo, then request, response and now and then metadata, one member each.

Record ids and dates come from the plan. The plain bytes are the same everywhere. The compressed ones rest on zlib: a
Python built with another implementation (zlib-ng) compresses the same records to other bytes.
"""

import hashlib
import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from dedup_lib.sample.captures import STARTS, Capture, record_id
from dedup_lib.sample.dice import Dice
from dedup_lib.sample.responses import GZIP_HEADER, Response, gzip_trailer, respond

FILES_PER_SNAPSHOT = 4
COMPRESSION_LEVEL = 6
METADATA_CHANCE = 0.2
CUT_FRACTION = 0.6  # of the last member of a file that ends too early
REVISIT_PROFILE = "http://netpreserve.org/warc/1.0/revisit/server-not-modified"


@dataclass(frozen=True)
class WrittenFile:
    """An archive that was written: its path, the records begun in it, and the SHA-256 of their plain bytes."""

    path: Path
    records: int
    bytes: int
    content_sha256: str


def write_snapshot(directory: Path, snapshot: str, captures: Sequence[Capture]) -> list[WrittenFile]:
    """Writes the captures of a snapshot round robin to its files; a capture of kind `cut` ends the last file."""
    directory.mkdir(parents=True, exist_ok=True)
    cut = [capture for capture in captures if capture.page.kind == "cut"]
    whole = [capture for capture in captures if capture.page.kind != "cut"]
    shares = [whole[number::FILES_PER_SNAPSHOT] for number in range(FILES_PER_SNAPSHOT)]
    shares[-1] += cut
    return [_write_file(directory, snapshot, number, share) for number, share in enumerate(shares)]


def _write_file(directory: Path, snapshot: str, number: int, captures: Sequence[Capture]) -> WrittenFile:
    path = directory / f"{snapshot}-{STARTS[snapshot]:%Y%m%d}-{number:05d}.warc.gz"
    digest = hashlib.sha256()
    records = 0
    size = 0
    with path.open("wb") as file:
        for plain, cut in _plain_records(snapshot, path.name, captures):
            digest.update(plain)
            member = _gzip_member(plain)
            size += file.write(member[: int(len(member) * CUT_FRACTION)] if cut else member)
            records += 1
    return WrittenFile(path, records, size, digest.hexdigest())


def _gzip_member(plain: bytes) -> bytes:
    """One gzip member without time and operating system, which would differ from machine to machine."""
    compressor = zlib.compressobj(COMPRESSION_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return GZIP_HEADER + compressor.compress(plain) + compressor.flush() + gzip_trailer(plain)


def _plain_records(snapshot: str, filename: str, captures: Sequence[Capture]) -> Iterator[tuple[bytes, bool]]:
    """Each record as plain bytes, and whether its file ends in the middle of it."""
    info = "software: crawl-dedup sample\r\nformat: WARC File Format 1.0\r\n" + f"isPartOf: {snapshot}\r\n"
    identity = _identity(record_id(snapshot, "warcinfo", filename), STARTS[snapshot])
    yield _serialise("warcinfo", None, {**identity, "WARC-Filename": filename}, payload=info.encode()), False
    for capture in captures:
        yield _request(capture), False
        if capture.page.kind == "revisit":
            yield _revisit(capture), False
            continue
        yield _response(capture, respond(capture)), capture.page.kind == "cut"
        if capture.page.kind != "cut" and Dice("metadata", capture.record_id).chance(METADATA_CHANCE):
            yield _metadata(capture), False


def _identity(identifier: str, moment: datetime) -> dict[str, str]:
    return {"WARC-Record-ID": identifier, "WARC-Date": f"{moment:%Y-%m-%dT%H:%M:%SZ}"}


def _companion(capture: Capture, kind: str) -> dict[str, str]:
    """The WARC headers of a record that goes with the capture's response."""
    identity = _identity(record_id(capture.record_id, kind), capture.fetched_at)
    return {**identity, "WARC-Concurrent-To": capture.record_id}


def _request(capture: Capture) -> bytes:
    host, path = capture.page.url.split("://", 1)[1].split("#", 1)[0].split("/", 1)
    headers = [("Host", host), ("User-Agent", "sample-crawler/1.0"), ("Accept", "text/html")]
    http = StatusAndHeaders(f"GET /{path} HTTP/1.1", headers, is_http_request=True)
    return _serialise("request", capture.page.url, _companion(capture, "request"), http=http)


def _response(capture: Capture, response: Response) -> bytes:
    warc = _identity(capture.record_id, capture.fetched_at)
    if response.cut:
        warc["WARC-Truncated"] = "length"
    http = StatusAndHeaders(response.status, list(response.headers), protocol="HTTP/1.1")
    return _serialise("response", capture.page.url, warc, http=http, payload=response.body)


def _revisit(capture: Capture) -> bytes:
    """A page that the server called not modified: no body, a reference to the earlier capture."""
    if capture.original_record_id is None or capture.original_fetched_at is None:
        raise ValueError(f"the revisit of {capture.page.url} refers to nothing")
    response = respond(capture)
    warc = {
        **_identity(capture.record_id, capture.fetched_at),
        "WARC-Profile": REVISIT_PROFILE,
        "WARC-Refers-To": capture.original_record_id,
        "WARC-Refers-To-Target-URI": capture.page.url,
        "WARC-Refers-To-Date": f"{capture.original_fetched_at:%Y-%m-%dT%H:%M:%SZ}",
    }
    http = StatusAndHeaders(response.status, list(response.headers), protocol="HTTP/1.1")
    return _serialise("revisit", capture.page.url, warc, http=http)


def _metadata(capture: Capture) -> bytes:
    fetch_milliseconds = Dice("fetch", capture.record_id).between(20, 900)
    fields = f"fetchTimeMs: {fetch_milliseconds}\r\nlanguages-cld2: {capture.page.site.language}\r\n"
    return _serialise("metadata", capture.page.url, _companion(capture, "metadata"), payload=fields.encode())


def _serialise(
    kind: str, url: str | None, warc: Mapping[str, str], http: StatusAndHeaders | None = None, payload: bytes = b""
) -> bytes:
    """The record as warcio writes it, not compressed."""
    buffer = io.BytesIO()
    writer = WARCWriter(buffer, gzip=False)
    record = writer.create_warc_record(
        url or "", kind, payload=io.BytesIO(payload), length=len(payload), warc_headers_dict=warc, http_headers=http
    )
    writer.write_record(record)
    return buffer.getvalue()
