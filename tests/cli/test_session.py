"""Starting a session: whose it is, where its properties come from, and that it is quiet."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dedup_lib.cli import session as sessions
from dedup_lib.cli.session import is_local, start_session
from dedup_lib.errors import UsageError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def nobodys(monkeypatch):
    """A process without a session, in which none can be started."""
    for name in sessions.MANAGED:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(SparkSession, "getActiveSession", classmethod(lambda cls: None))
    return monkeypatch


def recorded(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Record the environment that Spark would be started with."""
    seen: dict[str, str] = {}
    monkeypatch.setattr(
        SparkSession.Builder, "getOrCreate", lambda self: seen.update(os.environ, options=self._options)
    )
    return seen


def properties(folder: Path, text: str = "spark.master local[2]\n") -> Path:
    path = folder / "spark my.conf"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", ["PYSPARK_GATEWAY_PORT", "SPARK_REMOTE"])
def test_under_spark_submit_the_session_is_taken_as_it_is(nobodys, tmp_path, name):
    nobodys.setenv(name, "1234")
    nobodys.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    seen = recorded(nobodys)
    start_session("test", tmp_path / "not read.conf", "local[1]")
    assert seen["options"] == {}
    assert "PYSPARK_SUBMIT_ARGS" not in seen


def test_an_active_session_is_taken_as_it_is(nobodys, tmp_path):
    nobodys.setattr(SparkSession, "getActiveSession", classmethod(lambda cls: object()))
    seen = recorded(nobodys)
    start_session("test", tmp_path / "not read.conf", None)
    assert seen["options"] == {}


def test_a_local_session_has_its_properties_from_the_file_alone(nobodys, tmp_path):
    seen = recorded(nobodys)
    path = properties(tmp_path)
    before = dict(os.environ)
    start_session("a name", path, "local[3]")
    assert seen["options"] == {}
    assert seen["PYSPARK_SUBMIT_ARGS"] == (
        f"--name 'a name' --properties-file '{path}' --master 'local[3]' pyspark-shell"
    )
    assert seen["PYSPARK_PYTHON"] == sys.executable
    assert (Path(seen["JAVA_HOME"]) / "bin" / "java").exists()
    assert dict(os.environ) == before


def test_the_operators_java_options_come_after_ours(nobodys, tmp_path):
    nobodys.setenv("SPARK_SUBMIT_OPTS", "-Dx=y")
    seen = recorded(nobodys)
    start_session("test", properties(tmp_path))
    assert seen["SPARK_SUBMIT_OPTS"].startswith("-Dlog4j2.configurationFile=file:")
    assert seen["SPARK_SUBMIT_OPTS"].endswith("log4j2.properties -Dx=y")


def test_on_a_cluster_the_operators_python_is_kept(nobodys, tmp_path):
    nobodys.setenv("PYSPARK_PYTHON", "/opt/python")
    nobodys.delenv("SPARK_LOCAL_IP", raising=False)
    seen = recorded(nobodys)
    start_session("test", properties(tmp_path), "spark://host:7077")
    assert seen["PYSPARK_PYTHON"] == "/opt/python"
    assert "SPARK_LOCAL_IP" not in seen


@pytest.mark.parametrize(
    ("text", "master", "local"),
    [
        ("", None, True),
        ("spark.master local[2]", None, True),
        ("spark.master=yarn", None, False),
        (" spark.master :\tk8s://host", None, False),
        ("#spark.master yarn", None, True),
        ("spark.master yarn", "local[1]", True),
        ("spark.master local", "spark://h:1", False),
    ],
)
def test_whether_a_session_is_local_is_judged_as_spark_submit_does(tmp_path, text, master, local):
    assert is_local(properties(tmp_path, text), master) is local


def test_a_missing_properties_file_is_wrong_usage(nobodys, tmp_path):
    with pytest.raises(UsageError, match="no Spark properties file"):
        start_session("test", tmp_path / "nowhere.conf")


SHOW = """
import sys
from pathlib import Path
from dedup_lib.cli.session import start_session
def same(batches):
    yield from batches
session = start_session("shown", Path(sys.argv[1]), "local[1]")
assert start_session("again", Path("nowhere")) is session
frame = session.range(10).mapInArrow(same, "id long")
assert frame.count() == 10
for key in ("spark.app.name", "spark.master", "spark.sql.shuffle.partitions", "spark.sql.session.timeZone"):
    print(session.conf.get(key))
"""


def run_in(folder: Path, path: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SPARK_HOME": "/nowhere", "PYSPARK_PYTHON": "/nowhere"}
    command = [sys.executable, "-c", SHOW, str(path)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_local_session_starts_quietly_and_leaves_nothing_behind(tmp_path):
    done = run_in(tmp_path, ROOT / "conf" / "spark-local.conf")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["shown", "local[1]", "8", "UTC"]
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_properties_that_java_refuses_are_wrong_usage(tmp_path):
    done = run_in(tmp_path, properties(tmp_path, "spark.driver.memory 1z\n"))
    assert done.returncode == 1
    assert "UsageError: Spark did not start" in done.stderr
