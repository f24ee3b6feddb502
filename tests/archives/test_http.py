import gzip
import random
import zlib

import brotli
import pytest
import zstandard
from archive_builder import member, numbers, read, record
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.archives.faults import Reason
from dedup_lib.archives.http import MAX_RATIO, RATIO_FREE_BYTES, decode_body

NUMBERS = b"".join(b"%d," % (number * number) for number in range(20_000))
PAGE = b"<p>hello</p>" * 300


def chunked(body, size=700):
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def raw_deflate(body):
    deflater = zlib.compressobj(wbits=-15)
    return deflater.compress(body) + deflater.flush()


@pytest.mark.parametrize(
    ("body", "transfer", "content"),
    [
        (PAGE, None, None),
        (PAGE, "identity", "identity"),
        (chunked(PAGE), "chunked", None),
        (chunked(gzip.compress(PAGE)), "Chunked", "GZIP"),
        (chunked(PAGE).replace(b"2bc\r\n", b"2bc; name=value\r\n", 1), "chunked", None),
        (chunked(PAGE)[:-5], "chunked", None),
        (gzip.compress(PAGE), "gzip, chunked".replace(", chunked", ""), None),
        (zlib.compress(PAGE), None, "deflate"),
        (raw_deflate(PAGE), None, "deflate"),
        (brotli.compress(PAGE), None, "br"),
        (brotli.compress(gzip.compress(PAGE)), None, "gzip, br"),
        (zstandard.compress(PAGE), None, "zstd"),
        (chunked(zlib.compress(PAGE)) + b"X-Trailer: 1\r\n\r\n", "chunked", "deflate"),
        (gzip.compress(PAGE), None, None),
    ],
)
def test_true_codings_come_off(body, transfer, content):
    assert decode_body(body, transfer, content) == decode_body(PAGE, None, None)


@pytest.mark.parametrize(
    ("transfer", "content", "reason"),
    [
        ("chunked", None, Reason.BAD_CHUNKING),
        *[(None, coding, Reason.BAD_ENCODING) for coding in ("gzip", "x-gzip", "deflate", "br", "zstd", "utf-8")],
    ],
)
def test_codings_that_lie_leave_the_bytes(transfer, content, reason):
    decoded = decode_body(PAGE, transfer, content)
    assert decoded.body == PAGE
    assert decoded.notes == (reason,)


def test_what_comes_before_a_cut_is_kept():
    for coding, body in (("gzip", gzip.compress(NUMBERS)), ("br", brotli.compress(NUMBERS))):
        decoded = decode_body(body[: len(body) - 12], None, coding)
        assert decoded.body
        assert NUMBERS.startswith(decoded.body)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
def test_a_bomb_is_too_large(coding):
    pack = {"gzip": gzip.compress, "deflate": zlib.compress, "br": lambda body: brotli.compress(body, quality=1)}[
        coding
    ]
    decoded = decode_body(pack(bytes(20_000_000)), None, coding, limit=1_000_000)
    assert decoded.too_large
    assert decoded.body == b""


@given(
    st.binary(max_size=200),
    st.sampled_from([None, "chunked", "gzip"]),
    st.sampled_from(["gzip", "deflate", "br", "zstd", "a, b"]),
)
def test_no_body_raises(body, transfer, content):
    decode_body(body, transfer, content)


def test_records_after_a_chunked_and_compressed_body_are_read():
    http = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"
    data = member(record(0, body=chunked(gzip.compress(PAGE)), http=http))
    records, faults, _verdict = read(data + member(record(1)) + member(record(2)))
    assert numbers(records) == [0, 1, 2]
    assert not faults
    headers = records[0].http_headers
    decoded = decode_body(records[0].payload, headers.joined("transfer-encoding"), headers.joined("content-encoding"))
    assert decoded.body == PAGE


def test_a_zstd_body_of_several_frames_comes_whole_and_a_cut_one_as_far_as_it_goes():
    body = zstandard.compress(NUMBERS[:5000]) + zstandard.ZstdCompressor(write_content_size=False).compress(
        NUMBERS[5000:]
    )
    assert decode_body(body, None, "zstd").body == NUMBERS
    noise = random.Random(3).randbytes(900_000)  # more than one block, or nothing comes out of a cut frame
    cut = decode_body(zstandard.compress(noise)[:-1000], None, "zstd").body
    assert len(cut) > 500_000
    assert noise.startswith(cut)


@pytest.mark.parametrize(
    "pack", [gzip.compress, zlib.compress, lambda body: brotli.compress(body, quality=1), zstandard.compress]
)
def test_a_body_a_thousand_times_its_size_is_too_large_under_any_cap(pack):
    coding = {gzip.compress: "gzip", zlib.compress: "deflate", zstandard.compress: "zstd"}.get(pack, "br")
    bomb = pack(bytes(RATIO_FREE_BYTES + 1_000_000))
    assert len(bomb) * MAX_RATIO < RATIO_FREE_BYTES
    assert decode_body(bomb, None, coding).too_large
    small = pack(bytes(RATIO_FREE_BYTES - 1_000_000))
    assert len(decode_body(small, None, coding).body) == RATIO_FREE_BYTES - 1_000_000


def test_a_large_page_that_compresses_well_is_no_bomb():
    page = b"".join(b"<tr><td>%d</td><td>%d</td></tr>\n" % (number, number * 7) for number in range(400_000))
    assert len(page) > RATIO_FREE_BYTES
    assert decode_body(gzip.compress(page), None, "gzip").body == page
