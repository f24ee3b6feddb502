"""Streams over a real S3 server, through a proxy that spoils answers: the same bytes, or a clear error."""

import hashlib
import io
import pickle
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from services.faulty_proxy import Fault, faulty_proxy, seeded_plan, slow_down

from dedup_lib.archives.inputs import InputFile, expand_inputs, open_input
from dedup_lib.archives.stores import ObjectChanged, ReadMeter, StorageError, StorageUnreachable, open_object
from dedup_lib.config.settings import StorageSettings

TRANSIENT = [
    pytest.param(Fault(cut_after=100_000), id="reset in the body"),
    pytest.param(Fault(cut_after=0), id="reset before the body"),
    pytest.param(Fault(short_after=100_000), id="body shorter than announced"),
    pytest.param(Fault(drop=True), id="reset before the answer"),
    pytest.param(Fault(stall_after=100_000, stall=4.0), id="silence"),
    pytest.param(Fault(status=500), id="HTTP 500"),
    pytest.param(slow_down(), id="503 SlowDown"),
    pytest.param(slow_down(429, "0"), id="429"),
]


@pytest.fixture(scope="module")
def bucket(s3_server):
    return s3_server.new_bucket(public=True)


@pytest.fixture
def proxy(s3_server):
    with faulty_proxy(s3_server.host, s3_server.port) as running:
        yield running


@pytest.fixture
def through(proxy, aws_environment, quick):
    return StorageSettings(endpoint=proxy.endpoint, **quick)


@pytest.fixture
def path(s3_server, bucket, data):
    s3_server.put(bucket, "a.bin", data)
    return f"s3://{bucket}/a.bin"


def gets(proxy):
    return [request for request in proxy.requests if request.method == "GET"]


def read_all(stream, step=50_000):
    with stream:
        return b"".join(iter(lambda: stream.read(step), b""))


def once(*faults):
    """These faults on the first GETs, then none."""
    left = list(faults)
    return lambda request: left.pop(0) if request.method == "GET" and left else None


def test_an_object_is_read_by_one_request(path, proxy, through, data):
    meter = ReadMeter()
    assert read_all(open_object(path, through, meter)) == data
    assert (meter.requests, meter.retries, meter.bytes) == (1, 0, len(data))
    assert len(gets(proxy)) == 1


@pytest.mark.parametrize("start", [0, 1, 299_999, 600_000, 600_001, 700_000])
def test_reading_starts_anywhere(path, through, data, start):
    assert read_all(open_object(path, through, ReadMeter(), start)) == data[start:]


def test_seek_and_tell_are_those_of_a_file(path, through, data):
    with open_object(path, through, ReadMeter()) as stream:
        assert stream.seekable()
        assert stream.seek(-10, io.SEEK_END) == len(data) - 10
        assert stream.read() == data[-10:]
        assert stream.seek(500_000) == 500_000
        assert stream.read(7) == data[500_000:500_007]
        assert stream.seek(3, io.SEEK_CUR) == stream.tell() == 500_010
        assert stream.read(5) == data[500_010:500_015]
        assert stream.seek(9) == 9
        assert stream.read(5) == data[9:14]


@pytest.mark.parametrize("fault", TRANSIENT)
def test_a_broken_read_goes_on_from_the_last_byte(path, proxy, through, data, fault):
    proxy.plan = once(fault, fault)
    meter = ReadMeter()
    assert read_all(open_object(path, through, meter)) == data
    assert meter.retries == 2
    assert len(gets(proxy)) == meter.requests == 3
    assert meter.bytes == len(data)
    if fault.status is None and fault.short_after:
        assert gets(proxy)[1].headers["Range"] == "bytes=100000-"


def test_requests_after_the_first_ask_for_the_version_that_was_read(path, proxy, through, s3_server, bucket, data):
    proxy.plan = once(Fault(cut_after=50_000))
    read_all(open_object(path, through, ReadMeter()))
    first, second = gets(proxy)
    assert "If-Match" not in first.headers
    assert second.headers["If-Match"] == s3_server.client.head_object(Bucket=bucket, Key="a.bin")["ETag"]


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1 << 30), step=st.sampled_from([1000, 65_536, 1 << 20]), start=st.integers(0, 600_001))
def test_whatever_breaks_the_bytes_are_those_of_the_object(path, proxy, through, data, seed, step, start):
    proxy.plan = seeded_plan(seed, longest=1 << 17)
    meter = ReadMeter()
    assert read_all(open_object(path, through, meter, start), step) == data[start:]
    assert meter.retries <= meter.requests


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1 << 30))
def test_with_little_patience_it_is_the_bytes_or_a_clear_error(path, proxy, through, data, seed):
    proxy.plan = seeded_plan(seed, share=0.9, longest=1 << 12)
    impatient = through.model_copy(update={"attempts": 2})
    try:
        assert read_all(open_object(path, impatient, ReadMeter())) == data
    except StorageError as error:
        assert str(error).startswith(f"{path} cannot be read, 2 attempts in a row failed (")
        assert "\n" not in str(error)


@pytest.mark.parametrize("fault", TRANSIENT)
def test_patience_ends_after_the_configured_attempts(path, proxy, through, fault):
    proxy.plan = lambda request: Fault(cut_after=0) if fault.cut_after or fault.short_after or fault.stall else fault
    meter = ReadMeter()
    with pytest.raises(StorageUnreachable, match="3 attempts in a row failed") as caught:
        read_all(open_object(path, through.model_copy(update={"attempts": 3}), meter))
    assert len(gets(proxy)) == 3  # botocore's own retries do not multiply with ours
    assert meter.retries == 2
    assert "\n" not in str(caught.value)


def test_progress_starts_the_count_of_attempts_anew(path, proxy, through, data):
    proxy.plan = lambda request: Fault(cut_after=20_000)
    meter = ReadMeter()
    assert read_all(open_object(path, through.model_copy(update={"attempts": 2}), meter)) == data
    assert meter.retries >= 30 - 1  # 600 kB in answers of 20 kB


def test_a_server_that_ignores_ranges_does_not_get_its_bytes_mixed(path, proxy, through, data):
    proxy.plan = once(Fault(cut_after=300_000), Fault(ignore_range=True, cut_after=400_000), Fault(ignore_range=True))
    assert read_all(open_object(path, through, ReadMeter())) == data
    assert read_all(open_object(path, through, ReadMeter(), start=123_456)) == data[123_456:]


def test_an_answer_that_announces_less_than_was_listed_is_not_the_end(path, proxy, through, data):
    (file,) = expand_inputs([path], through)
    proxy.plan = once(Fault(announce=100_000), Fault(announce=5))
    meter = ReadMeter()
    assert read_all(open_input(file, through, meter)) == data
    assert meter.retries == 2


@pytest.mark.parametrize("same_size", [True, False])
def test_an_object_that_changes_in_between_is_an_error_with_both_versions(
    path, proxy, through, s3_server, bucket, data, same_size
):
    other = bytes(len(data)) if same_size else data + b"more"
    change = Fault(before=lambda: s3_server.put(bucket, "a.bin", other))
    proxy.plan = once(Fault(cut_after=100_000), change)
    stream = open_object(path, through, ReadMeter())
    with pytest.raises(ObjectChanged) as caught:
        read_all(stream)
    versions = [f'"{hashlib.md5(one).hexdigest()}"' for one in (data, other)]
    assert [caught.value.expected, caught.value.found] == versions
    assert caught.value.path == path


def test_an_object_that_changed_since_it_was_listed_is_not_read(path, through, s3_server, bucket, data):
    (file,) = expand_inputs([path], through)
    s3_server.put(bucket, "a.bin", bytes(len(data)))
    with pytest.raises(ObjectChanged, match="was changed while it was being read"):
        read_all(open_input(file, through, ReadMeter(), start=3))


def test_an_object_that_was_deleted_since_is_an_error_of_its_own(path, proxy, through, s3_server, bucket):
    delete = Fault(before=lambda: s3_server.client.delete_object(Bucket=bucket, Key="a.bin"))
    proxy.plan = once(Fault(cut_after=100_000), delete)
    with pytest.raises(StorageError, match="does not exist"):
        read_all(open_object(path, through, ReadMeter()))


def test_a_throttling_server_is_waited_for_as_long_as_it_asks(path, proxy, through, data):
    proxy.plan = once(slow_down(503, "1"))
    meter = ReadMeter()
    started = time.monotonic()
    patient = through.model_copy(update={"max_wait_seconds": 1.5})
    assert read_all(open_object(path, patient, meter)) == data
    assert time.monotonic() - started >= 1.0
    assert 1.0 <= meter.waited_seconds < 4.0


def test_nothing_but_the_piece_at_hand_is_held(s3_server, bucket, through):
    import tracemalloc  # noqa: PLC0415 (of this test alone)

    s3_server.put(bucket, "large.bin", bytes(24 << 20))
    read_all(open_object(f"s3://{bucket}/large.bin", through, ReadMeter(), (24 << 20) - 1))  # makes the client
    tracemalloc.start()
    try:
        with open_object(f"s3://{bucket}/large.bin", through, ReadMeter()) as stream:
            while stream.read(1 << 18):
                pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 << 20


def test_errors_and_meters_survive_the_way_between_processes():
    changed = pickle.loads(pickle.dumps(ObjectChanged("s3://b/k", "1", "2")))
    assert (changed.path, changed.expected, changed.found) == ("s3://b/k", "1", "2")
    refused = pickle.loads(pickle.dumps(StorageError("s3://b/k", "it is gone: look")))
    assert (str(refused), refused.path) == ("it is gone: look", "s3://b/k")
    meter = ReadMeter(1, 2, 3.0, 4)
    meter.add(pickle.loads(pickle.dumps(meter)))
    assert meter == ReadMeter(2, 4, 6.0, 8)


def test_files_of_this_machine_are_pythons_own_and_checked_for_change(tmp_path):
    file = tmp_path / "a.warc"
    file.write_bytes(b"WARC/1.0 and more")
    meter = ReadMeter()
    (found,) = expand_inputs([str(file)])
    with open_input(found, StorageSettings(), meter, start=5) as stream:
        assert isinstance(stream, io.BufferedReader)
        assert stream.read() == b"1.0 and more"
    assert meter == ReadMeter()
    file.write_bytes(b"WARC/1.0 and more still")
    with pytest.raises(ObjectChanged):
        open_input(found, StorageSettings(), meter)
    assert InputFile(str(file), 1, "warc") < InputFile(str(file), 2, "warc")


def test_what_the_disk_does_not_give_is_an_error_of_the_file():
    if not Path("/proc/self/mem").exists():
        pytest.skip("no file here that cannot be read")
    said = r"/proc/self/mem cannot be read behind 0 bytes .*: check the disk"
    with (
        open_object("/proc/self/mem", StorageSettings(), ReadMeter()) as stream,
        pytest.raises(StorageError, match=said),
    ):
        stream.read(10)
