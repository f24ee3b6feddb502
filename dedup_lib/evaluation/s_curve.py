"""What the S-curve lets expect of pairs: the share found, its error and tails, and what verification changes."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dedup_lib.config.banding import recall_at, require_bands
from dedup_lib.errors import UsageError

BORDERLINE = 0.02  # this close to the threshold, noise of text extraction decides on which side a pair falls


def recall_error(probabilities: ArrayLike) -> float:
    """The standard error of the share found of pairs that are found with these probabilities: sqrt(sum p(1-p)) / n.

    The pairs are independent, each a Bernoulli trial of its own. 0.0 for no pairs.
    """
    p = np.asarray(probabilities, np.float64)
    return math.sqrt(float((p * (1 - p)).sum())) / p.size if p.size else 0.0


def chance_of_at_most(found: int, probabilities: ArrayLike) -> float:
    """The probability that at most `found` of the pairs are found: the lower tail of the Poisson binomial distribution.

    Exact, by adding one trial at a time (Wang, On the number of successes in independent trials, Statistica Sinica 3,
    1993) on the side that has fewer outcomes. It is what three standard errors stand for where so few pairs are
    expected to be missed that the normal approximation fails.

    >>> round(chance_of_at_most(1, [0.5, 0.5]), 2)
    0.75
    """
    p = np.asarray(probabilities, np.float64)
    if found < 0:
        return 0.0
    if found >= p.size:
        return 1.0
    missed = p.size - found
    if missed <= found:
        return max(0.0, 1.0 - _chance_of_at_most(missed - 1, 1 - p))
    return _chance_of_at_most(found, p)


def _chance_of_at_most(successes: int, p: NDArray[np.float64]) -> float:
    chances = np.zeros(successes + 1)
    chances[0] = 1.0
    for probability in p:
        with_it = chances[:-1] * probability
        chances *= 1 - probability
        chances[1:] += with_it
    return float(chances.sum())


@dataclass(frozen=True)
class Curve:
    """What theory expects of a configuration.

    `verified`: pairs below the threshold are rejected after they met, so theory expects none of them. `borderline`:
    pairs this close to the threshold are shown and not judged.
    """

    threshold: float
    bands: int
    rows: int
    verified: bool = True
    borderline: float = BORDERLINE

    def __post_init__(self) -> None:
        require_bands(self.bands, self.rows)
        if not 0 < self.threshold <= 1:
            raise UsageError(f"the threshold is {self.threshold}: it must be above 0 and at most 1")
        if not 0 <= self.borderline < 1:
            raise UsageError(f"the borderline is {self.borderline}: it must be at least 0 and below 1")

    def probabilities(self, similarity: ArrayLike) -> NDArray[np.float64]:
        """The probability that each pair is found."""
        values = np.asarray(similarity, np.float64)
        met = recall_at(values, self.bands, self.rows)
        return met * (values >= self.threshold) if self.verified else met
