"""Inputs named by folder, glob and list in a real S3 server, and what is said where it refuses."""

import contextlib
import gzip
import json
import multiprocessing
import socket
import threading
from collections import Counter

import boto3
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs
from services.faulty_proxy import Fault, faulty_proxy
from services.s3 import SECRET

from dedup_lib.archives.inputs import expand_inputs, open_input
from dedup_lib.archives.stores import Address, ObjectMissing, ReadMeter, StorageError, listing
from dedup_lib.archives.stores.arrow import ArrowStore
from dedup_lib.archives.stores.opening import store_of
from dedup_lib.archives.stores.stream import ObjectStream
from dedup_lib.archives.texts import read_texts
from dedup_lib.config import load_settings
from dedup_lib.config.settings import StorageSettings
from dedup_lib.errors import ConfigurationError, InputError, UsageError

LIST = [f"crawl-data/CC-MAIN-2026-05/segments/{n % 2}/warc/{n}.warc.gz" for n in range(24)]
OBJECTS = {
    "crawl/b.warc.gz": b"b" * 10,
    "crawl/deep/a.warc": b"a" * 11,
    "crawl/deep/open": gzip.compress(b"WARC/1.0\r\n"),
    "crawl/deep/picture.png": b"\x89PNG",
    "crawl/deep/warc.paths.gz": gzip.compress(b"a.warc\n"),
    "crawl/_temporary/c.warc": b"",
    "crawl/.hidden.warc": b"",
    "crawling/d.warc": b"d",
    "ein Ordner/Köln 1.warc": b"k",
    "lost.paths": b"crawl/b.warc.gz\ncrawl/gone.warc\n",
    "crawl-data/CC-MAIN-2026-05/warc.paths.gz": gzip.compress("\n".join(LIST).encode()),
    **{key: b"x" * (1 + number) for number, key in enumerate(LIST)},
}


@pytest.fixture(scope="module")
def bucket(s3_server):
    name = s3_server.new_bucket(public=True)
    for key, data in OBJECTS.items():
        s3_server.put(name, key, data)
    return name


def _identity_of_store(address, storage):
    return id(store_of(address, storage))


def keys(files, bucket):
    return [file.path.removeprefix(f"s3://{bucket}/") for file in files]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("crawl/b.warc.gz", ["crawl/b.warc.gz"]),
        ("crawl", ["crawl/b.warc.gz", "crawl/deep/a.warc", "crawl/deep/open"]),
        ("crawl/", ["crawl/b.warc.gz", "crawl/deep/a.warc", "crawl/deep/open"]),
        ("crawl/*", ["crawl/b.warc.gz"]),
        ("crawl/**/*.warc*", ["crawl/b.warc.gz", "crawl/deep/a.warc"]),
        ("crawl*/?.warc*", ["crawl/b.warc.gz", "crawling/d.warc"]),
        ("crawl/deep/picture.png", ["crawl/deep/picture.png"]),
        ("crawl/deep/warc.paths.gz", ["crawl/deep/a.warc"]),
        ("ein Ordner/Köln 1.warc", ["ein Ordner/Köln 1.warc"]),
        ("crawl-data/CC-MAIN-2026-05/warc.paths.gz", sorted(LIST)),
    ],
)
def test_objects_folders_globs_and_lists(bucket, storage, pattern, found):
    files = expand_inputs([f"s3a://{bucket}/{pattern}", f"s3://{bucket}/{pattern}"], storage)
    assert keys(files, bucket) == found
    assert [file.bytes for file in files] == [len(OBJECTS[key]) for key in found]
    assert {file.kind for file in files} == {"warc"}
    assert all(file.version for file in files)


def test_versions_are_those_that_reading_sees(bucket, storage):
    for file in expand_inputs(
        [f"s3://{bucket}/crawl", f"s3://{bucket}/crawl-data/CC-MAIN-2026-05/warc.paths.gz"], storage
    ):
        with open_input(file, storage, ReadMeter()) as stream:
            assert stream.read() == OBJECTS[file.path.removeprefix(f"s3://{bucket}/")]


def test_a_local_list_names_objects_and_a_remote_one_beside_it(bucket, storage, tmp_path):
    (tmp_path / "list").write_text(f"# mixed\ns3://{bucket}/crawl/b.warc.gz\nlocal.warc\ns3://{bucket}/crawling/*\r\n")
    (tmp_path / "local.warc").write_bytes(b"")
    files = expand_inputs([f"@{tmp_path}/list"], storage)
    assert keys(files, bucket) == [f"{tmp_path}/local.warc", "crawl/b.warc.gz", "crawling/d.warc"]


def test_sizes_of_many_objects_come_from_few_requests(bucket, storage):
    meter = ReadMeter()
    expand_inputs([f"s3://{bucket}/crawl-data/CC-MAIN-2026-05/warc.paths.gz"], storage, meter=meter)
    assert meter.requests == 4  # the list found and read, each of the two folders listed


def test_sizes_are_asked_one_by_one_where_folders_may_not_be_listed(bucket, s3_server, aws_environment, quick):
    with faulty_proxy(s3_server.host, s3_server.port) as proxy:
        proxy.plan = lambda request: Fault(status=403) if "list-type" in request.path else None
        settings = StorageSettings(endpoint=proxy.endpoint, **quick)
        files = expand_inputs([f"s3://{bucket}/crawl-data/CC-MAIN-2026-05/warc.paths.gz"], settings)
        assert [file.bytes for file in files] == [len(OBJECTS[key]) for key in sorted(LIST)]
        assert Counter(request.method for request in proxy.requests)["HEAD"] == 1 + len(LIST)


def test_a_listing_of_many_pages_is_complete_and_survives_faults(s3_server, storage, quick, monkeypatch):
    bucket = s3_server.new_bucket()
    names = [f"many/{n:04}.warc" for n in range(1100)]
    with listing.ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda name: s3_server.put(bucket, name, b"1"), names))
    with faulty_proxy(s3_server.host, s3_server.port) as proxy:
        spoil = iter(
            [Fault(status=503), Fault(short_after=99), None, Fault(drop=True), Fault(cut_after=99)] + 9 * [None]
        )
        proxy.plan = lambda request: next(spoil) if "list-type" in request.path else None
        meter = ReadMeter()
        files = expand_inputs([f"s3://{bucket}/many"], StorageSettings(endpoint=proxy.endpoint, **quick), meter=meter)
    assert keys(files, bucket) == names
    assert meter.retries == 4


def test_progress_is_told(bucket, storage, monkeypatch):
    monkeypatch.setattr(listing, "TELL_SECONDS", 0.0)
    said = []
    expand_inputs([f"s3://{bucket}/crawl-data/CC-MAIN-2026-05/warc.paths.gz"], storage, said.append)
    assert said[-1] == "sizes of 24 of 24 input files are known"


@pytest.mark.parametrize(
    ("pattern", "error", "said"),
    [
        ("s3://{bucket}/nowhere", InputError, "input s3://.*/nowhere does not exist, and nothing below it: give"),
        ("s3://{bucket}/nowhere/", InputError, "holds no files"),
        ("s3://{bucket}/lost.paths", InputError, r"lost.paths, line 2: s3://.*/crawl/gone.warc does not exist"),
        ("s3://{bucket}/crawl/*.arc", InputError, "holds no files"),
        ("s3://{bucket}/nowhere.txt", InputError, "does not exist"),
        ("@s3://{bucket}/nowhere.txt", InputError, "the list s3://.*does not exist"),
        ("s3://no-such-bucket-here/a", InputError, "there is no bucket no-such-bucket-here: check the name"),
        ("s3://no bucket/a", InputError, "check the names of bucket and key"),
        ("s3:///a", UsageError, "the bucket or host is missing"),
        ("s3://KEY:SEC/RET@{bucket}/a", UsageError, "credentials in an address are not accepted"),
        ("https://me:SECRET@host/a", UsageError, "credentials in an address are not accepted"),
        ("ftp://host/a", UsageError, "addresses of this kind are not read"),
    ],
)
def test_wrong_addresses_are_errors_of_one_sentence(bucket, storage, pattern, error, said):
    with pytest.raises(error, match=said) as caught:
        expand_inputs([pattern.format(bucket=bucket)], storage)
    assert "\n" not in str(caught.value)
    assert "SECRET" not in str(caught.value)


def test_wrong_credentials_are_told(bucket, storage, s3_server, monkeypatch):
    pattern = f"s3://{s3_server.new_bucket()}/a"
    fresh = iter(range(5, 100))  # settings of their own: a client keeps the credentials that it was made with

    def said(**changes):
        with pytest.raises(StorageError) as caught:
            expand_inputs([pattern], storage.model_copy(update={"connect_seconds": float(next(fresh)), **changes}))
        assert SECRET not in str(caught.value)
        return str(caught.value)

    assert "unset storage.anonymous" in said(anonymous=True)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    assert "is denied" in said() or "are refused" in said()
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert "check AWS_PROFILE or AWS_ACCESS_KEY_ID" in said()
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    assert "3 attempts in a row failed (there are no credentials): check AWS_PROFILE" in said()
    assert "check AWS_PROFILE" in said(profile="nobody")
    assert "and storage.endpoint" in said(endpoint="http://127.0.0.1:99999", anonymous=True)
    assert "http://127.0.0.1:9 cannot be reached): check storage.endpoint" in said(
        endpoint="http://127.0.0.1:9", anonymous=True
    )


def test_public_objects_are_read_anonymously(bucket, storage, monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    anonymous = storage.model_copy(update={"anonymous": True})
    (file,) = expand_inputs([f"s3://{bucket}/crawl/b.warc.gz"], anonymous)
    with open_input(file, anonymous, ReadMeter()) as stream:
        assert stream.read() == OBJECTS["crawl/b.warc.gz"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"<Error><Code>PermanentRedirect</Code><Region>eu-west-1</Region></Error>", "set storage.region"),
        (
            b"<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>",
            "set storage.region to eu-west-1",
        ),
        (b"<Error><Code>ExpiredToken</Code></Error>", "ExpiredToken.: renew"),
        (b"<Error><Code>RequestTimeTooSkewed</Code></Error>", "set the clock"),
        (b"<Error><Code>InvalidObjectState</Code></Error>", "restore it first"),
    ],
)
def test_refusals_of_s3_say_what_to_do(bucket, s3_server, aws_environment, quick, answer, said):
    with faulty_proxy(s3_server.host, s3_server.port) as proxy:
        proxy.plan = lambda request: Fault(status=400, headers={"Content-Type": "application/xml"}, body=answer)
        settings = StorageSettings(endpoint=proxy.endpoint, **quick)
        with pytest.raises(StorageError, match=said):
            expand_inputs([f"s3://{bucket}/crawl/*"], settings.model_copy(update={"region": "us-east-1"}))


def test_requester_pays_and_region_are_sent(bucket, s3_server, aws_environment, quick):
    with faulty_proxy(s3_server.host, s3_server.port) as proxy:
        settings = StorageSettings(endpoint=proxy.endpoint, requester_pays=True, region="eu-central-1", **quick)
        expand_inputs([f"s3://{bucket}/crawl"], settings)
        sent = [{name.lower(): value for name, value in request.headers.items()} for request in proxy.requests]
    assert {one["x-amz-request-payer"] for one in sent} == {"requester"}
    assert all("/eu-central-1/s3/" in one["authorization"] for one in sent)


def test_a_process_makes_one_client(bucket, storage, monkeypatch):
    made = []
    session = boto3.session.Session.client
    monkeypatch.setattr(boto3.session.Session, "client", lambda *a, **k: made.append(1) or session(*a, **k))
    fresh = storage.model_copy(update={"read_seconds": 77.0})
    files = expand_inputs([f"s3://{bucket}/crawl-data/CC-MAIN-2026-05/warc.paths.gz"], fresh)
    read = [threading.Thread(target=lambda one=one: open_input(one, fresh, ReadMeter()).read()) for one in files[:8]]
    for thread in read:
        thread.start()
    for thread in read:
        thread.join()
    assert made == [1]


def test_a_forked_worker_makes_its_own_client(storage):
    address = Address("s3", "bucket", "key")
    mine = store_of(address, storage)
    assert store_of(address, storage.model_copy()) is mine
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(_identity_of_store, (address, storage)) != id(mine)


def test_an_endpoint_that_accepts_no_connection_is_told(aws_environment, quick):
    with contextlib.ExitStack() as stack:
        full = stack.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        host, port = full.getsockname()
        for _ in range(4):  # the queue of those that wait to be accepted is full
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex((host, port))
        settings = StorageSettings(endpoint=f"http://{host}:{port}", **{**quick, "connect_seconds": 0.1, "attempts": 2})
        for pattern in ("s3://bucket/a.warc", f"http://{host}:{port}/a.warc"):
            with pytest.raises(StorageError, match=r"2 attempts in a row failed .*[Tt]imed? ?out"):
                expand_inputs([pattern], settings)


def test_tables_of_text_are_read_from_storage(s3_server, storage):
    bucket = s3_server.new_bucket()
    rows = [{"url": f"http://a/{n}", "text": f"text {n} " * 50, "date": "2024-05-18"} for n in range(3000)]
    lines = "\n".join(map(json.dumps, rows)).encode()
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), sink, row_group_size=500)
    stored = {"a.jsonl": lines, "b.jsonl.gz": gzip.compress(lines), "c.parquet": sink.getvalue().to_pybytes()}
    for name, data in stored.items():
        s3_server.put(bucket, name, data)
    for name, data in stored.items():
        (file,) = expand_inputs([f"s3://{bucket}/{name}"], storage)
        meter = ReadMeter()
        texts = [
            text
            for batch in read_texts(file, storage=storage, meter=meter)
            for text in batch.column("text").to_pylist()
        ]
        assert texts == [row["text"] for row in rows]
        assert 0 < meter.bytes < 4 * len(data) + (4 << 20)
        s3_server.put(bucket, name, data + b" ")
        with pytest.raises(StorageError, match="was changed"):
            list(read_texts(file, storage=storage))


def test_a_file_system_of_arrows_is_read_like_any_other(tmp_path, quick, data):
    store = ArrowStore(fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem()))
    (tmp_path / "bucket" / "deep").mkdir(parents=True)
    (tmp_path / "bucket" / "a.warc").write_bytes(data)
    (tmp_path / "bucket" / "deep" / "b.warc").write_bytes(b"b")
    address = Address("gs", "bucket", "a.warc")
    listed = store.stat(address)
    assert listed.bytes == len(data)
    assert [one.address.key for one in store.page(address.at(""), "", "")[0]] == ["a.warc", "deep/b.warc"]
    assert [one.address.key for one in store.page(address.at("deep/b"), "", "")[0]] == ["deep/b.warc"]
    stream = ObjectStream(store, address, StorageSettings(**quick), ReadMeter(), 1000, listed.version, listed.bytes)
    assert stream.read(500) == data[1000:1500]
    assert stream.seek(-5, 2) == len(data) - 5
    assert stream.read() == data[-5:]
    with pytest.raises(ObjectMissing):
        store.stat(address.at("c"))


def test_settings_of_storage_hold_no_credentials(tmp_path):
    profile = tmp_path / "profile.yaml"
    for endpoint in ("http://me:secret@host", "https://host/?token=1", "host:9000"):
        profile.write_text(f"storage: {{endpoint: '{endpoint}'}}")
        with pytest.raises(ConfigurationError, match=r"storage\.endpoint must be") as caught:
            load_settings(profile)
        assert "secret" not in str(caught.value)
    assert (
        load_settings(overrides=["storage.endpoint=http://127.0.0.1:9000"]).storage.endpoint == "http://127.0.0.1:9000"
    )
