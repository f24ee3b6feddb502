"""Public bug reports about reading web archives, each as its smallest input: what other readers got wrong.

The numbers are those of the list in research/archives.md, section 2; reports about text, storage and clustering are
tests of those rooms.
"""

import gzip
import io
import random
import time
import tracemalloc
import zlib

import brotli
import pytest
from archive_builder import HTTP, arc_record, frame, member, numbers, read, record

from dedup_lib.archives.faults import Reason
from dedup_lib.archives.http import decode_body
from dedup_lib.archives.reader import ArchiveReader, Verdict

NOISE = random.Random(1).randbytes(4000)


def body_of(item):
    headers = item.http_headers
    return decode_body(item.payload, headers.joined("transfer-encoding"), headers.joined("content-encoding"))


def with_headers(*lines):
    return b"\r\n".join([b"HTTP/1.1 200 OK", b"Content-Type: text/html", *lines]) + b"\r\n\r\n"


def test_1_a_brotli_body_is_read():
    """webrecorder/warcio 73"""
    data = member(record(0, body=brotli.compress(b"<p>hi</p>"), http=with_headers(b"Content-Encoding: br")))
    (item,) = read(data)[0]
    assert body_of(item).body == b"<p>hi</p>"


def test_2_an_archive_without_its_last_800_bytes_is_truncated():
    """webrecorder/warcio 138"""
    data = b"".join(member(record(number, body=NOISE)) for number in range(5))[:-800]
    records, faults, verdict = read(data)
    assert numbers(records) == [0, 1, 2, 3]
    assert [fault.reason for fault in faults] == [Reason.TRUNCATED_MEMBER]
    assert faults[0].url == "http://site.example/4"
    assert verdict.verdict is Verdict.TRUNCATED


def test_3_a_clipped_member_ends_in_bounded_time():
    """chatnoir-eu/chatnoir-resiliparse 6"""
    started = time.process_time()
    _records, faults, verdict = read(member(record(0, body=random.Random(2).randbytes(40_000)))[:18_184])
    assert time.process_time() - started < 5
    assert [fault.reason for fault in faults] == [Reason.TRUNCATED_MEMBER]
    assert verdict.verdict is Verdict.TRUNCATED


@pytest.mark.parametrize("pack", [member, frame])
def test_4_one_member_for_the_whole_archive_is_read_and_marked_as_not_addressable(pack):
    """JMMackenzie/CC-News-Tools 7, webrecorder/pywb 48, bitextor/bitextor 155"""
    records, faults, verdict = read(pack(record(0) + record(1)))
    assert numbers(records) == [0, 1]
    assert [item.stored_bytes for item in records] == [None, None]
    assert not faults
    assert verdict.verdict is Verdict.COMPLETE


def test_5_a_body_that_says_gzip_is_unpacked_if_it_is_and_kept_if_not():
    """archivesunleashed/aut 493"""
    http = with_headers(b"Content-Encoding: gzip")
    data = member(record(0, body=gzip.compress(b"<p>hi</p>"), http=http)) + member(record(1, b"<p>hi</p>", http=http))
    bodies = [body_of(item) for item in read(data)[0]]
    assert [decoded.body for decoded in bodies] == [b"<p>hi</p>"] * 2
    assert [decoded.notes for decoded in bodies] == [(), (Reason.BAD_ENCODING,)]


def test_6_headers_kept_on_a_decoded_body_change_nothing():
    """commoncrawl/news-crawl 30"""
    http = with_headers(b"Content-Encoding: gzip", b"Transfer-Encoding: chunked", b"Content-Length: 17")
    (item,) = read(member(record(0, body=b"<p>much longer than 17</p>", http=http)))[0]
    decoded = body_of(item)
    assert decoded.body == b"<p>much longer than 17</p>"
    assert set(decoded.notes) == {Reason.BAD_CHUNKING, Reason.BAD_ENCODING}


def test_7_a_chunked_header_on_a_body_that_is_not_harms_no_record_after_it():
    """webrecorder/pywb 584"""
    chunked = member(record(0, body=b'{"a":1}', http=with_headers(b"Transfer-Encoding: chunked")))
    records, faults, _verdict = read(chunked + member(record(1)) + member(record(2)))
    assert numbers(records) == [0, 1, 2]
    assert body_of(records[0]).body == b'{"a":1}'
    assert not faults


def test_8_eight_changed_bytes_in_one_of_343_members_cost_one_record():
    """archivesunleashed/aut 267 and 271"""
    members = [member(record(number, body=NOISE[number : number + 900])) for number in range(343)]
    offset = sum(map(len, members[:120]))
    members[120] = members[120][:300] + b"\x55" * 8 + members[120][308:]
    records, faults, verdict = read(b"".join(members))
    assert numbers(records) == [number for number in range(343) if number != 120]
    assert [(fault.offset, fault.reason) for fault in faults] == [(offset, Reason.DAMAGED_MEMBER)]
    assert verdict.verdict is Verdict.DAMAGED


@pytest.mark.parametrize("data", [b"", member(b""), frame(b"")])
def test_9_a_file_of_nothing_is_empty(data):
    """ukwa/webarchive-discovery 100"""
    records, faults, verdict = read(data)
    assert not records
    assert not faults
    assert verdict.verdict is Verdict.EMPTY


def test_10_an_empty_member_in_front_does_not_end_the_file():
    """internetarchive/warctools 21"""
    records, faults, verdict = read(member(b"") + member(record(0)) + member(b"") + member(record(1)))
    assert numbers(records) == [0, 1]
    assert not faults
    assert verdict.verdict is Verdict.COMPLETE


class Sparse(io.RawIOBase):
    """A record of 3 GiB between two small ones, of which only the ends are stored."""

    def __init__(self, before, hole_bytes, after):
        self.before, self.after, self.hole_bytes, self.position = before, after, hole_bytes, 0
        self.size = len(before) + hole_bytes + len(after)

    def seekable(self):
        return False

    def read(self, size=-1):
        start, self.position = self.position, min(self.position + size, self.size)
        if len(self.before) <= start and self.position <= len(self.before) + self.hole_bytes:
            return bytes(self.position - start)
        hole_end = len(self.before) + self.hole_bytes
        head = self.before[start : self.position]
        zeros = max(0, min(self.position, hole_end) - max(start, len(self.before)))
        tail = self.after[max(0, start - hole_end) : max(0, self.position - hole_end)]
        return head + bytes(zeros) + tail


@pytest.mark.parametrize("gigabytes", [0.5, pytest.param(3, marks=pytest.mark.slow)])
def test_15_a_record_of_gigabytes_is_passed_over_by_its_declared_length(gigabytes):
    """archivesunleashed/aut 317, lintool/warcbase 246"""
    hole = int(gigabytes * (1 << 30))
    huge = record(1, body=b"").replace(b"Content-Length: 44", b"Content-Length: %d" % (44 + hole))
    stream = Sparse(record(0) + huge[:-4], hole, b"\r\n\r\n" + record(2))
    reader = ArchiveReader(stream, stream.size)
    tracemalloc.start()
    items = list(reader)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert numbers(items[::2]) == [0, 2]
    assert (items[1].reason, items[1].url, items[1].record_id) == (
        Reason.TOO_LARGE,
        "http://site.example/1",
        "<urn:uuid:00000001>",
    )
    assert peak < 20_000_000
    assert reader.verdict.verdict is Verdict.COMPLETE


def test_15_a_body_of_100_kilobytes_that_unpacks_to_100_megabytes_is_too_large():
    """archivesunleashed/aut 317, lintool/warcbase 246"""
    bomb = gzip.compress(bytes(100_000_000))
    assert len(bomb) < 100_000
    (item,) = read(member(record(0, body=bomb, http=with_headers(b"Content-Encoding: gzip"))))[0]
    tracemalloc.start()
    decoded = body_of(item)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert decoded.too_large
    assert peak < 40_000_000


def test_15_a_member_that_unpacks_to_a_gigabyte_is_too_large():
    """archivesunleashed/aut 317, lintool/warcbase 246"""
    head = record(1, body=b"").replace(b"Content-Length: 44", b"Content-Length: 300000044")[:-4]
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = packer.compress(head) + b"".join(packer.compress(bytes(1_000_000)) for _ in range(300))
    bomb += packer.compress(b"\r\n\r\n") + packer.flush()
    records, faults, verdict = read(member(record(0)) + bomb + member(record(2)))
    assert numbers(records) == [0, 2]
    assert [(fault.reason, fault.url) for fault in faults] == [(Reason.TOO_LARGE, "http://site.example/1")]
    assert verdict.verdict is Verdict.COMPLETE


def test_17_a_page_that_the_crawler_cut_says_so_and_keeps_its_bytes():
    """centic9/CommonCrawlDocumentDownload 28, commoncrawl/news-crawl 31"""
    body = (b"<p>text</p>" * 100_000)[: 1 << 20]
    cut = record(0, body=body, extra=b"WARC-Truncated: length")
    of_2012 = arc_record(2, body=body, http=with_headers(b"x-commoncrawl-ContentTruncated: ContentTruncatedInDownload"))
    records, faults, _verdict = read(member(cut) + member(record(1, body=body)) + member(of_2012))
    assert [item.truncated for item in records] == ["length", None, "ContentTruncatedInDownload"]
    assert [len(item.payload) for item in records] == [1 << 20] * 3
    assert records[0].content_length == len(HTTP) + (1 << 20)
    assert not faults
