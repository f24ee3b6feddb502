"""Access to the objects of a store: the only module that knows what kind of storage ROOT is.

Today that is local disk. Small objects are replaced as a whole and by compare-and-set; paths are relative to ROOT and
use slashes. Another kind of storage is another class with these methods, chosen in `objects_at`.
"""

import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO
from uuid import uuid4

from dedup_lib.errors import ConflictError, InputError, UsageError

LOCKS = "_locks"


@dataclass(frozen=True)
class Stored:
    """The bytes of a small object and the version that `replace` compares."""

    data: bytes
    version: str


def version_of(data: bytes) -> str:
    """The version of an object on a storage that has none of its own: the SHA-256 of its bytes."""
    return hashlib.sha256(data).hexdigest()


def objects_at(root: str | Path) -> "LocalObjects":
    """The objects under `root`, a folder or a file: URI. UsageError for storage that is not supported."""
    text = str(root)
    scheme, separator, _ = text.partition("://")
    if separator and scheme != "file":
        raise UsageError(f"{text}: storage of the kind {scheme}:// is not supported, name a folder on a disk")
    return LocalObjects(os.path.abspath(text.removeprefix("file:")))  # noqa: PTH100 (symbolic links stay as given)


@dataclass(frozen=True)
class LocalObjects:
    """Objects in a folder of a local or shared POSIX file system. Can be pickled and sent to tasks."""

    root: str

    def local_path(self, path: str) -> Path:
        """Where an object lies on disk."""
        return Path(self.root, path)

    def uri(self, path: str) -> str:
        """What Spark calls an object that it writes, whatever its default file system is."""
        return f"file://{self.local_path(path)}"

    def pattern(self, path: str) -> str:
        """What Spark calls an object that it reads: it takes every path for a glob, so special characters are escaped.

        The reader option that turns globs off is no way out: Spark 4.3 then reads lists of files twice.
        """
        return re.sub(r"([\\\[\]{}*?])", r"\\\1", self.uri(path))

    def prepare(self) -> None:
        """Create ROOT. InputError when it is no folder one can write to."""
        try:
            self.local_path(LOCKS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._not_writable(error) from error
        if not os.access(self.root, os.W_OK | os.X_OK):
            raise self._not_writable(PermissionError(13, "Permission denied"))

    def read(self, path: str) -> Stored | None:
        """A small object, or None if there is none."""
        try:
            data = self.local_path(path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise InputError(f"cannot read {self.local_path(path)}: {error.strerror}") from error
        return Stored(data, version_of(data))

    def replace(self, path: str, data: bytes, expected_version: str | None) -> str:
        """Replace a small object if its version is still the expected one (None: there is none). Gives the new version.

        Readers see the old or the new object, also after a crash. ConflictError when the version is another.
        """
        with self._lock_file(f"{LOCKS}/{path}.lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            found = self.read(path)
            if (found.version if found else None) != expected_version:
                raise self._changed(path)
            self.put(path, data)
        return version_of(data)

    def remove(self, path: str, expected_version: str) -> None:
        """Delete a small object if its version is still the expected one. ConflictError when it is another."""
        with self._lock_file(f"{LOCKS}/{path}.lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            found = self.read(path)
            if found is None or found.version != expected_version:
                raise self._changed(path)
            self.delete(path)
            _sync_folder(self.local_path(path).parent)

    def put(self, path: str, data: bytes) -> None:
        """Write a small object that has one writer: atomic and durable, whatever was there before."""
        target = self.local_path(path)
        temporary = target.with_name(f".{target.name}.{uuid4().hex}.tmp")
        self._make_folder(target.parent)
        try:
            with temporary.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
        _sync_folder(target.parent)

    def create(self, path: str) -> BinaryIO:
        """A new file to write to, with its folder. FileExistsError if it is there."""
        target = self.local_path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        return target.open("xb")

    def open(self, path: str) -> BinaryIO:
        """A stored object, open for reading."""
        return self.local_path(path).open("rb")

    def size(self, path: str) -> int | None:
        """Bytes of a file, or None if there is none."""
        target = self.local_path(path)
        return target.stat().st_size if target.is_file() else None

    def delete(self, path: str) -> None:
        """Delete a file; none is fine too."""
        self.local_path(path).unlink(missing_ok=True)

    def delete_folder(self, path: str) -> bool:
        """Delete a folder with all in it; false if something is left, as when a dying process still writes there."""
        shutil.rmtree(self.local_path(path), ignore_errors=True)
        return not self.local_path(path).exists()

    def list_folders(self, path: str) -> list[str]:
        """The names of the folders in a folder, sorted."""
        return sorted(child.name for child in self._children(path) if child.is_dir())

    def list_files(self, path: str) -> list[str]:
        """The names of the files in a folder, sorted."""
        return sorted(child.name for child in self._children(path) if child.is_file())

    def sync(self, paths: Iterable[str]) -> None:
        """Force files to disk, and the folders that lead to them."""
        folders = set()
        for path in paths:
            with self.local_path(path).open("rb") as file:
                os.fsync(file.fileno())
            folders |= set(Path(path).parents)
        for folder in sorted(folders, reverse=True):
            _sync_folder(Path(self.root, folder))

    @contextmanager
    def exclusive_lock(self, path: str, what: str, owner: str) -> Iterator[str]:
        """Hold a lock; the kernel frees it when this process ends, however it ends.

        `what` and `owner` are for the message to those who are refused. Gives the name of an owner that died with the
        lock in hand, or an empty string. ConflictError, at once, when another process (or another holder in this one)
        has it.
        """
        with self._lock_file(path) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                other = lock.read().strip() or "a run that has just started"
                raise ConflictError(f"{what} is being written by {other}: wait until it has ended") from error
            died = lock.read().strip()
            _overwrite(lock, owner)
            try:
                yield died
            finally:
                _overwrite(lock, "")

    @contextmanager
    def _lock_file(self, path: str) -> Iterator[TextIO]:
        """A lock file, never deleted: a deleted one could be locked twice."""
        target = self.local_path(path)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            file = target.open("a+", encoding="utf-8")
        except OSError as error:
            raise self._not_writable(error) from error
        with file:
            file.seek(0)
            yield file

    def _children(self, path: str) -> list[Path]:
        folder = self.local_path(path)
        return list(folder.iterdir()) if folder.is_dir() else []

    def _make_folder(self, folder: Path) -> None:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            for parent in folder.parents:
                _sync_folder(parent)
                if str(parent) == self.root:
                    break

    def _changed(self, path: str) -> ConflictError:
        return ConflictError(
            f"{self.local_path(path)} was changed by another run while this one was at work: "
            "nothing was published, start it again"
        )

    def _not_writable(self, error: OSError) -> InputError:
        return InputError(f"cannot write to the output folder {self.root} ({error.strerror}): name another one")


def _overwrite(file: TextIO, text: str) -> None:
    file.seek(0)
    file.truncate()
    file.write(text)
    file.flush()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
