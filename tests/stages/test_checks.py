import pyarrow as pa
import pytest
from clustering.texts import pair_of_texts, words

from dedup_lib.config.settings import ClusterSettings
from dedup_lib.signatures import Scheme
from dedup_lib.stages import texts_in
from dedup_lib.stages.checks import check_references, check_similarities
from dedup_lib.tables.schemas import CLUSTERS

from .rows import START, document, documents_frame

pytestmark = pytest.mark.usefixtures("module_with_few_rows")


def row(doc_id, reason, duplicate_of, stands, size, similarity=None):
    return {
        "doc_id": doc_id,
        "url": "http://a.org/",
        "canonical_url": "http://a.org/",
        "crawl_date": START.date(),
        "cluster_id": stands,
        "reason": reason,
        "duplicate_of": duplicate_of,
        "similarity": similarity,
        "representative_id": stands,
        "cluster_size": size,
    }


def right_rows():
    """Two clusters with a duplicate of every kind: of a kept document, of a near one, of a copy."""
    rows = [
        row(b"k1", "kept", None, b"k1", 7),
        row(b"e1", "exact", b"k1", b"k1", 7, 1.0),
        row(b"n1", "near", b"k1", b"k1", 7, 0.9),
        row(b"e2", "exact", b"n1", b"k1", 7, 1.0),
        row(b"u1", "url", b"k1", b"k1", 7),
        row(b"u2", "url", b"e1", b"k1", 7),
        row(b"u3", "url", b"n1", b"k1", 7),
        row(b"k2", "kept", None, b"k2", 2),
        row(b"n2", "near", b"k2", b"k2", 2, 0.8),
    ]
    return {one["doc_id"]: one for one in rows}


def failures(spark, rows):
    return check_references(spark.createDataFrame(pa.Table.from_pylist(list(rows.values()), CLUSTERS.arrow)))


STANDING = "have a representative that is not kept"
APART = "are in another cluster"
DANGLING = "name a document that their layer did not keep"
HEADS = "have no kept document, or several"
SIZES = "are not as large as cluster_size says"
KEPT = "are marked as duplicates"


def test_a_right_frame_has_no_failures(spark):
    assert failures(spark, right_rows()) == []


def test_an_empty_frame_has_no_failures(spark):
    assert failures(spark, {}) == []


@pytest.mark.parametrize(
    ("what", "edits", "expected"),
    [
        ("representative unknown", {b"n1": {"representative_id": b"??"}}, {STANDING: 1}),
        ("representative is a duplicate", {b"n2": {"representative_id": b"n1"}}, {STANDING: 1, APART: 1}),
        ("representative of another cluster", {b"u3": {"representative_id": b"k2"}}, {APART: 1}),
        ("near a document of another cluster", {b"n1": {"duplicate_of": b"k2"}}, {APART: 1}),
        ("a kept document has duplicate_of", {b"k1": {"duplicate_of": b"k2"}}, {KEPT: 1, APART: 1}),
        ("a kept document stands for itself no more", {b"k1": {"representative_id": b"k2"}}, {KEPT: 1, APART: 1}),
        ("duplicate_of unknown", {b"n2": {"duplicate_of": b"??"}}, {DANGLING: 1}),
        ("duplicate_of missing", {b"e1": {"duplicate_of": None}}, {DANGLING: 1}),
        ("near one that is near another", {b"n1": {"duplicate_of": b"e1"}}, {DANGLING: 1}),
        ("copy of a copy", {b"e2": {"duplicate_of": b"e1"}}, {DANGLING: 1}),
        ("url duplicate of a url duplicate", {b"u1": {"duplicate_of": b"u2"}}, {DANGLING: 1}),
        ("a reason that is not known", {b"n2": {"reason": "odd"}}, {DANGLING: 1}),
        ("a size too large", {name: {"cluster_size": 3} for name in (b"k2", b"n2")}, {SIZES: 1}),
        ("sizes that differ within a cluster", {b"n2": {"cluster_size": 1}}, {SIZES: 1}),
    ],
)
def test_each_broken_reference_is_found_and_no_other(spark, what, edits, expected):
    rows = right_rows()
    for name, edit in edits.items():
        rows[name] |= edit
    found = failures(spark, rows)
    assert len(found) == len(expected), (what, found)
    for sentence, count in expected.items():
        assert any(sentence in one and one.startswith(f"{count} ") for one in found), (what, found)


def test_a_cluster_without_its_kept_document_is_found(spark):
    rows = right_rows()
    del rows[b"k2"]
    found = " ".join(failures(spark, rows))
    assert all(sentence in found for sentence in (STANDING, DANGLING, HEADS, SIZES))


def test_a_cluster_with_two_kept_documents_is_found(spark):
    rows = right_rows()
    rows[b"n2"] |= {"reason": "kept", "duplicate_of": None}
    found = " ".join(failures(spark, rows))
    assert HEADS in found
    assert KEPT in found  # it still names another representative


# shared and other shingles of (kept document, near duplicate): 0.9, 0.8, 0.789, 0.6
PAIRS = {b"a": (90, 5), b"b": (80, 10), b"c": (75, 10), b"d": (60, 20)}


@pytest.fixture(scope="module")
def documents(spark):
    rows = []
    for seed, (name, (shared, other)) in enumerate(PAIRS.items()):
        texts = pair_of_texts(shared, other, seed)
        rows += [document(name + bytes([side]), "http://a.org/", text) for side, text in enumerate(texts)]
    rows += [document(b"x", "http://x.org/", " ".join(words(50, 9)))]
    return documents_frame(spark, rows)


@pytest.fixture
def checked(spark, cut, documents):
    def check(names, **settings):
        rows = [row(b"x", "exact", b"a\0", b"a\0", 1, 1.0)]  # no near duplicate: not looked at
        for name in names:
            rows += [
                row(name + b"\0", "kept", None, name + b"\0", 2),
                row(name + b"\1", "near", name + b"\0", name + b"\0", 2, 0.9),
            ]
        clusters = spark.createDataFrame(pa.Table.from_pylist(rows, CLUSTERS.arrow))
        return check_similarities(clusters, texts_in(documents), ClusterSettings(**settings), Scheme(), cut)

    return check


def test_near_duplicates_at_or_above_the_threshold_pass(checked):
    assert checked([b"a", b"b"]) == ([], 2, 0.8)


def test_unlike_documents_said_to_be_near_fail(checked):
    found, pairs, lowest = checked([b"a", b"b", b"d"])
    assert (pairs, lowest) == (3, 0.6)
    assert len(found) == 1
    assert found[0].startswith("1 of 3 sampled near duplicates are below 0.8")
    assert "0.600" in found[0]


def test_one_just_below_the_threshold_is_one_too_many(checked):
    (failure,), pairs, lowest = checked([b"a", b"c"])
    assert failure.startswith("1 of 2 sampled near duplicates are below 0.8")
    assert (pairs, lowest) == (2, 75 / 95)


def test_no_more_are_checked_than_the_sample_asks_for(checked):
    assert checked([b"a", b"b", b"c"], check_sample=1)[1] == 1
    assert checked([b"a", b"d"], check_sample=0) == ([], 0, None)


def test_without_near_duplicates_there_is_nothing_to_check(checked):
    assert checked([]) == ([], 0, None)


@pytest.mark.parametrize("settings", [{"verify": "estimate"}, {"verify": "none"}, {"shape": "components"}])
def test_what_promises_no_similarity_is_not_held_to_it(checked, settings):
    assert checked([b"d"], **settings) == ([], 0, None)
