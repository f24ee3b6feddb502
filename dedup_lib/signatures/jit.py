"""How kernels are compiled: once per machine, kept on disk, and without the disk where it cannot be written."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def _usable(folder: Path) -> bool:
    """Whether the folder can be written and is ours: what lies in it is run."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder.stat().st_uid == os.getuid()
    except OSError:
        return False


def _candidates(name: str) -> Iterator[Path]:
    with suppress(RuntimeError):  # a user without a home
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "crawl-dedup" / name
    with suppress(OSError):  # a machine without a writable temporary folder
        yield Path(tempfile.gettempdir()) / f"crawl-dedup-{os.getuid()}-{name}"


@cache
def cache_folder(package: Path) -> Path | None:
    """Where the compiled kernels of a package are kept, or None: a folder named by the digest of their sources.

    Numba looks at the source of the outer kernel only and would go on using a stale copy of a changed inner one;
    the digest in the name, over the package and this one, whose kernels others call, rules that out.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for folder in sorted({package, Path(__file__).parent}):
        for source in sorted(folder.glob("*.py")):
            digest.update(source.read_bytes())
    return next(filter(_usable, _candidates(f"kernels-{digest.hexdigest()[:16]}")), None)


def kernel(function: F) -> F:
    """Compiles a kernel without the interpreter lock, cached on disk.

    Where no cache folder can be written (a read-only container), the kernel is compiled in each process. Numba
    writes its cache by rename, so that workers that start together do no harm to each other.
    """
    folder = cache_folder(Path(function.__code__.co_filename).parent)
    if folder is None:
        return njit(function, nogil=True)  # type: ignore[no-any-return]
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        return njit(function, nogil=True, cache=True)  # type: ignore[no-any-return]
    finally:
        numba.config.CACHE_DIR = before
