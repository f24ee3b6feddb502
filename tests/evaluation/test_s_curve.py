"""The S-curve against exact arithmetic, enumeration and known values."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dedup_lib.errors import UsageError
from dedup_lib.evaluation import Curve, chance_of_at_most, recall_at, recall_error, steepest


@pytest.mark.parametrize(("bands", "rows"), [(1, 1), (14, 8), (32, 8), (9, 13), (450, 20)])
def test_recall_equals_the_formula_in_exact_arithmetic(bands, rows):
    similarities = [Fraction(step, 40) for step in range(41)]
    exact = [float(1 - (1 - s**rows) ** bands) for s in similarities]
    found = recall_at([float(s) for s in similarities], bands, rows)
    np.testing.assert_allclose(found, exact, rtol=1e-12)
    assert found[0] == 0
    assert found[-1] == 1


def test_recall_is_the_chance_that_a_band_agrees():
    # 3 bands of 2 rows, each row agrees with probability 0.6: all 2^6 outcomes.
    chance = sum(
        math.prod(0.6 if row else 0.4 for row in rows)
        for rows in itertools.product([True, False], repeat=6)
        if any(rows[band] and rows[band + 1] for band in (0, 2, 4))
    )
    assert recall_at(0.6, bands=3, rows=2) == pytest.approx(chance, abs=1e-12)


def test_recall_of_known_configurations():
    assert recall_at(0.8, 32, 8) == pytest.approx(0.997, abs=5e-4)  # DESIGN.md
    assert recall_at(0.8, 14, 8) == pytest.approx(0.924, abs=5e-4)  # FineWeb's 112 permutations
    # Mining of Massive Datasets, figure 3.8: b = 20, r = 5
    book = {0.2: 0.006, 0.3: 0.047, 0.4: 0.186, 0.5: 0.470, 0.6: 0.802, 0.7: 0.975, 0.8: 0.9996}
    np.testing.assert_allclose(recall_at(list(book), 20, 5), list(book.values()), atol=6e-4)


def test_recall_keeps_the_shape():
    assert recall_at(np.full((2, 3), 0.5), 4, 2).shape == (2, 3)
    assert recall_at([], 4, 2).shape == (0,)


def test_steepest_is_near_where_the_curve_rises_most():
    grid = np.linspace(0.01, 0.99, 9801)
    rise = np.diff(recall_at(grid, 20, 5))
    assert steepest(20, 5) == pytest.approx(grid[rise.argmax()], abs=0.03)
    assert steepest(16, 4) == pytest.approx(0.5)  # the book's example: b = 16, r = 4


def test_recall_error():
    assert recall_error([0.5] * 100) == pytest.approx(0.05)
    assert recall_error([0.0, 1.0, 1.0]) == 0
    assert recall_error([]) == 0
    # the deviation of the share found over all 2^4 outcomes
    p = [0.1, 0.5, 0.9, 0.99]
    moments = [
        (math.prod(q if hit else 1 - q for q, hit in zip(p, hits, strict=True)), sum(hits) / 4)
        for hits in itertools.product([0, 1], repeat=4)
    ]
    mean = sum(chance * share for chance, share in moments)
    variance = sum(chance * (share - mean) ** 2 for chance, share in moments)
    assert recall_error(p) == pytest.approx(math.sqrt(variance))


def test_chance_of_at_most_equals_enumeration():
    p = [0.05, 0.3, 0.5, 0.8, 0.97, 1.0, 0.0]
    for limit in range(-1, len(p) + 1):
        chance = sum(
            math.prod(q if hit else 1 - q for q, hit in zip(p, hits, strict=True))
            for hits in itertools.product([0, 1], repeat=len(p))
            if sum(hits) <= limit
        )
        assert chance_of_at_most(limit, p) == pytest.approx(chance, abs=1e-12)


def test_chance_of_one_rare_miss_is_not_tiny():
    p = np.full(50, 0.9993)
    assert (49 - p.sum()) / np.sqrt((p * (1 - p)).sum()) < -5  # five standard errors, and yet
    assert chance_of_at_most(49, p) == pytest.approx(1 - 0.9993**50)


def test_verified_curve_is_zero_below_the_threshold():
    curve = Curve(0.8, 32, 8)
    np.testing.assert_array_equal(curve.probabilities([0.5, 0.7999]), [0, 0])
    assert curve.probabilities(0.8) == recall_at(0.8, 32, 8)
    assert Curve(0.8, 32, 8, verified=False).probabilities(0.7) == recall_at(0.7, 32, 8)


@pytest.mark.parametrize(
    "call",
    [
        lambda: recall_at(0.5, 0, 8),
        lambda: recall_at(1.01, 32, 8),
        lambda: recall_at([0.5, float("nan")], 32, 8),
        lambda: steepest(4, 0),
        lambda: Curve(0, 32, 8),
        lambda: Curve(0.8, 32, 8, borderline=-0.1),
    ],
)
def test_impossible_values_are_refused(call):
    with pytest.raises(UsageError):
        call()
