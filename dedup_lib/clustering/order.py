"""The priority order of documents, from configuration: which one of a cluster stays."""

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from dedup_lib.config.settings import Priority


def moment() -> Column:
    """The time of a capture in microseconds; midnight UTC where only the day is known."""
    day = F.datediff("crawl_date", F.lit("1970-01-01").cast("date")).cast("long") * F.lit(86_400_000_000)
    return F.coalesce(F.unix_micros("fetched_at"), day)


def priority_order(keep: Sequence[Priority]) -> list[Column]:
    """Sort columns over `documents`, the best first: whole before truncated, then `keep`, then doc_id.

    A page that was cut never stands for a whole one, whatever `keep` says.
    """
    rules: dict[Priority, Column | None] = {
        "declared_canonical": F.when(F.col("declared_canonical") == F.col("policy_url"), 0)
        .when(F.col("declared_canonical").isNull(), 1)
        .otherwise(2),
        "source_priority": None,  # one source within a snapshot
        "earliest_crawl": moment(),
        "latest_crawl": -moment(),
        "longest_text": -F.col("text_chars"),
        "shortest_url": F.length("url"),
    }
    chosen = [column for name in keep if (column := rules[name]) is not None]
    return [F.col("truncated"), *chosen, F.col("doc_id")]
