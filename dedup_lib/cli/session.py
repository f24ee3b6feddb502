"""Gives the Spark session: the one that is there, or a local one whose properties all come from a file."""

import contextlib
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from dedup_lib.cli.java import find_java, launcher_home
from dedup_lib.config.places import locate_conf
from dedup_lib.errors import UsageError

# One of these means that somebody else, such as spark-submit or a Spark Connect server, decides on the session.
MANAGED = ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED")

# For the small JVM that only puts Spark's command line together: quick to start, soon gone.
COMMAND_LINE_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"


def start_session(app_name: str, properties: Path, master: str | None = None) -> SparkSession:
    """Give the session of spark-submit, of a Spark Connect server or of this process; without one, start a local one.

    An existing session is taken as it is. A new one has all its properties from the file `properties`, and `master`
    in place of its `spark.master` if given. No property is set in code, where operators could not override it.

    Raises:
        UsageError: no properties file, no fit Java, or Spark refuses to start with these properties.
    """
    if any(os.environ.get(name) for name in MANAGED) or SparkSession.getActiveSession() is not None:
        return SparkSession.builder.getOrCreate()
    if not properties.is_file():
        raise UsageError(f"there is no Spark properties file {properties}: check spark.properties in the profile")
    with _environment(_child_environment(app_name, properties.resolve(), master)):
        try:
            return SparkSession.builder.getOrCreate()
        except PySparkRuntimeError as error:
            if error.getCondition() != "JAVA_GATEWAY_EXITED":
                raise
            raise UsageError(
                f"Spark did not start, for the reason Java gives above: check the properties in {properties}"
            ) from error


def is_local(properties: Path, master: str | None) -> bool:
    """Tell whether a session runs inside this machine's one JVM, judged as spark-submit does."""
    return (master or _property(properties, "spark.master") or "local[*]").startswith("local")


def _child_environment(app_name: str, properties: Path, master: str | None) -> dict[str, str]:
    """Give what the environment of the JVM, and of the Python workers under it, must have."""
    submit = ["--name", app_name, "--properties-file", str(properties)]
    if master:
        submit += ["--master", master]
    log4j2 = locate_conf("log4j2.properties", beside=properties.parent)
    environment = {
        "PYSPARK_SUBMIT_ARGS": shlex.join([*submit, "pyspark-shell"]),
        "JAVA_HOME": str(launcher_home(find_java())),
        # Given before the properties' own Java options, so that those win.
        "SPARK_SUBMIT_OPTS": _appended("SPARK_SUBMIT_OPTS", f"-Dlog4j2.configurationFile={log4j2.as_uri()}"),
        "SPARK_LAUNCHER_OPTS": _appended("SPARK_LAUNCHER_OPTS", COMMAND_LINE_JVM),
    }
    own_spark = Path(pyspark.__file__).parent
    if (own_spark / "jars").is_dir():
        environment["SPARK_HOME"] = str(own_spark)  # a SPARK_HOME of another version would not understand this pyspark
    if is_local(properties, master):
        environment["PYSPARK_PYTHON"] = sys.executable  # else the workers are the first python3 of PATH
        environment["SPARK_LOCAL_IP"] = os.environ.get("SPARK_LOCAL_IP", "127.0.0.1")  # needs no resolvable host name
    else:
        environment["PYSPARK_PYTHON"] = os.environ.get("PYSPARK_PYTHON", sys.executable)
    return environment


def _appended(name: str, options: str) -> str:
    """Give the options of the environment with ours before them: Java lets the last one win."""
    return f"{options} {os.environ.get(name, '')}".strip()


def _property(properties: Path, key: str) -> str | None:
    """Read one property of a Spark properties file: `key value`, `key=value` or `key: value`."""
    for line in properties.read_text(encoding="utf-8").splitlines():
        name, _, value = line.strip().replace("=", " ", 1).replace("\t", " ").partition(" ")
        if name.rstrip(":") == key:
            return value.strip()
    return None


@contextlib.contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables for the time it takes to start a child, then put back what was there."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
