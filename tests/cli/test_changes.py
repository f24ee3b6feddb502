"""`crawl-dedup changes`: what it refuses before it starts Spark."""

import pytest
from reports.explained import page, publish

from dedup_lib.cli import changes as command
from dedup_lib.cli.main import main
from dedup_lib.tables.keys import SnapshotKey

NAMES = ("--source", "web", "--from", "snapshot-a", "--to", "snapshot-b")


@pytest.fixture
def refused(capsys, monkeypatch):
    """Runs a command that must be refused in one sentence, with no session started; gives its exit code and that."""

    def session(request):
        raise AssertionError("Spark was started")

    def run(*arguments):
        code = main(["changes", *map(str, arguments)])
        found = capsys.readouterr()
        assert found.out == ""
        assert found.err.count("\n") == 1
        return code, found.err

    monkeypatch.setattr(command, "session_of", session)
    return run


def store(root, **of_the_second):
    publish(root, {"one": page("one", "some text of a page here")}, {}, key=SnapshotKey("web", "snapshot-a"))
    second = {"key": SnapshotKey("web", "snapshot-b")} | of_the_second
    return publish(root, {"one": page("one", "some text of a page here")}, {}, **second)


def test_a_snapshot_that_is_not_there(refused, tmp_path):
    store(tmp_path)
    code, sentence = refused(tmp_path, "--source", "web", "--from", "snapshot-a", "--to", "snapshot-c")
    assert code == 3
    assert "there is no snapshot snapshot-c of source web" in sentence
    assert "web/snapshot-a, web/snapshot-b" in sentence


def test_a_snapshot_and_itself(refused, tmp_path):
    code, sentence = refused(tmp_path, "--source", "web", "--from", "snapshot-a", "--to", "snapshot-a")
    assert (code, "name two snapshots" in sentence) == (2, True)


def test_snapshots_named_by_different_url_rules(refused, tmp_path):
    store(tmp_path, url_scheme="of-other-rules")
    code, sentence = refused(tmp_path, *NAMES)
    assert code == 2
    assert "has scheme of-other-rules" in sentence


def test_a_folder_that_is_there_and_a_limit_out_of_range(refused, tmp_path):
    store(tmp_path)
    code, sentence = refused(tmp_path, *NAMES, "--write", tmp_path)
    assert (code, "name a folder that is not" in sentence) == (2, True)
    code, sentence = refused(tmp_path, *NAMES, "--write", "/proc/nowhere/rows")
    assert (code, "cannot be made" in sentence) == (2, True)
    code, sentence = refused(tmp_path, *NAMES, "--write", "s3://bucket/rows")
    assert (code, "is not supported" in sentence) == (2, True)
    code, sentence = refused(tmp_path, *NAMES, "--limit", 5000)
    assert (code, "at most 1000" in sentence) == (2, True)
