"""Inputs behind http, from a server whose kindness a test sets: ranges, ETags, lengths, redirects, refusals."""

import gzip
import io

import pytest
from services.faulty_proxy import Fault, faulty_proxy, seeded_plan

from dedup_lib.archives.inputs import expand_inputs, input_size, open_input
from dedup_lib.archives.stores import ObjectChanged, ReadMeter, StorageError, open_object
from dedup_lib.config.settings import StorageSettings
from dedup_lib.errors import InputError, UsageError


@pytest.fixture
def settings(quick):
    return StorageSettings(**quick)


def read_all(stream):
    with stream:
        return b"".join(iter(lambda: stream.read(50_000), b""))


@pytest.mark.parametrize("etags", ["strong", "weak", "none"])
@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("lengths", [True, False])
def test_broken_reads_go_on_whatever_the_server_can(web_server, settings, data, etags, ranges, lengths):
    web_server.objects["/a.warc"] = data
    web_server.etags, web_server.ranges, web_server.lengths = etags, ranges, lengths
    with faulty_proxy("127.0.0.1", web_server.port) as proxy:
        for start in (0, 100_000):
            faults = [Fault(cut_after=350_000), Fault(drop=True), Fault(status=503, headers={"Retry-After": "0"})]
            proxy.plan = lambda request, left=faults: left.pop(0) if left else None
            meter = ReadMeter()
            assert read_all(open_object(f"{proxy.endpoint}/a.warc", settings, meter, start)) == data[start:]
            assert meter.retries == 3


def test_whatever_breaks_the_bytes_are_those_of_the_object(web_server, settings, data):
    web_server.objects["/a.warc"] = data
    with faulty_proxy("127.0.0.1", web_server.port) as proxy:
        for seed in range(8):
            proxy.plan = seeded_plan(seed, longest=1 << 17)
            assert read_all(open_object(f"{proxy.endpoint}/a.warc", settings, ReadMeter())) == data
        assert proxy.faults >= 8


@pytest.mark.parametrize("etags", ["strong", "weak"])
def test_a_changed_object_is_an_error(web_server, settings, data, etags):
    web_server.objects["/a.warc"] = data
    web_server.etags = etags
    with faulty_proxy("127.0.0.1", web_server.port) as proxy:
        change = Fault(before=lambda: web_server.objects.update({"/a.warc": data[::-1]}))
        faults = [Fault(cut_after=350_000), change]
        proxy.plan = lambda request: faults.pop(0) if faults else None
        with pytest.raises(ObjectChanged) as caught:
            read_all(open_object(f"{proxy.endpoint}/a.warc", settings, ReadMeter()))
        assert caught.value.expected != caught.value.found != ""


def test_an_object_without_version_that_has_another_size_is_an_error(web_server, settings, data):
    web_server.objects["/a.warc"] = data
    web_server.etags = "none"
    (file,) = expand_inputs([f"{web_server.url}/a.warc"], settings)
    assert (file.bytes, file.version) == (len(data), "")
    web_server.objects["/a.warc"] = data[:-1]
    with pytest.raises(ObjectChanged):
        read_all(open_input(file, settings, ReadMeter()))


def test_bytes_are_those_stored_and_redirects_are_followed(web_server, settings):
    packed = gzip.compress(b"WARC/1.0")
    web_server.objects["/there.warc.gz"] = packed
    web_server.moved["/a.warc.gz"] = "/there.warc.gz"
    with open_object(f"{web_server.url}/a.warc.gz", settings, ReadMeter()) as stream:
        assert stream.read() == packed
        assert stream.seek(0, io.SEEK_END) == len(packed)
    assert {headers["Accept-Encoding"] for _, headers in web_server.requests} == {"identity"}


@pytest.mark.parametrize("lengths", [True, False])
def test_the_end_of_an_object_is_found_without_ranges(web_server, settings, data, lengths):
    web_server.objects["/a.warc"] = data
    web_server.ranges, web_server.lengths = False, lengths
    with open_object(f"{web_server.url}/a.warc", settings, ReadMeter(), start=len(data) + 5) as stream:
        assert stream.read() == b""
        assert stream.seek(-3, io.SEEK_END) == len(data) - 3
        assert stream.read() == data[-3:]


@pytest.mark.parametrize("data_there", [b"", b"x"])
@pytest.mark.parametrize("ranges", [True, False])
def test_the_smallest_objects(web_server, settings, data_there, ranges):
    web_server.objects["/a.warc"] = data_there
    web_server.ranges = ranges
    (file,) = expand_inputs([f"{web_server.url}/a.warc"], settings)
    assert file.bytes == len(data_there)
    assert read_all(open_input(file, settings, ReadMeter())) == data_there
    assert read_all(open_object(file.path, settings, ReadMeter(), start=1)) == b""


@pytest.mark.parametrize(
    ("status", "said"), [(403, "is denied .HTTP 403.: .*wait"), (404, "does not exist"), (400, "HTTP 400")]
)
def test_refusals_are_errors_at_once(web_server, settings, status, said):
    web_server.statuses["/a.warc"] = status
    with pytest.raises(InputError, match=said) as caught:
        expand_inputs([f"{web_server.url}/a.warc"], settings)
    assert len(web_server.requests) == 1
    assert "\n" not in str(caught.value)
    with pytest.raises(StorageError, match=said):
        read_all(open_object(f"{web_server.url}/a.warc", settings, ReadMeter()))


def test_a_host_that_does_not_answer_is_told(settings):
    with pytest.raises(StorageError, match=r"5 attempts in a row failed .*: check the address and the network"):
        expand_inputs(["http://127.0.0.1:9/a.warc"], settings)


def test_a_list_of_common_crawl_is_read_from_the_root_of_its_host(web_server, settings):
    keys = [f"crawl-data/CC-MAIN-2026-05/segments/1/warc/{n}.warc.gz" for n in range(3)]
    for key in keys:
        web_server.objects["/" + key] = b"x" * 7
    web_server.objects["/crawl-data/CC-MAIN-2026-05/warc.paths.gz"] = gzip.compress("\n".join(keys).encode())
    address = f"{web_server.url}/crawl-data/CC-MAIN-2026-05/warc.paths.gz"
    files = expand_inputs([address], settings)
    assert [file.path for file in files] == [f"{web_server.url}/{key}" for key in keys]
    assert {file.bytes for file in files} == {7}
    asked = len(web_server.requests)
    said = []
    files = expand_inputs([address], settings.model_copy(update={"https_sizes": 2}), said.append)
    assert said == ["sizes of 3 https inputs are not asked for (storage.https_sizes is 2)"]
    assert [(file.bytes, file.version, file.kind) for file in files] == [(-1, "", "warc")] * 3
    assert len(web_server.requests) == asked + 2  # the list alone
    with open_input(files[0], settings, ReadMeter(), start=2) as stream:
        assert input_size(files[0], stream) == 7
        assert stream.read() == b"x" * 5


def test_names_that_say_nothing_are_told_by_first_bytes(web_server, settings):
    web_server.objects |= {"/get": gzip.compress(b"WARC/1.0\r\n"), "/table": b"PAR1" + bytes(100)}
    assert [file.kind for file in expand_inputs([f"{web_server.url}/get?id=7"], settings)] == ["warc"]
    assert [file.kind for file in expand_inputs([f"{web_server.url}/table"], settings)] == ["texts"]
    assert web_server.requests[0][0] == "/get?id=7"


def test_folders_and_globs_cannot_be_listed(web_server, settings):
    for pattern in ("/crawl/", "/crawl/*.warc.gz"):
        with pytest.raises(UsageError, match="cannot be listed over https"):
            expand_inputs([web_server.url + pattern], settings)


def test_the_proxy_of_the_environment_is_used(web_server, quick, monkeypatch):
    web_server.objects["http://far.example/a.warc"] = b"WARC/1.0"  # a proxy is asked for whole addresses
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, web_server.url.replace("http://", "http://me:word@"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    fresh = StorageSettings(**{**quick, "read_seconds": 3.0})
    with open_object("http://far.example/a.warc", fresh, ReadMeter()) as stream:
        assert stream.read() == b"WARC/1.0"
    assert web_server.requests[0][1]["proxy-authorization"] == "Basic bWU6d29yZA=="
    web_server.objects["/near.warc"] = b"near"
    assert expand_inputs([f"{web_server.url}/near.warc"], fresh)[0].bytes == 4


def test_what_signs_an_address_is_sent_and_shown_nowhere(web_server, settings, tmp_path):
    web_server.objects["/a.warc"] = b"WARC/1.0"
    signed = f"{web_server.url}/a.warc?part=1&X-Amz-Credential=AKIA&X-Amz-Signature=0123abcd"
    (tmp_path / "list.txt").write_text(signed)
    for pattern in (signed, str(tmp_path / "list.txt")):
        (file,) = expand_inputs([pattern], settings)
        assert file.path == f"{web_server.url}/a.warc?part=1"
        assert "0123abcd" not in repr(file)
        assert read_all(open_input(file, settings, ReadMeter())) == b"WARC/1.0"
        assert web_server.requests[-1][0] == "/a.warc?part=1&X-Amz-Credential=AKIA&X-Amz-Signature=0123abcd"
    for status in (403, 404, 500):
        web_server.statuses["/a.warc"] = status
        with pytest.raises(InputError) as caught:
            expand_inputs([signed], settings)
        assert "0123abcd" not in str(caught.value)
    with pytest.raises(InputError) as caught:
        expand_inputs([signed.replace(str(web_server.port), "9")], settings)
    assert "0123abcd" not in str(caught.value)
