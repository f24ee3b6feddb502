"""The reference of all tables as Markdown, made from their schemas: what the README shows."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow.types as pt

from dedup_lib.tables.columns import Column, Table
from dedup_lib.tables.schemas import TABLES
from dedup_lib.tables.store_schemas import STORE_TABLES


def tables_reference() -> str:
    """Give the tables with stage, rows and key as a Markdown table, then a foldable list of columns for each.

    A table that begins with all the columns of an earlier one names that one in their place. Ends in a newline.
    """
    tables = [*TABLES.values(), *STORE_TABLES.values()]
    lines = ["| Table | Made by | Rows | Key |", "|---|---|---|---|"]
    for table in tables:
        key = ", ".join(f"`{name}`" for name in table.key) or "none"
        lines.append(f"| `{table.name}` | {table.stage} | {_cell(table.meaning)} | {key} |")
    for place, table in enumerate(tables):
        lines += ["", *_columns(table, tables[:place])]
    return "\n".join(lines) + "\n"


def type_name(kind: Any) -> str:  # noqa: ANN401 (pyarrow has no types)
    """Give an Arrow type in a few words.

    >>> import pyarrow as pa
    >>> type_name(pa.list_(pa.int64())), type_name(pa.timestamp("us", tz="UTC")), type_name(pa.date32())
    ('list of int64', 'timestamp (us, UTC)', 'date')
    """
    if pt.is_list(kind):
        return f"list of {type_name(kind.value_type)}"
    if pt.is_map(kind):
        return f"map of {type_name(kind.key_type)} to {type_name(kind.item_type)}"
    if pt.is_struct(kind):
        fields = (kind.field(place) for place in range(kind.num_fields))
        return f"({', '.join(f'{field.name} {type_name(field.type)}' for field in fields)})"
    if pt.is_timestamp(kind):
        return f"timestamp ({kind.unit}, {kind.tz})"
    return "date" if pt.is_date(kind) else str(kind)


def _columns(table: Table, earlier: Sequence[Table]) -> Iterator[str]:
    yield f"<details><summary>Columns of <code>{table.name}</code></summary>"
    yield ""
    own = table.columns
    base = next((other for other in earlier if own[: len(other.columns)] == other.columns), None)
    if base is not None:
        own = own[len(base.columns) :]
        yield f"All columns of `{base.name}`, then:"
        yield ""
    yield from ("| Column | Type | Nulls | Meaning |", "|---|---|---|---|")
    yield from (_column(column) for column in own)
    yield from ("", "</details>")


def _column(column: Column) -> str:
    nulls = "no" if column.required else "yes"
    return f"| `{column.name}` | {type_name(column.type)} | {nulls} | {_cell(column.meaning)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
