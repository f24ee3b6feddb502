"""Tables of the driver as frames."""

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

TASK_BYTES = 1 << 18  # Spark warns of tasks of 1 MB, which the rows of such a table may become


def frame_of(spark: SparkSession, table: pa.Table) -> DataFrame:
    """The rows of a table. What is too large for its tasks to carry goes to the executors once, with the function."""
    table = table.combine_chunks()
    shares = -(-table.nbytes // TASK_BYTES)
    if shares <= 1:
        return spark.createDataFrame(table)
    rows = -(-table.num_rows // shares)

    def give(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for share in batch.column(0).to_pylist():
                yield from table.slice(share * rows, rows).to_batches()

    return spark.range(0, shares, 1, shares).mapInArrow(give, from_arrow_schema(table.schema))
