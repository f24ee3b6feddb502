"""Recall by level of similarity, beside what the S-curve expects."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dedup_lib.evaluation.s_curve import Curve, chance_of_at_most, recall_error

STANDARD_ERRORS = 3
CHANCE = 0.00135  # the normal distribution's share below three standard errors
GRID = tuple(round(0.5 + 0.05 * step, 2) for step in range(11))  # 0.50, 0.55, ..., 1.00


@dataclass(frozen=True)
class Level:
    """The pairs with low <= similarity < high (the last level includes 1.0).

    `theory` and `error` are the expected recall and its standard error. `z` is the distance of the recall from theory
    in standard errors; null where theory leaves nothing to chance. `chance` is the exact probability of so few found
    or fewer; it is computed where fewer were found than theory less three standard errors, and null elsewhere.
    """

    low: float
    high: float
    borderline: bool
    pairs: int
    found: int
    theory: float
    error: float
    z: float | None
    chance: float | None

    @property
    def recall(self) -> float:
        """The share of the pairs that was found."""
        return self.found / self.pairs if self.pairs else 0.0

    @property
    def name(self) -> str:
        """The range as text."""
        return f"{self.low:.2f} to {self.high:.2f}"

    @property
    def failure(self) -> str | None:
        """What is wrong, as a sentence, or None. Borderline levels are never wrong.

        Too few: three standard errors below theory, and not only by the coarse grain of few pairs. Too many: any found
        where theory expects none.
        """
        if self.borderline:
            return None
        counted = f"of {self.pairs:,} pairs of similarity {self.name} {self.found:,} were found"
        if self.theory == 0 and self.found:
            return f"{counted}, and all are below the threshold"
        if self.chance is not None and self.chance < CHANCE:
            return f"{counted}, where theory expects {self.theory * self.pairs:,.1f}"
        return None

    def to_json(self) -> dict[str, Any]:
        """As a mapping that JSON can hold."""
        names = ("low", "high", "borderline", "pairs", "found", "recall", "theory", "error", "z", "chance")
        return {name: getattr(self, name) for name in names}


def score_levels(similarity: ArrayLike, found: ArrayLike, curve: Curve) -> tuple[Level, ...]:
    """The levels that hold pairs, from low to high: steps of 0.05, and the borderline around the threshold apart."""
    values, hits = np.asarray(similarity, np.float64), np.asarray(found, np.bool_)
    edges = _edges(curve)
    place = np.clip(np.searchsorted(edges, values + 1e-9, side="right") - 1, 0, len(edges) - 2)
    levels = []
    for index in np.unique(place):
        low, high = float(edges[index]), float(edges[index + 1])
        within = place == index
        levels.append(_level(low, high, values[within], hits[within], curve))
    return tuple(levels)


def _edges(curve: Curve) -> NDArray[np.float64]:
    low, high = round(curve.threshold - curve.borderline, 4), round(curve.threshold + curve.borderline, 4)
    outside = [edge for edge in (0.0, *GRID) if not low < edge < high]
    return np.array(sorted({0.0, 1.0, *outside, *(edge for edge in (low, high) if 0 < edge < 1)}))


def _level(low: float, high: float, values: NDArray[np.float64], hits: NDArray[np.bool_], curve: Curve) -> Level:
    p = curve.probabilities(values)
    pairs, found, expected, error = len(values), int(hits.sum()), float(p.sum()), recall_error(p)
    least = expected - STANDARD_ERRORS * error * pairs
    return Level(
        low,
        high,
        borderline=abs((low + high) / 2 - curve.threshold) < curve.borderline,
        pairs=pairs,
        found=found,
        theory=expected / pairs,
        error=error,
        z=(found - expected) / (error * pairs) if error > 0 else None,
        chance=chance_of_at_most(found, p) if found < least - 1e-9 else None,
    )
