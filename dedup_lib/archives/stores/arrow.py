"""Objects of hdfs:// and gs://, through pyarrow's file systems, which bring clients and retries of their own."""

from datetime import timedelta
from typing import Any

import pyarrow as pa
from pyarrow import fs

from dedup_lib.archives.stores.addresses import Address
from dedup_lib.archives.stores.errors import Interrupted, ObjectMissing, StorageError, one_line
from dedup_lib.archives.stores.interface import Listed
from dedup_lib.config.settings import StorageSettings


class ArrowStore:
    """A file system of pyarrow's. Its files have no ETag: the version is time and size."""

    lists = True

    def __init__(self, files: Any) -> None:  # noqa: ANN401 (pyarrow has no types)
        self._files = files

    def stat(self, address: Address) -> Listed:
        """One entry of the file system."""
        info = self._tried(address, lambda: self._files.get_file_info(self._path(address)))
        if info.type != fs.FileType.File:
            raise ObjectMissing(str(address))
        return Listed(address, info.size, _version(info))

    def page(self, prefix: Address, after: str, token: str) -> tuple[list[Listed], str]:
        """All files in the folder that the prefix names or ends in, at any depth."""
        folder = self._path(prefix.at(prefix.key.rpartition("/")[0])).rstrip("/") or "/"
        selector = fs.FileSelector(folder, recursive=True, allow_not_found=True)
        infos = self._tried(prefix, lambda: self._files.get_file_info(selector))
        root = self._path(prefix.at(""))
        found = [
            Listed(prefix.at(info.path.removeprefix(root).lstrip("/")), info.size, _version(info))
            for info in infos
            if info.type == fs.FileType.File
        ]
        wanted = (one for one in found if one.address.key.startswith(prefix.key) and one.address.key > after)
        return sorted(wanted, key=lambda one: one.address.key), ""

    def get(self, address: Address, start: int, version: str) -> "ArrowBody":
        """The file, opened at `start`."""
        listed = self.stat(address)
        if start >= listed.bytes:
            raise EOFError
        return ArrowBody(self._tried(address, lambda: self._files.open_input_file(self._path(address))), start, listed)

    def _path(self, address: Address) -> str:
        return f"{address.place}/{address.key}" if address.scheme == "gs" else f"/{address.key}"

    def _tried(self, address: Address, ask: Any) -> Any:  # noqa: ANN401
        try:
            return ask()
        except FileNotFoundError as error:
            raise ObjectMissing(str(address)) from error
        except PermissionError as error:
            path = str(address)
            raise StorageError(path, f"access to {path} is denied: check credentials and permissions") from error
        except (OSError, pa.ArrowException) as error:
            raise Interrupted(one_line(error)) from error


class ArrowBody:
    """An open file."""

    def __init__(self, file: Any, start: int, listed: Listed) -> None:  # noqa: ANN401
        self.start, self.total, self.version = start, listed.bytes, listed.version
        self._file = file
        self._position = start

    def read(self, count: int) -> bytes:
        """At most `count` bytes."""
        try:
            self._file.seek(self._position)
            data: bytes = self._file.read(count)
        except (OSError, pa.ArrowException) as error:
            raise Interrupted(one_line(error)) from error
        self._position += len(data)
        return data

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def google_store(storage: StorageSettings) -> ArrowStore:
    """The store of gs://, with the credentials of Google's environment unless anonymous."""
    patience = timedelta(seconds=min(15.0, max(1.0, storage.max_wait_seconds)))  # the client's own, for one request
    return ArrowStore(fs.GcsFileSystem(anonymous=storage.anonymous, retry_time_limit=patience))


def hadoop_store(place: str) -> ArrowStore:
    """The store of an hdfs:// cluster (of the default one without a place). Needs libhdfs and a Hadoop class path."""
    host, _, port = place.partition(":")
    try:
        return ArrowStore(fs.HadoopFileSystem(host or "default", int(port or 0)))
    except (OSError, ValueError, pa.ArrowException) as error:
        where = f"hdfs://{place}"
        raise StorageError(
            where,
            f"{where} cannot be opened ({one_line(error)}): set HADOOP_HOME and CLASSPATH (hadoop classpath --glob)",
        ) from error


def _version(info: Any) -> str:  # noqa: ANN401
    return f"{info.mtime_ns}-{info.size}" if info.mtime_ns else ""
