"""Rows of Parquet files and of JSON lines as dictionaries, one bad row apart from the next."""

import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from dedup_lib.archives.sources import GZIP_MAGIC
from dedup_lib.archives.stored import READ_BYTES
from dedup_lib.archives.stores import StorageError
from dedup_lib.errors import InputError

PARQUET_BUFFER_BYTES = 1 << 20  # a footer, and most of a small column chunk, by one request

RawRow = dict[str, Any] | str  # a row, or what is wrong with it
SCHEMA_LINES = 100  # of a JSONL file, to learn its columns


TEXT_SCHEMA = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("record_id", pa.string()),
        pa.field("url", pa.string(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("crawl_date", pa.date32(), nullable=False),
        pa.field("fetched_at", pa.timestamp("us", tz="UTC"), nullable=False),
    ]
)


@dataclass(frozen=True, slots=True)
class TextColumns:
    """The columns of a table that are read; `record_id` and `date` may be missing."""

    url: str
    text: str
    record_id: str | None
    date: str | None


@dataclass(frozen=True, slots=True)
class TextFile:
    """A table as stored: what it is called in messages, and how its bytes are opened, from the first on."""

    path: str
    open: Callable[[], BinaryIO]


def parquet_columns(table: TextFile) -> list[str]:
    """The names of the columns of a Parquet file."""
    try:
        with _parquet(table) as file:
            return list(file.schema_arrow.names)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(table.path, error) from error


def parquet_batches(table: TextFile, columns: Sequence[str], max_rows: int, max_bytes: int) -> Iterator[pa.RecordBatch]:
    """Batches of a Parquet file, in order, bounded by rows and, by the average row, by bytes."""
    try:
        with _parquet(table) as file:
            rows = min(max_rows, _rows_in(file, max_bytes))
            yield from file.iter_batches(batch_size=rows, columns=list(columns))
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(table.path, error) from error


@contextmanager
def _parquet(table: TextFile) -> Iterator[pq.ParquetFile]:
    with table.open() as stream:
        source: Any
        if isinstance(stream, io.RawIOBase):
            source = pa.PythonFile(io.BufferedReader(stream, PARQUET_BUFFER_BYTES), mode="r")
        else:
            source = stream.name  # Arrow reads a file of this machine itself
        with pq.ParquetFile(source) as file:
            yield file


def json_columns(table: TextFile) -> list[str]:
    """The names of the fields in the first rows of a JSONL file, in the order they are met."""
    names: dict[str, None] = {}
    for number, row in json_rows(table, max_line_bytes=1 << 26):
        if isinstance(row, dict):
            names.update(dict.fromkeys(row))
        elif number == 0 and row.startswith("a JSON array"):
            raise InputError(f"{table.path} is a JSON array: write one object per line (jq -c '.[]')")
        if number >= SCHEMA_LINES and names:
            break
    return list(names)


def json_rows(table: TextFile, max_line_bytes: int) -> Iterator[tuple[int, RawRow]]:
    """Rows of a JSONL file, plain or gzipped, with their numbers. Blank lines count as no row."""
    number = 0
    try:
        with table.open() as stored:
            gzipped = stored.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            stored.seek(0)
            stream = gzip.GzipFile(fileobj=stored) if gzipped else _lined(stored)
            for line in _lines(stream, max_line_bytes):
                if line is None or line.strip():
                    yield number, _json_row(line, max_line_bytes)
                    number += 1
    except EOFError:
        yield number, "the gzip file ends here, in the middle of its content"
    except StorageError:
        raise  # what was read may be of another version: the whole table is at stake, not its end
    except (OSError, zlib.error) as error:
        if number == 0:
            raise _unreadable(table.path, error) from error
        yield number, f"the file cannot be read from here on ({error})"


def _lined(stream: BinaryIO) -> BinaryIO | io.BufferedReader:
    """With a buffer to find ends of lines in."""
    return io.BufferedReader(stream, READ_BYTES) if isinstance(stream, io.RawIOBase) else stream


def _lines(stream: BinaryIO | io.BufferedReader | gzip.GzipFile, max_line_bytes: int) -> Iterator[bytes | None]:
    """Lines; None for one that is longer than allowed, which is passed over without being held."""
    while line := stream.readline(max_line_bytes):
        if len(line) < max_line_bytes or line.endswith(b"\n"):
            yield line
            continue
        while (rest := stream.readline(max_line_bytes)) and not rest.endswith(b"\n"):
            pass
        yield None


def _json_row(line: bytes | None, max_line_bytes: int) -> RawRow:
    if line is None:
        return f"a line of more than {max_line_bytes} bytes"
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return "a JSON array, not an object" if line.lstrip()[:1] == b"[" else f"not JSON ({error})"
    return row if isinstance(row, dict) else f"a JSON {'array' if isinstance(row, list) else 'value'}, not an object"


def rows_of(batch: pa.RecordBatch) -> Iterator[RawRow]:
    """The rows of a batch; strings that are not UTF-8, and dates beyond the year 9999, make a bad row."""
    try:
        rows = batch.to_pylist()
    except (ValueError, OverflowError):
        rows = [_row_of(batch.slice(index, 1)) for index in range(batch.num_rows)]
    yield from rows


def _row_of(row: pa.RecordBatch) -> RawRow:
    try:
        found: RawRow = row.to_pylist()[0]
        return found
    except UnicodeDecodeError as error:
        return f"a string that is not UTF-8 ({error.reason})"
    except (ValueError, OverflowError) as error:
        return f"a value out of range ({error})"


def _rows_in(file: pq.ParquetFile, max_bytes: int) -> int:
    """How many rows fit into `max_bytes`, by the average of the row groups' uncompressed sizes."""
    meta = file.metadata
    rows, total = (
        int(meta.num_rows),
        sum(int(meta.row_group(index).total_byte_size) for index in range(meta.num_row_groups)),
    )
    return max(1, max_bytes * max(1, rows) // max(1, total))


def _unreadable(path: str, error: Exception) -> InputError:
    if isinstance(error, StorageError):
        return error
    return InputError(f"{path} cannot be read as a table of text ({error}): check that the file is whole")
