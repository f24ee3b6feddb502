"""Whole Arrow batches of a table of text at once, for the many that have nothing wrong with them."""

from datetime import date

import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.archives.text_rows import TEXT_SCHEMA, TextColumns

_FIRST_MICROSECOND = -62_135_596_800_000_000  # 0001-01-01T00:00:00Z
_LAST_MICROSECOND = 253_402_300_799_999_999  # 9999-12-31T23:59:59.999999Z


def sound_batch(
    batch: pa.RecordBatch, first_row: int, columns: TextColumns, default: date | None, max_bytes: int
) -> pa.RecordBatch | None:
    """The batch in `TEXT_SCHEMA` if every row of it is sound and it fits into `max_bytes`; None if rows need a look."""
    try:
        batch.validate(full=True)  # strings of Parquet files need not be UTF-8
        kinds = [batch.column(name).type for name in (columns.url, columns.text)]
        url, text = (batch.column(name).cast(pa.string()) for name in (columns.url, columns.text))
        sound = all(map(_holds_strings, kinds)) and not (url.null_count or text.null_count)
        if not sound or url.nbytes + text.nbytes > max_bytes:
            return None
        if pc.any(pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(url)), 0)).as_py():
            return None
        fetched_at = _moments(batch, columns.date, default)
        if fetched_at is None or fetched_at.null_count or not _within_years(fetched_at):
            return None  # rows need a look
        identifier = pa.nulls(len(batch), pa.string())
        if columns.record_id is not None:
            identifier = batch.column(columns.record_id)
            if pa.types.is_binary(identifier.type) or pa.types.is_floating(identifier.type):
                return None
            identifier = identifier.cast(pa.string())
            identifier = pc.if_else(pc.equal(identifier, ""), pa.scalar(None, pa.string()), identifier)
        rows = pa.array(range(first_row, first_row + len(batch)), pa.int64())
        arrays = [rows, identifier, url, text, fetched_at.cast(pa.date32()), fetched_at]
        return pa.RecordBatch.from_arrays(arrays, schema=TEXT_SCHEMA)
    except (pa.ArrowException, KeyError):
        return None  # types that do not cast: row by row it can be said what is wrong


def _holds_strings(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _within_years(moments: pa.Array) -> bool:
    """Whether all are of the years 1 to 9999; milliseconds stored as seconds are not."""
    ends = pc.min_max(moments.cast(pa.int64())).as_py()
    return ends["min"] is None or (ends["min"] >= _FIRST_MICROSECOND and ends["max"] <= _LAST_MICROSECOND)


def _moments(batch: pa.RecordBatch, column: str | None, default: date | None) -> pa.Array | None:
    """Dates and timestamps as moments in UTC; None if the column holds neither."""
    moment = TEXT_SCHEMA.field("fetched_at").type
    if column is None:
        return pa.repeat(pa.scalar(default, pa.date32()), len(batch)).cast(pa.timestamp("us")).cast(moment)
    values = batch.column(column)
    if pa.types.is_timestamp(values.type):
        if values.type.tz is None:
            return values.cast(pa.timestamp("us"), safe=False).cast(moment)
        return values.cast(moment, safe=False)
    if pa.types.is_date(values.type):
        return values.cast(pa.date32()).cast(pa.timestamp("us")).cast(moment)
    return None
