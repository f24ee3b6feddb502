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
    counts = {"bytes": 1000, "records": [("response", 9)], "fetches": 1, "rejects": 2, "skipped": 3, "faults": 4}
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
    assert tuples(frames[2]) == [(b"thrice", 3), (b"twice", 2)]


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
