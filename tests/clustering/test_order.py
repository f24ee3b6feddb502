"""Each priority alone decides between two documents that differ in everything."""

from datetime import UTC, date, datetime

import pyarrow as pa
import pytest

from dedup_lib.clustering.order import moment, priority_order

from .sessions import frame_of

pytestmark = pytest.mark.usefixtures("module_with_few_rows")

COLUMNS = {
    "doc_id": pa.binary(),
    "truncated": pa.bool_(),
    "declared_canonical": pa.string(),
    "policy_url": pa.string(),
    "crawl_date": pa.date32(),
    "fetched_at": pa.timestamp("us", tz="UTC"),
    "text_chars": pa.int32(),
    "url": pa.string(),
}
DAY = date(2024, 5, 2)
ROWS = [
    # names itself canonical; at noon; short text; long URL
    (b"a", False, "http://a/", "http://a/", DAY, datetime(2024, 5, 2, 12, tzinfo=UTC), 10, "http://a/?utm_source=x"),
    # declares nothing; the day alone is known: midnight
    (b"b", False, None, "http://b/", DAY, None, 20, "http://b/"),
    # names another page; the day before
    (
        b"c",
        False,
        "http://b/",
        "http://c/",
        date(2024, 5, 1),
        datetime(2024, 5, 1, 23, tzinfo=UTC),
        30,
        "http://c/?a=1",
    ),
    # cut, and otherwise the first by any rule
    (b"0", True, "http://0/", "http://0/", DAY, datetime(2024, 5, 2, tzinfo=UTC), 99, "http://0"),
]


@pytest.fixture(scope="module")
def documents(spark):
    return frame_of(spark, COLUMNS, ROWS)


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        ((), b"abc0"),
        (("declared_canonical",), b"abc0"),
        (("source_priority",), b"abc0"),
        (("earliest_crawl",), b"cba0"),
        (("latest_crawl",), b"abc0"),
        (("longest_text",), b"cba0"),
        (("shortest_url",), b"bca0"),
        (("shortest_url", "longest_text"), b"bca0"),
        (("declared_canonical", "source_priority", "earliest_crawl", "longest_text", "shortest_url"), b"abc0"),
    ],
)
def test_the_order_is_by_the_priorities_then_doc_id_and_a_cut_page_is_last(documents, keep, expected):
    in_order = documents.orderBy(*priority_order(keep)).select("doc_id").toArrow()
    assert b"".join(row["doc_id"] for row in in_order.to_pylist()) == expected


def test_a_later_priority_only_breaks_the_ties_of_an_earlier_one(spark):
    rows = [(b"a", False, None, "u", DAY, None, 5, "long"), (b"b", False, None, "u", DAY, None, 5, "url")]
    rows += [(b"c", False, None, "u", DAY, None, 6, "longest url"), (b"d", False, None, "u", DAY, None, 5, "url")]
    in_order = frame_of(spark, COLUMNS, rows).orderBy(*priority_order(("longest_text", "shortest_url")))
    assert [row["doc_id"] for row in in_order.select("doc_id").toArrow().to_pylist()] == [b"c", b"b", b"d", b"a"]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kolkata"])
def test_a_moment_is_in_microseconds_of_utc_whatever_the_zone_of_the_session(spark, zone):
    rows = [
        (None, date(1970, 1, 2)),
        (datetime(1970, 1, 1, 0, 0, 1, 5, tzinfo=UTC), date(1970, 1, 1)),
        (None, date(1969, 12, 31)),
    ]
    frame = frame_of(spark, {"fetched_at": COLUMNS["fetched_at"], "crawl_date": pa.date32()}, rows)
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        found = [row["moment"] for row in frame.select(moment().alias("moment")).toArrow().to_pylist()]
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    assert found == [86_400_000_000, 1_000_005, -86_400_000_000]
