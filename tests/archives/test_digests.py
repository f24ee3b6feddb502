import base64
import hashlib

import pytest
from archive_builder import HTTP, member, numbers, read, record

from dedup_lib.archives.digests import digest_fault
from dedup_lib.archives.faults import Reason
from dedup_lib.archives.reader import Verdict
from dedup_lib.archives.records import ReadLimits

CONTENT = HTTP + b"<p>hello</p>"
VERIFY = ReadLimits(verify_digests=True)


def hexadecimal(algorithm, content=CONTENT):
    return f"{algorithm}:{hashlib.new(algorithm, content).hexdigest()}"


def base32(algorithm, content=CONTENT):
    return f"{algorithm}:{base64.b32encode(hashlib.new(algorithm, content).digest()).decode()}"


def base64_of(algorithm, content=CONTENT):
    return f"{algorithm}:{base64.b64encode(hashlib.new(algorithm, content).digest()).decode()}"


def archive(digest):
    extra = b"WARC-Block-Digest: " + digest.encode()
    return member(record(0)) + member(record(1, body=b"<p>hello</p>", extra=extra)) + member(record(2))


@pytest.mark.parametrize("algorithm", ["sha1", "sha256", "sha512", "md5"])
@pytest.mark.parametrize("write", [hexadecimal, base32, base64_of])
def test_a_digest_that_fits_passes_and_one_of_other_bytes_is_told(algorithm, write):
    records, faults, verdict = read(archive(write(algorithm)), VERIFY)
    assert numbers(records) == [0, 1, 2]
    assert not faults
    assert verdict.verdict is Verdict.COMPLETE
    records, faults, verdict = read(archive(write(algorithm, b"other")), VERIFY)
    assert numbers(records) == [0, 2]
    assert [(fault.reason, fault.url, fault.record_id) for fault in faults] == [
        (Reason.BAD_DIGEST, "http://site.example/1", "<urn:uuid:00000001>")
    ]
    assert hashlib.new(algorithm, CONTENT).hexdigest() in faults[0].detail
    assert verdict.verdict is Verdict.DAMAGED


@pytest.mark.parametrize("digest", ["blake2b:abcd", "crc32:00000000", "", "sha1", "4b1f", "x" * 4000])
def test_a_digest_that_cannot_be_checked_drops_no_record(digest):
    records, faults, _verdict = read(archive(digest), VERIFY)
    assert numbers(records) == [0, 1, 2]
    assert not faults


@pytest.mark.parametrize("digest", ["sha1:", "sha1:zz", "md5:" + "0" * 31, "sha256:" + "A" * 32])
def test_a_value_that_is_no_digest_of_its_algorithm_does_not_fit(digest):
    assert [fault.reason for fault in read(archive(digest), VERIFY)[1]] == [Reason.BAD_DIGEST]


@pytest.mark.parametrize(
    "digest", ["SHA1:" + hexadecimal("sha1")[5:].upper(), base32("sha1").lower(), "sha-256" + hexadecimal("sha256")[6:]]
)
def test_case_and_dashes_do_not_matter(digest):
    assert digest_fault(digest, CONTENT) is None


def test_digests_are_checked_only_when_asked():
    records, faults, _verdict = read(archive(hexadecimal("sha1", b"other")))
    assert numbers(records) == [0, 1, 2]
    assert not faults
