"""One small archive for each defect: what is whole is read, what is not is named, the file gets its verdict."""

import tracemalloc
import zlib
from datetime import UTC, datetime
from io import BytesIO

import pytest
from archive_builder import HTTP, frame, member, numbers, read, record, skippable
from fastwarc.warc import ArchiveIterator, WarcRecordType
from warcio.warcwriter import WARCWriter

from dedup_lib.archives.faults import Reason
from dedup_lib.archives.reader import ArchiveReader, Verdict
from dedup_lib.archives.records import ReadLimits
from dedup_lib.archives.stored import KEEP_BYTES

MEMBERS = [member(record(number)) for number in range(5)]


def test_a_sound_archive_gives_every_record_with_its_fields():
    records, faults, verdict = read(b"".join(MEMBERS))
    assert numbers(records) == [0, 1, 2, 3, 4]
    assert not faults
    assert verdict.verdict is Verdict.COMPLETE
    assert verdict.records_by_type == {"response": 5}
    assert verdict.bytes_read == verdict.size == len(b"".join(MEMBERS))
    third = records[2]
    assert third.offset == len(MEMBERS[0]) + len(MEMBERS[1])
    assert third.stored_bytes == len(MEMBERS[2])
    assert third.date == datetime(2024, 5, 18, 1, 58, 10, tzinfo=UTC)
    assert third.record_id == "<urn:uuid:00000002>"
    assert third.http_status == 200
    assert third.http_headers.get("content-type") == "text/html"
    assert third.payload == b"<p>page 2</p>" * 20
    assert third.content_length == len(HTTP) + len(third.payload)


def test_archives_of_warcio_read_as_fastwarc_reads_them():
    stream = BytesIO()
    writer = WARCWriter(stream, gzip=True)
    writer.write_record(writer.create_warcinfo_record("a.warc.gz", {"software": "test"}))
    for number in range(3):
        body = BytesIO(HTTP + b"x" * number * 70_000)
        writer.write_record(writer.create_warc_record(f"http://site.example/{number}", "response", payload=body))
    stream.seek(0)
    expected = [
        (item.stream_pos, item.record_id, item.reader.read())
        for item in ArchiveIterator(stream, record_types=WarcRecordType.response)
    ]
    records, faults, verdict = read(stream.getvalue())
    ours = [(item.offset, item.record_id, item.payload) for item in records]
    assert [item[2] for item in ours] == [item[2] for item in expected]
    assert [item[0] for item in ours] == [item[0] for item in expected]
    assert verdict.records_by_type == {"warcinfo": 1, "response": 3}
    assert not faults


@pytest.mark.parametrize("data", [b"", member(b""), member(b"") * 3])
def test_nothing_in_the_file_is_empty(data):
    assert read(data)[1:] == ([], read(data)[2])
    assert read(data)[2].verdict is Verdict.EMPTY


def test_an_empty_member_does_not_end_the_file():
    records, faults, verdict = read(MEMBERS[0] + member(b"") + MEMBERS[1])
    assert numbers(records) == [0, 1]
    assert not faults
    assert verdict.verdict is Verdict.COMPLETE


@pytest.mark.parametrize("cut", [1, 2, 5, 12, 40, 100])
def test_a_file_cut_inside_its_last_member_is_truncated(cut):
    data = b"".join(MEMBERS[:4]) + MEMBERS[4][:cut]
    records, faults, verdict = read(data)
    assert numbers(records) == [0, 1, 2, 3]
    assert [(fault.reason, fault.offset) for fault in faults] == [(Reason.TRUNCATED_MEMBER, sum(map(len, MEMBERS[:4])))]
    assert verdict.verdict is Verdict.TRUNCATED


def test_a_stream_that_ends_before_its_size_is_truncated():
    records, faults, verdict = read(MEMBERS[0], size=len(MEMBERS[0]) + 1000)
    assert numbers(records) == [0]
    assert [fault.reason for fault in faults] == [Reason.TRUNCATED_RECORD]
    assert verdict.verdict is Verdict.TRUNCATED


@pytest.mark.parametrize("place", [3, 10, 20, 60, -1, -7])
def test_a_flipped_byte_costs_one_member_and_names_its_url_where_it_can(place):
    broken = bytearray(MEMBERS[2])
    broken[place] ^= 0xFF
    records, faults, verdict = read(b"".join(MEMBERS[:2]) + bytes(broken) + b"".join(MEMBERS[3:]))
    assert numbers(records) == [0, 1, 3, 4]
    assert [fault.reason for fault in faults] == [Reason.DAMAGED_MEMBER]
    assert faults[0].offset == len(MEMBERS[0]) + len(MEMBERS[1])
    assert verdict.verdict is Verdict.DAMAGED
    if place == -1:
        assert faults[0].url == "http://site.example/2"


@pytest.mark.parametrize("garbage", [b"\0" * 512, b"<html>503 Slow Down</html>", b"\x1f\x8b\x08\x00nonsense"])
def test_garbage_between_members_is_passed_over(garbage):
    records, faults, verdict = read(MEMBERS[0] + garbage + MEMBERS[1])
    assert numbers(records) == [0, 1]
    assert [fault.offset for fault in faults] == [len(MEMBERS[0])]
    assert verdict.verdict is Verdict.DAMAGED


@pytest.mark.parametrize("length", [90_000, 10, -5, 99999999999999999999, "many", ""])
@pytest.mark.parametrize("compress", [member, bytes])
def test_a_wrong_content_length_costs_one_record(length, compress):
    parts = [compress(record(0)), compress(record(1, length=length)), compress(record(2)), compress(record(3))]
    records, faults, verdict = read(b"".join(parts))
    assert numbers(records) == [0, 2, 3]
    assert [(fault.reason, fault.url) for fault in faults] == [(Reason.BAD_LENGTH, "http://site.example/1")]
    assert verdict.verdict is Verdict.DAMAGED


def test_lines_that_end_in_lf_only():
    for pack in (member, bytes):
        records, faults, _verdict = read(pack(record(0, eol=b"\n")) + pack(record(1, eol=b"\n")))
        assert numbers(records) == [0, 1]
        assert records[1].payload == b"<p>page 1</p>" * 20
        assert not faults


def test_one_member_for_all_records():
    data = member(b"".join(record(number) for number in range(200)))
    records, faults, verdict = read(data)
    assert numbers(records) == list(range(200))
    assert [item.index for item in records] == list(range(200))
    assert {item.stored_bytes for item in records} == {None}
    assert not faults
    assert verdict.verdict is Verdict.COMPLETE


def test_damage_in_a_member_of_many_records_leaves_those_before_it():
    whole = member(b"".join(record(number, body=bytes([number]) * 5000) for number in range(100)))
    records, faults, verdict = read(whole[: len(whole) // 2])
    assert numbers(records) == list(range(len(records)))
    assert len(records) > 30
    assert [fault.reason for fault in faults] == [Reason.TRUNCATED_MEMBER]
    assert verdict.verdict is Verdict.TRUNCATED


def test_an_archive_that_is_not_compressed():
    parts = [record(number) for number in range(3)]
    records, faults, verdict = read(b"".join(parts))
    assert numbers(records) == [0, 1, 2]
    assert [item.offset for item in records] == [0, len(parts[0]), len(parts[0]) * 2]
    assert records[1].stored_bytes == len(parts[1])
    records, faults, verdict = read(b"".join(parts)[:-60])
    assert numbers(records) == [0, 1]
    assert [fault.reason for fault in faults] == [Reason.TRUNCATED_RECORD]
    assert verdict.verdict is Verdict.TRUNCATED


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 300, "a PNG image"),
        (b"\x04\x22\x4d\x18" + b"WARC/1.0\r\nWARC-Type: response\r\n", "an LZ4 file, which is not read"),
        (frame(b"{" + b"0" * 5000), "zstd around JSON"),
        (skippable(b"notes") + frame(b"%PDF"), "zstd around a PDF"),
        (member(b"crawl-data/CC-MAIN-2024-22/a.warc.gz\n" * 50), "gzip around something of an unknown kind"),
        (member(MEMBERS[0]), "gzip around gzip"),
    ],
)
def test_other_files_are_told_apart(data, what):
    records, faults, verdict = read(data)
    assert not records
    assert [fault.reason for fault in faults] == [Reason.NOT_AN_ARCHIVE]
    assert what in faults[0].detail
    assert verdict.verdict is Verdict.NOT_AN_ARCHIVE


def test_headers_over_32_kib():
    long = b"X-Long: " + b"a" * 40_000
    data = member(record(0, http=HTTP[:-2] + long + b"\r\n\r\n")) + member(record(1, extra=long)) + MEMBERS[2]
    records, faults, _verdict = read(data)
    assert numbers(records) == [0, 1, 2]
    assert records[0].payload == b"<p>page 0</p>" * 20
    assert not faults


def test_a_header_without_end_is_one_fault():
    limits = ReadLimits(max_header_bytes=1000)
    for data in (
        MEMBERS[0] + member(b"WARC/1.0\r\nA: " + b"x" * 5000) + MEMBERS[1],
        MEMBERS[0] + member(b"WARC/1.0\r\nA: b"),
    ):
        records, faults, _verdict = read(data, limits)
        assert [fault.reason for fault in faults] == [Reason.BAD_HEADER]
        assert numbers(records)[0] == 0


def test_records_that_lack_what_they_need():
    data = member(record(0, target=False)) + member(record(1, http=b"no status line")) + MEMBERS[2]
    records, faults, verdict = read(data + member(record(3).replace(b"WARC-Type", b"WARC-Kind")))
    assert numbers(records) == [2]
    assert [fault.reason for fault in faults] == [Reason.NO_TARGET, Reason.BAD_HTTP, Reason.BAD_HEADER]
    assert faults[1].record_id == "<urn:uuid:00000001>"
    assert verdict.records_by_type == {"response": 1}


def test_records_of_other_types_are_counted_and_not_given():
    data = member(record(0, record_type="request")) + member(record(1, body=b"m" * 400_000, record_type="metadata"))
    records, faults, verdict = read(data + member(record(2, record_type="odd")) + MEMBERS[3])
    assert numbers(records) == [3]
    assert not faults
    assert verdict.records_by_type == {"request": 1, "metadata": 1, "unknown": 1, "response": 1}


@pytest.mark.parametrize("pack", [member, bytes])
def test_a_record_over_the_cap_is_passed_over_without_being_held(pack):
    limits = ReadLimits(max_record_bytes=100_000)
    records, faults, verdict = read(pack(record(0)) + pack(record(1, body=b"v" * 3_000_000)) + pack(record(2)), limits)
    assert numbers(records) == [0, 2]
    assert [(fault.reason, fault.url) for fault in faults] == [(Reason.TOO_LARGE, "http://site.example/1")]
    assert verdict.verdict is Verdict.COMPLETE


def test_a_length_of_gigabytes_does_not_swallow_a_plain_archive():
    far = b"x" * (2 * KEEP_BYTES + 500_000)
    records, faults, _verdict = read(record(0) + record(1, length=3 << 30) + record(2, body=far) + record(3))
    assert numbers(records) == [0, 2, 3]
    assert [fault.reason for fault in faults] == [Reason.BAD_LENGTH]


def test_a_bomb_stays_small_in_memory():
    bomb = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = record(1, body=b"").replace(b"Content-Length: 44", b"Content-Length: 300000044")
    data = bomb.compress(head[:-4]) + b"".join(bomb.compress(b"\0" * 1_000_000) for _ in range(300)) + bomb.flush()
    reader = ArchiveReader(BytesIO(MEMBERS[0] + data + MEMBERS[2]), len(MEMBERS[0] + data + MEMBERS[2]))
    tracemalloc.start()
    kept = [item.offset for item in reader]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(kept) == 3
    assert peak < 20_000_000


def test_revisits_tell_what_they_refer_to():
    extra = b"WARC-Refers-To-Target-URI: <http://site.example/9>\r\nWARC-Refers-To-Date: 2020-01-02T03:04:05.678901234Z"
    records, _faults, _verdict = read(member(record(1, record_type="revisit", body=b"", extra=extra)))
    assert records[0].refers_to_uri == "http://site.example/9"
    assert records[0].refers_to_date == datetime(2020, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    assert records[0].http_status == 200


def test_the_verdict_comes_last():
    with pytest.raises(RuntimeError):
        _ = ArchiveReader(BytesIO(b""), 0).verdict
