"""Finds the input files that the user meant: files, globs, folders and lists, on this machine and in storage."""

import errno
import glob
import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from dedup_lib.archives.kinds import LIST_ENDINGS, SNIFF_BYTES, Kind, kind_by_bytes, kind_by_name
from dedup_lib.archives.local_files import REMEDY, entry_above, kind_of_file, known_files, readable_status, walk
from dedup_lib.archives.sources import GZIP_MAGIC
from dedup_lib.archives.stores import (
    Address,
    Listed,
    ReadMeter,
    is_remote,
    open_object,
    parse_address,
)
from dedup_lib.archives.stores.addresses import local_path, resolve_entry
from dedup_lib.archives.stores.listing import MAGIC, find_object, glob_objects, in_threads, list_objects, measure
from dedup_lib.archives.stores.opening import file_version
from dedup_lib.config.settings import StorageSettings
from dedup_lib.errors import InputError, UsageError

MAX_LIST_BYTES = 256 << 20  # a million paths take 140 MB; what is larger is no list
USUAL_STORAGE = StorageSettings()
_COMMON_CRAWL = (
    "a list of Common Crawl's is read where it lies, as s3://commoncrawl/crawl-data/.../warc.paths.gz or "
    "https://data.commoncrawl.org/crawl-data/.../warc.paths.gz"
)


@dataclass(frozen=True, slots=True, order=True)
class InputFile:
    """One file to read: its absolute path or address, its size in bytes, and whether it is an archive or a table.

    `bytes` is -1 where the size is not known before the file is opened (long lists of https addresses). `version`
    tells a changed file from the one that was listed: an ETag, or time and size; empty if unknown. `secret` signs an
    address; it is needed to read it, and is in no text made of this file.
    """

    path: str
    bytes: int
    kind: Kind
    version: str = ""
    secret: str = field(default="", repr=False, compare=False)


def open_input(file: InputFile, storage: StorageSettings, meter: ReadMeter, start: int = 0) -> BinaryIO:
    """The bytes of an input from `start` on, as a stream with read, tell and seek; see `open_object`."""
    size = file.bytes if file.bytes >= 0 else None
    return open_object(file.path, storage, meter, start, file.version, size, file.secret)


def input_size(file: InputFile, stream: BinaryIO) -> int:
    """The size of an input that is open: as listed, or else as its storage says now."""
    if file.bytes >= 0:
        return file.bytes
    position = stream.tell()
    size = stream.seek(0, io.SEEK_END)
    stream.seek(position)
    return size


def expand_inputs(
    patterns: Sequence[str],
    storage: StorageSettings = USUAL_STORAGE,
    tell: Callable[[str], None] | None = None,
    meter: ReadMeter | None = None,
) -> list[InputFile]:
    """Expands what the user named to files, each once, sorted by path, all of one kind.

    A folder (searched in depth) and a glob give the files that are archives or tables of text, by ending or content;
    names that begin with `.` or `_` are passed over. A file that is named itself is taken whatever it is, as an
    archive if nothing else. `@FILE`, or a file that ends like a list, has one path (or glob, or folder) per line,
    relative to the list's folder (`resolve_entry` has the whole rule). All of it holds for s3://, hdfs:// and gs://
    too, and over https for files and lists. `tell` is told of progress, `meter` counts the requests.

    Raises `InputError` if something named is not there, cannot be read or holds nothing to read, `UsageError` if
    archives and tables are mixed or nothing was named.
    """
    if not patterns:
        raise UsageError(f"no input was named: {REMEDY}")
    search = _Search(storage, tell, meter if meter is not None else ReadMeter())
    found: dict[str, InputFile] = {}
    for pattern in patterns:
        for file in search.expand(pattern, Path.cwd(), named_by="input"):
            if file.path in found and found[file.path].secret != file.secret:
                raise UsageError(f"two inputs are {file.path} and differ only in what signs them: name one of them")
            found[file.path] = file
    kinds = {file.kind: file.path for file in found.values()}
    if len(kinds) > 1:
        raise UsageError(
            f"the input mixes archives ({kinds['warc']}) and tables of text ({kinds['texts']}): "
            "run them one after the other, as two snapshots"
        )
    return sorted(found.values())


@dataclass(frozen=True)
class _Search:
    storage: StorageSettings
    tell: Callable[[str], None] | None
    meter: ReadMeter

    def expand(self, pattern: str, folder: Path, named_by: str) -> Iterator[InputFile]:
        """The files that a pattern stands for; a local one is relative to the folder."""
        if pattern.startswith("@"):
            listed = pattern[1:]
            yield from self._listed(listed if is_remote(listed) else str(folder / local_path(listed)))
        elif is_remote(pattern):
            yield from self._remote(pattern, named_by)
        else:
            yield from self._local(local_path(pattern), folder, named_by)

    def _local(self, pattern: str, folder: Path, named_by: str) -> Iterator[InputFile]:
        path = Path(os.path.normpath(folder / Path(pattern).expanduser()))
        try:
            path.stat()
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise InputError(f"{named_by} {pattern[:60]}... is no path, it is too long: {REMEDY}") from error
        if path.is_dir():
            yield from map(_local_file, known_files(walk(path), f"folder {path}"))
        elif path.exists():
            if named_by == "input" and path.name.endswith(LIST_ENDINGS):
                yield from self._listed(str(path))
            else:
                yield _local_file((path, kind_of_file(path) or "warc"))
        elif glob.has_magic(pattern):
            wanted = str(Path(pattern).expanduser())  # the folder's own name is no pattern
            matches = (folder / match for match in glob.iglob(wanted, root_dir=folder, recursive=True))  # noqa: PTH207
            found = known_files((match for match in matches if match.is_file()), f"{named_by} {pattern}")
            yield from map(_local_file, found)
        elif named_by != "input" and (above := entry_above(pattern, folder)) is not None:
            yield from self._local(str(above), folder, named_by)
        else:
            remedy = _COMMON_CRAWL if pattern.startswith("crawl-data/") else REMEDY
            raise InputError(f"{named_by} {pattern} does not exist (looked for {path}): {remedy}")

    def _remote(self, pattern: str, named_by: str) -> Iterator[InputFile]:
        address = parse_address(pattern)
        listed = None
        web = address.scheme in ("https", "http")
        if not web or not _has_magic(address):
            listed = find_object(address, self.storage, self.meter)
        if listed is not None:
            if named_by == "input" and address.name.endswith(LIST_ENDINGS):
                yield from self._listed(pattern)
            else:
                yield _object_file(listed, self._kinds([listed])[address] or "warc")
            return
        if _has_magic(address):
            objects = glob_objects(address, self.storage, self.meter)
            yield from self._known_objects(objects, 0, f"{named_by} {address}", "holds no files")
        else:
            within = address.at(address.key.rstrip("/") + "/" if address.key else "")
            if web and not address.key.endswith("/"):
                raise InputError(f"{named_by} {address} does not exist (HTTP 404): {REMEDY}")
            objects = list_objects(within, self.storage, self.meter)
            empty = "holds no files" if within == address else "does not exist, and nothing below it"
            yield from self._known_objects(objects, len(within.key), f"{named_by} {address}", empty)

    def _listed(self, path: str) -> Iterator[InputFile]:
        """The files of a list; blank lines and lines that begin with # are passed over."""
        own = parse_address(path) if is_remote(path) else None
        name = str(own or path)
        lines = [(number, line.strip()) for number, line in enumerate(self._lines(path, own), start=1)]
        entries = [(number, line.removeprefix("@")) for number, line in lines if line and not line.startswith("#")]
        if not entries:
            raise InputError(f"the list {name} names no file: write one path per line")
        named = {number: f"{name}, line {number}:" for number, _ in entries}
        if own is not None:
            entries = [(number, resolve_entry(entry, own)) for number, entry in entries]
        remote = {number: parse_address(entry) for number, entry in entries if is_remote(entry)}
        single = {number: address for number, address in remote.items() if not _has_magic(address)}
        if len({(str(address), address.secret) for address in single.values()}) > len(set(map(str, single.values()))):
            raise UsageError(f"the list {name} has addresses that differ only in what signs them: name each file once")
        sizes = measure(list(single.values()), self.storage, self.meter, self.tell)
        objects = {number: one for number, address in single.items() if (one := sizes[str(address)]) is not None}
        kinds = self._kinds(list(objects.values()))
        yield from (_object_file(one, kinds[one.address] or "warc") for one in objects.values())
        folder = Path(path).absolute().parent if own is None else Path.cwd()
        for number, entry in entries:
            if number not in objects:
                yield from self.expand(entry, folder, named[number])

    def _lines(self, path: str, own: Address | None) -> list[str]:
        secret = own.secret if own else ""
        try:
            with open_object(path, self.storage, self.meter, secret=secret) as stream:
                data = stream.read(MAX_LIST_BYTES + 1)
            if data.startswith(GZIP_MAGIC):
                data = gzip.GzipFile(fileobj=io.BytesIO(data)).read(MAX_LIST_BYTES + 1)
            if len(data) > MAX_LIST_BYTES:
                raise ValueError(f"it is larger than {MAX_LIST_BYTES} bytes")
            return data.decode("utf-8").splitlines()
        except (OSError, EOFError, ValueError, zlib.error) as error:
            why = str(error.__cause__ or error) if own is None else str(error)
            raise InputError(f"the list {own or path} cannot be read ({why}): {REMEDY}") from error

    def _known_objects(self, objects: Iterable[Listed], skipped: int, where: str, empty: str) -> list[InputFile]:
        """Those of the objects that can be read as input; an error if there is none, or no object (`empty`) at all."""
        wanted = []
        for one in objects:
            empty = "holds no files"
            parts = one.address.key[skipped:].split("/")
            if not any(part.startswith((".", "_")) for part in parts) and not parts[-1].endswith(LIST_ENDINGS):
                wanted.append(one)
        kinds = self._kinds(wanted)
        files = [_object_file(one, kind) for one in wanted if (kind := kinds[one.address]) is not None]
        if not files:
            held = f"holds {len(wanted)} files, but no archive and no table of text" if wanted else empty
            raise InputError(f"{where} {held}: {REMEDY}")
        return files

    def _kinds(self, objects: Sequence[Listed]) -> dict[Address, Kind | None]:
        """By the endings of the names, or else by the first bytes, which are read only where endings say nothing."""
        kinds = {one.address: kind_by_name(one.address.name) for one in objects}
        unknown = [one for one in objects if kinds[one.address] is None and one.bytes != 0]
        if len(objects) > self.storage.https_sizes:
            unknown = [one for one in unknown if one.bytes > 0]  # nor are servers asked that were not asked for sizes
        firsts = in_threads(self._first_bytes, unknown, self.storage, self.meter)
        return kinds | {one.address: kind_by_bytes(first) for one, first in zip(unknown, firsts, strict=True)}

    def _first_bytes(self, listed: Listed, meter: ReadMeter) -> bytes:
        with open_input(_object_file(listed, "warc"), self.storage, meter) as stream:
            return stream.read(SNIFF_BYTES)


def _has_magic(address: Address) -> bool:
    """Whether it is a glob; on the web a question mark begins a query, and only a star says so."""
    return "*" in address.key if address.scheme in ("https", "http") else bool(MAGIC & set(address.key))


def _object_file(listed: Listed, kind: Kind) -> InputFile:
    return InputFile(str(listed.address), listed.bytes, kind, listed.version, listed.address.secret)


def _local_file(found: tuple[Path, Kind]) -> InputFile:
    path, kind = found
    status = readable_status(path)
    return InputFile(str(path), status.st_size, kind, file_version(status))
