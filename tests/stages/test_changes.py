from collections import Counter
from datetime import timedelta

import pytest
from clustering.sessions import shuffle_partitions, tuples
from pyspark.sql.pandas.types import from_arrow_schema

from dedup_lib.stages.changes import CHANGES, KINDS, changes

from .changing import LATER, SCHEME, definition, fetch, pages_of, random_snapshots, reject, snapshot, tables_of
from .rows import START, document

WORDS = [f"word{number}" for number in range(60)]
TEXT, OTHER = " ".join(WORDS[:40]), " ".join(WORDS[40:])
EDITED = " ".join([*WORDS[:38], "two", "others"])  # 34 of 38 shingles: 34 / 38 of the union of 38


def page(number, url, text=TEXT, when=START, lost_to=None, conflict=None, **others):
    return document(bytes([number]), url, text, when, **others), lost_to, conflict


def told(spark, earlier, later):
    """canonical URL -> the row."""
    rows = changes(tables_of(spark, earlier), tables_of(spark, later), SCHEME).toArrow().to_pylist()
    found = {row["canonical_url"]: row for row in rows}
    assert len(found) == len(rows)
    return found


def kinds(found):
    return {url: (row["kind"], row["related_url"], row["found"]) for url, row in found.items()}


def test_pages_of_both_snapshots_are_unchanged_or_edited_by_their_content(spark, with_few_rows):
    earlier = snapshot([page(1, "http://a/1"), page(2, "http://a/2"), page(3, "http://a/3", "too short")])
    later = snapshot(
        [
            page(11, "https://a/1/", TEXT.upper(), LATER),
            page(12, "http://a/2", EDITED, LATER),
            page(13, "http://a/3", "short too", LATER),
        ],
        [fetch("error", "http://a/1", LATER + timedelta(days=1), http_status=404)],  # a document outweighs it
    )
    found = told(spark, earlier, later)
    assert kinds(found) == {
        "https://a/1/": ("unchanged", None, "page"),
        "http://a/2": ("edited", None, "page"),
        "http://a/3": ("edited", None, "page"),
    }
    assert found["http://a/2"]["similarity"] == pytest.approx(34 / 38, abs=5 * (0.9 * 0.1 / 256) ** 0.5)
    assert found["http://a/3"]["similarity"] is None
    row = found["https://a/1/"]
    assert (row["from_doc_id"], row["to_doc_id"]) == (b"\1", b"\x0b")
    assert (row["from_date"], row["to_date"]) == (START.date(), LATER.date())


def test_pages_that_are_no_documents_any_more_are_told_by_the_last_answer(spark, with_few_rows):
    answers = {
        "missing": [fetch("error", "http://a/missing", http_status=404)],
        "deleted": [fetch("error", "http://a/deleted", http_status=410)],
        "image": [fetch("other_content_type", "http://a/image", http_status=200)],
        "broken": [fetch("error", "http://a/broken", http_status=503)],
        "same": [fetch("not_modified", "http://a/same", http_status=304)],
        "led": [fetch("redirect", "http://a/led", http_status=301, target="http://b/")],
        "slash": [fetch("redirect", "http://a/slash", http_status=301, target="https://a/slash/")],
        "back": [
            fetch("error", "http://a/back", LATER, http_status=404),
            fetch("not_modified", "http://a/back", LATER + timedelta(seconds=1)),
        ],
        "secure": [
            fetch("error", "https://a/secure", LATER, http_status=404),
            fetch("redirect", "http://a/secure", LATER + timedelta(seconds=1), target="https://a/secure"),
        ],
        "nothing": [],
        "empty": [],
        "damaged": [],
    }
    earlier = snapshot([page(n, f"http://a/{name}", f"{n} {TEXT}") for n, name in enumerate(answers)])
    rejects = [reject("http://a/empty", "no_text"), reject("http://a/damaged", "bad_http")]
    found = told(spark, earlier, snapshot([], [one for some in answers.values() for one in some], rejects))
    assert kinds(found) == {
        "http://a/missing": ("gone", None, "error"),
        "http://a/deleted": ("gone", None, "error"),
        "http://a/image": ("gone", None, "other_content_type"),
        "http://a/broken": ("not_fetched", None, "error"),
        "http://a/same": ("unchanged", None, "not_modified"),
        "http://a/led": ("redirected", "http://b/", "redirect"),
        "http://a/slash": ("redirected", "https://a/slash/", "redirect"),
        "http://a/back": ("unchanged", None, "not_modified"),
        "http://a/secure": ("gone", None, "error"),
        "http://a/nothing": ("not_fetched", None, None),
        "http://a/empty": ("gone", None, "no_text"),
        "http://a/damaged": ("not_fetched", None, "bad_http"),
    }
    assert found["http://a/broken"]["http_status"] == 503
    assert found["http://a/back"]["to_date"] == LATER.date()


def test_revisits_are_unchanged_unless_they_refer_to_another_content(spark, with_few_rows):
    earlier = snapshot(
        [page(n, f"http://a/{n}", text) for n, text in enumerate((TEXT, TEXT, EDITED, OTHER))]
    )  # record ids are <00>, <01>, ...
    later = snapshot(
        [page(9, "http://a/9", OTHER, LATER)],
        [
            fetch("revisit", "http://a/0", refers_to="<00>"),
            fetch("revisit", "http://a/1", refers_to="<02>"),
            fetch("revisit", "http://a/2", refers_to="<unknown>"),
            fetch("revisit", "http://a/3", target="http://a/9", refers_to_date=LATER),
        ],
    )
    found = told(spark, earlier, later)
    assert {url: row["kind"] for url, row in found.items()} == {
        "http://a/0": "unchanged",
        "http://a/1": "edited",
        "http://a/2": "unchanged",
        "http://a/3": "unchanged",
        "http://a/9": "new",
    }
    assert found["http://a/1"]["similarity"] == pytest.approx(34 / 38, abs=5 * (0.9 * 0.1 / 256) ** 0.5)


def test_pages_whose_captures_are_under_another_canonical_url_lead_there(spark, with_few_rows):
    earlier = snapshot([page(1, "http://a/print"), page(2, "http://a/x?s=1", OTHER, conflict="a: tracking s")])
    later = snapshot(
        [
            page(3, "http://a/print", TEXT, LATER, lost_to="http://a/main"),
            page(4, "http://a/main", TEXT, LATER),
            page(5, "http://a/x?s=1", OTHER, LATER, lost_to="http://a/x", url_key="a/x"),
            page(6, "http://a/x", OTHER, LATER),
        ]
    )
    assert kinds(told(spark, earlier, later)) == {
        "http://a/print": ("redirected", "http://a/main", "capture"),
        "http://a/main": ("moved", "http://a/print", "page"),
        "http://a/x?s=1": ("redirected", "http://a/x", "capture"),
        "http://a/x": ("moved", "http://a/x?s=1", "page"),
    }


def test_pages_that_share_a_key_are_told_apart_by_their_urls(spark, with_few_rows):
    one, two = ("http://a/x", {"url_key": "a/x"}), ("http://a/x?s=1", {"url_key": "a/x"})
    earlier = snapshot([page(1, one[0], TEXT, **one[1]), page(2, two[0], OTHER, conflict="a: tracking s", **two[1])])
    gone = [fetch("error", two[0], http_status=404, url_key="a/x")]
    assert kinds(told(spark, earlier, snapshot([], gone))) == {
        one[0]: ("not_fetched", None, None),
        two[0]: ("gone", None, "error"),
    }
    later = snapshot([page(3, two[0], OTHER, LATER, conflict="a: tracking s", **two[1])])
    assert kinds(told(spark, earlier, later)) == {
        one[0]: ("not_fetched", None, None),
        two[0]: ("unchanged", None, "page"),
    }


def test_moved_pages_name_the_first_url_that_had_the_content_and_is_left(spark, with_few_rows):
    earlier = snapshot(
        [page(n, f"http://a/{n}", text) for n, text in enumerate((TEXT, TEXT, OTHER))] + [page(7, "http://a/7", EDITED)]
    )
    later = snapshot(
        [page(n, f"http://b/{n}", text, LATER) for n, text in ((10, TEXT), (11, TEXT), (12, OTHER), (13, "unseen"))]
        + [page(14, "http://a/2", OTHER, LATER), page(15, "http://b/14", EDITED, LATER)],
        [fetch("redirect", "http://a/7", target="http://b/14")],
    )
    assert kinds(told(spark, earlier, later)) == {
        "http://a/0": ("not_fetched", None, None),
        "http://a/1": ("not_fetched", None, None),
        "http://a/2": ("unchanged", None, "page"),
        "http://a/7": ("redirected", "http://b/14", "redirect"),
        "http://b/10": ("moved", "http://a/0", "page"),
        "http://b/11": ("moved", "http://a/0", "page"),
        "http://b/12": ("new", None, "page"),  # a copy: the page that had it is still there
        "http://b/13": ("new", None, "page"),
        "http://b/14": ("moved", "http://a/7", "page"),
    }


@pytest.mark.parametrize("seed", [2, pytest.param(1, marks=pytest.mark.slow)])
def test_random_snapshots_are_told_as_the_definition_says_whatever_the_partitions(spark, seed):
    earlier, later = random_snapshots(seed)
    expected = definition(earlier, later)
    assert {kind for kind, *_ in expected.values()} == set(KINDS)
    with shuffle_partitions(spark, 1):
        made = changes(tables_of(spark, earlier), tables_of(spark, later), SCHEME).toArrow().to_pylist()
    found = {row["canonical_url"]: (row["kind"], row["related_url"]) for row in made}
    assert found == {url: row[:2] for url, row in expected.items()}
    for row in made:
        similarity = expected[row["canonical_url"]][2]
        assert (row["similarity"] is None) == (similarity is None)
        if similarity is not None:
            assert row["similarity"] == pytest.approx(similarity, abs=5 * (0.25 / 256) ** 0.5)
    counts = Counter(row["kind"] for row in made)
    assert sum(counts.values()) - counts["new"] - counts["moved"] == len(pages_of(earlier))
    assert sum(row["found"] == "page" for row in made) == len(pages_of(later))
    with shuffle_partitions(spark, 7):
        again = changes(tables_of(spark, earlier, seed=3), tables_of(spark, later, seed=4), SCHEME)
        assert tuples(again) == sorted((tuple(row.values()) for row in made), key=repr)


def test_without_rows_there_are_no_changes_and_the_columns_are_those_of_the_table(spark, with_few_rows):
    made = changes(tables_of(spark, snapshot()), tables_of(spark, snapshot()), SCHEME)
    assert made.toArrow().num_rows == 0
    assert made.schema == from_arrow_schema(CHANGES)
