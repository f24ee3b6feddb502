import random
from collections import Counter
from datetime import timedelta

import pytest
from clustering.sessions import shuffle_partitions, tuples
from clustering.texts import pair_of_texts, words
from signatures.reference import jaccard, reference_shingles

from dedup_lib.config.settings import ResolveSettings
from dedup_lib.signatures import Scheme
from dedup_lib.stages import texts_in
from dedup_lib.stages.resolve import resolve
from dedup_lib.tables.schemas import IDENTITIES

from .rows import START, by_id, document, documents_frame

ONE, OTHER = (" ".join(words(60, seed)) for seed in (1, 2))
ALIKE = pair_of_texts(80, 10, seed=3)  # Jaccard 0.8: at the threshold is the same page
UNLIKE = pair_of_texts(79, 10, seed=4)  # Jaccard 0.798
NOON, NIGHT = START + timedelta(hours=12), START + timedelta(hours=20)


def undo(url, other):
    return f"rule:{url}|{other}"


def resolved(documents, undone_rule, cut):
    def no_keys(urls):
        raise AssertionError("no page declares another one")

    found = resolve(documents.drop("text"), texts_in(documents), ResolveSettings(), Scheme(), undone_rule, no_keys, cut)
    assert found.declarations is None
    return found.identities


def variant(doc_id, query, text, fetched_at=START, page="http://s.org/p", **others):
    """A capture of a URL whose query the policy drops."""
    url = page + query
    return document(doc_id, url, text, fetched_at, policy_url=page, url_key=page.partition("//")[2]) | others


CASES = {
    "alone": [document(b"al", "http://alone.org/x", ONE)],
    "recaptured": [
        document(b"r1", "http://re.org/", ONE),
        document(b"r2", "http://re.org/", OTHER, NIGHT),
        document(b"r3", "http://re.org/", ONE, NOON),
    ],
    "variants": [
        variant(b"v1", "?s=1", ONE, NOON, "http://var.org/p"),
        variant(b"v2", "?s=2", ONE.upper() + "\n", START, "http://var.org/p"),
    ],
    "similar": [
        variant(b"s1", "?s=1", ALIKE[0], NOON, "http://sim.org/p"),
        variant(b"s2", "?s=2", ALIKE[1], START, "http://sim.org/p"),
    ],
    "unlike": [
        variant(b"n1", "?s=1", UNLIKE[0], NOON, "http://not.org/p"),
        variant(b"n2", "?s=2", UNLIKE[1], START, "http://not.org/p"),
    ],
    "articles": [
        variant(b"a1", "?pk_id=1", ONE, START, "http://news.org/article"),
        variant(b"a2", "?pk_id=2", OTHER, NOON, "http://news.org/article"),
    ],
    "taken": [  # the older capture's own URL is what the policy makes of the winner's
        variant(b"t1", "", ONE, START, "http://tak.org/p"),
        variant(b"t2", "?s=2", OTHER, NOON, "http://tak.org/p"),
        variant(b"t3", "?s=3", OTHER, START, "http://tak.org/p"),
    ],
    "truncated": [
        document(b"c1", "http://cut.org/", ONE, START),
        document(b"c2", "http://cut.org/", ONE[:200], NIGHT, truncated=True),
    ],
    "all truncated": [
        document(b"d1", "http://dam.org/", ONE, START, truncated=True),
        document(b"d2", "http://dam.org/", ONE[:200], NIGHT, truncated=True),
    ],
    "conflicting recaptures": [
        variant(b"e1", "?pk_id=1", ONE, NIGHT, "http://con.org/article"),
        variant(b"e2", "?pk_id=2", OTHER, START, "http://con.org/article"),
        variant(b"e3", "?pk_id=2", " ".join(words(60, 5)), NOON, "http://con.org/article"),
        variant(b"e4", "?pk_id=2", OTHER, NIGHT, "http://con.org/article", truncated=True),
        variant(b"e5", "?pk_id=3", OTHER, START, "http://con.org/article"),
    ],
    "twins": [document(b"h1", "http://tls.org/p", ONE, START), document(b"h2", "https://tls.org/p", OTHER, NOON)],
    "tie": [
        variant(b"q2", "?s=1", ONE, NOON, "http://tie.org/p"),
        variant(b"q1", "?s=2", ONE, NOON, "http://tie.org/p"),
    ],
    "day alone": [
        document(b"y1", "http://day.org/", ONE, START),
        document(b"y2", "http://day.org/", OTHER, START + timedelta(days=1)) | {"fetched_at": None},
        document(b"y3", "http://day.org/", OTHER, NIGHT),
    ],
    "short": [  # fewer words than a shingle: one shingle of all words
        variant(b"w1", "?s=1", "Out of stock", NOON, "http://few.org/p"),
        variant(b"w2", "?s=2", "out, of stock", START, "http://few.org/p"),
        variant(b"w3", "?s=3", "In stock", START, "http://few.org/p"),
    ],
}


@pytest.fixture(scope="module")
def identities(spark, cut):
    def undone_rule(url, other):
        return f"rule:{url}|{other}"

    rows = [row for case in CASES.values() for row in case]
    frame = resolved(documents_frame(spark, rows, seed=1), undone_rule, cut)
    assert [(field.name, field.dataType) for field in frame.schema] == [
        (field.name, field.dataType) for field in IDENTITIES.spark
    ]
    found = by_id(frame)
    assert set(found) == {row["doc_id"] for row in rows}
    return found


def fates(identities, case):
    """doc_id -> (canonical URL, what it is a duplicate of, conflict)."""
    rows = [identities[row["doc_id"]] for row in CASES[case]]
    assert all(row["wins"] == (row["duplicate_of"] is None) for row in rows)
    return {row["doc_id"]: (row["canonical_url"], row["duplicate_of"], row["conflict"]) for row in rows}


def test_a_capture_without_company_is_named_by_the_policy(identities):
    assert fates(identities, "alone") == {b"al": ("http://alone.org/x", None, None)}


def test_of_one_url_captured_again_the_latest_wins_whatever_the_text(identities):
    page = "http://re.org/"
    assert fates(identities, "recaptured") == {
        b"r1": (page, b"r2", None),
        b"r2": (page, None, None),
        b"r3": (page, b"r2", None),
    }


def test_the_same_content_under_variants_of_a_url_is_one_page(identities):
    page = "http://var.org/p"
    assert fates(identities, "variants") == {b"v1": (page, None, None), b"v2": (page, b"v1", None)}


def test_texts_similar_at_the_threshold_are_one_page(identities):
    page = "http://sim.org/p"
    assert fates(identities, "similar") == {b"s1": (page, None, None), b"s2": (page, b"s1", None)}


def test_texts_just_below_the_threshold_are_two_pages(identities):
    conflict = undo("http://not.org/p?s=2", "http://not.org/p?s=1")
    assert fates(identities, "unlike") == {
        b"n1": ("http://not.org/p", None, None),
        b"n2": ("http://not.org/p?s=2", None, conflict),
    }


def test_articles_told_apart_by_a_dropped_parameter_both_stay_and_the_rule_is_named(identities):
    conflict = undo("http://news.org/article?pk_id=1", "http://news.org/article?pk_id=2")
    assert fates(identities, "articles") == {
        b"a1": ("http://news.org/article?pk_id=1", None, conflict),
        b"a2": ("http://news.org/article", None, None),
    }


def test_where_a_conflict_bears_the_name_of_the_page_the_page_goes_by_its_own_url(identities):
    assert fates(identities, "taken") == {
        b"t1": ("http://tak.org/p", None, undo("http://tak.org/p", "http://tak.org/p?s=2")),
        b"t2": ("http://tak.org/p?s=2", None, None),
        b"t3": ("http://tak.org/p?s=2", b"t2", None),
    }


def test_a_truncated_capture_never_wins_over_a_whole_one(identities):
    assert fates(identities, "truncated") == {
        b"c1": ("http://cut.org/", None, None),
        b"c2": ("http://cut.org/", b"c1", None),
    }


def test_where_all_are_truncated_the_latest_wins(identities):
    assert fates(identities, "all truncated")[b"d1"] == ("http://dam.org/", b"d2", None)


def test_captures_in_conflict_under_one_url_are_one_page_of_which_the_latest_whole_wins(identities):
    page, winner = "http://con.org/article?pk_id=2", "http://con.org/article?pk_id=1"
    found = fates(identities, "conflicting recaptures")
    assert found[b"e1"] == ("http://con.org/article", None, None)
    assert found[b"e3"] == (page, None, undo(page, winner))
    assert [found[name][:2] for name in (b"e2", b"e4")] == [(page, b"e3")] * 2
    third = "http://con.org/article?pk_id=3"  # its content is that of e2, but each is compared with the winner alone
    assert found[b"e5"] == (third, None, undo(third, winner))


def test_http_and_https_with_different_texts_are_two_pages(identities):
    assert fates(identities, "twins") == {
        b"h1": ("http://tls.org/p", None, undo("http://tls.org/p", "https://tls.org/p")),
        b"h2": ("https://tls.org/p", None, None),
    }


def test_ties_go_to_the_least_doc_id(identities):
    assert fates(identities, "tie") == {
        b"q1": ("http://tie.org/p", None, None),
        b"q2": ("http://tie.org/p", b"q1", None),
    }


def test_where_only_the_day_is_known_it_counts_from_midnight(identities):
    found = fates(identities, "day alone")
    assert {name: fate[1] for name, fate in found.items()} == {b"y1": b"y2", b"y2": None, b"y3": b"y2"}


def test_texts_too_short_for_a_shingle_are_compared_whole(identities):
    found = fates(identities, "short")
    assert found[b"w2"] == ("http://few.org/p", b"w1", None)
    assert found[b"w3"][:2] == ("http://few.org/p?s=3", None)


def random_captures(seed):
    """Captures of a few pages, each under http and https and with or without a parameter that the policy drops."""
    dice = random.Random(seed)
    texts = {
        page: [*pair_of_texts(90, 5, page), *pair_of_texts(40, 40, page + 100), "few words here"] for page in range(25)
    }
    captures = []
    for number in range(140):
        page = dice.randrange(25)
        scheme, query = dice.choice(["http", "https"]), dice.choice(["", "?s=1", "?s=2"])
        address = f"{scheme}://r.org/{page}"
        when = START + timedelta(hours=dice.randrange(4), days=dice.randrange(2))
        row = variant(dice.randbytes(15) + bytes([number]), query, dice.choice(texts[page]), when, address)
        row["truncated"] = dice.random() < 0.2
        if dice.random() < 0.1:
            row["fetched_at"] = None
        captures.append(row)
    return captures


def reference_identities(captures, threshold=0.8):
    """Each key on its own, from the definition."""
    keys = {}
    for row in captures:
        when = row["fetched_at"] or START + (row["crawl_date"] - START.date())
        keys.setdefault(row["url_key"], []).append((row["truncated"], -when.timestamp(), row["doc_id"], row))
    found = []
    for ranked in keys.values():
        winner, *others = [row for *_, row in sorted(ranked, key=lambda one: one[:3])]
        same, apart = [], {}
        for row in others:
            agrees = row["url_strict"] == winner["url_strict"] or row["content_hash"] == winner["content_hash"]
            if agrees or jaccard(*(reference_shingles(one["text"]) for one in (row, winner))) >= threshold:
                same.append(row)
            else:
                apart.setdefault(row["url_strict"], []).append(row)
        name = winner["url_strict"] if winner["policy_url"] in apart else winner["policy_url"]
        found.append((winner["doc_id"], name, winner["crawl_date"], True, None, None))
        found += [(row["doc_id"], name, row["crawl_date"], False, winner["doc_id"], None) for row in same]
        for strict, rows in apart.items():
            for row in rows:
                lost_to = None if row is rows[0] else rows[0]["doc_id"]
                rule = undo(row["url"], winner["url"])
                found.append((row["doc_id"], strict, row["crawl_date"], lost_to is None, lost_to, rule))
    return sorted(found, key=repr)


@pytest.mark.parametrize(("partitions", "seed"), [(1, 1), (2, 2), (7, 1)])
def test_identities_are_those_of_the_definition_whatever_the_partitions_and_the_order(spark, cut, partitions, seed):
    def undone_rule(url, other):
        return f"rule:{url}|{other}"

    captures = random_captures(seed)
    with shuffle_partitions(spark, partitions):
        frame = documents_frame(spark, captures, seed=partitions)
        found = tuples(resolved(frame, undone_rule, cut))
    assert found == reference_identities(captures)


@pytest.mark.parametrize("seed", range(20))
def test_the_definition_gives_each_name_one_winner_and_duplicates_of_winners_only(seed):
    rows = reference_identities(random_captures(seed))
    winners = {row[0] for row in rows if row[3]}
    names = Counter((row[1], row[2]) for row in rows if row[3])
    assert max(names.values()) == 1
    assert all(row[4] in winners for row in rows if not row[3])
    assert {row[5] is None for row in rows} == {True, False}


def test_no_documents_have_no_identities(spark, cut, with_few_rows):
    def undo(url, other):
        raise AssertionError("there are no conflicts")

    assert tuples(resolved(documents_frame(spark, []), undo, cut)) == []


def test_texts_under_a_url_that_does_not_parse_are_merged_by_their_content_only(spark, cut):
    nameless = {"url_strict": "n/a", "policy_url": "n/a", "url_key": "refused|n/a"}
    one, other = " ".join(words(40, 1)), " ".join(words(40, 2))
    rows = [
        document(b"a", "n/a", one, fetched_at=START, **nameless),
        document(b"b", "n/a", one, fetched_at=START, **nameless),
        document(b"c", "n/a", other, fetched_at=START, **nameless),
    ]
    found = by_id(cut(resolved(documents_frame(spark, rows), lambda url, other: url, cut), "identities"))
    assert {name: (row["wins"], row["duplicate_of"]) for name, row in found.items()} == {
        b"a": (True, None),
        b"b": (False, b"a"),
        b"c": (True, None),
    }
    assert len({row["canonical_url"] for row in found.values() if row["wins"]}) == 2
    assert found[b"c"]["conflict"] == "a URL that does not parse"
