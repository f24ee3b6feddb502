"""Whatever byte changes, the reader does not raise, and loses no member but the one that was changed."""

from io import BytesIO

from archive_builder import member, numbers, read, record
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_lib.archives.reader import ArchiveReader

PARTS = [record(number, body=bytes(range(number, number + 90)) * (number + 1)) for number in range(6)]
MEMBERS = [member(part) for part in PARTS]


def owner(parts, place):
    for number, part in enumerate(parts):
        place -= len(part)
        if place < 0:
            return number
    raise AssertionError(place)


@settings(max_examples=400, deadline=None)
@given(st.integers(0, sum(map(len, MEMBERS)) - 1), st.integers(1, 255))
def test_one_changed_byte_costs_at_most_its_own_member(place, mask):
    data = bytearray(b"".join(MEMBERS))
    data[place] ^= mask
    records, faults, _verdict = read(bytes(data))
    expected = [number for number in range(6) if number != owner(MEMBERS, place)]
    assert [number for number in numbers(records) if number in expected] == expected
    assert len(records) + len(faults) >= 6
    for item in records:
        number = item.index if item.target_uri == "" else int(item.target_uri.rsplit("/", 1)[1])
        if number in expected:
            assert item.payload == bytes(range(number, number + 90)) * (number + 1)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, sum(map(len, PARTS)) - 1), st.integers(1, 255))
def test_one_changed_byte_of_a_plain_archive_costs_at_most_its_own_record(place, mask):
    data = bytearray(b"".join(PARTS))
    data[place] ^= mask
    records, _faults, _verdict = read(bytes(data))
    changed = owner(PARTS, place)
    ids = {item.record_id for item in records}
    assert all(f"<urn:uuid:{number:08d}>" in ids for number in range(6) if number != changed)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_no_bytes_at_all_raise(data):
    pieces = st.sampled_from(
        [*MEMBERS, *PARTS, MEMBERS[1][:50], PARTS[1][:90], b"WARC/1.0\r\n", b"\r\n\r\n", b"\x1f\x8b\x08"]
    )
    blob = b"".join(data.draw(st.lists(st.one_of(pieces, st.binary(max_size=40)), max_size=8)))
    read(blob)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 700))
def test_how_the_stream_hands_out_its_bytes_changes_nothing(step):
    class Dribble(BytesIO):
        def read(self, size=-1):
            return super().read(min(step, size))

    for data in (b"".join(MEMBERS), b"".join(PARTS), b"".join(MEMBERS)[:-20], b"junk" + b"".join(MEMBERS)):
        assert list(ArchiveReader(Dribble(data), len(data))) == list(ArchiveReader(BytesIO(data), len(data)))


def test_a_stream_that_cannot_seek_gives_the_same():
    class Pipe(BytesIO):
        def seekable(self):
            return False

        def seek(self, *_where):
            raise AssertionError("it cannot seek")

    broken = MEMBERS[2][:40] + b"\0" + MEMBERS[2][41:]
    for data in (
        b"".join(MEMBERS),
        b"".join(PARTS),
        b"junk" + b"".join(PARTS),
        b"junk" * 50 + b"".join([*MEMBERS[:2], broken, *MEMBERS[3:]])[:-20],
    ):
        assert list(ArchiveReader(Pipe(data), len(data))) == list(ArchiveReader(BytesIO(data), len(data)))
