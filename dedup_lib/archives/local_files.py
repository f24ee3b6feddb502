"""Files of this machine as input: found, told apart, and checked to be readable."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from dedup_lib.archives.kinds import LIST_ENDINGS, SNIFF_BYTES, Kind, kind_by_bytes, kind_by_name
from dedup_lib.errors import InputError

REMEDY = "give WARC files, tables of text (Parquet, JSONL), folders or globs of them, or a list of paths (@list)"


def entry_above(entry: str, folder: Path) -> Path | None:
    """Where a line of a local list lies by the third rule of `resolve_entry`, if it is there."""
    first = entry.partition("/")[0]
    if "/" not in entry or first not in folder.parts:
        return None
    depth = len(folder.parts) - 1 - folder.parts[::-1].index(first)
    path = Path(*folder.parts[:depth], entry)
    return path if path.exists() and path != folder / entry else None


def walk(folder: Path) -> Iterator[Path]:
    """All files in a folder, at any depth, but for folders whose names begin with `.` or `_`."""

    def refuse(error: OSError) -> None:
        raise InputError(f"folder {error.filename} cannot be read ({_why(error)}): check its permissions") from error

    for parent, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        for name in names:
            yield Path(parent, name)


def known_files(paths: Iterable[Path], where: str) -> list[tuple[Path, Kind]]:
    """Those of the files that can be read as input; an error if there is none."""
    files: list[tuple[Path, Kind]] = []
    seen = 0
    for path in paths:
        if path.name.startswith((".", "_")) or path.name.endswith(LIST_ENDINGS):
            continue
        seen += 1
        kind = kind_of_file(path)
        if kind is not None:
            files.append((path, kind))
    if not files:
        held = f"holds {seen} files, but no archive and no table of text" if seen else "holds no files"
        raise InputError(f"{where} {held}: {REMEDY}")
    return files


def kind_of_file(path: Path) -> Kind | None:
    """By the ending of the name, or else by the first bytes."""
    known = kind_by_name(path.name)
    if known is not None:
        return known
    try:
        with path.open("rb") as stream:
            return kind_by_bytes(stream.read(SNIFF_BYTES))
    except PermissionError as error:
        raise InputError(f"{path} cannot be read ({_why(error)}): check its permissions") from error
    except OSError:
        return None


def readable_status(path: Path) -> os.stat_result:
    """Size and times of a file; `InputError` if it cannot be read, or its name not be written down."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{os.fsencode(path)!r} has a name that is not UTF-8: rename it") from error
    try:
        if not os.access(path, os.R_OK):
            raise PermissionError(13, "Permission denied")
        return path.stat()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({_why(error)}): check its permissions") from error


def _why(error: OSError) -> str:
    return error.strerror or str(error)
