"""Measures of agreement against their definitions, by brute force."""

import itertools
import random

import pytest

from dedup_lib.errors import UsageError
from dedup_lib.evaluation import compare_clusterings
from dedup_lib.evaluation.agreement import codes_of


def _pairs_of(labels):
    return {pair for pair in itertools.combinations(range(len(labels)), 2) if labels[pair[0]] == labels[pair[1]]}


def _b_cubed(clusters_of, other):
    """For each item the share of its cluster in `clusters_of` that is in its cluster in `other`."""
    shares = []
    for item in range(len(other)):
        mine = [peer for peer in range(len(other)) if clusters_of[peer] == clusters_of[item]]
        shares.append(sum(other[peer] == other[item] for peer in mine) / len(mine))
    return sum(shares) / len(shares)


@pytest.mark.parametrize("seed", range(25))
def test_pairs_and_b_cubed_equal_brute_force(seed):
    dice = random.Random(seed)
    truth = [dice.randrange(6) for _ in range(30)]
    found = [label if dice.random() < 0.7 else dice.randrange(9) for label in truth]
    agreement = compare_clusterings(truth, found)
    in_truth, in_found = _pairs_of(truth), _pairs_of(found)
    precision, recall = len(in_truth & in_found) / len(in_found), len(in_truth & in_found) / len(in_truth)
    assert agreement.pair_precision == pytest.approx(precision)
    assert agreement.pair_recall == pytest.approx(recall)
    assert agreement.pair_f1 == pytest.approx(2 * precision * recall / (precision + recall))
    assert agreement.b_cubed_precision == pytest.approx(_b_cubed(found, truth))
    assert agreement.b_cubed_recall == pytest.approx(_b_cubed(truth, found))


@pytest.mark.parametrize(
    ("truth", "found"), [("aabbb", "xxyyz"), ("aaabb", "xyxyx"), ("abcde", "xxxyy"), ("aabcc", "xyyzz")]
)
def test_rand_index_is_adjusted_by_its_mean_over_all_permutations(truth, found):
    index = [len(_pairs_of(truth) & _pairs_of(order)) for order in itertools.permutations(found)]
    expected = sum(index) / len(index)
    maximum = (len(_pairs_of(truth)) + len(_pairs_of(found))) / 2
    adjusted = (len(_pairs_of(truth) & _pairs_of(found)) - expected) / (maximum - expected)
    assert compare_clusterings(list(truth), list(found)).adjusted_rand == pytest.approx(adjusted)


def test_names_of_labels_mean_nothing():
    agreement = compare_clusterings([1, 1, 2, 3], ["z", "z", "y", "x"])
    assert set(agreement.to_json().values()) == {4, 1.0}


def test_bagga_and_baldwin_example():
    # Their figure: truth {1..5} {6,7} {8,9,A,B,C}; response 1 joins the last two: 76 % precision, full recall;
    # response 2 joins the two of five: 58 % precision.
    truth = [0] * 5 + [1] * 2 + [2] * 5
    first = compare_clusterings(truth, [0] * 5 + [1] * 7)
    second = compare_clusterings(truth, [0] * 5 + [1] * 2 + [0] * 5)
    assert first.b_cubed_precision == pytest.approx(0.76, abs=0.005)
    assert second.b_cubed_precision == pytest.approx(0.58, abs=0.005)
    assert first.b_cubed_recall == second.b_cubed_recall == 1


def test_borders():
    assert compare_clusterings([], []).pair_f1 == 1
    assert compare_clusterings([1], [2]).adjusted_rand == 1
    alone = compare_clusterings([1, 1, 1], [1, 2, 3])
    assert (alone.pair_precision, alone.pair_recall, alone.adjusted_rand) == (1, 0, 0)
    with pytest.raises(UsageError, match="2 truth labels and 1 labels"):
        compare_clusterings([1, 2], [1])


def test_codes_of_bytes_that_differ_in_trailing_zeros():
    assert codes_of([b"a", b"a\0", b"a"]).tolist() == [0, 1, 0]
