"""Archives in zstd frames: layouts of the IIPC proposal, dictionaries, and damage that stays where it is."""

import io
import random
import tracemalloc
from itertools import pairwise

import pytest
import zstandard
from archive_builder import frame, numbers, read, record, skippable
from fastwarc.stream_io import ZstdReader

from dedup_lib.archives.faults import Reason
from dedup_lib.archives.reader import Verdict

NOISE = random.Random(5).randbytes(400_000)
SAMPLES = [record(number, body=b"<p>%d lorem ipsum dolor sit amet</p>" % number * 9) for number in range(300)]
DICTIONARY = zstandard.train_dictionary(8000, SAMPLES)
DICTIONARY_FRAMES = {
    "raw": skippable(DICTIONARY.as_bytes(), number=13),
    "zstd": skippable(zstandard.compress(DICTIONARY.as_bytes()), number=13),
    "zstd of unknown size": skippable(
        zstandard.ZstdCompressor(write_content_size=False).compress(DICTIONARY.as_bytes()), number=13
    ),
}


def test_one_frame_per_record_gives_offsets_and_lengths_to_fetch_records_by():
    frames = [frame(record(number)) for number in range(4)]
    records, faults, verdict = read(b"".join(frames))
    assert numbers(records) == [0, 1, 2, 3]
    assert [item.offset for item in records] == [sum(map(len, frames[:number])) for number in range(4)]
    assert [item.stored_bytes for item in records] == [len(one) for one in frames]
    assert not faults
    assert verdict.verdict is Verdict.COMPLETE


@pytest.mark.parametrize("size", [0, 1, 200, 127_000, 132_000, 400_000])
@pytest.mark.parametrize("checksum", [True, False])
@pytest.mark.parametrize("content_size", [True, False])
@pytest.mark.parametrize("body", [NOISE, b"a" * 400_000], ids=["noise", "run"])
def test_frames_of_every_layout_end_where_they_end(size, checksum, content_size, body):
    compressor = zstandard.ZstdCompressor(write_checksum=checksum, write_content_size=content_size)
    parts = [compressor.compress(record(number, body=body[:size])) for number in range(3)]
    records, faults, _verdict = read(b"".join(parts))
    assert numbers(records) == [0, 1, 2]
    assert [item.stored_bytes for item in records] == [len(part) for part in parts]
    assert all(item.payload == body[:size] for item in records)
    assert not faults


@pytest.mark.parametrize("cuts", [[30], [200, 300], [10, 11, 12], [260]])
def test_a_record_in_several_frames_is_one_record(cuts):
    whole = record(1)
    ends = [0, *cuts, len(whole)]
    pieces = [frame(whole[start:end]) for start, end in pairwise(ends)]
    data = frame(record(0)) + skippable(b"between").join(pieces) + frame(record(2))
    records, faults, _verdict = read(data)
    assert numbers(records) == [0, 1, 2]
    assert records[1].payload == b"<p>page 1</p>" * 20
    assert not faults


def test_skippable_and_empty_frames_are_passed_over():
    data = skippable(b"a" * 70) + frame(record(0)) + frame(b"") + skippable(b"") + frame(record(1)) + skippable(b"end")
    records, faults, verdict = read(data)
    assert numbers(records) == [0, 1]
    assert not faults
    assert verdict.verdict is Verdict.COMPLETE


@pytest.mark.parametrize("leading", DICTIONARY_FRAMES.values(), ids=DICTIONARY_FRAMES.keys())
def test_a_dictionary_in_front_is_used(leading):
    data = leading + b"".join(frame(sample, DICTIONARY) for sample in SAMPLES[:30])
    assert len(data) < len(leading) + len(b"".join(SAMPLES[:30])) / 4
    records, faults, verdict = read(data)
    assert numbers(records) == list(range(30))
    assert not faults
    assert verdict.verdict is Verdict.COMPLETE
    decoder = ZstdReader(io.BytesIO(data))
    assert decoder.read(len(SAMPLES[0])) == SAMPLES[0]


def test_a_dictionary_that_cannot_be_read_is_told_and_frames_without_it_are_read():
    leading = skippable(DICTIONARY.as_bytes()[:4] + NOISE[:3000], number=13)
    records, faults, verdict = read(leading + frame(SAMPLES[0], DICTIONARY) + frame(record(1)))
    assert numbers(records) == [1]
    assert (faults[0].offset, faults[0].reason) == (0, Reason.DAMAGED_MEMBER)
    assert "dictionary" in faults[0].detail
    assert verdict.verdict is Verdict.DAMAGED


def test_a_frame_that_needs_another_dictionary_costs_itself():
    other = zstandard.train_dictionary(4000, [sample[::-1] for sample in SAMPLES])
    data = DICTIONARY_FRAMES["raw"] + frame(SAMPLES[0], DICTIONARY) + frame(SAMPLES[1], other) + frame(SAMPLES[2])
    records, faults, _verdict = read(data)
    assert numbers(records) == [0, 2]
    assert [fault.reason for fault in faults] == [Reason.DAMAGED_MEMBER]


@pytest.mark.parametrize("place", [0, 2, 4, 6, 9, 50, 150, -1, -5])
def test_a_flipped_byte_costs_one_frame(place):
    frames = [frame(record(number, body=NOISE[:500])) for number in range(5)]
    broken = bytearray(frames[2])
    broken[place] ^= 0xFF
    records, faults, verdict = read(b"".join(frames[:2]) + bytes(broken) + b"".join(frames[3:]))
    assert numbers(records) == [0, 1, 3, 4]
    assert faults[0].offset == len(frames[0] + frames[1])
    assert verdict.verdict is Verdict.DAMAGED


@pytest.mark.parametrize("cut", [1, 3, 5, 8, 40, 130_000, 399_000])
def test_a_file_cut_inside_its_last_frame_is_truncated(cut):
    first = frame(record(0))
    records, faults, verdict = read(first + frame(record(1, body=NOISE))[:cut])
    assert numbers(records) == [0]
    assert [(fault.reason, fault.offset) for fault in faults] == [(Reason.TRUNCATED_MEMBER, len(first))]
    assert (faults[0].url == "http://site.example/1") == (cut > 130_000)
    assert verdict.verdict is Verdict.TRUNCATED


@pytest.mark.parametrize("garbage", [b"\0" * 300, b"<html>503</html>", skippable(b"x" * 30)[:-9], frame(b"no record")])
def test_garbage_between_frames_is_passed_over(garbage):
    first = frame(record(0))
    records, faults, verdict = read(first + garbage + frame(record(1)))
    assert numbers(records) == [0, 1]
    assert [(fault.reason, fault.offset) for fault in faults] == [(Reason.GARBAGE, len(first))]
    assert verdict.verdict is Verdict.DAMAGED


def test_a_wrong_length_costs_one_record():
    data = b"".join(frame(record(number, length=90_000 if number == 1 else None)) for number in range(4))
    records, faults, _verdict = read(data)
    assert numbers(records) == [0, 2, 3]
    assert [(fault.reason, fault.url) for fault in faults] == [(Reason.BAD_LENGTH, "http://site.example/1")]


def test_a_bomb_of_frames_stays_small_in_memory():
    head = record(1, body=b"").replace(b"Content-Length: 44", b"Content-Length: 300000044")[:-4]
    compressor = zstandard.ZstdCompressor().compressobj()
    bomb = compressor.compress(head)
    bomb += b"".join(compressor.compress(bytes(1_000_000)) for _ in range(300)) + compressor.flush()
    assert len(bomb) < 100_000
    data = frame(record(0)) + bomb + frame(record(2))
    tracemalloc.start()
    records, faults, _verdict = read(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert numbers(records) == [0, 2]
    assert len(faults) == 1
    assert peak < 20_000_000
