"""Hand-worked: one cluster of eight captures with every way to join it, and one of a single capture.

item  document           url duplicates
0     kept               u0
1     copy of 0          u1
2     near 0 at 0.85     u2
3     copy of 2          u3
4     kept, alone
"""

from datetime import date

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from dedup_lib.clustering.representatives import (
    cluster_captures,
    describe_kept,
    list_aliases,
    other_captures,
    settle_items,
)
from dedup_lib.tables.schemas import CLUSTERS, DOCUMENTS, IDENTITIES, REPRESENTATIVES

from .sessions import frame_of, tuples

pytestmark = pytest.mark.usefixtures("module_with_few_rows")

DAY = date(2024, 5, 1)
ITEMS = [(0, b"d0", 0), (1, b"d1", 0), (2, b"d2", 2), (3, b"d3", 2), (4, b"d4", 4)]
LOST = {b"u0": b"d0", b"u1": b"d1", b"u2": b"d2", b"u3": b"d3"}
CAPTURES = [*(doc_id for _, doc_id, _ in ITEMS), *LOST]
SETTLED = [
    (b"d0", "kept", None, None, b"d0"),
    (b"d1", "exact", b"d0", 1.0, b"d0"),
    (b"d2", "near", b"d0", 0.85, b"d0"),
    (b"d3", "exact", b"d2", 1.0, b"d0"),
    (b"d4", "kept", None, None, b"d4"),
]
URL_DUPLICATES = [(lost, "url", winner, None, b"d0") for lost, winner in LOST.items()]
SIZES = {b"d0": 8, b"d4": 1}


@pytest.fixture(scope="module")
def settled(spark, cut):
    items = frame_of(spark, {"item": pa.int64(), "doc_id": pa.binary(), "first": pa.int64()}, ITEMS)
    stars = {"item": pa.int64(), "star": pa.int64(), "similarity": pa.float64(), "exact": pa.bool_()}
    return cut(settle_items(items, frame_of(spark, stars, [(2, 0, 0.85, True)])), "settled")


@pytest.fixture(scope="module")
def clusters(spark, cut, settled):
    identities = [(name, f"http://{name.decode()}/", DAY, True, None, None) for _, name, _ in ITEMS]
    identities += [(name, f"http://{winner.decode()}/", DAY, False, winner, None) for name, winner in LOST.items()]
    captures = [(name, "<" + name.decode() + ">", f"http://{name.decode()}/as-captured") for name in CAPTURES]
    frame = cluster_captures(
        frame_of(spark, {"doc_id": pa.binary(), "record_id": pa.string(), "url": pa.string()}, captures),
        frame_of(spark, IDENTITIES.arrow, identities),
        settled,
    )
    return cut(frame, "clusters")


def test_each_item_is_kept_or_lost_to_one_that_its_layer_kept(settled):
    assert settled.columns == ["doc_id", "reason", "duplicate_of", "similarity", "representative_id"]
    assert tuples(settled) == sorted(SETTLED, key=repr)


def test_cluster_rows_have_the_columns_and_types_of_the_table(clusters):
    assert [(field.name, field.dataType) for field in clusters.schema] == [
        (field.name, field.dataType) for field in CLUSTERS.spark
    ]


def test_captures_that_lost_their_key_follow_the_one_that_won(clusters):
    found = clusters.select("doc_id", "reason", "duplicate_of", "similarity", "representative_id")
    assert tuples(found) == sorted([*SETTLED, *URL_DUPLICATES], key=repr)


def test_cluster_size_counts_all_captures_and_the_id_is_the_kept_document(clusters):
    found = tuples(clusters.select("doc_id", "cluster_id", "cluster_size"))
    representatives = {doc_id: standing for doc_id, _, _, _, standing in [*SETTLED, *URL_DUPLICATES]}
    assert found == sorted(((name, rep, SIZES[rep]) for name, rep in representatives.items()), key=repr)


def test_captures_keep_their_own_names(clusters):
    found = clusters.where(F.col("doc_id") == b"u3").select("record_id", "url", "canonical_url", "crawl_date")
    assert tuples(found) == [("<u3>", "http://u3/as-captured", "http://d3/", DAY)]


def alias(name, reason):
    canonical = LOST.get(name, name).decode()
    return {
        "url": f"http://{name.decode()}/as-captured",
        "canonical_url": f"http://{canonical}/",
        "crawl_date": DAY,
        "reason": reason,
    }


@pytest.mark.parametrize("limit", [0, 1, 3, 7, 100])
def test_aliases_are_the_other_captures_by_doc_id_and_no_more_than_the_limit(clusters, limit):
    others = [(b"d1", "exact"), (b"d2", "near"), (b"d3", "exact"), *((name, "url") for name in LOST)]
    expected = [alias(*other) for other in others[:limit]]
    assert tuples(list_aliases(other_captures(clusters), limit)) == ([(b"d0", expected)] if expected else [])


def test_kept_documents_are_described_by_what_they_stand_for(clusters):
    found = describe_kept(clusters, aliases_per_row=2)
    added = [field for field in REPRESENTATIVES.spark if field.name == "doc_id" or field.name not in DOCUMENTS.names]
    assert [(field.name, field.dataType) for field in found.schema] == [(one.name, one.dataType) for one in added]
    assert tuples(found) == [
        (b"d0", "http://d0/", b"d0", 8, 7, [alias(b"d1", "exact"), alias(b"d2", "near")]),
        (b"d4", "http://d4/", b"d4", 1, 0, []),
    ]


def test_revisits_of_any_capture_of_a_cluster_are_aliases_of_what_is_kept_and_counted(spark, clusters):
    later = date(2024, 6, 1)
    columns = {"doc_id": pa.binary(), "url": pa.string(), "crawl_date": pa.date32()}
    revisits = frame_of(spark, columns, [(b"d1", "http://d1/again", later), (b"d4", "http://d4/", later)])

    def revisit(url, canonical):
        return {"url": url, "canonical_url": canonical, "crawl_date": later, "reason": "revisit"}

    found = {row[0]: row[3:] for row in tuples(describe_kept(clusters, 2, revisits))}
    assert found[b"d0"] == (8, 8, [alias(b"d1", "exact"), revisit("http://d1/again", "http://d1/")])
    assert found[b"d4"] == (1, 1, [revisit("http://d4/", "http://d4/")])
