"""Tables of text as input: Parquet, JSON lines and gzipped JSON lines, in batches bounded by rows and bytes."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa

from dedup_lib.archives.faults import ArchiveFault, Reason
from dedup_lib.archives.headers import parse_date
from dedup_lib.archives.inputs import USUAL_STORAGE, InputFile, open_input
from dedup_lib.archives.stores import ReadMeter, open_object
from dedup_lib.archives.text_batches import sound_batch
from dedup_lib.archives.text_rows import (
    TEXT_SCHEMA,
    RawRow,
    TextColumns,
    TextFile,
    json_columns,
    json_rows,
    parquet_batches,
    parquet_columns,
    rows_of,
)
from dedup_lib.config.settings import StorageSettings
from dedup_lib.errors import InputError, UsageError

ID_COLUMNS = ("doc_id", "id")
DATE_COLUMNS = ("crawl_date", "date", "fetched_at", "timestamp")
MAX_ROWS = 10_000
MAX_BYTES = 32 << 20
MAX_TEXT_BYTES = 64 << 20


def read_texts(
    file: InputFile | str,
    crawl_date: date | None = None,
    max_rows: int = MAX_ROWS,
    max_bytes: int = MAX_BYTES,
    storage: StorageSettings = USUAL_STORAGE,
    meter: ReadMeter | None = None,
) -> Iterator[pa.RecordBatch | ArchiveFault]:
    """Reads a table of text, in the order it is stored, as batches of `TEXT_SCHEMA` and faults with row numbers.

    The table has the columns `url` and `text`, may have `doc_id` or `id` (any scalar; it becomes `record_id` as a
    string), and has `crawl_date`, `date`, `fetched_at` or `timestamp` (a date, a timestamp or an ISO 8601 string)
    unless `crawl_date` is given, which then stands in for missing values too. A day without a time is midnight, UTC.
    Batches hold at most `max_rows` rows, and pass `max_bytes` of text by no more than one row. Text may be empty:
    that is for the caller. A table in storage is streamed, or read by ranges if it is Parquet.

    Raises `InputError` if the file cannot be read or lacks url or text, `UsageError` if no date is to be had.
    """
    table = _text_file(file, storage, meter if meter is not None else ReadMeter())
    if not _is_parquet(table):
        names = json_columns(table)
        if names:
            columns = choose_columns(table.path, names, crawl_date is not None)
            yield from _batches(json_rows(table, MAX_TEXT_BYTES), columns, crawl_date, max_rows, max_bytes)
        return
    columns = choose_columns(table.path, parquet_columns(table), crawl_date is not None)
    wanted = [name for name in (columns.url, columns.text, columns.record_id, columns.date) if name is not None]
    number = 0
    for raw in parquet_batches(table, wanted, max_rows, max_bytes):
        batch = sound_batch(raw, number, columns, crawl_date, max_bytes)
        if batch is not None:
            yield batch
        else:
            yield from _batches(enumerate(rows_of(raw), start=number), columns, crawl_date, max_rows, max_bytes)
        number += raw.num_rows


def _batches(
    rows: Iterable[tuple[int, RawRow]], columns: TextColumns, crawl_date: date | None, max_rows: int, max_bytes: int
) -> Iterator[pa.RecordBatch | ArchiveFault]:
    """Batches of the sound rows, each as large as allowed, and a fault for each of the others."""
    batch: list[dict[str, Any]] = []
    held = 0
    for number, row in rows:
        parsed = _parse_row(number, row, columns, crawl_date)
        if isinstance(parsed, ArchiveFault):
            yield parsed
            continue
        batch.append(parsed)
        held += len(parsed["text"]) + len(parsed["url"])
        if len(batch) >= max_rows or held >= max_bytes:
            yield pa.RecordBatch.from_pylist(batch, schema=TEXT_SCHEMA)
            batch, held = [], 0
    if batch:
        yield pa.RecordBatch.from_pylist(batch, schema=TEXT_SCHEMA)


def choose_columns(path: str, names: Sequence[str], has_date: bool) -> TextColumns:
    """Picks the columns by name; see `read_texts`."""
    missing = [name for name in ("url", "text") if name not in names]
    if missing:
        raise InputError(
            f"{path} has no column {' and '.join(missing)} (its columns are {', '.join(names) or 'none'}): "
            "rename the columns that hold the URL and the text to url and text"
        )
    day = next((name for name in DATE_COLUMNS if name in names), None)
    if day is None and not has_date:
        raise UsageError(
            f"{path} has no date column (one of {', '.join(DATE_COLUMNS)}): "
            "add one, or say with --crawl-date when the texts were crawled"
        )
    return TextColumns("url", "text", next((name for name in ID_COLUMNS if name in names), None), day)


def _text_file(file: InputFile | str, storage: StorageSettings, meter: ReadMeter) -> TextFile:
    if isinstance(file, str):
        return TextFile(file, lambda: open_object(file, storage, meter))
    return TextFile(file.path, lambda: open_input(file, storage, meter))


def _is_parquet(table: TextFile) -> bool:
    with table.open() as stream:
        return stream.read(4) == b"PAR1"


def _parse_row(number: int, row: RawRow, columns: TextColumns, default: date | None) -> dict[str, Any] | ArchiveFault:
    if isinstance(row, str):
        return ArchiveFault(number, Reason.BAD_ROW, row)
    url, text = row.get(columns.url), row.get(columns.text)
    known_url = url if isinstance(url, str) and url.strip() else None
    if known_url is None or not isinstance(text, str):
        what = "url" if known_url is None else "text"
        return ArchiveFault(number, Reason.BAD_ROW, f"{what} is missing or not a string", known_url)
    if len(text) > MAX_TEXT_BYTES:
        return ArchiveFault(number, Reason.TOO_LARGE, f"a text of {len(text)} characters", known_url)
    try:
        text.encode()
        known_url.encode()
    except UnicodeEncodeError:
        return ArchiveFault(number, Reason.BAD_ROW, "url or text holds half a surrogate pair")
    fetched_at = _moment(row.get(columns.date) if columns.date else None, default)
    if fetched_at is None:
        return ArchiveFault(number, Reason.NO_DATE, f"{columns.date} is missing or no date", known_url)
    identifier = row.get(columns.record_id) if columns.record_id else None
    return {
        "row": number,
        "record_id": identifier.hex() if isinstance(identifier, bytes) else _text(identifier),
        "url": known_url,
        "text": text,
        "crawl_date": fetched_at.date(),
        "fetched_at": fetched_at,
    }


def _text(identifier: object) -> str | None:
    """An id as a string; an empty one is none."""
    return None if identifier is None or identifier == "" else str(identifier).encode("utf-8", "replace").decode()


def _moment(value: object, default: date | None) -> datetime | None:
    """The value as a moment in UTC; the default day where it is missing; None where it is no date."""
    if value is None or value == "":
        value = default
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    return parse_date(value) if isinstance(value, str) else None
