"""Archives read through faults, whole and in splits, give the records of the same file on this machine."""

import gzip
import random
from itertools import pairwise

import pytest
from services.faulty_proxy import faulty_proxy, seeded_plan

from dedup_lib.archives.inputs import expand_inputs, open_input
from dedup_lib.archives.reader import ArchiveReader
from dedup_lib.archives.stores import ReadMeter
from dedup_lib.config.settings import StorageSettings


def record(number, dice):
    body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + dice.randbytes(dice.randrange(4000)).hex().encode()
    head = [
        *("WARC/1.0", "WARC-Type: response", f"WARC-Record-ID: <urn:uuid:{number:08}>"),
        *("WARC-Date: 2024-05-18T01:58:10Z", f"WARC-Target-URI: http://site.example/{number}"),
        *("Content-Type: application/http; msgtype=response", f"Content-Length: {len(body)}"),
    ]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body + b"\r\n\r\n"


def read(file, storage, meter, start=0, end=None):
    with open_input(file, storage, meter, start) as stream:
        return [
            (one.offset, one.target_uri, one.payload) for one in ArchiveReader(stream, file.bytes, None, start, end)
        ]


@pytest.mark.parametrize("pack", [gzip.compress, bytes], ids=["gzip", "plain"])
def test_records_are_those_of_a_local_file(s3_server, aws_environment, quick, tmp_path, pack):
    dice = random.Random(7)
    data = b"".join(pack(record(number, dice)) for number in range(250))
    name = "a.warc.gz" if pack is gzip.compress else "a.warc"
    (tmp_path / name).write_bytes(data)
    (local,) = expand_inputs([str(tmp_path / name)])
    expected = read(local, StorageSettings(), ReadMeter())
    assert len(expected) == 250

    bucket = s3_server.new_bucket()
    s3_server.put(bucket, name, data)
    with faulty_proxy(s3_server.host, s3_server.port) as proxy:
        storage = StorageSettings(endpoint=proxy.endpoint, **quick)
        (file,) = expand_inputs([f"s3://{bucket}/{name}"], storage)
        proxy.plan = seeded_plan(11, longest=1 << 16, unsigned=False)
        meter = ReadMeter()
        assert read(file, storage, meter) == expected
        ends = [*range(0, len(data), len(data) // 4 + 1), len(data)]
        split = [one for start, end in pairwise(ends) for one in read(file, storage, meter, start, end)]
        assert split == expected
        assert proxy.faults
        assert meter.retries
