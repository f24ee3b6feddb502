"""What tests of Spark functions share: a cut, settings for the time of a test, and small frames."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

COALESCE = "spark.sql.adaptive.coalescePartitions.enabled"  # true makes one of all small partitions


def parquet_cut(folder: Path) -> Callable[[DataFrame, str], DataFrame]:
    """A cut that writes and reads Parquet under `folder`."""
    numbers = count()

    def cut(frame: DataFrame, name: str) -> DataFrame:
        path = str(folder / f"{name}-{next(numbers)}")
        frame.write.parquet(path)
        return frame.sparkSession.read.schema(frame.schema).parquet(path)

    return cut


def shuffle_partitions(spark: SparkSession, number: int) -> AbstractContextManager[None]:
    """Every shuffle gives this many partitions, however small they are."""
    return _set_for_now(spark, {"spark.sql.shuffle.partitions": str(number), COALESCE: "false"})


def few_rows(spark: SparkSession) -> AbstractContextManager[None]:
    """What is quickest for a handful of rows: one partition, planned once."""
    return _set_for_now(spark, {"spark.sql.shuffle.partitions": "1", "spark.sql.adaptive.enabled": "false"})


@contextmanager
def _set_for_now(spark: SparkSession, wanted: dict[str, str]) -> Iterator[None]:
    before = {name: spark.conf.get(name) for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def frame_of(spark: SparkSession, schema: pa.Schema | dict, rows: list[tuple]) -> DataFrame:
    """A frame of literal rows; `schema` names the columns and their Arrow types."""
    schema = schema if isinstance(schema, pa.Schema) else pa.schema(list(schema.items()))
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    arrays = [pa.array(list(values), field.type) for values, field in zip(columns, schema, strict=True)]
    return spark.createDataFrame(pa.table(arrays, schema=schema))


def tuples(frame: DataFrame) -> list[tuple]:
    """The rows of a small frame as sorted tuples."""
    return sorted((tuple(row.values()) for row in frame.toArrow().to_pylist()), key=repr)
