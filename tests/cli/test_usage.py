"""Wrong usage: one plain sentence that says what to do, the right exit code, and nothing harmed."""

import fcntl
import importlib.util
import json
import os
import re

import pytest
from pyspark.sql import SparkSession

from dedup_lib import __version__
from dedup_lib.cli import session as sessions
from dedup_lib.cli.main import main

KEY = ("--source", "news", "--snapshot", "first")
COMMANDS = (
    "run",
    "extract",
    "resolve",
    "sign",
    "cluster",
    "sample",
    "demo",
    "status",
    "paths",
    "canonicalize",
    "evaluate",
    "tune",
)
RECORD = (
    b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Date: 2026-11-30T10:00:00Z\r\n"
    b"WARC-Target-URI: http://a.example/\r\nContent-Type: application/http; msgtype=response\r\n"
    b"Content-Length: 62\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>some text</p>\n\r\n\r\n"
)
as_root = pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")


@pytest.fixture
def warc(tmp_path):
    path = tmp_path / "a.warc"
    path.write_bytes(RECORD)
    return path


@pytest.fixture
def root(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def call(capsys):
    """Run a command; gives its exit code and what it said on both streams."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def refused(call):
    """Run a command that must be refused with an exit code and one sentence; gives the sentence."""

    def run(code: int, *arguments: object) -> str:
        found, out, err = call(*arguments)
        assert found == code, err
        assert out == ""
        assert re.fullmatch(r"crawl-dedup: [^\n]+\n", err), err
        return err

    return run


@pytest.fixture
def run_refused(refused, warc, root):
    """`run` on a sound archive with something wrong beside it; the store must not even be there afterwards."""

    def run(code: int, *arguments: object) -> str:
        sentence = refused(code, "run", *KEY, "--input", warc, "--output", root, *arguments)
        assert not root.exists()
        return sentence

    return run


def test_no_input_was_given(refused, root):
    assert "name WARC files" in refused(2, "run", *KEY, "--output", root)
    assert not root.exists()


@pytest.mark.parametrize("name", ["nowhere.warc.gz", "nowhere/", "nothing*.warc.gz", "@nowhere.txt"])
def test_an_input_that_is_not_there(refused, root, tmp_path, name):
    path = f"@{tmp_path}/{name[1:]}" if name.startswith("@") else f"{tmp_path}/{name}"
    assert str(tmp_path) in refused(3, "run", *KEY, "--output", root, "--input", path)


def test_an_empty_input_is_not_taken_for_this_folder(run_refused):
    assert "--input is empty" in run_refused(2, "--input", "")


def test_an_empty_output_is_not_taken_for_this_folder(refused, warc):
    assert "--output is empty" in refused(2, "run", *KEY, "--input", warc, "--output", "")


@as_root
def test_an_input_that_may_not_be_read(refused, warc, root):
    warc.chmod(0)
    assert "check its permissions" in refused(3, "run", *KEY, "--input", warc, "--output", root)


def test_a_folder_of_images(refused, root, tmp_path):
    images = tmp_path / "images"
    images.mkdir()
    (images / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    (images / "b.jpg").write_bytes(b"\xff\xd8\xff\xe0" + bytes(50))
    sentence = refused(3, "run", *KEY, "--input", images, "--output", root)
    assert "holds 2 files, but no archive and no table of text" in sentence


def test_archives_and_tables_of_text_together(refused, warc, root):
    (warc.parent / "b.jsonl").write_text('{"url": "http://a.example/", "text": "words"}\n')
    assert "as two snapshots" in refused(2, "run", *KEY, "--input", warc.parent, "--output", root)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("cluster.treshold=0.9", "there is no setting cluster.treshold"),
        ("cluster.treshold=0.9", "did you mean cluster.threshold?"),
        ("bands=14", "did you mean sign.bands?"),
        ("cluster.threshold=high", 'expected a number, found "high"'),
        ("sign.bands=14.5", "expected a whole number"),
        ("cluster.threshold=1.5", "expected at most 1"),
        ("cluster.verify=exactly", "did you mean exact?"),
        ("cluster.threshold", "expected section.key=value, such as sign.bands=14"),
        ("=3", "expected section.key=value"),
        ("sign.bands=[1", "the value is not YAML"),
    ],
)
def test_a_wrong_setting(run_refused, given, sentence):
    assert sentence in run_refused(2, "--set", given)


def test_all_that_is_wrong_with_a_profile_is_said_at_once(run_refused, tmp_path):
    profile = tmp_path / "mine.yaml"
    profile.write_text("cluster:\n  treshold: 0.9\nsign:\n  bands: many\n")
    sentence = run_refused(2, "--config", profile)
    assert "mine.yaml line 2), did you mean cluster.threshold?" in sentence
    assert 'sign.bands: expected a whole number, found "many" (mine.yaml line 4)' in sentence


def test_a_profile_that_is_not_there(run_refused):
    assert "check the name" in run_refused(2, "--config", "nowhere.yaml")


@pytest.mark.parametrize("below", ["", "store"])
def test_a_file_in_the_way_of_the_store(refused, warc, below):
    blocked = warc.parent / "blocked"
    blocked.touch()
    sentence = refused(3, "run", *KEY, "--input", warc, "--output", blocked / below)
    assert f"cannot write to the output folder {blocked / below}" in sentence


@as_root
def test_a_store_that_may_not_be_written_to(refused, warc, root):
    root.mkdir(mode=0o500)
    assert "cannot write to the output folder" in refused(3, "run", *KEY, "--input", warc, "--output", root)


@pytest.mark.parametrize(
    "name", ["2026-11-30", "20261130", "42", "1e5", "-1", "nan", "today", "null", "", "a/b", "a b"]
)
@pytest.mark.parametrize("option", ["source", "snapshot"])
def test_an_id_that_reads_as_a_number_or_a_date(refused, warc, root, option, name):
    ids = {"source": "news", "snapshot": "first"} | {option: name}
    options = [f"--{key}={value}" for key, value in ids.items()]
    assert f"{option} {name!r} is not allowed" in refused(2, "run", *options, "--input", warc, "--output", root)
    assert not root.exists()


@pytest.mark.parametrize("day", ["yesterday", "2026-13-01", "30.11.2026"])
def test_a_crawl_date_that_is_no_date(run_refused, day):
    assert "write it as 2026-11-30" in run_refused(2, "--crawl-date", day)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "--output", "x"], "missing option '--source' (see `crawl-dedup run --help`)"),
        (["sign", *KEY, "--output", "x", "--input", "y"], "no such option: --input"),
        (["runn"], "did you mean 'run'?"),
        (["status"], "missing argument"),
        (["run", "--bands", "14"], "no such option: --bands"),
    ],
)
def test_what_the_command_line_does_not_know(refused, arguments, sentence):
    assert sentence in refused(2, *arguments).replace("Did you", "did you")


@pytest.mark.parametrize("stage", ["resolve", "sign", "cluster"])
def test_a_stage_without_its_inputs(refused, root, stage):
    assert "there is no table documents of source news, snapshot first: run extract first" in refused(
        3, stage, *KEY, "--output", root
    )


def test_a_snapshot_that_another_run_is_writing(refused, warc, root):
    lock = root / "_locks/source=news/snapshot=first.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("run r1, process 7 on somewhere")
    with lock.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        sentence = refused(2, "run", *KEY, "--input", warc, "--output", root)
    assert "is being written by run r1, process 7 on somewhere: wait until it has ended" in sentence
    assert not (root / "_runs").exists()


def test_no_java_anywhere(call, warc, root, tmp_path, monkeypatch):
    for name in (*sessions.MANAGED, "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, package=None: None)
    monkeypatch.setattr(SparkSession, "getActiveSession", classmethod(lambda cls: None))
    code, out, err = call("run", *KEY, "--input", warc, "--output", root)
    assert (code, out) == (2, "")
    *progress, sentence = err.splitlines()
    assert sentence.startswith("crawl-dedup: Spark needs Java 17 or 21")
    assert "pip install 'crawl-dedup[java]'" in sentence
    assert not any("Traceback" in line for line in progress)
    (run_file,) = (root / "_runs").iterdir()
    assert json.loads(run_file.read_text())["outcome"] == "failed"
    assert not (root / "_published").exists()


@pytest.mark.parametrize("there", [True, False])
def test_looking_at_a_store_where_nothing_is_published(refused, tmp_path, there):
    folder = tmp_path if there else tmp_path / "nowhere"
    (tmp_path / "truth.parquet").touch()
    assert "run a snapshot first" in refused(3, "status", folder)
    assert "run extract first" in refused(3, "paths", folder, "documents")
    refused(3, "evaluate", folder, "--truth", tmp_path / "truth.parquet")
    assert "there is no truth file" in refused(3, "evaluate", folder, "--truth", tmp_path / "nowhere.parquet")


def test_a_table_that_there_is_not(refused, tmp_path):
    assert "the tables are documents, fetches, rejects" in refused(2, "paths", tmp_path, "docs")


def test_a_sample_that_cannot_be_written(refused, call, tmp_path):
    blocked = tmp_path / "blocked"
    blocked.touch()
    assert "name another folder" in refused(3, "sample", blocked)
    code, _, err = call("demo", blocked)
    assert code == 3
    assert err.splitlines()[-1].startswith("crawl-dedup: ")
    assert "Traceback" not in err


@pytest.mark.parametrize("command", ["run", "extract"])
def test_a_dry_run_shows_the_plan_and_writes_nothing(call, warc, root, command):
    code, out, err = call(command, *KEY, "--input", warc, "--output", root, "--dry-run")
    assert (code, err) == (0, "")
    plan = json.loads(out.splitlines()[-1])
    assert plan["dry_run"] is True
    assert (plan["inputs"], plan["input_bytes"]) == (1, len(RECORD))
    assert plan["stages"] == (["extract", "resolve", "sign", "cluster"] if command == "run" else ["extract"])
    assert not root.exists()


def test_the_version(call):
    assert call("--version") == (0, f"crawl-dedup {__version__}\n", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_a_help_of_whole_lines(call, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = call(command, "--help")
    assert (code, err) == (0, "")
    assert f"Usage: crawl-dedup {command}" in out
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 80
    if command in {"run", "extract", "resolve", "sign", "cluster"}:
        assert all(option in out for option in ("--source", "--snapshot", "--output", "--config", "--set", "--dry-run"))


def test_without_a_command_the_help_is_shown(call):
    code, out, err = call()
    assert (code, err) == (2, "")
    assert all(command in out for command in COMMANDS)
