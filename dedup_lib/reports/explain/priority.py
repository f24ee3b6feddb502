"""Which rule of the priority order put one document before another, told of two rows of `documents`."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, time
from typing import Any

from dedup_lib.config.settings import Priority


def first_rule(before: Mapping[str, Any], after: Mapping[str, Any], keep: Sequence[Priority]) -> str | None:
    """The first rule of the order by which `before` comes before `after`; None where the order has them otherwise.

    The order is that of `dedup_lib.clustering.order`: whole before truncated, then `keep`, then doc_id.
    """
    for rule in ("truncated", *keep, "doc_id"):
        left, right = (_VALUES[rule](row) for row in (before, after))
        if left != right:
            return rule if left < right else None
    return None


def _moment(row: Mapping[str, Any]) -> float:
    when = row["fetched_at"] or datetime.combine(row["crawl_date"], time(), UTC)
    seconds: float = when.timestamp()
    return seconds


def _declared(row: Mapping[str, Any]) -> int:
    declared = row["declared_canonical"]
    return 1 if declared is None else 0 if declared == row["policy_url"] else 2


# What a rule compares; the lesser comes first.
_VALUES: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "truncated": lambda row: row["truncated"],
    "declared_canonical": _declared,
    "source_priority": lambda row: 0,  # one source within a snapshot
    "earliest_crawl": _moment,
    "latest_crawl": lambda row: -_moment(row),
    "longest_text": lambda row: -row["text_chars"],
    "shortest_url": lambda row: len(row["url"]),
    "doc_id": lambda row: row["doc_id"],
}
