"""What an address means, what a line of a list means, and that no secret is in any text."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.archives.stores.addresses import is_remote, local_path, parse_address, resolve_entry, shown
from dedup_lib.archives.stores.listing import matches
from dedup_lib.errors import UsageError

COMMON_CRAWL = "crawl-data/CC-MAIN-2026-05"
LINE = f"{COMMON_CRAWL}/segments/1/warc/a.warc.gz"


@pytest.mark.parametrize(
    ("listed_in", "line", "meant"),
    [
        (f"s3://commoncrawl/{COMMON_CRAWL}/warc.paths.gz", LINE, f"s3://commoncrawl/{LINE}"),
        (f"https://data.commoncrawl.org/{COMMON_CRAWL}/warc.paths.gz", LINE, f"https://data.commoncrawl.org/{LINE}"),
        (f"s3://mine/mirror/{COMMON_CRAWL}/warc.paths.gz", LINE, f"s3://mine/mirror/{LINE}"),
        ("s3://mine/crawl/list.txt", "a.warc.gz", "s3://mine/crawl/a.warc.gz"),
        ("s3://mine/crawl/list.txt", "deep/a.warc.gz", "s3://mine/crawl/deep/a.warc.gz"),
        ("s3://mine/crawl/list.txt", "crawl/a.warc.gz", "s3://mine/crawl/a.warc.gz"),
        ("s3://mine/crawl/list.txt", "./crawl/a.warc.gz", "s3://mine/crawl/crawl/a.warc.gz"),
        ("s3://mine/crawl/list.txt", "../other/a.warc.gz", "s3://mine/other/a.warc.gz"),
        ("s3://mine/crawl/list.txt", "crawl", "s3://mine/crawl/crawl"),
        ("s3://mine/list.txt", "crawl/a.warc.gz", "s3://mine/crawl/a.warc.gz"),
        ("s3://mine/crawl/list.txt", "/root/a.warc.gz", "s3://mine/root/a.warc.gz"),
        ("s3://mine/crawl/list.txt", "s3://other/a.warc.gz", "s3://other/a.warc.gz"),
        ("https://host/x/list.txt?sig=1", "a b.warc", "https://host/x/a b.warc"),
        ("hdfs:///data/list", "a.warc", "hdfs:///data/a.warc"),
    ],
)
def test_lines_of_lists(listed_in, line, meant):
    assert resolve_entry(line, parse_address(listed_in)) == meant


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_keys_of_object_storage_are_taken_as_they_are(key):
    for scheme in ("s3", "gs", "hdfs"):
        address = parse_address(f"{scheme}://bucket/{key}")
        assert (address.place, address.key) == ("bucket", key)
        assert parse_address(str(address)) == address


@pytest.mark.parametrize("name", ["X-Amz-Signature", "X-Goog-Signature", "Signature", "sig", "access_token", "api_key"])
@given(value=st.text("abcdef0123456789%+/", min_size=8))
def test_what_signs_a_web_address_is_in_no_text_of_it(name, value):
    text = f"https://host/a.warc?{name}={value}&part=1"
    address = parse_address(text)
    assert address.url == text
    assert str(address) == shown(text) == "https://host/a.warc?part=1"
    assert value not in repr(address)
    assert address == parse_address(str(address))


@pytest.mark.parametrize(
    "text",
    [
        "s3://KEY:SECRET@bucket/a",
        "s3a://KEY:SEC/RET@bucket/a",
        "s3n://KEY:SECRET",
        "https://me:SECRET@host/a",
        "hdfs://me@h/a",
    ],
)
def test_credentials_in_an_address_are_refused_and_not_repeated(text):
    with pytest.raises(UsageError, match="credentials") as caught:
        parse_address(text)
    assert "SEC" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "remote", "path"),
    [
        ("a.warc", False, "a.warc"),
        ("file:///a/b%20c", False, "/a/b c"),
        ("file:/a/b", False, "/a/b"),
        ("file://localhost/a", False, "/a"),
        ("s3://b/k", True, "s3://b/k"),
    ],
)
def test_files_of_this_machine(text, remote, path):
    assert is_remote(text) is remote
    assert local_path(text) == path


@pytest.mark.parametrize(
    ("path", "glob", "meant"),
    [
        ("a/b.gz", "a/*.gz", True),
        ("a/b/c.gz", "a/*.gz", False),
        ("a/b/c.gz", "a/**/*.gz", True),
        ("a/c.gz", "a/**/*.gz", True),
        ("a/.c.gz", "a/*.gz", False),
        ("a/B.gz", "a/[a-c].gz", False),
        ("a/b.gz", "?/[a-c].gz", True),
        ("a/b/c", "**", True),
    ],
)
def test_globs_are_those_of_a_shell(path, glob, meant):
    assert matches(path.split("/"), glob.split("/")) is meant


def test_runs_over_local_files_load_no_client():
    script = "import sys, dedup_lib.archives; sys.exit(any(name in sys.modules for name in ('boto3', 'urllib3')))"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
