"""What pages declare as their canonical, within `resolve`: the planted cases, and the definition on random captures."""

import random
from collections import Counter
from datetime import timedelta

import pyarrow as pa
import pytest
from clustering.sessions import shuffle_partitions
from clustering.texts import pair_of_texts, words
from signatures.reference import jaccard, reference_shingles

from dedup_lib.config.settings import ResolveSettings
from dedup_lib.signatures import Scheme
from dedup_lib.stages import texts_in
from dedup_lib.stages.resolve import resolve

from .rows import START, by_id, document, documents_frame

ONE, OTHER, THIRD = (" ".join(words(60, seed)) for seed in (1, 2, 3))
ALIKE = pair_of_texts(80, 10, seed=3)  # Jaccard 0.8: at the threshold
UNLIKE = pair_of_texts(79, 10, seed=4)  # Jaccard 0.798
NOON, NIGHT = START + timedelta(hours=12), START + timedelta(hours=20)
FAN_IN = 4


def key_of(url):
    return url.partition("://")[2].rstrip("/")


def resolved(spark, rows, cut, seed=1):
    """Identities by doc_id, and the fates by doc_id."""

    def keys_of(urls):
        return pa.array([url.partition("://")[2].rstrip("/") for url in urls.to_pylist()], pa.string())

    frame = documents_frame(spark, rows, seed)
    settings = ResolveSettings(canonical_fan_in=FAN_IN)
    found = resolve(frame.drop("text"), texts_in(frame), settings, Scheme(), lambda url, other: "a rule", keys_of, cut)
    fates = {} if found.declarations is None else by_id(found.declarations)
    return by_id(found.identities), fates


def page(doc_id, url, text, declares=None, when=START, **others):
    return document(doc_id, url, text, when, declared_canonical=declares) | others


def variant(doc_id, url, query, text, declares=None, when=START):
    """A capture of a URL whose query the policy drops."""
    return page(doc_id, url + query, text, declares, when, policy_url=url, url_key=key_of(url))


HOME = "http://home.org/start"
CASES = {
    "mirror": [
        page(b"m1", "http://www2.org/a", ONE, "http://www.org/a", NIGHT),
        page(b"m2", "http://www.org/a", ONE, "http://www.org/a"),
    ],
    "alike": [
        page(b"a1", "http://al.org/print/1", ALIKE[0], "http://al.org/1"),
        page(b"a2", "http://al.org/1", ALIKE[1]),
    ],
    "unlike": [
        page(b"u1", "http://un.org/print/1", UNLIKE[0], "http://un.org/1"),
        page(b"u2", "http://un.org/1", UNLIKE[1]),
    ],
    "home": [  # a template that names the home page on every page
        page(b"h0", HOME, ONE, HOME),
        page(b"h1", "http://home.org/1", OTHER, HOME),
        page(b"h2", "http://home.org/2", THIRD, HOME),
    ],
    "crowd": [page(b"c0", "http://crowd.org/x", ONE)]
    + [page(b"c%d" % n, f"http://crowd.org/{n}", ONE, "http://crowd.org/x") for n in range(1, FAN_IN + 2)],
    "crowd at the cap": [page(b"k0", "http://cap.org/x", ONE)]
    + [page(b"k%d" % n, f"http://cap.org/{n}", ONE, "http://cap.org/x") for n in range(1, FAN_IN + 1)],
    "list": [  # page 2 declares page 1
        page(b"l1", "http://list.org/l?page=1", ONE),
        page(b"l2", "http://list.org/l?page=2", OTHER, "http://list.org/l?page=1"),
    ],
    "absent": [page(b"b1", "http://ab.org/1", ONE, "http://ab.org/not-captured")],
    "https": [  # the target was captured under the other scheme
        page(b"s1", "http://tls.org/amp/1", ONE, "https://tls.org/1"),
        page(b"s2", "http://tls.org/1", ONE),
    ],
    "chain": [
        page(b"n1", "http://ch.org/1", ONE, "http://ch.org/2"),
        page(b"n2", "http://ch.org/2", ONE, "http://ch.org/3"),
        page(b"n3", "http://ch.org/3", ONE),
    ],
    "each other": [
        page(b"e1", "http://ea.org/1", ONE, "http://ea.org/2"),
        page(b"e2", "http://ea.org/2", ONE, "http://ea.org/1"),
    ],
    "cut target": [
        page(b"t1", "http://cut.org/1", ONE, "http://cut.org/2"),
        page(b"t2", "http://cut.org/2", ONE, truncated=True),
    ],
    "with captures of its own": [
        variant(b"w1", "http://own.org/p", "?s=1", ONE, "http://own.org/q", NIGHT),
        variant(b"w2", "http://own.org/p", "?s=1", OTHER, None, NOON),  # an older state of the same URL
        variant(b"w3", "http://own.org/p", "?s=2", ONE, None, START),
        page(b"w4", "http://own.org/q", ONE),
    ],
    "with a capture that is alike only to it": [
        variant(b"x1", "http://ali.org/p", "?s=1", ALIKE[0], "http://ali.org/q", NIGHT),
        variant(b"x2", "http://ali.org/p", "?s=2", ALIKE[1], None, START),
        page(b"x3", "http://ali.org/q", ALIKE[0] + " " + " ".join(words(9, 99))),
    ],
    "a conflict as target": [  # the rule was wrong: two pages under one key, each may be declared by its own name
        variant(b"f1", "http://conf.org/p", "?id=1", ONE, None, NIGHT),
        variant(b"f2", "http://conf.org/p", "?id=2", OTHER, None, START),
        page(b"f3", "http://conf.org/print/2", OTHER, "http://conf.org/p?id=2", target_key="conf.org/p"),
    ],
}


def rows_of(case):
    return [{name: value for name, value in row.items() if name != "target_key"} for row in CASES[case]]


@pytest.fixture(scope="module")
def found(spark, cut):
    rows = [row for case in CASES for row in rows_of(case)]
    identities, fates = resolved(spark, rows, cut)
    assert set(identities) == {row["doc_id"] for row in rows}
    return identities, fates


def outcome(found, case):
    """doc_id -> (what it is a duplicate of, canonical URL, fate of its declaration)."""
    identities, fates = found
    rows = {row["doc_id"]: identities[row["doc_id"]] for row in CASES[case]}
    assert all(row["wins"] == (row["duplicate_of"] is None) for row in rows.values())
    assert all(rows[row["duplicate_of"]]["wins"] for row in rows.values() if row["duplicate_of"])
    return {
        doc_id: (row["duplicate_of"], row["canonical_url"], fates[doc_id]["fate"] if doc_id in fates else None)
        for doc_id, row in rows.items()
    }


def test_a_mirror_that_declares_the_original_loses_to_it_though_it_is_newer(found):
    original = "http://www.org/a"
    assert outcome(found, "mirror") == {b"m1": (b"m2", original, "followed"), b"m2": (None, original, None)}


def test_texts_similar_at_the_threshold_are_followed_and_below_it_are_not(found):
    assert outcome(found, "alike")[b"a1"] == (b"a2", "http://al.org/1", "followed")
    assert outcome(found, "unlike")[b"u1"] == (None, "http://un.org/print/1", "different_text")


def test_pages_that_all_declare_the_home_page_stay_with_their_own_texts(found):
    assert outcome(found, "home") == {
        b"h0": (None, HOME, None),
        b"h1": (None, "http://home.org/1", "different_text"),
        b"h2": (None, "http://home.org/2", "different_text"),
    }


def test_of_more_pages_than_the_cap_none_is_followed_even_with_the_same_text(found):
    fates = Counter(fate for _, _, fate in outcome(found, "crowd").values())
    assert fates == {None: 1, "over_fan_in": FAN_IN + 1}
    assert Counter(fate for _, _, fate in outcome(found, "crowd at the cap").values()) == {None: 1, "followed": FAN_IN}


def test_page_two_that_declares_page_one_stays(found):
    assert outcome(found, "list")[b"l2"] == (None, "http://list.org/l?page=2", "different_text")


def test_a_canonical_that_was_not_captured_changes_nothing(found):
    assert outcome(found, "absent") == {b"b1": (None, "http://ab.org/1", "not_captured")}


def test_a_canonical_captured_under_the_other_scheme_is_followed(found):
    assert outcome(found, "https")[b"s1"] == (b"s2", "http://tls.org/1", "followed")


def test_a_page_does_not_follow_one_that_follows(found):
    assert outcome(found, "chain") == {
        b"n1": (None, "http://ch.org/1", "chained"),
        b"n2": (b"n3", "http://ch.org/3", "followed"),
        b"n3": (None, "http://ch.org/3", None),
    }
    assert {fate for _, _, fate in outcome(found, "each other").values()} == {"chained"}


def test_a_whole_page_does_not_follow_one_that_was_cut(found):
    assert outcome(found, "cut target")[b"t1"] == (None, "http://cut.org/1", "truncated")


def test_the_captures_of_a_page_follow_with_it(found):
    followed = outcome(found, "with captures of its own")
    assert {doc_id: lost_to for doc_id, (lost_to, _, _) in followed.items()} == {
        b"w1": b"w4",
        b"w2": b"w4",
        b"w3": b"w4",
        b"w4": None,
    }
    assert {name for _, name, _ in followed.values()} == {"http://own.org/q"}


def test_a_page_with_a_capture_that_is_not_like_the_target_does_not_follow(found):
    shingles = {
        row["doc_id"]: reference_shingles(row["text"]) for row in CASES["with a capture that is alike only to it"]
    }
    assert jaccard(shingles[b"x1"], shingles[b"x3"]) >= 0.8 > jaccard(shingles[b"x2"], shingles[b"x3"])
    stayed = outcome(found, "with a capture that is alike only to it")
    assert stayed[b"x1"] == (None, "http://ali.org/p", "different_text")
    assert stayed[b"x2"][0] == b"x1"


def test_a_page_that_a_rule_had_hidden_is_found_by_the_name_it_got(spark, cut):
    def keys_of(urls):
        return pa.array([url.partition("://")[2].partition("?")[0] for url in urls.to_pylist()], pa.string())

    frame = documents_frame(spark, rows_of("a conflict as target"), 1)
    found = resolve(
        frame.drop("text"), texts_in(frame), ResolveSettings(), Scheme(), lambda url, other: "a rule", keys_of, cut
    )
    assert by_id(found.identities)[b"f3"]["duplicate_of"] == b"f2"


def random_pages(seed):
    """Pages of a few hosts that declare each other at random, some under two URLs of one key."""
    dice = random.Random(seed)
    texts = [*pair_of_texts(80, 5, seed)] * 4 + [*pair_of_texts(40, 40, seed + 100), "few words here", ONE]
    rows = []
    for number in range(120):
        host, path = dice.randrange(3), dice.randrange(25)
        url = f"http://h{host}.org/{path}"
        query = dice.choice(["", "?s=1", "?s=2"])
        declares = f"http://h{host}.org/{dice.choice([0, dice.randrange(25), dice.randrange(25), dice.randrange(25)])}"
        when = START + timedelta(hours=dice.randrange(4))
        row = page(dice.randbytes(15) + bytes([number]), url + query, dice.choice(texts), declares, when)
        rows.append(row | {"policy_url": url, "url_key": key_of(url), "truncated": dice.random() < 0.15})
    return rows


def reference_follow(identities, captures, threshold=0.8):
    """(doc_id -> target) and (doc_id -> fate), from the definition, page by page."""
    rows = {row["doc_id"]: row for row in captures}
    winners = [name for name, row in identities.items() if row["wins"]]
    named = {identities[name]["canonical_url"]: name for name in winners}
    keyed = {rows[name]["url_key"]: name for name in winners if identities[name]["conflict"] is None}

    def declares(name):
        target = rows[name]["declared_canonical"]
        return target if target and key_of(target) != rows[name]["url_key"] else None

    def agree(one, other):
        same = rows[one]["content_hash"] == rows[other]["content_hash"]
        return same or jaccard(*(reference_shingles(rows[name]["text"]) for name in (one, other))) >= threshold

    fan_in = Counter((rows[name]["url"].split("/")[2], declares(name)) for name in winners if declares(name))
    targets, fates = {}, {}
    for name in (name for name in winners if declares(name)):
        target = named.get(declares(name)) or keyed.get(key_of(declares(name)))
        own = [lost for lost, row in identities.items() if row["duplicate_of"] == name]
        checked = [lost for lost in own if rows[lost]["url_strict"] != rows[name]["url_strict"]]
        if target is None:
            fates[name] = "not_captured"
        elif fan_in[rows[name]["url"].split("/")[2], declares(name)] > FAN_IN:
            fates[name] = "over_fan_in"
        elif rows[target]["truncated"] and not rows[name]["truncated"]:
            fates[name] = "truncated"
        elif not all(agree(lost, target) for lost in [name, *checked]):
            fates[name] = "different_text"
        else:
            targets[name] = target
    fates |= {name: "chained" if target in targets else "followed" for name, target in targets.items()}
    return {name: target for name, target in targets.items() if fates[name] == "followed"}, fates


@pytest.mark.slow
@pytest.mark.parametrize(("partitions", "seed"), [(1, 1), (7, 2)])
def test_declarations_are_followed_as_the_definition_says_whatever_the_partitions_and_the_order(
    spark, cut, partitions, seed
):
    captures = random_pages(seed)
    silent = [row | {"declared_canonical": None} for row in captures]
    with shuffle_partitions(spark, partitions):
        before, none = resolved(spark, silent, cut)
        after, fates = resolved(spark, captures, cut, seed=partitions)
    targets, expected_fates = reference_follow(before, captures)
    assert none == {}
    assert {name: row["fate"] for name, row in fates.items()} == expected_fates
    assert len(set(expected_fates.values())) >= 5
    for name, row in after.items():
        target = targets.get(before[name]["duplicate_of"] or name)
        assert row["duplicate_of"] == (target or before[name]["duplicate_of"])
        assert row["canonical_url"] == before[target or name]["canonical_url"]
        assert row["conflict"] == before[name]["conflict"]
        assert row["duplicate_of"] is None or after[row["duplicate_of"]]["wins"]
