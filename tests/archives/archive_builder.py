"""Small archives made by hand, byte by byte, so that a test can break exactly one thing."""

import gzip
import io

from dedup_lib.archives.faults import ArchiveFault
from dedup_lib.archives.reader import ArchiveReader, ArchiveVerdict
from dedup_lib.archives.records import ArchiveRecord, ReadLimits

HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def record(number, body=None, record_type="response", length=None, http=HTTP, eol=b"\r\n", target=True, extra=b""):
    body = b"<p>page %d</p>" % number * 20 if body is None else body
    content = http.replace(b"\r\n", eol) + body
    lines = [
        b"WARC/1.0",
        b"WARC-Type: " + record_type.encode(),
        b"WARC-Record-ID: <urn:uuid:%08d>" % number,
        b"WARC-Date: 2024-05-18T01:58:10Z",
        b"Content-Type: application/http; msgtype=response",
        b"Content-Length: " + (b"%d" % len(content) if length is None else str(length).encode()),
    ]
    if target:
        lines.append(b"WARC-Target-URI: http://site.example/%d" % number)
    if extra:
        lines.append(extra)
    return eol.join(lines) + eol * 2 + content + eol * 2


def member(data):
    return gzip.compress(data, mtime=0)


def read(data, limits=None, size=None):
    reader = ArchiveReader(io.BytesIO(data), len(data) if size is None else size, limits or ReadLimits())
    items = list(reader)
    records = [item for item in items if isinstance(item, ArchiveRecord)]
    faults = [item for item in items if isinstance(item, ArchiveFault)]
    verdict: ArchiveVerdict = reader.verdict
    assert sum(verdict.faults_by_reason.values()) == len(faults)
    return records, faults, verdict


def numbers(records):
    return [int(item.target_uri.rsplit("/", 1)[1]) for item in records]
