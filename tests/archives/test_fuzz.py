"""Mutated archives, generated and real: no exception, no hang, and no record lost that the mutation did not touch."""

import random
import time
from collections import Counter
from functools import cache
from io import BytesIO
from pathlib import Path

import pytest
import zstandard
from archive_builder import arc_header, arc_record, frame, member, record, skippable

from dedup_lib.archives.faults import ArchiveFault
from dedup_lib.archives.http import decode_body
from dedup_lib.archives.reader import ArchiveReader
from dedup_lib.archives.records import ArchiveRecord

WARCS = Path(__file__).parents[3] / "shared" / "warcs"
QUICK, LONG = 400, 20_000
LARGEST = 80_000  # bytes of a real archive: the larger ones hold the same kinds of records
SECONDS_PER_FILE = 20  # of CPU; the slowest take a tenth of a second


def generated():
    """Archives of each kind, with the length of the head that all of it hangs on (a dictionary)."""
    rng = random.Random(11)
    bodies = [rng.randbytes(rng.choice([20, 300, 5000])) for _ in range(6)] + [b"<p>text</p>" * 200] * 4
    warc = [record(number, body=body) for number, body in enumerate(bodies)]
    arc = [arc_header(), *(arc_record(number, body=body) for number, body in enumerate(bodies))]
    dictionary = zstandard.ZstdCompressionDict(warc[-1] + rng.randbytes(300))
    leading = skippable(dictionary.as_bytes(), number=13)
    unchecked = zstandard.ZstdCompressor()
    yield b"".join(map(member, warc)), 0
    yield b"".join(member(part) + member(b"") for part in warc), 0
    yield b"".join(map(member, arc)), 0
    yield b"".join(map(frame, warc)), 0
    yield b"".join(map(unchecked.compress, warc)), 0
    yield leading + b"".join(frame(part, dictionary) for part in warc), len(leading)
    yield b"".join(frame(part[:90]) + frame(part[90:]) for part in warc), 0
    yield b"".join(map(frame, arc)), 0
    yield member(b"".join(warc)), 0
    yield frame(b"".join(warc)), 0
    yield b"".join(warc), 0
    yield b"".join(arc), 0


@cache
def archives():
    real = [path for path in sorted(WARCS.glob("*/*")) if path.suffix not in {".json", ".jsonl"}]
    small = [(path.read_bytes(), 0) for path in real if 0 < path.stat().st_size <= LARGEST]
    return [(data, head, own_members(data)) for data, head in [*generated(), *small]]


def identity(item):
    return item.record_type, item.target_uri, item.record_id, item.payload


def own_members(data):
    """Where the records that have a member of their own begin and end, and what they are."""
    if not data.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18")):
        return []
    items = [item for item in ArchiveReader(BytesIO(data), len(data)) if isinstance(item, ArchiveRecord)]
    return [
        (item.offset, item.offset + item.stored_bytes, identity(item))
        for item in items
        if item.stored_bytes is not None
    ]


def mutate(data, rng):
    """A mutated copy, and the stretches of the original that it touched."""
    place = rng.randrange(len(data))
    length = min(rng.choice([1, 1, 4, 40, 400, 4000]), len(data) - place)
    end = place + length
    kind = rng.choice(["flip", "noise", "zero", "delete", "insert", "copy", "cut", "swap"])
    if kind == "flip":
        changed = bytearray(data)
        changed[rng.randrange(place, end)] ^= 1 << rng.randrange(8)
        return bytes(changed), [(place, end)]
    if kind == "cut":
        return data[:place], [(place, len(data))]
    if kind == "swap":
        other = rng.randrange(len(data))
        first, second = sorted([(place, end), (other, min(other + length, len(data)))])
        if first[1] > second[0]:
            return data[: first[0]] + data[second[1] :], [(first[0], second[1])]
        middle = data[first[1] : second[0]]
        swapped = data[second[0] : second[1]] + middle + data[first[0] : first[1]]
        return data[: first[0]] + swapped + data[second[1] :], [first, second]
    source = rng.randrange(len(data))
    new = {
        "noise": rng.randbytes(length),
        "zero": bytes(length),
        "delete": b"",
        "insert": rng.randbytes(length),
        "copy": data[source : source + length],
    }[kind]
    if kind in {"insert", "copy"}:
        end = place
    return data[:place] + new + data[end:], [(place, end)]


def untouched(members, stretches):
    """The records whose members no stretch reaches into; what is put between two members touches neither."""
    return Counter(what for start, end, what in members if all(end <= low or start >= high for low, high in stretches))


def run(seeds):
    slowest = 0.0
    for seed in seeds:
        rng = random.Random(seed)
        data, head, members = rng.choice(archives())
        mutated, stretches = mutate(data, rng)
        if rng.random() < 0.2 and mutated:
            mutated, _more = mutate(mutated, rng)
            members = []  # offsets have moved: this one is for exceptions and hangs
        before = time.process_time()
        reader = ArchiveReader(BytesIO(mutated), len(mutated))
        found = Counter()
        for item in reader:
            if isinstance(item, ArchiveFault):
                assert 0 <= item.offset <= len(mutated), seed
                continue
            found[identity(item)] += 1
            headers = item.http_headers
            decode_body(item.payload, headers.joined("transfer-encoding"), headers.joined("content-encoding"))
        slowest = max(slowest, time.process_time() - before)
        assert slowest < SECONDS_PER_FILE, seed
        assert sum(found.values()) <= sum(reader.verdict.records_by_type.values()), seed
        if min(low for low, _high in stretches) >= head:
            lost = untouched(members, stretches) - found
            assert not lost, (seed, stretches, [what[:3] for what in lost])
    return slowest


def test_mutated_archives_are_read_without_loss_of_what_is_sound():
    run(range(QUICK))


@pytest.mark.slow
def test_twenty_thousand_mutated_archives_are_read_without_loss_of_what_is_sound():
    run(range(QUICK, QUICK + LONG))
