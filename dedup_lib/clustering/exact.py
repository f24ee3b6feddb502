"""Exact groups: items with the same content digest."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def group_exact(items: DataFrame, digest: str) -> DataFrame:
    """The rows of `items` with a column `first`: the first item of those with the same digest (itself if unique).

    A digest shared by many items is aggregated, partially before the shuffle, and joined back; no group is held.
    """
    firsts = items.groupBy(digest).agg(F.min("item").alias("first"))
    return items.join(firsts, digest, "inner").select(*items.columns, "first")
