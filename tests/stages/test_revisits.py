from datetime import timedelta

import pyarrow as pa
from clustering.sessions import tuples

from dedup_lib.stages.revisits import captures_of_revisits
from dedup_lib.tables.schemas import FETCHES

from .rows import START, document, documents_frame

LATER = START + timedelta(days=1)


def fetch(kind, url, offset=0, **others):
    row = {"url": url, "url_key": url, "fetched_at": LATER, "kind": kind, "archive": "b", "archive_offset": offset}
    return row | others


def found(spark, fetches, documents):
    frame = spark.createDataFrame(pa.Table.from_pylist(fetches, FETCHES.arrow))
    return tuples(captures_of_revisits(frame, documents_frame(spark, documents).drop("text")))


def test_revisits_find_their_capture_by_record_id_or_else_by_url_and_second(spark):
    exact = START + timedelta(microseconds=250_000)
    documents = [
        document(b"a", "http://a/", "one", START, record_id="<urn:1>"),
        document(b"b", "http://b/", "two", exact, record_id="<urn:2>"),
        document(b"c", "http://b/", "three", START + timedelta(seconds=1), record_id="<urn:3>"),
    ]
    revisits = [
        fetch("revisit", "http://a/", 0, refers_to="<urn:1>"),
        fetch("not_modified", "http://b/", 1, target="http://b/", refers_to_date=START),
        fetch("revisit", "http://elsewhere/", 2, target="http://b/", refers_to_date=START),
        fetch("revisit", "http://a/", 3, refers_to="<urn:9>", target="http://a/", refers_to_date=START),
    ]
    day = LATER.date()
    assert found(spark, revisits, documents) == [
        (b"a", "http://a/", day),
        (b"a", "http://a/", day),
        (b"b", "http://b/", day),
        (b"b", "http://elsewhere/", day),
    ]


def test_revisits_of_what_is_not_in_the_snapshot_and_other_fetches_find_nothing(spark):
    documents = [document(b"a", "http://a/", "one", START, record_id="<urn:1>")]
    others = [
        fetch("revisit", "http://a/", 0, refers_to="<urn:9>"),
        fetch("revisit", "http://a/", 1, target="http://a/", refers_to_date=START - timedelta(seconds=1)),
        fetch("not_modified", "http://a/", 2),
        fetch("redirect", "http://x/", 3, target="http://a/", refers_to_date=START),
    ]
    assert found(spark, others, documents) == []


def test_a_revisit_of_a_record_id_that_two_captures_bear_has_one_capture(spark):
    documents = [document(name, "http://a/", "one", START, record_id="<urn:1>") for name in (b"b", b"a")]
    assert found(spark, [fetch("revisit", "http://a/", refers_to="<urn:1>")], documents) == [
        (b"a", "http://a/", LATER.date())
    ]
