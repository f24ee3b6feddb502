"""An Airflow for the tests, in an environment of its own: the Spark provider's pyspark-client overwrites pyspark."""

import fcntl
import hashlib
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from integration.archives import stored_page

from dedup_lib.cli.java import find_java, launcher_home

ROOT = Path(__file__).parents[2]
CONSTRAINTS = Path(__file__).parent / "constraints.txt"
PACKAGES = ("apache-airflow", "apache-airflow-providers-apache-spark")
OTHER = b"a page about something else that is long enough for a few words of its own"
RUN_SECONDS = 900  # of `airflow dags test`, on a machine that is busy


def airflow_environment() -> Path:
    """The folder of a virtual environment with Airflow, made at first use and kept; skips where pip reaches nothing."""
    digest = hashlib.sha256(CONSTRAINTS.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"crawl-dedup-airflow-{digest}"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            _make(folder)
    return folder


def _make(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    made = _pip(folder, "install", "--constraint", str(CONSTRAINTS), *PACKAGES)
    if made.returncode == 0:
        (folder / "complete").touch()
    elif _pip(folder, "download", "--no-deps", "--no-cache-dir", "--dest", str(folder / "probe"), "six").returncode:
        pytest.skip("no environment with Airflow could be made: pip reaches no package index from here")
    else:
        pytest.fail(f"Airflow could not be installed: {made.stderr[-2000:]}")


def _pip(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(folder / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@dataclass(frozen=True)
class AirflowHome:
    """An AIRFLOW_HOME with its database, and a folder of DAGs with the project's linked into it, as the README says."""

    environment: Path
    folder: Path

    @property
    def dags(self) -> Path:
        """The DAG folder."""
        return self.folder / "dags"

    def prepare(self) -> None:
        """Makes the database, links the DAG and makes the pools."""
        self.dags.mkdir(parents=True)
        (self.dags / "crawl_dedup_dag.py").symlink_to(ROOT / "jobs" / "airflow" / "crawl_dedup_dag.py")
        for arguments in (
            ("db", "migrate"),
            ("pools", "set", "crawl_dedup", "4", "stages at once"),
            ("pools", "set", "crawl_dedup_global", "1", "global step"),
        ):
            done = self.run(*arguments)
            assert done.returncode == 0, done.stdout

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """An `airflow` command; what it printed is in stdout."""
        return self._run([str(self.environment / "bin" / "airflow"), *arguments])

    def test_dag(self, dag_id: str, day: str, params: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        """`airflow dags test`, which runs a logical date to its end in one process."""
        return self.run("dags", "test", dag_id, day, "--conf", json.dumps(params))

    def python(self, script: str) -> Any:
        """What a script in Airflow's Python leaves in `result`, by way of JSON."""
        ending = "\nimport json, sys\nsys.stdout.write('\\n' + json.dumps(result))\n"
        done = self._run([str(self.environment / "bin" / "python"), "-c", script + ending])
        assert done.returncode == 0, done.stdout
        return json.loads(done.stdout.splitlines()[-1])

    @contextmanager
    def serving(self, folder: Path) -> Iterator[None]:
        """A scheduler, a DAG processor and an API server, as long as the block lasts; their logs are in `folder`."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = str(probe.getsockname()[1])
        variables = self.variables() | {
            "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
            "AIRFLOW__API_AUTH__JWT_SECRET": "a secret of the tests, which all three share, of 64 bytes or more",
            "AIRFLOW__CORE__PARALLELISM": "4",
        }
        services = (("api-server", "--host", "127.0.0.1", "--port", port, "--workers", "1"), ("dag-processor",))
        started: list[subprocess.Popen[bytes]] = []
        try:
            for arguments in (*services, ("scheduler",)):
                command = [str(self.environment / "bin" / "airflow"), *arguments]
                with (folder / f"{arguments[0]}.log").open("wb") as log:
                    started.append(
                        subprocess.Popen(
                            command, stdout=log, stderr=log, env=variables, cwd=self.folder, start_new_session=True
                        )
                    )
            yield
        finally:
            for process in reversed(started):
                os.killpg(process.pid, signal.SIGTERM)
            for process in started:
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """Rows of Airflow's database."""
        connection = sqlite3.connect(self.folder / "airflow.db")
        try:
            return connection.execute(statement).fetchall()
        finally:
            connection.close()

    def variables(self) -> dict[str, str]:
        """The environment variables of all commands."""
        binaries = Path(sys.executable).parent
        own = {name: value for name, value in os.environ.items() if not name.startswith(("AIRFLOW", "SPARK"))}
        return own | {
            "AIRFLOW_HOME": str(self.folder),
            "AIRFLOW__CORE__DAGS_FOLDER": str(self.dags),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": "local[2]"}),
            "JAVA_HOME": str(launcher_home(find_java())),
            "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",  # spark-submit is here
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": str(ROOT),
        }

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self.variables(),
            cwd=self.folder,
            timeout=RUN_SECONDS,
            check=False,
        )


def write_pages(path: Path, *texts: bytes) -> None:
    """An archive of a page for each text."""
    pages = (b"<html><body><p>" + text + b"</p></body></html>" for text in texts)
    path.write_bytes(b"".join(stored_page(number, page) for number, page in enumerate(pages)))
