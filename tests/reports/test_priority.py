"""The order told in Python is the order that clustering sorts by."""

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from stages.rows import START, document, documents_frame

from dedup_lib.clustering.order import priority_order
from dedup_lib.reports.explain.priority import first_rule

ORDERS = (
    ("declared_canonical", "source_priority", "earliest_crawl", "longest_text", "shortest_url"),
    ("longest_text", "latest_crawl"),
    ("shortest_url", "declared_canonical"),
    (),
)


def random_documents(number):
    dice = random.Random(3)
    for place in range(number):
        url = f"http://a.org/{'x' * dice.randrange(4)}"
        when = START + timedelta(days=dice.randrange(3), microseconds=dice.randrange(2))
        others = {"declared_canonical": dice.choice((None, url, "http://b.org/")), "truncated": dice.random() < 0.2}
        row = document(dice.randbytes(4) + bytes([place]), url, "x" * dice.randrange(3), when, **others)
        yield row if dice.random() < 0.7 else row | {"fetched_at": None}


@pytest.mark.parametrize("keep", ORDERS)
def test_neighbours_in_the_order_of_clustering_have_a_rule_and_none_the_other_way(spark, with_few_rows, keep):
    rows = {row["doc_id"]: row for row in random_documents(60)}
    ordered = documents_frame(spark, rows.values()).orderBy(*priority_order(keep)).select("doc_id").toArrow()
    names = ordered["doc_id"].to_pylist()
    rules = [first_rule(rows[one], rows[other], keep) for one, other in pairwise(names)]
    assert None not in rules
    assert set(rules) <= {"truncated", *keep, "doc_id"}
    assert {first_rule(rows[other], rows[one], keep) for one, other in pairwise(names)} == {None}


def test_the_rule_is_the_first_that_differs():
    early, late = (
        document(b"\1", "http://a/long", "text", START),
        document(b"\0", "http://a/", "t", datetime.now(UTC)),
    )
    assert first_rule(early, late, ("earliest_crawl", "shortest_url")) == "earliest_crawl"
    assert first_rule(early, late | {"fetched_at": START}, ("earliest_crawl", "longest_text")) == "longest_text"
    assert first_rule(late, early, ("shortest_url",)) == "shortest_url"
    assert first_rule(late, early, ()) == "doc_id"
