"""Small archives made by hand, byte by byte, so that a test can break exactly one thing."""

import gzip
import io

import zstandard

from dedup_lib.archives.faults import ArchiveFault
from dedup_lib.archives.reader import ArchiveReader, ArchiveVerdict
from dedup_lib.archives.records import ArchiveRecord, ReadLimits

HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
ARC_FIELDS = b"1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n"


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


def arc_header():
    return b"filedesc://a.arc 0.0.0.0 20120707221757 text/plain %d\n%s\n" % (len(ARC_FIELDS), ARC_FIELDS)


def arc_record(number, body=None, length=None, url=b"http://site.example/%d", http=HTTP, middle=None):
    body = b"<p>page %d</p>" % number * 20 if body is None else body
    content = http + body
    middle = b"192.0.2.7 20120524061138 text/html" if middle is None else middle
    length = b"%d" % len(content) if length is None else str(length).encode()
    return b"%s %s %s\n%s\n" % (url % number if b"%d" in url else url, middle, length, content)


def member(data):
    return gzip.compress(data, mtime=0)


def frame(data, dictionary=None):
    compressor = zstandard.ZstdCompressor(write_checksum=True, dict_data=dictionary)
    return compressor.compress(data)


def skippable(data, number=0):
    return bytes([0x50 + number]) + b"\x2a\x4d\x18" + len(data).to_bytes(4, "little") + data


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


def read_splits(data, split_bytes, limits=None):
    """The items of all splits in order, their ends and their verdicts."""
    items, ends, verdicts = [], [], []
    for start in range(0, max(len(data), 1), split_bytes):
        reader = ArchiveReader(io.BytesIO(data), len(data), limits, start, min(start + split_bytes, len(data)))
        items += list(reader)
        ends.append(reader.ends)
        verdicts.append(reader.verdict)
    return items, ends, verdicts
