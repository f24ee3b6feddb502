"""Records that were read twice: one file named twice under two paths, or one record stored in two files."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F


def count_repeats(documents: DataFrame) -> DataFrame:
    """Rows (doc_id, captures) of the captures that were read more than once."""
    return documents.groupBy("doc_id").agg(F.count("*").alias("captures")).where("captures > 1")


def collapse_repeats(documents: DataFrame, archives: DataFrame, repeats: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Both tables anew: of each repeated capture the first place (archive, offset) stays; files count the others.

    Rare, so the whole table may be rewritten for it.
    """
    place = Window.partitionBy("doc_id").orderBy("archive", "archive_offset")
    surplus = (
        documents.select("doc_id", "archive", "archive_offset")
        .join(repeats.select("doc_id"), "doc_id", "left_semi")
        .withColumn("place", F.row_number().over(place))
        .where("place > 1")
        .select("archive", "archive_offset")
    )
    per_file = surplus.groupBy("archive").agg(F.count("*").alias("surplus"))
    recounted = archives.join(per_file, "archive", "left").select(
        *[
            {
                "documents": (F.col("documents") - F.coalesce("surplus", F.lit(0))).alias("documents"),
                "repeated": (F.col("repeated") + F.coalesce("surplus", F.lit(0))).alias("repeated"),
            }.get(name, F.col(name))
            for name in archives.columns
        ]
    )
    return documents.join(surplus, ["archive", "archive_offset"], "left_anti").select(*documents.columns), recounted
