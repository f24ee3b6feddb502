import pyarrow as pa
import pytest
from clustering.sessions import tuples

from dedup_lib.stages.repeats import collapse_repeats, count_repeats
from dedup_lib.tables.schemas import ARCHIVES

from .rows import document, documents_frame

pytestmark = pytest.mark.usefixtures("module_with_few_rows")

PLACES = [  # doc_id, archive, offset
    (b"twice", "b.warc", 0),
    (b"twice", "a.warc", 700),
    (b"once", "a.warc", 0),
    (b"thrice", "b.warc", 900),
    (b"thrice", "b.warc", 40),
    (b"thrice", "c.warc", 0),
    (b"alone", "c.warc", 30),
]


def in_file(archive, documents, repeated=0):
    counts = {
        "bytes": 1000,
        "bytes_read": 1000,
        "records": [("response", 9)],
        "fetches": 1,
        "rejects": 2,
        "skipped": 3,
        "faults": 4,
    }
    counts |= {"fetches_by_kind": [("redirect", 1)], "rejects_by_reason": [("no_text", 2)]}
    return {"archive": archive, "verdict": "complete", "documents": documents, "repeated": repeated} | counts


@pytest.fixture(scope="module")
def frames(spark):
    rows = [
        document(doc_id, "http://a.org/", f"text in {archive}", archive=archive, archive_offset=offset)
        for doc_id, archive, offset in PLACES
    ]
    files = [in_file("a.warc", 2), in_file("b.warc", 3), in_file("c.warc", 2, repeated=5), in_file("empty.warc", 0)]
    documents = documents_frame(spark, rows, seed=1)
    return documents, spark.createDataFrame(pa.Table.from_pylist(files, ARCHIVES.arrow)), count_repeats(documents)


def test_captures_that_were_read_more_than_once_are_counted(frames):
    assert tuples(frames[2].select("doc_id", "captures")) == [(b"thrice", 3), (b"twice", 2)]


def test_an_id_that_names_different_pages_is_told_from_a_record_that_was_read_again(spark):
    rows = [
        document(doc_id, url, text, archive="a.jsonl", archive_offset=row)
        for row, (doc_id, url, text) in enumerate(
            [
                (b"same", "http://a.org/", "one text"),
                (b"same", "http://a.org/", "one  text"),  # the same content
                (b"texts", "http://a.org/", "one text"),
                (b"texts", "http://a.org/", "another text"),
                (b"urls", "http://a.org/", "one text"),
                (b"urls", "http://b.org/", "one text"),
            ]
        )
    ]
    found = count_repeats(documents_frame(spark, rows, seed=1))
    assert tuples(found) == [(b"same", 2, 1), (b"texts", 2, 2), (b"urls", 2, 2)]


def test_a_repeated_record_among_others_of_its_gzip_member_leaves_them_alone(spark):
    """Records of one member have one place."""
    rows = [
        document(name, "http://a.org/", "a text", archive="a.warc", archive_offset=0) for name in (b"x", b"y", b"y")
    ]
    documents = documents_frame(spark, rows, seed=1)
    files = spark.createDataFrame(pa.Table.from_pylist([in_file("a.warc", 3)], ARCHIVES.arrow))
    once, archives = collapse_repeats(documents, files, count_repeats(documents))
    assert tuples(once.select("doc_id")) == [(b"x",), (b"y",)]
    assert [(row["documents"], row["repeated"]) for row in archives.collect()] == [(2, 1)]


def test_of_a_repeated_capture_the_first_place_stays(frames):
    documents, _ = collapse_repeats(*frames)
    assert documents.schema == frames[0].schema
    assert tuples(documents.select("doc_id", "archive", "archive_offset", "text")) == [
        (b"alone", "c.warc", 30, "text in c.warc"),
        (b"once", "a.warc", 0, "text in a.warc"),
        (b"thrice", "b.warc", 40, "text in b.warc"),
        (b"twice", "a.warc", 700, "text in a.warc"),
    ]


def test_each_file_counts_what_was_dropped_from_it_and_nothing_else_changes(frames):
    _, archives = collapse_repeats(*frames)
    assert archives.schema == frames[1].schema
    assert sorted(archives.toArrow().to_pylist(), key=lambda row: row["archive"]) == [
        in_file("a.warc", 2),
        in_file("b.warc", 1, repeated=2),
        in_file("c.warc", 1, repeated=6),
        in_file("empty.warc", 0),
    ]
