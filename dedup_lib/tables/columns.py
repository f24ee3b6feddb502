"""The vocabulary in which a table's schema is written: columns with type, meaning and unit."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

TIMESTAMP = pa.timestamp("us", tz="UTC")
DIGEST = pa.binary()  # digests and ids are bytes, not hex: half the size


@dataclass(frozen=True)
class Column:
    """One column: its Arrow type and what it means.

    `required` columns hold no nulls. Values of `distinct` columns seldom repeat within a file, so that Parquet need
    not try a dictionary; ids, digests and band keys are so in any case.
    """

    name: str
    type: Any
    meaning: str
    required: bool = False
    distinct: bool = False

    @property
    def uses_dictionary(self) -> bool:
        """Whether Parquet should try a dictionary."""
        return not (self.distinct or pa.types.is_binary(self.type) or pa.types.is_nested(self.type))


@dataclass(frozen=True)
class Table:
    """One table: where a column is named, typed and described, for Spark, Arrow, checks and documentation alike.

    `key` columns are unique together within a snapshot. `order` is the order of rows within a file.
    """

    name: str
    stage: str
    meaning: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    order: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The column names, in order."""
        return [column.name for column in self.columns]

    @property
    def arrow(self) -> pa.Schema:
        """The Arrow schema. All fields are nullable, as Spark's validated Arrow functions want them."""
        return pa.schema([pa.field(column.name, column.type) for column in self.columns])

    @property
    def spark(self) -> StructType:
        """The Spark schema, derived from the Arrow schema."""
        return from_arrow_schema(self.arrow)

    @property
    def required(self) -> list[str]:
        """The columns that hold no nulls."""
        return [column.name for column in self.columns if column.required]
