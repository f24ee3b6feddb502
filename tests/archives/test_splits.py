"""Whatever is in an archive and wherever it is cut into splits: they are the archive, or they say that they are not."""

import random
from collections import Counter
from io import BytesIO

import pytest
import zstandard
from archive_builder import (
    arc_header,
    arc_record,
    frame,
    member,
    numbers,
    read,
    read_splits,
    record,
    skippable,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_lib.archives.faults import Reason
from dedup_lib.archives.reader import ArchiveReader, Verdict
from dedup_lib.archives.splits import SplitEnds, merge_verdicts, splits_meet
from dedup_lib.archives.stored import HEAD_BYTES, READ_BYTES

NOISE = random.Random(7).randbytes(3000)
BODIES = [b"", b"<p>short</p>", b"<p>a</p>\r\n\r\n" * 40, NOISE, b"x" * 20_000]


def whole(data):
    reader = ArchiveReader(BytesIO(data), len(data))
    return list(reader), reader.verdict


def warc_part(number, choice):
    return record(number, body=BODIES[choice % len(BODIES)], record_type="request" if choice == 7 else "response")


def arc_part(number, choice):
    return arc_record(number, body=BODIES[choice % len(BODIES)].replace(b"\r", b""))


KINDS = {
    "gzip": (warc_part, member),
    "zstd": (warc_part, frame),
    "plain": (warc_part, bytes),
    "arc.gz": (arc_part, member),
    "arc.zst": (arc_part, frame),
    "arc": (arc_part, bytes),
}


def sound_archive(kind, choices):
    """Records of all sizes; where they are compressed, some share a member, and empty members stand between."""
    part, pack = KINDS[kind]
    stretches = [pack(arc_header())] if kind.startswith("arc") else []
    held = b""
    for number, choice in enumerate(choices):
        held += part(number, choice)
        if choice != 5:
            stretches.append(pack(held))
            held = b""
        if choice == 6 and kind not in {"arc", "plain"}:
            stretches.append(pack(b""))
        if choice == 8 and "zst" in kind:
            stretches.append(skippable(NOISE[:50], number=3))
    return b"".join([*stretches, pack(held)])


archives = st.tuples(st.sampled_from(sorted(KINDS)), st.lists(st.integers(0, 9), min_size=1, max_size=9))


@settings(max_examples=150, deadline=None)
@given(archives, st.integers(1, 40))
def test_splits_of_a_sound_archive_meet_and_are_the_archive(archive, pieces):
    kind, choices = archive
    data = sound_archive(kind, choices)
    items, ends, verdicts = read_splits(data, max(1, len(data) // pieces))
    assert splits_meet(ends, len(data))
    assert (items, merge_verdicts(verdicts)) == whole(data)
    assert merge_verdicts(verdicts).verdict is Verdict.COMPLETE


@st.composite
def damaged(draw):
    """An archive with anything wrong with it: flips, cuts, holes, garbage, wrong lengths, archives inside records."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    part, pack = KINDS[kind]
    parts = [sound_archive(kind, draw(st.lists(st.integers(0, 9), min_size=1, max_size=4)))]
    for number in range(draw(st.integers(1, 5))):
        inner = sound_archive(draw(st.sampled_from(sorted(KINDS))), [1, 2])
        odd = {
            "whole": lambda number=number: pack(part(number, number)),
            "embedded": lambda number=number, inner=inner: pack(record(number, body=inner)),
            "garbage": lambda: NOISE[:200],
            "long": lambda number=number: pack(record(number, length=draw(st.integers(0, 3000)))),
            "arc long": lambda number=number: pack(arc_record(number, length=draw(st.integers(-5, 3000)))),
            "no length": lambda number=number: pack(record(number, length="")),
            "gzip": lambda number=number: member(part(number, 1)),
            "other": lambda number=number: pack(b"<html>%d</html>" % number),
            "quoted": lambda number=number: pack(record(number, body=record(9)[:150])),
        }
        parts.append(odd[draw(st.sampled_from(sorted(odd)))]())
    data = bytearray(b"".join(parts))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(data) - 1))
        length = draw(st.integers(1, 60))
        data[place : place + length] = draw(
            st.sampled_from([bytes([data[place] ^ 0x55]), b"", b"\0" * length, NOISE[:length], data[:length]])
        )
        if not data:
            break
    return bytes(data)


@settings(max_examples=400, deadline=None)
@given(damaged(), st.integers(1, 25))
def test_splits_of_any_archive_are_the_archive_or_do_not_meet(data, pieces):
    items, ends, verdicts = read_splits(data, max(1, len(data) // pieces))
    if splits_meet(ends, len(data)):
        assert (items, merge_verdicts(verdicts)) == whole(data)


@settings(max_examples=200, deadline=None)
@given(archives, st.integers(2, 20), st.integers(0, 1 << 30), st.integers(1, 255))
def test_damage_does_not_part_the_splits_of_members(archive, pieces, place, mask):
    kind, choices = archive
    if kind in {"plain", "arc"}:
        kind = "gzip"
    data = bytearray(sound_archive(kind, choices))
    data[place % len(data)] ^= mask
    items, ends, verdicts = read_splits(bytes(data), max(1, len(data) // pieces))
    assert splits_meet(ends, len(data))
    assert (items, merge_verdicts(verdicts)) == whole(bytes(data))


def test_a_walk_that_loses_its_way_meets_the_next_split_and_tells_the_damage_once():
    members = [member(record(number, body=NOISE)) for number in range(6)]
    broken = members[2][:200] + NOISE[:50] + members[2][250:]
    data = b"".join([*members[:2], broken, *members[3:]])
    starts = [sum(map(len, members[:number])) for number in range(7)]
    for cut in (starts[2] + 1, starts[2] + 300, starts[3] - 1, starts[3]):
        items, ends, _verdicts = read_splits(data, cut)
        assert splits_meet(ends, len(data))
        assert (ends[0].first, ends[0].next) == (0, starts[3])
        faults = [item for item in items if hasattr(item, "reason")]
        assert [(fault.reason, fault.offset) for fault in faults] == [(Reason.DAMAGED_MEMBER, starts[2])]
        assert numbers(item for item in items if hasattr(item, "payload")) == [0, 1, 3, 4, 5]


@pytest.mark.parametrize("pack", [member, frame])
def test_an_archive_in_one_member_is_read_whole_by_its_first_split(pack):
    noise = random.Random(9).randbytes(40 * 60_000)
    data = pack(b"".join(record(number, body=noise[number * 60_000 :][:60_000]) for number in range(40)))
    items, ends, _verdicts = read_splits(data, -(-len(data) // 4))
    assert len(items) == 40
    assert ends[0] == SplitEnds(0, 0, len(data))
    assert {(part.first, part.next) for part in ends[1:]} == {(None, None)}
    assert splits_meet(ends, len(data))
    stream = Watched(data)
    assert not list(ArchiveReader(stream, len(data), start=len(data) // 4, end=len(data) // 2))
    assert stream.bytes < len(data) // 4 + 4 * HEAD_BYTES + 2 * READ_BYTES


def test_an_archived_archive_at_the_start_of_a_split_does_not_meet():
    inner = b"".join(record(number) for number in range(100, 104))
    data = record(0) + record(1, body=inner) + record(2)
    cut = data.index(b"WARC/1.0", len(record(0)) + 1)
    first = ArchiveReader(BytesIO(data), len(data), end=cut)
    second = ArchiveReader(BytesIO(data), len(data), start=cut)
    assert numbers(first) == [0, 1]
    assert 100 in numbers(item for item in second if hasattr(item, "payload"))
    assert not splits_meet([first.ends, second.ends], len(data))


def test_a_page_that_quotes_the_header_of_a_record_begins_no_split():
    page = b"<pre>" + record(77)[:120] + b"Content-Length: 90\r\n\r\n</pre>" + NOISE
    data = record(0) + record(1, body=page) + record(2)
    for cut in range(len(record(0)) + 1, len(data), 97):
        items, ends, _verdicts = read_splits(data, cut)
        assert splits_meet(ends, len(data))
        assert numbers(items) == [0, 1, 2]


class Watched(BytesIO):
    """Counts what is asked of it."""

    def __init__(self, data):
        super().__init__(data)
        self.seeks = Counter()
        self.bytes = 0

    def seek(self, *where):
        self.seeks[where] += 1
        return super().seek(*where)

    def read(self, size=-1):
        data = super().read(size)
        self.bytes += len(data)
        return data


def test_a_split_seeks_twice_and_reads_its_range_and_the_head():
    dictionary = zstandard.ZstdCompressionDict(NOISE)
    data = skippable(NOISE, number=13) + b"".join(
        frame(record(number, body=random.Random(number).randbytes(10_000)), dictionary) for number in range(400)
    )
    stream = Watched(data)
    stream.seek(1234)
    stream.seeks.clear()
    found = list(ArchiveReader(stream, len(data), start=2_000_000, end=2_100_000))
    assert len(found) == len([number for number in numbers(found) if 0 <= number < 400]) == 10
    assert sum(stream.seeks.values()) == 2
    assert stream.bytes < 100_000 + 3 * (1 << 18)


def test_a_split_of_a_stream_that_ends_early_is_told_once():
    parts = [member(record(number, body=NOISE)) for number in range(8)]
    data = b"".join(parts[:-1])
    size = len(b"".join(parts))
    readers = [ArchiveReader(BytesIO(data), size, start=start, end=start + 5000) for start in range(0, size, 5000)]
    faults = [item for reader in readers for item in reader if hasattr(item, "reason")]
    assert [fault.reason for fault in faults] == [Reason.TRUNCATED_RECORD]
    assert splits_meet([reader.ends for reader in readers], size)
    merged = merge_verdicts([reader.verdict for reader in readers])
    assert merged == read(data, size=size)[2]
    assert merged.verdict is Verdict.TRUNCATED


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n" + NOISE, member(NOISE * 9), b"\x04\x22\x4d\x18" + NOISE * 9])
def test_splits_of_something_else_are_told_once(data):
    items, ends, verdicts = read_splits(data, 700)
    assert splits_meet(ends, len(data))
    assert (items, merge_verdicts(verdicts)) == whole(data)


def test_splits_in_any_order_and_gaps():
    parts = [SplitEnds(0, 0, 120), SplitEnds(50, None, None), SplitEnds(100, 120, 200)]
    assert splits_meet(parts[::-1], 200)
    assert not splits_meet(parts[:2], 200)
    assert not splits_meet(parts, 201)
    assert not splits_meet([parts[0], SplitEnds(100, 121, 200)], 200)


def test_a_split_needs_a_stream_that_seeks():
    class Pipe(BytesIO):
        def seekable(self):
            return False

    with pytest.raises(ValueError, match="seek"):
        ArchiveReader(Pipe(b""), 10, start=5)
