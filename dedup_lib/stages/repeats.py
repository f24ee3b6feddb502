"""Records that were read twice: one file named twice under two paths, or one record stored in two files."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F


def count_repeats(documents: DataFrame) -> DataFrame:
    """Rows (doc_id, captures, contents) of the captures that were read more than once.

    `contents` is how many different pages (URL and content) go by that doc_id: more than one means that ids which
    should tell records apart do not.
    """
    contents = F.count_distinct("url", "content_hash").alias("contents")
    again = documents.groupBy("doc_id").agg(F.count("*").alias("captures")).where("captures > 1")
    repeated = documents.select("doc_id", "url", "content_hash").join(again, "doc_id", "inner")
    return repeated.groupBy("doc_id", "captures").agg(contents)


def collapse_repeats(documents: DataFrame, archives: DataFrame, repeats: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Both tables anew: of each repeated capture the first place (archive, offset) stays; files count the others.

    Rare, so the whole table may be rewritten for it. Records of one gzip member share their place, so a repeated
    capture is told by its doc_id alone.
    """
    names = repeats.select("doc_id")
    place = Window.partitionBy("doc_id").orderBy("archive", "archive_offset", "truncated", "content_hash", "text")
    ranked = documents.join(names, "doc_id", "left_semi").withColumn("place", F.row_number().over(place))
    once = documents.join(names, "doc_id", "left_anti").unionByName(ranked.where("place = 1").drop("place"))
    per_file = ranked.where("place > 1").groupBy("archive").agg(F.count("*").alias("surplus"))
    recounted = archives.join(per_file, "archive", "left").select(
        *[
            {
                "documents": (F.col("documents") - F.coalesce("surplus", F.lit(0))).alias("documents"),
                "repeated": (F.col("repeated") + F.coalesce("surplus", F.lit(0))).alias("repeated"),
            }.get(name, F.col(name))
            for name in archives.columns
        ]
    )
    return once.select(*documents.columns), recounted
