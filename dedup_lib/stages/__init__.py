"""One function per stage: DataFrames and configuration in, DataFrames out; nothing is read or written here.

What a stage needs of the store, its caller hands in: `cut` stores a round's state, a `Scan` maps a function over the
texts of all documents, and `TextsOf` adds the text to chosen ones.
"""

from collections.abc import Callable, Sequence

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from dedup_lib.tables.scan import MapFunction

Scan = Callable[[Sequence[str], MapFunction, StructType], DataFrame]
TextsOf = Callable[[DataFrame], DataFrame]  # rows with a column doc_id -> those rows with a column text after it


def scan_of(documents: DataFrame) -> Scan:
    """A scan of a frame through Spark alone."""
    return lambda columns, function, schema: documents.select(*columns).mapInArrow(function, schema)


def texts_in(documents: DataFrame) -> TextsOf:
    """The texts of a frame by a join through Spark alone."""
    return lambda needed: needed.join(documents.select("doc_id", "text"), "doc_id", "inner").select(
        *needed.columns, "text"
    )


def by_item(texts_of: TextsOf) -> TextsOf:
    """The same texts for rows whose doc_id is called `item`, as verification has it."""
    return lambda needed: texts_of(needed.withColumnRenamed("item", "doc_id")).withColumnRenamed("doc_id", "item")
