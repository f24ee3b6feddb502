"""Chooses the store of an address, once per process, and opens files and objects alike."""

import io
import os
from functools import lru_cache
from importlib import import_module
from typing import BinaryIO, cast

from dedup_lib.archives.stores.addresses import Address, is_remote, local_path, parse_address
from dedup_lib.archives.stores.errors import ObjectChanged, ObjectMissing, StorageError
from dedup_lib.archives.stores.interface import ObjectStore
from dedup_lib.archives.stores.retries import ReadMeter
from dedup_lib.archives.stores.stream import ObjectStream
from dedup_lib.config.settings import StorageSettings

_HOME = "dedup_lib.archives.stores"


def store_of(address: Address, storage: StorageSettings) -> ObjectStore:
    """The store that an address is in. Made at its first use in a process, and never shared with a forked one."""
    return _store(address.scheme, address.place if address.scheme == "hdfs" else "", storage, os.getpid())


@lru_cache(maxsize=8)
def _store(scheme: str, place: str, storage: StorageSettings, process: int) -> ObjectStore:
    """Imports the client's library only now: runs over local files need none."""
    del process  # a key of the cache
    if scheme == "s3":
        made = import_module(f"{_HOME}.s3").S3Store(storage)
    elif scheme in ("https", "http"):
        made = import_module(f"{_HOME}.web").WebStore(storage)
    elif scheme == "gs":
        made = import_module(f"{_HOME}.arrow").google_store(storage)
    else:
        made = import_module(f"{_HOME}.arrow").hadoop_store(place)
    return cast("ObjectStore", made)


class _LocalFile(io.FileIO):
    """A file of this machine; what its disk does not give is an error of the file's, not of the task's."""

    def readinto(self, buffer: bytearray | memoryview) -> int | None:  # type: ignore[override]
        try:
            return super().readinto(buffer)
        except OSError as error:
            where = f"{self.name} cannot be read behind {self.tell()} bytes"
            raise StorageError(str(self.name), f"{where} ({error.strerror}): check the disk") from error


def file_version(status: os.stat_result) -> str:
    """The version of a local file: when it was changed, and its size."""
    return f"{status.st_mtime_ns}-{status.st_size}"


def open_object(
    path: str,
    storage: StorageSettings,
    meter: ReadMeter,
    start: int = 0,
    version: str = "",
    size: int | None = None,
    secret: str = "",
) -> BinaryIO:
    """The bytes of a file or an object from `start` on, as a stream that seeks.

    A remote one is read by `ObjectStream`, a local one by Python's own file. `ObjectChanged` if it is not of the
    version given: for a local file here, for an object at the first read.
    """
    if is_remote(path):
        address = parse_address(path, secret)
        return cast("BinaryIO", ObjectStream(store_of(address, storage), address, storage, meter, start, version, size))
    try:
        stream = io.BufferedReader(_LocalFile(local_path(path)))
    except FileNotFoundError as error:
        raise ObjectMissing(path) from error
    except OSError as error:
        raise StorageError(
            path, f"{path} cannot be read ({error.strerror}): check the path and its permissions"
        ) from error
    found = file_version(os.fstat(stream.fileno()))
    if version and found != version:
        stream.close()
        raise ObjectChanged(path, version, found)
    stream.seek(start)
    return cast("BinaryIO", stream)
