"""The checks at the end of a run: what they find fails the run before anything is published."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.clustering import Cut
from dedup_lib.clustering.verify import exact_similarities
from dedup_lib.config.settings import ClusterSettings
from dedup_lib.signatures import Scheme
from dedup_lib.stages import TextsOf, by_item


def check_references(clusters: DataFrame) -> list[str]:
    """What is wrong with who stands for whom: each failure a sentence; empty when all holds.

    Every representative_id names a kept capture; every duplicate_of names one that its layer kept (`url`: a capture
    that wins its key; `exact`: the first of its content; `near`: a kept one); a cluster has one kept document, and
    `cluster_size` is its number of captures.
    """
    named = clusters.select(
        F.col("doc_id").alias("named"),
        F.col("reason").alias("named_reason"),
        F.col("cluster_id").alias("named_cluster"),
    )
    representatives = named.select(
        F.col("named").alias("representative_id"),
        F.col("named_reason").alias("representative_reason"),
        F.col("named_cluster").alias("representative_cluster"),
    )
    joined = clusters.join(named, clusters["duplicate_of"] == named["named"], "left").join(
        representatives, "representative_id", "left"
    )
    kept = F.col("reason") == "kept"
    allowed = (
        F.when(F.col("reason") == "url", F.col("named_reason") != "url")
        .when(F.col("reason") == "exact", F.col("named_reason").isin("kept", "near"))
        .when(F.col("reason") == "near", F.col("named_reason") == "kept")
    )
    found = joined.agg(
        F.count_if(F.col("representative_reason").isNull() | (F.col("representative_reason") != "kept")).alias(
            "standing"
        ),
        F.count_if(
            (F.col("representative_cluster") != F.col("cluster_id")) | (F.col("named_cluster") != F.col("cluster_id"))
        ).alias("apart"),
        F.count_if(kept & (F.col("duplicate_of").isNotNull() | (F.col("representative_id") != F.col("doc_id")))).alias(
            "kept"
        ),
        F.count_if(~kept & ~F.coalesce(allowed, F.lit(False))).alias("dangling"),
    ).collect()[0]  # one row
    sizes = clusters.groupBy("cluster_id").agg(
        F.count_if(kept).alias("kept"),
        F.count("*").alias("captures"),
        F.max("cluster_size").alias("cluster_size"),
        F.min("cluster_size").alias("least_size"),
    )
    wrong = sizes.agg(
        F.count_if(F.col("kept") != 1).alias("heads"),
        F.count_if((F.col("captures") != F.col("cluster_size")) | (F.col("captures") != F.col("least_size"))).alias(
            "sizes"
        ),
    ).collect()[0]  # one row
    sentences = {
        f"{found['standing']} captures have a representative that is not kept": found["standing"],
        f"{found['apart']} captures are in another cluster than what stands for them": found["apart"],
        f"{found['kept']} kept documents are marked as duplicates": found["kept"],
        f"{found['dangling']} duplicates name a document that their layer did not keep": found["dangling"],
        f"{wrong['heads']} clusters have no kept document, or several": wrong["heads"],
        f"{wrong['sizes']} clusters are not as large as cluster_size says": wrong["sizes"],
    }
    return [sentence for sentence, count in sentences.items() if count]


def check_similarities(
    clusters: DataFrame, texts_of: TextsOf, settings: ClusterSettings, scheme: Scheme, cut: Cut
) -> tuple[list[str], int, float | None]:
    """Recomputes the exact similarity of a sample of near duplicates to what stands for them.

    The sample is the `settings.check_sample` first by a hash of doc_id, the same in every run. Gives the failures,
    how many were checked, and the lowest similarity found. One below the threshold is a failure: what the run removed
    by an estimate is five standard errors above it. Nothing is checked unless `verify` is `exact` and `shape` is
    `star`: the other ways promise no similarity to what stands for a document.
    """
    if settings.verify != "exact" or settings.shape != "star" or settings.check_sample == 0:
        return [], 0, None
    sample = (
        clusters.where(F.col("reason") == "near")
        .orderBy(F.xxhash64("doc_id"), "doc_id")
        .limit(settings.check_sample)
        .select(F.col("duplicate_of").alias("anchor"), F.col("doc_id").alias("item"))
    )

    sample = cut(sample, "check-sample")
    wanted = sample.count()
    checked = exact_similarities(sample, by_item(texts_of), scheme)
    found = checked.agg(
        F.count("*").alias("pairs"),
        F.count_if(F.col("similarity") < settings.threshold).alias("below"),
        F.min("similarity").alias("lowest"),
    ).collect()[0]  # one row
    failures = []
    if found["pairs"] != wanted:
        failures.append(f"of {wanted} sampled near duplicates only {found['pairs']} have their texts in `documents`")
    if found["below"]:
        failures.append(
            f"{found['below']} of {found['pairs']} sampled near duplicates are below {settings.threshold} to the "
            f"document that stands for them (lowest {found['lowest']:.3f})"
        )
    return failures, found["pairs"], found["lowest"]
