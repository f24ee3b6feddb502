"""What is planted is there, and the truth about it is consistent."""

from collections import Counter, defaultdict
from itertools import pairwise
from urllib.parse import parse_qs, urlsplit

import pytest

from dedup_lib.sample import SNAPSHOTS
from dedup_lib.sample.lexicon import LANGUAGES
from dedup_lib.sample.variants import RULES

DOCUMENTS = {"article", "product", "documentation", "calendar", "short", "empty", "truncated"}
OTHERS = {"redirect", "error", "image", "pdf", "json", "revisit", "cut"}
FIRST_RELATIONS = {
    "original",
    "url_variant",
    "mirror",
    "other_html",
    "near",
    "template_negative",
    "short",
    "pk_conflict",
}
AGAIN_RELATIONS = {"recapture_same", "recapture_changed", "recrawl_same", "recrawl_changed"}


def test_every_kind_relation_rule_and_language_is_planted(sample):
    planted = {
        "kind": DOCUMENTS | OTHERS,
        "relation": FIRST_RELATIONS | AGAIN_RELATIONS,
        "rule": set(RULES),
        "language": set(LANGUAGES),
    }
    for column, names in planted.items():
        assert {row[column] for row in sample.truth} - {None} == names
    by_language = Counter((row["language"], row["relation"]) for row in sample.truth)
    for language in LANGUAGES:
        assert by_language[language, "near"] >= 40
        assert by_language[language, "recrawl_changed"] >= 3
        assert {row["rule"] for row in sample.truth if row["language"] == language} >= set(RULES)


def test_urls_name_one_page(sample):
    seen = defaultdict(list)
    for row in sample.truth:
        seen[row["snapshot"], row["url"]].append(row)
    for rows in seen.values():
        again = [row for row in rows if row["relation"] in {"recapture_same", "recapture_changed"}]
        assert len(rows) == 1 + len(again)
        assert len({row["family"] for row in rows}) == 1
    assert all(urlsplit(row["url"]).hostname.endswith(".example") for row in sample.truth)


def test_second_captures_come_later(sample, records):
    dates = defaultdict(list)
    for row in sample.truth:
        if row["relation"] in {"original", "recapture_same", "recapture_changed"} and row["family"] is not None:
            date = records.responses[row["record_id"]].warc["WARC-Date"]
            dates[row["snapshot"], row["family"]].append((row["relation"] != "original", date))
    doubled = [found for found in dates.values() if len(found) > 1]
    assert len(doubled) > 40
    assert all(first[1] < second[1] for found in doubled for first, second in pairwise(sorted(found)))


def test_originals_are_in_the_same_snapshot_or_the_first(sample):
    rows = {row["record_id"]: row for row in sample.truth}
    in_snapshot = {
        (row["snapshot"], row["family"])
        for row in sample.truth
        if row["relation"] in {"original", "recrawl_same", "recrawl_changed"}
    }
    for row in sample.truth:
        if row["original_record_id"] is None:
            assert row["jaccard"] is None and not row["must_merge"]
            continue
        original = rows[row["original_record_id"]]
        assert original["family"] == row["family"]
        recurs = row["relation"] in {"near", "template_negative"} and (row["snapshot"], row["family"]) in in_snapshot
        if row["must_merge"] or recurs:
            assert original["snapshot"] == row["snapshot"]
        if row["relation"].startswith("recrawl"):
            assert (original["snapshot"], row["snapshot"]) == SNAPSHOTS and original["url"] == row["url"]


def test_jaccard_fits_the_relation(sample):
    snapshot_of = {row["record_id"]: row["snapshot"] for row in sample.truth}
    for row in sample.truth:
        if row["relation"] in {"url_variant", "mirror", "other_html", "recapture_same"}:
            assert row["jaccard"] == 1.0
            assert row["must_merge"] == (snapshot_of[row["original_record_id"]] == row["snapshot"])
        elif row["relation"] == "near":
            assert 0.4 < row["jaccard"] < 1.0 and not row["must_merge"]
        elif row["relation"] in {"recapture_changed", "recrawl_changed"}:
            assert 0.4 < row["jaccard"] < 1.0
        elif row["relation"] == "template_negative":
            assert row["jaccard"] <= 0.6
        elif row["relation"] == "recrawl_same" and row["kind"] not in {"empty", "revisit"}:
            assert row["jaccard"] == 1.0


@pytest.mark.parametrize("language", LANGUAGES)
def test_near_levels_are_spread(sample, language):
    levels = [row["jaccard"] for row in sample.truth if row["language"] == language and row["relation"] == "near"]
    tenths = Counter(int(level * 10) for level in levels)
    assert all(tenths[tenth] >= 3 for tenth in (5, 6, 7, 8, 9))
    assert sum(0.7 <= level <= 0.95 for level in levels) >= 20
    assert max(levels) > 0.96
    assert min(levels) < 0.56
    edits = {row["edit"] for row in sample.truth if row["language"] == language and row["relation"] == "near"}
    assert edits == {"words", "block", "insert", "remove"}


def test_most_near_families_are_pairs(sample):
    members = Counter(
        row["family"]
        for row in sample.truth
        if row["snapshot"] == SNAPSHOTS[0] and row["relation"] in {"original", "near"}
    )
    near = {row["family"] for row in sample.truth if row["relation"] == "near" and row["snapshot"] == SNAPSHOTS[0]}
    assert near and all(members[family] == 2 for family in near)


def test_recurrence(sample):
    first, second = ({row["url"]: row for row in sample.truth if row["snapshot"] == name} for name in SNAPSHOTS)
    for url, row in first.items():
        assert (row["recurrence"] == "present") == (url in second)
    for url, row in second.items():
        assert (row["recurrence"] == "new") == (url not in first)
    counts = Counter(row["recurrence"] for row in sample.truth)
    assert all(counts[name] > 50 for name in ("gone", "present", "unchanged", "changed", "new"))


def test_pk_conflicts_differ_in_the_parameter_alone(sample):
    pages = defaultdict(list)
    for row in sample.truth:
        if row["relation"] == "pk_conflict":
            parts = urlsplit(row["url"])
            pages[row["snapshot"], parts._replace(query="").geturl()].append((parse_qs(parts.query), row["family"]))
    assert len(pages) == 2 * len(LANGUAGES)
    for (left, left_family), (right, right_family) in pages.values():
        assert left.keys() == right.keys() == {"pk_id"}
        assert left != right and left_family != right_family


def test_records_that_are_no_documents(sample, records):
    by_kind = defaultdict(list)
    for row in sample.truth:
        by_kind[row["kind"]].append((row, records.responses[row["record_id"]]))
    assert {response.status for _, response in by_kind["redirect"]} == {"301", "302"}
    assert all(response.http["Location"] for _, response in by_kind["redirect"])
    assert {response.status for _, response in by_kind["error"]} == {"404", "500"}
    assert len({response.body for _, response in by_kind["error"]}) == 2
    assert all(response.body.startswith(b"\x89PNG") for _, response in by_kind["image"])
    assert all(response.body.startswith(b"%PDF") for _, response in by_kind["pdf"])
    for row, response in by_kind["revisit"]:
        assert response.warc["WARC-Type"] == "revisit" and response.status == "304" and response.body == b""
        assert response.warc["WARC-Refers-To"] == row["original_record_id"]
    for kind in ("redirect", "error", "image", "pdf", "json"):
        assert all(row["family"] is None and row["relation"] is None for row, _ in by_kind[kind])
    assert all(response.warc["WARC-Truncated"] == "length" for _, response in by_kind["truncated"])
