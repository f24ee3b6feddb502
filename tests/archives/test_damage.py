"""Kinds of damage inside records: what is lost is named, with its id where the header still tells it."""

import time
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from archive_builder import HTTP, arc_record, frame, member, numbers, read, record

from dedup_lib.archives.faults import Reason
from dedup_lib.archives.headers import capture_date
from dedup_lib.archives.reader import Verdict

PACKS = [member, frame, bytes]


def without(part, field):
    """The record without a header line."""
    start = part.index(field)
    return part[:start] + part[part.index(b"\n", start) + 1 :]


@pytest.mark.parametrize("pack", PACKS)
def test_a_record_without_content_length_is_one_fault_with_its_id(pack):
    data = pack(record(0)) + pack(without(record(1), b"Content-Length")) + pack(record(2))
    records, faults, verdict = read(data)
    assert numbers(records) == [0, 2]
    assert [(fault.reason, fault.record_id) for fault in faults] == [(Reason.BAD_LENGTH, "<urn:uuid:00000001>")]
    assert verdict.verdict is Verdict.DAMAGED


@pytest.mark.parametrize("pack", PACKS)
def test_header_lines_that_are_no_fields_are_passed_over(pack):
    junk = b"this is no field\r\n: neither is this\r\n\xff\xfe\x00:\r\n  folded\r\nX-Odd : spaced"
    records, faults, _verdict = read(pack(record(0, extra=junk)) + pack(record(1)))
    assert numbers(records) == [0, 1]
    assert not faults


@pytest.mark.parametrize("pack", PACKS)
def test_a_header_of_junk_is_one_fault(pack):
    data = pack(record(0)) + pack(b"WARC/1.0\r\n\xff\xfe\x00 junk\r\n\r\nwhatever\r\n\r\n") + pack(record(2))
    records, faults, _verdict = read(data)
    assert numbers(records) == [0, 2]
    assert [fault.reason for fault in faults] == [Reason.BAD_HEADER]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"2024-05-18T01:58:10Z", datetime(2024, 5, 18, 1, 58, 10, tzinfo=UTC)),
        (b"2024-05-18T03:58:10.5+02:00", datetime(2024, 5, 18, 1, 58, 10, 500000, tzinfo=UTC)),
        (b"2016", datetime(2016, 1, 1, tzinfo=UTC)),
        (b"1970-01-01T00:00:00Z", None),
        (b"0001-01-01T00:00:00+14:00", None),
        (b"9999-12-31T23:59:59Z", None),
        (b"99999-12-31T23:59:59Z", None),
        (b"2024-02-30T00:00:00Z", None),
        (b"2024-05-18T25:61:61Z", None),
        (b"Sat, 18 May 2024 01:58:10 GMT", None),
        (b"yesterday", None),
        (b"", None),
        (b"\xff\xff", None),
    ],
)
def test_absurd_dates_are_none_and_cost_no_record(value, expected):
    data = member(record(0).replace(b"2024-05-18T01:58:10Z", value)) + member(record(1))
    records, faults, _verdict = read(data)
    assert numbers(records) == [0, 1]
    assert records[0].date == expected
    assert not faults


def test_clocks_before_the_web_and_after_this_century_are_off():
    assert capture_date("1988-12-31T23:59:59Z") is None
    assert capture_date("1989-01-01T00:00:00Z") == datetime(1989, 1, 1, tzinfo=UTC)
    assert capture_date("2100-01-01T00:00:00Z") is None


@pytest.mark.parametrize(
    "uri",
    [
        "http://site.example/a b  c",
        "http://site.example/straße/例え?q=ü",
        "http://bücher.example/",
        "urn:x-wget:log of a crawl",
    ],
)
def test_names_with_spaces_and_letters_of_any_script_come_as_they_are(uri):
    for stored in (uri, f"<{uri}>", f"  {uri}\t"):
        part = record(0).replace(b"http://site.example/0", stored.encode())
        records, faults, _verdict = read(member(part) + member(record(1)))
        assert records[0].target_uri == uri
        assert len(records) == 2
        assert not faults


def test_a_name_that_is_not_utf_8_is_read_as_latin_1():
    part = record(0).replace(b"http://site.example/0", b"http://site.example/caf\xe9")
    assert read(member(part))[0][0].target_uri == "http://site.example/café"


@pytest.mark.parametrize(
    "http", [b"", b"<html>", b"HTTP", b"HTTP/1.1\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"200 OK\r\n\r\n"]
)
def test_a_response_without_a_status_line_is_bad_http_with_its_id(http):
    data = member(record(0)) + member(record(1, http=http)) + member(record(2))
    records, faults, verdict = read(data)
    assert numbers(records) == [0, 2]
    assert [(fault.reason, fault.record_id) for fault in faults] == [(Reason.BAD_HTTP, "<urn:uuid:00000001>")]
    assert verdict.verdict is Verdict.COMPLETE


def test_http_headers_that_never_end_leave_an_empty_body():
    records, _faults, _verdict = read(member(record(0, http=b"HTTP/1.1 200 OK\r\nServer: a", body=b"")))
    assert (records[0].http_status, records[0].payload) == (200, b"")


def test_a_conversion_record_is_the_text_of_a_page():
    part = record(0, record_type="conversion", http=b"", body="Größe\n例え\n".encode())
    part = part.replace(b"application/http; msgtype=response", b"text/plain")
    for pack in PACKS:
        records, faults, verdict = read(pack(part) + pack(record(1)))
        assert (records[0].record_type, records[0].http_status) == ("conversion", None)
        assert records[0].content_type == "text/plain"
        assert records[0].payload.decode() == "Größe\n例え\n"
        assert verdict.records_by_type == {"conversion": 1, "response": 1}
        assert not faults


@pytest.mark.parametrize("cuts", [[50], [200, 230], [len(record(1)) - 2]])
def test_a_record_whose_gzip_members_were_cut_in_the_wrong_places_is_one_record(cuts):
    ends = [0, *cuts, len(record(1))]
    pieces = [member(record(1)[start:end]) for start, end in pairwise(ends)]
    data = member(record(0)) + b"".join(pieces) + member(record(2))
    records, faults, _verdict = read(data)
    assert numbers(records) == [0, 1, 2]
    assert records[1].payload == b"<p>page 1</p>" * 20
    assert records[1].stored_bytes in {len(b"".join(pieces)), len(pieces[0])}
    assert {fault.reason for fault in faults} <= {Reason.GARBAGE}


def test_a_damaged_second_member_costs_the_record_and_not_the_next():
    pieces = [member(record(1)[:100]), bytearray(member(record(1)[100:]))]
    pieces[1][20] ^= 0xFF
    records, faults, _verdict = read(member(record(0)) + b"".join(pieces) + member(record(2)))
    assert numbers(records) == [0, 2]
    assert [fault.reason for fault in faults] == [Reason.DAMAGED_MEMBER]


def test_http_header_names_are_found_whatever_their_line_ends():
    http = HTTP.replace(b"\r\n\r\n", b"\nLocation: /b\r\nX:1\n\n")
    records, _faults, _verdict = read(member(record(0, http=http)))
    assert records[0].http_headers.get("location") == "/b"


@pytest.mark.parametrize("pack", PACKS)
@pytest.mark.parametrize("write", [record, arc_record])
@pytest.mark.parametrize("broken", [b"\0" * 12, b"o\xffps"])
def test_a_damaged_head_does_not_hide_what_kind_of_archive_it_is(pack, write, broken):
    first = pack(write(0, body=b"<p>x</p>" * 40))
    data = broken + first[len(broken) :] + b"".join(pack(write(number)) for number in range(1, 5))
    records, faults, verdict = read(data)
    assert numbers(records) == [1, 2, 3, 4]
    assert faults[0].offset == 0
    assert verdict.verdict is Verdict.DAMAGED


@pytest.mark.parametrize(
    "junk",
    [b"WARC/1.0\r\nA: b\r\n" * 100_000, b"\x1f\x8b\x08" * 200_000, b"\x28\xb5\x2f\xfd" * 100_000],
    ids=["headers without end", "gzip magic", "zstd magic"],
)
@pytest.mark.parametrize("before", [b"", b"@@@"])
def test_junk_that_looks_like_records_takes_time_in_proportion(junk, before):
    started = time.process_time()
    assert not read(before + junk)[0]
    assert time.process_time() - started < 20  # a second or two; a minute and more if each look went to the end
