"""Finds the input files that the user meant: files, globs, folders and lists of files."""

import errno
import glob
import gzip
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dedup_lib.archives.sources import GZIP_MAGIC
from dedup_lib.errors import InputError, UsageError

Kind = Literal["warc", "texts"]

ARCHIVE_ENDINGS = (
    *(".warc", ".warc.gz", ".warc.zst", ".warc.lz4", ".arc", ".arc.gz"),
    *(".wet", ".wet.gz", ".wet.zst", ".wat", ".wat.gz"),
)
TEXT_ENDINGS = (".parquet", ".jsonl", ".jsonl.gz", ".json", ".ndjson", ".ndjson.gz")
LIST_ENDINGS = (".txt", ".paths", ".paths.gz")
_SNIFF_BYTES = 4096
_REMEDY = "give WARC files, tables of text (Parquet, JSONL), folders or globs of them, or a list of paths (@list)"


@dataclass(frozen=True, slots=True, order=True)
class InputFile:
    """One file to read: its absolute path, its size in bytes, and whether it is an archive or a table of text."""

    path: str
    bytes: int
    kind: Kind


def expand_inputs(patterns: Sequence[str]) -> list[InputFile]:
    """Expands what the user named to files, each once, sorted by path, all of one kind.

    A folder (searched in depth) and a glob give the files that are archives or tables of text, by ending or content;
    names that begin with `.` or `_` are passed over. A file that is named itself is taken whatever it is, as an
    archive if nothing else. `@FILE`, or a file that ends like a list, has one path (or glob, or folder) per line,
    relative to the list's folder.

    Raises `InputError` if something named is not there, cannot be read or holds nothing to read, `UsageError` if
    archives and tables are mixed or nothing was named.
    """
    if not patterns:
        raise UsageError(f"no input was named: {_REMEDY}")
    found: dict[str, InputFile] = {}
    for pattern in patterns:
        for file in _expand(pattern, Path.cwd(), named_by="input"):
            found[file.path] = file
    kinds = {file.kind: file.path for file in found.values()}
    if len(kinds) > 1:
        raise UsageError(
            f"the input mixes archives ({kinds['warc']}) and tables of text ({kinds['texts']}): "
            "run them one after the other, as two snapshots"
        )
    return sorted(found.values())


def _expand(pattern: str, folder: Path, named_by: str) -> Iterator[InputFile]:
    if pattern.startswith("@"):
        yield from _listed(folder / pattern[1:])
        return
    if "://" in pattern:
        raise InputError(f"{named_by} {pattern}: only local files are read; copy it to this machine first")
    path = Path(os.path.normpath(folder / Path(pattern).expanduser()))
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InputError(f"{named_by} {pattern[:60]}... is no path, it is too long: {_REMEDY}") from error
    if path.is_dir():
        yield from _known(_walk(path), f"folder {path}")
    elif path.exists():
        if named_by == "input" and path.name.endswith(LIST_ENDINGS):
            yield from _listed(path)
        else:
            yield _input_file(path, _kind(path) or "warc")
    elif glob.has_magic(pattern):
        wanted = str(Path(pattern).expanduser())  # the folder's own name is no pattern
        matches = (folder / match for match in glob.iglob(wanted, root_dir=folder, recursive=True))  # noqa: PTH207
        yield from _known((match for match in matches if match.is_file()), f"{named_by} {pattern}")
    else:
        raise InputError(f"{named_by} {pattern} does not exist (looked for {path}): {_REMEDY}")


def _listed(path: Path) -> Iterator[InputFile]:
    """The files of a list; blank lines and lines that begin with # are passed over."""
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if data.startswith(GZIP_MAGIC) else data).decode("utf-8")
    except (OSError, EOFError, ValueError) as error:
        raise InputError(f"the list {path} cannot be read ({_why(error)}): {_REMEDY}") from error
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), start=1)]
    entries = [(number, line) for number, line in lines if line and not line.startswith("#")]
    if not entries:
        raise InputError(f"the list {path} names no file: write one path per line")
    for number, entry in entries:
        yield from _expand(entry.removeprefix("@"), path.absolute().parent, named_by=f"{path}, line {number}:")


def _walk(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise InputError(f"folder {error.filename} cannot be read ({_why(error)}): check its permissions") from error

    for parent, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        for name in names:
            yield Path(parent, name)


def _known(paths: Iterable[Path], where: str) -> list[InputFile]:
    """Those of the files that can be read as input; an error if there is none."""
    files: list[InputFile] = []
    seen = 0
    for path in paths:
        if path.name.startswith((".", "_")) or path.name.endswith(LIST_ENDINGS):
            continue
        seen += 1
        kind = _kind(path)
        if kind is not None:
            files.append(_input_file(path, kind))
    if not files:
        held = f"holds {seen} files, but no archive and no table of text" if seen else "holds no files"
        raise InputError(f"{where} {held}: {_REMEDY}")
    return files


def _kind(path: Path) -> Kind | None:
    """By the ending of the name, or else by the first bytes."""
    name = path.name.lower()
    if name.endswith(ARCHIVE_ENDINGS):
        return "warc"
    if name.endswith(TEXT_ENDINGS):
        return "texts"
    try:
        with path.open("rb") as stream:
            first = stream.read(_SNIFF_BYTES)
            if first.startswith(GZIP_MAGIC):
                stream.seek(0)
                with gzip.open(stream) as inflated:
                    first = inflated.read(16)
    except EOFError:
        return None
    except (OSError, ValueError) as error:
        if isinstance(error, PermissionError):
            raise InputError(f"{path} cannot be read ({_why(error)}): check its permissions") from error
        return None
    if first.startswith((b"WARC/", b"filedesc:")):
        return "warc"
    return "texts" if first.startswith(b"PAR1") else None


def _input_file(path: Path, kind: Kind) -> InputFile:
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{os.fsencode(path)!r} has a name that is not UTF-8: rename it") from error
    try:
        if not os.access(path, os.R_OK):
            raise PermissionError(13, "Permission denied")
        return InputFile(str(path), path.stat().st_size, kind)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({_why(error)}): check its permissions") from error


def _why(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
