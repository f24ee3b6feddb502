"""A store against the truth of a sample: one fault at a time is found, and named."""

import json
import re

import pytest

from dedup_lib.errors import InputError, UsageError
from dedup_lib.evaluation import evaluate_store, render_evaluation
from tests.evaluation.store import capture, copy, write_store, write_truth

PERFECT = [
    capture("a", family=1),
    copy("a-tracking", "a", "a", "url_variant", family=1, rule="tracking", jaccard=1.0),
    copy("a-session", "a", "a", "url_variant", family=1, rule="session", jaccard=1.0),
    capture("b", family=2),
    copy("b-mirror", "b", "b", "mirror", family=2, jaccard=1.0),
    copy("b-print", "b", "b", "other_html", family=2, jaccard=1.0),
    capture("c", family=3),
    copy("c-near", "c", "c", "near", family=3, jaccard=0.9),
    capture("d", family=4),
    copy("d-far", "d", "d-far", "near", family=4, jaccard=0.6),
    capture("e", family=5),
    copy("e-borderline", "e", "e-borderline", "near", family=5, jaccard=0.81),
    capture("t1", family=6),
    copy("t2", "t1", "t2", "template_negative", family=6, jaccard=0.5),
    copy("t3", "t1", "t3", "template_negative", family=6, jaccard=0.5),
    capture("k1", family=7, relation="pk_conflict"),
    capture("k2", family=8, relation="pk_conflict"),
    capture("s1", family=9, kind="short", relation="short"),
    capture("s2", family=10, kind="short", relation="short"),
    copy("s2-mirror", "s2", "s2", "mirror", kind="short", family=10, jaccard=1.0),
    capture("f", family=11),
    copy("f-cut", "f", "f", "recapture_changed", family=11, kind="truncated", jaccard=0.5),
    capture("empty", None, family=12, kind="empty"),
    capture("moved", None, kind="redirect", relation=None),
    capture("a2", family=1, snapshot="snapshot-b", relation="recrawl_same", original="a", jaccard=1.0),
    capture("g", family=13, snapshot="snapshot-b"),
    copy("g-order", "g", "g", "url_variant", family=13, rule="order", jaccard=1.0, snapshot="snapshot-b"),
    copy("c-joined", "c", "c-joined", "near", family=3, jaccard=0.95, snapshot="snapshot-b"),
]


def evaluate(folder, captures):
    return evaluate_store(
        write_store(folder / "store", captures), write_truth(folder / "truth.parquet", captures), 0.8, 32, 8
    )


def moved(**places):
    """The captures with some in other clusters; `_` in a name stands for a hyphen."""
    places = {name.replace("_", "-"): place for name, place in places.items()}
    names = [row["url"].rsplit("/", 1)[1] for row in PERFECT]
    return [row | {"stored": places.get(name, row["stored"])} for row, name in zip(PERFECT, names, strict=True)]


def test_a_perfect_store_passes(tmp_path):
    evaluation = evaluate(tmp_path, PERFECT)
    assert evaluation.failures == []
    first, second = evaluation.scores
    assert (first.name, second.name, evaluation.overall.name) == ("snapshot-a", "snapshot-b", "all snapshots")
    assert (first.documents.planted, second.documents.planted, evaluation.overall.documents.found) == (22, 4, 26)
    assert {name: tally.to_json() for name, tally in first.relations.items()} == {
        "mirror": {"planted": 2, "found": 2},
        "other_html": {"planted": 1, "found": 1},
        "recapture_changed": {"planted": 1, "found": 1},
        "url_variant": {"planted": 2, "found": 2},
    }
    assert sorted(evaluation.overall.rules) == ["order", "session", "tracking"]
    # c-near, d-far and e-borderline; c-joined has its original in the other snapshot, so it is no pair
    levels = [(level.low, level.borderline, level.pairs, level.found) for level in evaluation.overall.levels]
    assert levels == [(0.6, False, 1, 0), (0.78, True, 1, 0), (0.9, False, 1, 1)]
    assert first.removed.planted == 7
    assert first.removed.missed == 0


def test_agreement_counts_true_pairs(tmp_path):
    agreement = evaluate(tmp_path, PERFECT).scores[0].agreement
    # true pairs: a 3, b 3, c 1, e 1, s2 1, f 1; all but e found, nothing else
    assert agreement.items == 22
    assert agreement.pair_precision == 1
    assert agreement.pair_recall == pytest.approx(9 / 10)


@pytest.mark.parametrize(
    ("places", "sentence"),
    [
        ({"b": "a", "b_mirror": "a", "b_print": "a"}, r"9 pairs of planted non-duplicates .*\(family 9\)"),
        ({"t3": "t2"}, r"1 pairs of planted non-duplicates .*\(template 1\), such as https://x.example/t2 with .*/t3"),
        ({"t2": "t1"}, r"\(template 1\)"),
        ({"k2": "k1"}, r"\(pk_conflict 1\)"),
        ({"s1": "s2"}, r"2 pairs of planted non-duplicates .*\(short 2\)"),
        ({"a_session": "a-session"}, r"1 planted duplicates were not found \(url_variant 1\), such as .*a-session"),
        ({"b_mirror": "b-mirror", "b_print": "b-print"}, r"2 planted .* \(mirror 1, other_html 1\)"),
        ({"s2_mirror": "s2-mirror"}, r"not found \(mirror 1\)"),
        ({"f": "f-cut", "f_cut": "f-cut"}, r"1 truncated captures have no complete one kept .*f-cut"),
        ({"empty": "empty", "moved": "moved"}, r"2 captures that hold no document were clustered, such as .*/empty"),
        ({"k1": None}, r"1 documents of the truth are in no cluster, such as .*/k1"),
        ({"d_far": "d"}, r"of 1 pairs of similarity 0.60 to 0.65 1 were found, and all are below the threshold"),
        ({"c_near": "c-near"}, r"of 1 pairs of similarity 0.90 to 0.95 0 were found"),
    ],
)
def test_each_fault_is_found_and_named(tmp_path, places, sentence):
    evaluation = evaluate(tmp_path, moved(**places))
    mine = [failure for failure in evaluation.failures if failure.startswith("snapshot-a: ")]
    assert len(mine) == 1
    assert re.search(sentence, mine[0])
    assert mine[0] in render_evaluation(evaluation)


def test_a_borderline_pair_never_fails(tmp_path):
    assert evaluate(tmp_path, moved(e_borderline="e")).failures == []


def test_wrongly_removed_are_counted(tmp_path):
    removed = evaluate(tmp_path, moved(d_far="d", k2="k1", e_borderline="e")).scores[0].removed
    assert (removed.planted, removed.missed) == (10, 2)


def test_unknown_and_repeated_captures_are_named(tmp_path):
    stored = [*PERFECT, capture("stranger"), PERFECT[0]]
    root = write_store(tmp_path / "store", stored)
    evaluation = evaluate_store(root, write_truth(tmp_path / "truth.parquet", PERFECT), 0.8, 32, 8)
    assert evaluation.scores[0].unknown.count == 2
    assert "2 clustered captures are unknown to the truth, or are there twice" in evaluation.failures[0]


def test_ten_examples_are_kept(tmp_path):
    crowd = [capture(f"p{number}", "p0", family=100 + number) for number in range(7)]
    merged = evaluate(tmp_path, crowd).scores[0].merged
    assert merged.count == 21
    assert len(merged.examples) == 10


def test_all_snapshots_together_see_what_each_is_too_small_for(tmp_path):
    rows = []
    for snapshot in ("snapshot-a", "snapshot-b"):
        for number in range(40):
            original, name = f"{snapshot}-{number}", f"{snapshot}-{number}-near"
            place = name if number == 0 else original
            rows += [
                capture(original, snapshot=snapshot, family=len(rows)),
                copy(name, original, place, "near", snapshot=snapshot, family=len(rows), jaccard=0.83),
            ]
    failures = evaluate_store(
        write_store(tmp_path / "store", rows), write_truth(tmp_path / "t.parquet", rows), 0.8, 30, 8
    ).failures
    # a pair is missed with p = 4.7e-4: one of 40 has a chance of 0.019, two of 80 one of 0.0007
    assert [failure.split(":")[0] for failure in failures] == ["all snapshots"]


def test_json_and_text(tmp_path):
    evaluation = evaluate(tmp_path, PERFECT)
    data = json.loads(json.dumps(evaluation.to_json(), allow_nan=False))
    assert data["failures"] == []
    assert data["overall"]["levels"][0]["recall"] == 0
    assert data["scores"][0]["removed"] == {"documents": 7, "wrongly": 0}
    text = render_evaluation(evaluation)
    assert "Everything is as planted.\n" in text
    assert "url_variant 2 of 2 1 of 1 3 of 3" in " ".join(text.split())
    assert "rule tracking 1 of 1 - 1 of 1" in " ".join(text.split())
    assert "0.78 to 0.82 borderline" in text
    assert max(map(len, text.splitlines())) < 100


def test_a_snapshot_that_the_store_has_not_is_named(tmp_path):
    root = write_store(tmp_path / "store", [row for row in PERFECT if row["snapshot"] == "snapshot-a"])
    truth = write_truth(tmp_path / "truth.parquet", PERFECT)
    evaluation = evaluate_store(root, truth, 0.8, 32, 8)
    assert evaluation.absent == ("snapshot-b",)
    assert evaluation.overall is None
    assert "Not in the store: snapshot-b" in render_evaluation(evaluation)


def test_wrong_inputs_are_errors_that_say_what_to_do(tmp_path):
    truth = write_truth(tmp_path / "truth.parquet", PERFECT)
    with pytest.raises(InputError, match="no snapshot is published under"):
        evaluate_store(tmp_path / "nothing", truth, 0.8, 32, 8)
    with pytest.raises(InputError, match="stale, since sign was replaced"):
        evaluate_store(write_store(tmp_path / "stale", PERFECT, stale=True), truth, 0.8, 32, 8)
    other = [row | {"snapshot": "march"} for row in PERFECT]
    with pytest.raises(InputError, match="name the store that was made from this sample"):
        evaluate_store(write_store(tmp_path / "other", other), truth, 0.8, 32, 8)
    with pytest.raises(InputError, match="cannot read the truth file"):
        evaluate_store(tmp_path, tmp_path / "none.parquet", 0.8, 32, 8)
    (tmp_path / "text.parquet").write_text("no table")
    with pytest.raises(InputError, match="no Parquet or CSV table"):
        evaluate_store(tmp_path, tmp_path / "text.parquet", 0.8, 32, 8)
    root = write_store(write_store(tmp_path / "two", PERFECT, "news"), PERFECT, "blogs")
    with pytest.raises(UsageError, match="sources blogs and news both have a snapshot"):
        evaluate_store(root, truth, 0.8, 32, 8)
    assert evaluate_store(root, truth, 0.8, 32, 8, source="news").failures == []
    next((tmp_path / "two" / "clusters").rglob("*.parquet")).unlink()
    with pytest.raises(InputError, match="is gone"):
        evaluate_store(root, truth, 0.8, 32, 8, source="blogs")
