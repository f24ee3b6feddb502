"""The files in jobs/ are doors to the commands: same options, same exit codes, also under spark-submit."""

import json
import os
import runpy
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from dedup_lib.cli import main as command_line
from dedup_lib.cli.java import find_java, launcher_home
from dedup_lib.tables.schemas import STAGES

ROOT = Path(__file__).parents[2]
JOBS = {path.stem: path for path in (ROOT / "jobs").glob("*.py") if path.stem != "__init__"}
PAGES = (
    "the quick brown fox jumps over the lazy dog and runs home",
    "a page about something else, long enough for words",
)


def test_there_is_one_job_for_each_stage_and_one_for_all_of_them():
    assert set(JOBS) == {"run", "global", "changes", *STAGES}


def test_jobs_are_thin():
    lengths = {name: len(path.read_text().splitlines()) for name, path in JOBS.items()}
    assert {name: lines for name, lines in lengths.items() if lines > 60} == {}


@pytest.mark.parametrize("name", sorted(JOBS))
def test_a_job_calls_the_command_of_its_name_and_passes_on_its_exit_code(name, monkeypatch):
    calls = []
    monkeypatch.setattr(command_line, "main", lambda arguments: calls.append(arguments) or 4)
    monkeypatch.setattr(sys, "argv", [str(JOBS[name]), "--output", "store", "--set", "sign.bands=14"])

    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(JOBS[name]), run_name="__main__")

    assert calls == [[name, "--output", "store", "--set", "sign.bands=14"]]
    assert ended.value.code == 4


def test_a_job_shows_the_options_of_its_command():
    shown = _python(JOBS["run"], "--help")

    assert shown.returncode == 0, shown.stderr
    for option in ("--source", "--snapshot", "--input", "--output", "--config", "--set", "--replace", "--dry-run"):
        assert option in shown.stdout


def test_a_wrong_option_ends_a_job_with_exit_code_2(tmp_path):
    refused = _python(JOBS["sign"], "--source", "example", "--snapshot", "2026-05", "--output", str(tmp_path))

    assert refused.returncode == 2
    assert "2026-05" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.slow
def test_spark_submit_runs_the_job_and_passes_on_its_exit_code(tmp_path):
    archive, store = tmp_path / "pages.warc.gz", tmp_path / "store"
    _write_archive(archive)
    arguments = ["--config", "conf/local.yaml", "--source", "example", "--output", str(store)]

    done = _submit(tmp_path, *arguments, "--snapshot", "first", "--input", str(archive))

    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout.splitlines()[-1])
    assert summary["made"] == list(STAGES)
    counts = summary["counts"]["cluster"]
    assert {name: counts[name] for name in ("captures", "kept", "exact")} == {"captures": 3, "kept": 2, "exact": 1}
    assert list((store / "representatives").rglob("*.parquet"))

    missing = _submit(tmp_path, *arguments, "--snapshot", "second", "--input", str(tmp_path / "nothing.warc.gz"))

    assert missing.returncode == 3
    assert "nothing.warc.gz does not exist" in missing.stdout  # spark-submit puts both streams of Python into one


def _python(job, *arguments):
    environment = os.environ | {"COLUMNS": "200", "NO_COLOR": "1"}
    command = [sys.executable, str(job), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False)


def _submit(folder, *arguments):
    """What the README says for one machine: spark-submit of the installed pyspark, with the project's properties."""
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "JAVA_HOME": str(launcher_home(find_java()))}
    environment.pop("SPARK_HOME", None)  # another Spark than that of this Python
    command = [str(Path(sys.executable).parent / "spark-submit"), "--master", "local[2]"]
    command += ["--properties-file", str(ROOT / "conf" / "spark-local.conf")]
    command += ["--conf", "spark.driver.memory=1g", "--conf", "spark.sql.shuffle.partitions=2"]
    command += ["--conf", f"spark.local.dir={folder / 'spark'}", str(JOBS["run"]), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False)


def _write_archive(path):
    """Three pages: two with one text under two names, and another."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for number, text in enumerate((PAGES[0], PAGES[0], PAGES[1])):
            headers = StatusAndHeaders("200 OK", [("Content-Type", "text/html; charset=utf-8")], protocol="HTTP/1.1")
            body = BytesIO(f"<html><title>{number}</title><body><p>{text}</p></body></html>".encode())
            dated = {"WARC-Date": f"2026-05-0{number + 1}T00:00:00Z"}
            url = f"https://example.org/page-{number}"
            record = writer.create_warc_record(url, "response", body, http_headers=headers, warc_headers_dict=dated)
            writer.write_record(record)
