"""Inputs in object storage that behaves badly: the rows are those of local files, to the byte."""

import json
from pathlib import Path

import pytest
from services.faulty_proxy import Fault, faulty_proxy, seeded_plan
from services.s3 import ENVIRONMENT, KEY_ID, SECRET, s3_server

from .command import KEY, call, execute, succeed
from .stored import all_rows, rows, strays

__all__ = ["s3_server"]

ARCHIVES = "extract.split_bytes=65536"
QUICK = ("--set", "storage.max_wait_seconds=0.02", "--set", ARCHIVES)


def upload(s3_server, folder, public=True):
    bucket = s3_server.new_bucket(public=public)
    names = sorted(path.name for path in folder.iterdir())
    for name in names:
        s3_server.put(bucket, f"crawl/{name}", (folder / name).read_bytes())
    s3_server.put(bucket, "crawl/warc.paths", "\n".join(names).encode())
    return bucket


def at(endpoint):
    return ("--set", f"storage.endpoint={endpoint}", "--set", "storage.anonymous=true", *QUICK)


def run_file(root, done):
    return json.loads((root / f"_runs/{done.summary['run']}.json").read_text())


@pytest.mark.slow
def test_a_run_over_broken_connections_gives_the_rows_of_local_files(s3_server, small, tmp_path):
    bucket = upload(s3_server, small.inputs)
    with faulty_proxy(s3_server.host, s3_server.port, seeded_plan(7)) as proxy:
        done = succeed(
            "run", *KEY, "--input", f"s3a://{bucket}/crawl/*.warc.gz", "--output", tmp_path, *at(proxy.endpoint)
        )
    assert all_rows(tmp_path) == all_rows(small.root)
    storage = run_file(tmp_path, done)["counts"]["extract"]["storage"]
    assert storage["retries"] > 0
    assert storage["requests"] > storage["retries"]
    assert storage["waited_seconds"] >= 0
    sizes = sum(path.stat().st_size for path in small.inputs.iterdir())
    assert storage["remote_bytes"] >= sizes
    assert strays(tmp_path) == []


def test_a_list_in_storage_names_its_files(s3_server, small, tmp_path):
    bucket = upload(s3_server, small.inputs)
    arguments = ("--input", f"@s3://{bucket}/crawl/warc.paths", "--output", tmp_path)
    succeed("extract", *KEY, *arguments, *at(s3_server.endpoint))
    assert rows(tmp_path, "documents") == rows(small.root, "documents")
    assert "nothing to do" in succeed("extract", *KEY, *arguments, *at(s3_server.endpoint)).err


def test_an_object_that_changes_while_it_is_read_is_one_reject_and_no_record_of_it_counts(s3_server, small, tmp_path):
    bucket = upload(s3_server, small.inputs)
    changed, kept = sorted(path.name for path in small.inputs.iterdir())
    changes = []

    def change(request):
        if request.method != "GET" or changed not in request.path or len(changes) == 2:
            return None
        changes.append(request.path)
        if len(changes) == 1:  # the first answer is cut, and what is left of the object is of another version
            return Fault(cut_after=20_000)
        other = (small.inputs / kept).read_bytes()
        return Fault(before=lambda: s3_server.put(bucket, f"crawl/{changed}", other))

    with faulty_proxy(s3_server.host, s3_server.port, change) as proxy:
        succeed("extract", *KEY, "--input", f"s3://{bucket}/crawl/*.gz", "--output", tmp_path, *at(proxy.endpoint))
    assert len(changes) == 2
    verdicts = {row["archive"]: row["verdict"] for row in rows(tmp_path, "archives")}
    assert verdicts == {changed: "unreadable", kept: "complete"}
    (reject,) = [row for row in rows(tmp_path, "rejects") if row["archive"] == changed]
    assert reject["reason"] == "unreadable"
    assert "was changed while it was being read" in reject["detail"]
    assert rows(tmp_path, "documents") == [row for row in rows(small.root, "documents") if row["archive"] == kept]

    s3_server.put(bucket, f"crawl/{changed}", (small.inputs / changed).read_bytes())
    again = ("--input", f"s3://{bucket}/crawl/*.gz", "--output", tmp_path, *at(s3_server.endpoint), "--replace")
    assert succeed("extract", *KEY, *again).summary["made"] == ["extract"]
    assert rows(tmp_path, "documents") == rows(small.root, "documents")


def test_storage_that_stops_answering_ends_the_run_and_keeps_what_was_read(s3_server, small, tmp_path):
    bucket = upload(s3_server, small.inputs)
    second = max(path.name for path in small.inputs.iterdir())
    silent = [True]

    def refuse(request):
        return Fault(drop=True) if silent[0] and request.method == "GET" and second in request.path else None

    with faulty_proxy(s3_server.host, s3_server.port, refuse) as proxy:
        arguments = ("extract", *KEY, "--input", f"s3://{bucket}/crawl/*.gz", "--output", tmp_path, *at(proxy.endpoint))
        batches = ("--set", "storage.attempts=3", "--set", "extract.commit_bytes=65536")
        done = call(*arguments, *batches)
        assert done.code == 3
        assert second in done.complaint
        assert "what was read before is kept; then run the same command again" in done.complaint
        silent[0] = False
        assert "was there already" in succeed(*arguments, *batches).err
    assert rows(tmp_path, "documents") == rows(small.root, "documents")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("s3://{bucket}/none.warc.gz",), "none.warc.gz"),
        (("s3://no-such-bucket-at-all/x.warc.gz",), "no-such-bucket-at-all"),
        (("http://me:pa55word@127.0.0.1/x.warc.gz",), "credentials"),
    ],
)
def test_what_is_not_there_is_told_in_a_sentence(s3_server, tmp_path, arguments, said):
    bucket = s3_server.new_bucket(public=True)
    (name,) = (argument.format(bucket=bucket) for argument in arguments)
    done = call("extract", *KEY, "--input", name, "--output", tmp_path, *at(s3_server.endpoint))
    assert done.code in {2, 3}
    assert said in done.complaint
    assert "pa55word" not in done.complaint


@pytest.mark.slow
def test_credentials_of_the_environment_are_used_and_written_nowhere(s3_server, small, tmp_path):
    bucket = upload(s3_server, small.inputs, public=False)
    endpoint = ("--set", f"storage.endpoint={s3_server.endpoint}", *QUICK)
    arguments = ("run", *KEY, "--input", f"s3://{bucket}/crawl/", "--output", tmp_path, *endpoint)
    done = execute(*arguments, **ENVIRONMENT)
    assert done.code == 0, done.err
    assert all_rows(tmp_path) == all_rows(small.root)
    said = [done.out, done.err, *(path.read_bytes() for path in Path(tmp_path).rglob("*") if path.is_file())]
    for secret in (KEY_ID, SECRET):
        assert not any((secret if isinstance(text, str) else secret.encode()) in text for text in said)
