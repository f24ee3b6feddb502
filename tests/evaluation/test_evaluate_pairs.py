"""A store against labelled pairs."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dedup_lib.errors import InputError, UsageError
from dedup_lib.evaluation import evaluate_store, render_evaluation
from tests.evaluation.store import capture, doc_id, write_store

# clusters {1, 2, 3}, {4}, {5, 6}
STORED = [
    capture(name, place, record_id=name)
    for name, place in (("1", "1"), ("2", "1"), ("3", "1"), ("4", "4"), ("5", "5"), ("6", "5"))
]


@pytest.fixture
def root(tmp_path):
    return write_store(tmp_path / "store", STORED)


def evaluate(root, columns, **options):
    path = root.parent / "pairs.parquet"
    pq.write_table(pa.table(columns), path)
    return evaluate_store(root, path, 0.8, 32, 8, **options)


def test_precision_and_recall_of_labelled_pairs(root):
    evaluation = evaluate(
        root,
        {
            "a": ["1", "1", "3", "5", "9"],
            "b": ["2", "3", "4", "6", "1"],
            "duplicate": [True, False, True, True, True],
        },
    )
    (score,) = evaluation.scores
    # 9 is not there; merged 1-2, 1-3, 5-6; duplicates 1-2, 3-4, 5-6
    assert (score.pairs, score.judged, score.merged, score.duplicates, score.right) == (5, 4, 3, 3, 2)
    assert score.precision == score.recall == score.f1 == pytest.approx(2 / 3)
    assert score.wrongly_merged.examples == ("1 with 3",)
    assert score.missed.examples == ("3 with 4",)
    assert score.levels == ()
    assert evaluation.failures == []
    assert "precision 0.6667" in " ".join(render_evaluation(evaluation).split())
    json.dumps(evaluation.to_json(), allow_nan=False)


def test_ids_may_be_numbers_doc_ids_or_digests(root):
    for columns in (
        {"a": [1, 3], "b": [2, 4]},
        {"a": [doc_id("1").hex(), doc_id("3").hex()], "b": ["2", "4"]},
        {"a": [doc_id("1"), doc_id("3")], "b": [doc_id("2"), doc_id("4")]},
    ):
        (score,) = evaluate(root, columns | {"duplicate": [True, True]}).scores
        assert (score.judged, score.merged) == (2, 1)


def test_jaccard_makes_duplicates_and_levels_of_pairs_that_stand_alone(root):
    evaluation = evaluate(
        root,
        {
            "a": ["1", "1", "5"],
            "b": ["2", "4", "6"],
            "jaccard": [0.9, 0.7, 0.85],
            "kind": ["pair", "template", "pair"],
        },
    )
    (score,) = evaluation.scores
    assert (score.duplicates, score.merged, score.right) == (2, 2, 2)
    assert [(level.low, level.pairs, level.found) for level in score.levels] == [(0.85, 1, 1)]  # 1 is in two pairs
    assert {kind: (tally.planted, tally.found) for kind, tally in score.kinds.items()} == {
        "pair": (2, 2),
        "template": (1, 0),
    }
    assert "template" in render_evaluation(evaluation)


def test_pairs_count_in_each_snapshot_that_has_both(root):
    second = [capture(name, "1", "later", record_id=name) for name in ("1", "2", "4")]
    write_store(root, second)
    columns = {"a": ["1", "1", "3"], "b": ["2", "4", "6"], "duplicate": [True, True, False]}
    evaluation = evaluate(root, columns)
    assert [(score.name, score.judged, score.right) for score in evaluation.scores] == [
        ("later", 2, 2),
        ("snapshot-a", 3, 1),
    ]
    assert (evaluation.overall.judged, evaluation.overall.right) == (5, 3)
    one = evaluate(root, columns | {"snapshot": ["later", "later", "gone"]})
    assert [(score.name, score.pairs, score.judged) for score in one.scores] == [("later", 2, 2)]
    assert one.absent == ("gone",)


def test_a_csv_serves_too(root, tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("a,b,duplicate\n1,2,true\n3,4,false\n")
    (score,) = evaluate_store(root, path, 0.8, 32, 8).scores
    assert (score.judged, score.precision, score.recall) == (2, 1, 1)


def test_wrong_labels_are_errors(root):
    with pytest.raises(UsageError, match=r"is no truth: .* but it has a, b"):
        evaluate(root, {"a": ["1"], "b": ["2"]})
    with pytest.raises(UsageError, match="rows without b and without duplicate"):
        evaluate(root, {"a": ["1"], "b": pa.array([None], pa.string()), "duplicate": pa.array([None], pa.bool_())})
    with pytest.raises(UsageError, match="duplicate as string"):
        evaluate(root, {"a": ["1"], "b": ["2"], "duplicate": ["yes"]})
    with pytest.raises(InputError, match="no pair of a snapshot"):
        evaluate(root, {"a": ["1"], "b": ["2"], "duplicate": [True], "snapshot": ["gone"]})


def test_no_pair_in_the_store_fails(root):
    evaluation = evaluate(root, {"a": ["7"], "b": ["8"], "duplicate": [True]})
    assert evaluation.failures == ["snapshot-a: of 1 labelled pairs none has both documents in the store"]
