"""The checks at the end of `global`: what they find fails the run before anything is published."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.clustering import Cut
from dedup_lib.config.settings import ClusterSettings
from dedup_lib.signatures import Scheme
from dedup_lib.stages import TextsOf
from dedup_lib.stages.checks import check_references, check_similarities
from dedup_lib.stages.global_items import PLACE


def check_global_references(clusters: DataFrame) -> list[str]:
    """What is wrong with who stands for whom in `global_clusters`, as `check_references` says it.

    A capture that is in several snapshots has its doc_id in several rows; all but one (`url`) are named by no other.
    """
    apart = F.concat_ws("/", F.hex("doc_id"), "source", "snapshot").cast("binary")
    return check_references(
        clusters.withColumn("doc_id", F.when(F.col("reason") == "url", apart).otherwise(F.col("doc_id")))
    )


def check_global_similarities(
    clusters: DataFrame, texts_of: TextsOf, settings: ClusterSettings, scheme: Scheme, cut: Cut
) -> tuple[list[str], int, float | None]:
    """Recomputes a sample of similarities, as `check_similarities` does; `texts_of` goes by doc_id and snapshot."""
    places = clusters.where(F.col("reason") != "url").select(*PLACE)

    def texts(needed: DataFrame) -> DataFrame:
        return texts_of(needed.join(places, "doc_id", "inner")).select(*needed.columns, "text")

    return check_similarities(clusters, texts, settings, scheme, cut)
