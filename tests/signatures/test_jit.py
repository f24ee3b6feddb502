"""Kernels compile with and without a folder for them, once per machine, and never from stale sources."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from dedup_lib.signatures import Scheme, jit, sign_texts

PACKAGE = Path(jit.__file__).parent
REPORT = """
import pyarrow as pa
from dedup_lib.signatures import Scheme, sign_texts, sign
sign_texts(pa.array(["one two three four five"]), Scheme())
print(sum(sign._sign.stats.cache_hits.values()), sum(sign._sign.stats.cache_misses.values()))
"""
TINY = """
from dedup_lib.signatures.jit import kernel

@kernel
def twice(value):
    return 2 * value

print(twice(21))
"""


@pytest.fixture(autouse=True)
def _forget_the_folder():
    jit.cache_folder.cache_clear()
    yield
    jit.cache_folder.cache_clear()


@pytest.fixture
def blocked(tmp_path):
    """A path below which no folder can be made, not even by root."""
    file = tmp_path / "a_file"
    file.write_text("")
    return file / "cache"


def add(left, right):
    return left + right


def test_kernels_are_kept_below_the_users_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = jit.cache_folder(PACKAGE)
    assert folder.parent == tmp_path / "cache" / "crawl-dedup"
    assert folder.stat().st_mode & 0o777 == 0o700
    compiled = jit.kernel(add)
    assert compiled(2, 3) == 5
    assert any((tmp_path / "cache").rglob("*.nbi"))


def test_the_temporary_folder_serves_where_the_users_cannot_be_written(monkeypatch, tmp_path, blocked):
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setattr(jit.tempfile, "gettempdir", lambda: str(tmp_path))
    assert jit.cache_folder(PACKAGE).parent == tmp_path


def test_kernels_compile_where_no_folder_can_be_written(monkeypatch, blocked):
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setattr(jit.tempfile, "gettempdir", lambda: str(blocked))
    assert jit.cache_folder(PACKAGE) is None
    compiled = jit.kernel(add)
    assert compiled(2, 3) == 5
    assert compiled.stats.cache_path is None


def test_a_user_without_a_home_and_a_machine_without_a_temporary_folder_have_no_cache(monkeypatch):
    def no_home(path):
        raise RuntimeError("Could not determine home directory.")

    def no_temporary_folder():
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(jit.Path, "expanduser", no_home)
    monkeypatch.setattr(jit.tempfile, "gettempdir", no_temporary_folder)
    assert jit.cache_folder(PACKAGE) is None
    assert jit.kernel(add)(2, 3) == 5


def test_a_folder_of_another_user_is_not_trusted(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(jit.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(jit.os, "getuid", lambda: os.geteuid() + 1)
    assert jit.cache_folder(PACKAGE) is None


def test_the_folder_changes_with_the_sources_of_the_package_and_of_the_shared_kernels(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    package, shared = tmp_path / "package", tmp_path / "signatures"
    package.mkdir()
    shared.mkdir()
    monkeypatch.setattr(jit, "__file__", str(shared / "jit.py"))
    names = []
    for place, source in ((package, "one"), (package, "two"), (shared, "three"), (package, "one")):
        (place / "kernels.py").write_text(source)
        jit.cache_folder.cache_clear()
        names.append(jit.cache_folder(package).name)
    assert len(set(names)) == 4
    jit.cache_folder.cache_clear()
    assert jit.cache_folder(package).name == names[-1]


def test_the_setting_of_numba_is_left_as_it_was(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(jit.numba.config, "CACHE_DIR", "theirs")
    jit.kernel(add)
    assert jit.numba.config.CACHE_DIR == "theirs"


def run(*arguments, **environment):
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        cwd=PACKAGE.parents[1],
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parents[1]), **environment},
    )


def test_a_second_process_does_not_compile_again():
    sign_texts(pa.array([""]), Scheme())  # compiled here at the latest
    hits, misses = run("-c", REPORT).communicate()[0].split()
    assert (hits, misses) == ("1", "0")


def test_processes_that_start_together_share_a_cache_without_harm(tmp_path):
    script = tmp_path / "tiny.py"
    script.write_text(TINY)
    workers = [run(str(script), XDG_CACHE_HOME=str(tmp_path / "cache")) for _ in range(3)]
    assert [worker.communicate()[0].strip() for worker in workers] == ["42"] * 3
    assert [worker.returncode for worker in workers] == [0] * 3
    assert not list((tmp_path / "cache").rglob("*.tmp*"))
