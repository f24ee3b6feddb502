"""Recall by level."""

import numpy as np
import pytest

from dedup_lib.evaluation import Curve, recall_at
from dedup_lib.evaluation.levels import score_levels

CURVE = Curve(0.8, 32, 8)


def test_levels_and_the_borderline_of_their_own():
    similarity = [0.3, 0.5, 0.549, 0.77, 0.78, 0.8, 0.8199, 0.82, 0.85, 0.95, 1.0]
    levels = score_levels(similarity, [False] * 4 + [True] * 7, CURVE)
    assert [(level.low, level.high, level.borderline, level.pairs, level.found) for level in levels] == [
        (0.0, 0.5, False, 1, 0),
        (0.5, 0.55, False, 2, 0),
        (0.75, 0.78, False, 1, 0),
        (0.78, 0.82, True, 3, 3),
        (0.82, 0.85, False, 1, 1),
        (0.85, 0.9, False, 1, 1),
        (0.95, 1.0, False, 2, 2),
    ]
    assert [level.failure for level in levels] == [None] * 7


def test_levels_without_borderline_split_at_the_threshold():
    levels = score_levels([0.71, 0.73], [False, True], Curve(0.72, 32, 8, borderline=0))
    assert [(level.low, level.high, level.borderline) for level in levels] == [(0.7, 0.72, False), (0.72, 0.75, False)]


def test_theory_error_and_z_of_a_level():
    curve = Curve(0.5, 14, 8, borderline=0)
    similarity = np.linspace(0.6, 0.649, 200)
    p = recall_at(similarity, 14, 8)
    (level,) = score_levels(similarity, np.arange(200) < 40, curve)
    assert level.theory == pytest.approx(p.mean())
    deviation = np.sqrt((p * (1 - p)).sum())
    assert level.error == pytest.approx(deviation / 200)
    assert level.z == pytest.approx((40 - p.sum()) / deviation)


def test_one_found_below_the_threshold_fails_a_verified_result_only():
    found = [True, False, False]
    (level,) = score_levels([0.70, 0.71, 0.72], found, CURVE)
    assert level.failure == "of 3 pairs of similarity 0.70 to 0.75 1 were found, and all are below the threshold"
    (level,) = score_levels([0.70, 0.71, 0.72], found, Curve(0.8, 32, 8, verified=False))
    assert level.theory > 0.8
    assert level.failure is None


def test_too_few_found_fails_and_one_rare_miss_does_not():
    similarity = np.full(50, 0.83)
    (one_missed,) = score_levels(similarity, np.arange(50) > 0, CURVE)
    assert one_missed.z < -3
    assert one_missed.chance > 0.00135
    assert one_missed.failure is None
    (three_missed,) = score_levels(similarity, np.arange(50) > 2, CURVE)
    assert "47 were found, where theory expects 50.0" in three_missed.failure
    (lost,) = score_levels([1.0], [False], CURVE)
    assert lost.z is None
    assert lost.failure is not None


def test_too_few_in_the_borderline_do_not_fail():
    (level,) = score_levels(np.full(50, 0.81), np.zeros(50, bool), CURVE)
    assert level.z < -100
    assert level.failure is None


def test_no_pairs_no_levels():
    assert score_levels([], [], CURVE) == ()
