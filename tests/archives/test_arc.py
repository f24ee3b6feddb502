"""ARC files as they were written from 1996 on: read as warcio reads them, and one broken record apart from the next."""

import io
from datetime import UTC, datetime

import pytest
from archive_builder import HTTP, arc_header, arc_record, frame, member, numbers, read, record
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from dedup_lib.archives.arc import is_arc_line
from dedup_lib.archives.faults import Reason
from dedup_lib.archives.reader import Verdict

PACKS = [member, frame, bytes]
RECORDS = [arc_record(number) for number in range(5)]


def as_warcio_reads(data):
    return [
        (item.rec_headers.get_header("uri"), item.content_stream().read())
        for item in ArchiveIterator(io.BytesIO(data))
        if item.rec_type != "arc_header"
    ]


@pytest.mark.parametrize("pack", PACKS)
def test_an_arc_file_gives_its_records_with_their_fields(pack):
    packed = [pack(part) for part in (arc_header(), *RECORDS)]
    records, faults, verdict = read(b"".join(packed))
    assert numbers(records) == [0, 1, 2, 3, 4]
    assert not faults
    assert verdict.verdict is Verdict.COMPLETE
    assert verdict.records_by_type == {"warcinfo": 1, "response": 5}
    second = records[1]
    assert second.offset == len(packed[0] + packed[1])
    assert second.stored_bytes == len(packed[2])
    assert second.date == datetime(2012, 5, 24, 6, 11, 38, tzinfo=UTC)
    assert (second.http_status, second.http_headers.get("content-type")) == (200, "text/html")
    assert second.payload == b"<p>page 1</p>" * 20
    assert second.record_id is None


@pytest.mark.parametrize("pack", [member, bytes])
def test_records_are_those_that_warcio_reads(pack):
    odd = [
        arc_record(0, url=b"http://site.example/a page with spaces/%d"),
        arc_record(1, url="http://site.example/straße/%d".encode()),
        arc_record(2, url=b"http://site.example/stra\xdfe/%d"),
        arc_record(3, body=b""),
        arc_record(4, body=bytes(range(256)) * 300),
        arc_record(5, middle=b"192.0.2.7 20120524061138 no-type"),
    ]
    data = pack(arc_header()) + b"".join(map(pack, odd))
    records, faults, _verdict = read(data)
    assert not faults
    expected = as_warcio_reads(data)
    assert [item.payload for item in records] == [payload for _uri, payload in expected]
    assert [item.target_uri for item in records[3:]] == [uri for uri, _payload in expected[3:]]
    assert records[0].target_uri == "http://site.example/a page with spaces/0"
    assert records[1].target_uri == "http://site.example/straße/1"
    assert records[2].target_uri == "http://site.example/straße/2"


@pytest.mark.parametrize(
    ("middle", "date"),
    [
        (b"192.0.2.7 20120524061138 text/html; charset=big5", datetime(2012, 5, 24, 6, 11, 38, tzinfo=UTC)),
        (b"192.0.2.7 201205240611380000 text/html", datetime(2012, 5, 24, 6, 11, 38, tzinfo=UTC)),
        (b"20120524061138 192.0.2.7 text/html", datetime(2012, 5, 24, 6, 11, 38, tzinfo=UTC)),
        (b"2001:db8::7 20120524061138 text/html", datetime(2012, 5, 24, 6, 11, 38, tzinfo=UTC)),
        (b"None 20120524061138 ", datetime(2012, 5, 24, 6, 11, 38, tzinfo=UTC)),
        (b"192.0.2.7 20120524061138 text/html 200 - - 1234 a.arc.gz", datetime(2012, 5, 24, 6, 11, 38, tzinfo=UTC)),
        (b"192.0.2.7 a0d1fdddf3165d0447b1f7a285c61c1c9 text/html", None),
        (b"192.0.2.7 19000000000000 text/html", None),
        (b"192.0.2.7 99991231235959 text/html", None),
        (b"- - -", None),
    ],
)
def test_header_lines_as_crawlers_wrote_them(middle, date):
    for pack in PACKS:
        data = pack(arc_header()) + pack(arc_record(0)) + pack(arc_record(1, middle=middle)) + pack(arc_record(2))
        records, faults, _verdict = read(data)
        assert numbers(records) == [0, 1, 2]
        assert records[1].date == date
        assert not faults


@pytest.mark.parametrize("length", [90_000, 10, -2046788874, "abc"])
@pytest.mark.parametrize("pack", PACKS)
def test_a_wrong_length_costs_one_record(length, pack):
    parts = [arc_header(), arc_record(0), arc_record(1, length=length), arc_record(2), arc_record(3)]
    records, faults, verdict = read(b"".join(map(pack, parts)))
    assert numbers(records) == [0, 2, 3]
    assert [(fault.reason, fault.url) for fault in faults] == [(Reason.BAD_LENGTH, "http://site.example/1")]
    assert verdict.verdict is Verdict.DAMAGED


def test_a_slice_from_the_middle_of_an_arc_file_needs_no_file_header():
    for pack in PACKS:
        records, faults, verdict = read(b"".join(map(pack, RECORDS[2:])))
        assert numbers(records) == [2, 3, 4]
        assert not faults
        assert verdict.verdict is Verdict.COMPLETE


def test_records_without_http_are_resources_or_rejects():
    lookup = arc_record(0, url=b"dns:site.example", http=b"", middle=b"192.0.2.1 20120524061138 text/dns")
    bare = arc_record(1, http=b"")
    records, faults, _verdict = read(arc_header() + lookup + bare + arc_record(2))
    assert [(item.record_type, item.content_type) for item in records] == [
        ("resource", "text/dns"),
        ("response", "application/http"),
    ]
    assert [(fault.reason, fault.url) for fault in faults] == [(Reason.BAD_HTTP, "http://site.example/1")]


def test_windows_line_ends_throughout_the_file():
    http = HTTP.replace(b"\r\n", b"\n")
    parts = [arc_header(), *(arc_record(number, body=b"<p>a</p>\n" * number, http=http) for number in range(5))]
    for pack in PACKS:
        data = b"".join(pack(part.replace(b"\n", b"\r\n")) for part in parts)
        records, faults, verdict = read(data)
        assert numbers(records) == [0, 1, 2, 3, 4]
        assert records[3].payload == b"<p>a</p>\r\n" * 3
        assert not faults
        assert verdict.verdict is Verdict.COMPLETE


def test_windows_line_ends_on_top_of_those_of_a_warc():
    data = b"".join(record(number, body=b"<p>a</p>\n" * number).replace(b"\n", b"\r\n") for number in range(5))
    records, faults, _verdict = read(data)
    assert numbers(records) == [0, 1, 2, 3, 4]
    assert not faults


def test_a_file_cut_inside_a_record_is_truncated():
    data = arc_header() + b"".join(RECORDS)
    records, faults, verdict = read(data[:-100])
    assert numbers(records) == [0, 1, 2, 3]
    assert [(fault.reason, fault.url) for fault in faults] == [(Reason.TRUNCATED_RECORD, "http://site.example/4")]
    assert verdict.verdict is Verdict.TRUNCATED


@settings(max_examples=300, deadline=None)
@given(st.integers(0, sum(map(len, RECORDS)) - 1), st.integers(1, 255))
def test_one_changed_byte_costs_at_most_its_own_record(place, mask):
    data = bytearray(b"".join(RECORDS))
    data[place] ^= mask
    ends = [sum(map(len, RECORDS[: number + 1])) for number in range(5)]
    changed = next(number for number in range(5) if place < ends[number])
    lost = {changed, changed + 1} if place == ends[changed] - 1 else {changed}  # a line end is that of both
    records, _faults, _verdict = read(arc_header() + bytes(data))
    intact = {item.payload for item in records}
    assert all(b"<p>page %d</p>" % number * 20 in intact for number in range(5) if number not in lost)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([*RECORDS, arc_header(), RECORDS[0][:70], b"\n", b"http://a.example/ 192.0.2.1 "])))
def test_no_arc_raises(parts):
    read(b"".join(parts))
    read(member(b"".join(parts)))


def test_a_line_without_a_date_and_an_address_is_no_header():
    assert is_arc_line(b"http://site.example/ 192.0.2.7 20120524061138 text/html 20\n")
    assert not is_arc_line(b"http://site.example/ is a page of 20120524061138 bytes 20\n")
    assert not is_arc_line(b"Server: Apache 192.0.2.7 200\n")
    assert not is_arc_line(b"http://site.example/ 192.0.2.7 20120524061138 text/html 20")
