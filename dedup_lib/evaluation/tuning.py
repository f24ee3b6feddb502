"""Which bands and rows to take for a threshold: all that reach a recall, and the one to propose.

The fewest permutations that reach a recall are no guide: at one row, 2 bands find 0.96 of the pairs at 0.8, and nearly
every other pair too. Rows are what keeps unlike pairs apart, and each further row asks for more bands, 1/s times as
many, to find as many pairs (Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, chapter 3.4). Permutations cost
in proportion: CPU time of `sign`, bytes of the store, and their number also sets how exact an estimate is. So the
permutations are capped, for each number of rows the fewest bands are taken that reach the recall, which is the
cheapest that does, and of these the one with the fewest candidates below the threshold is proposed.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dedup_lib.config.banding import recall_at, steepest
from dedup_lib.errors import UsageError
from dedup_lib.signatures.sign import WEAKEST_BITS

PERMUTATIONS = 256  # of the default scheme: what signing is measured to cost in the README
MOST_PERMUTATIONS = 4096
BAND_KEY_BYTES = 8
BESIDE_BYTES = 8 + WEAKEST_BITS + 4  # simhash, simhash_weakest, shingles
_STEPS = 2000  # of the integral below the threshold: its error is far below what is shown


@dataclass(frozen=True)
class Banding:
    """Bands of rows, and what theory says of them."""

    bands: int
    rows: int

    @property
    def permutations(self) -> int:
        """How many permutations it takes."""
        return self.bands * self.rows

    def recall(self, similarity: float) -> float:
        """The share of the pairs of this similarity that it finds."""
        return float(recall_at(similarity, self.bands, self.rows))

    def share_below(self, threshold: float) -> float:
        """The share of the pairs below the threshold that become candidates, if similarities were spread evenly there.

        The integral of the S-curve from 0 to the threshold over the threshold. Real pairs are mostly near 0: it
        compares bandings, and says nothing of a corpus; a sample does.
        """
        curve = recall_at(np.linspace(0, threshold, _STEPS + 1), self.bands, self.rows)
        return float(np.trapezoid(curve) / _STEPS)

    def bytes_per_document(self, minhash_bits: int) -> int:
        """What a signature takes in the feature store, before compression, which hashes hardly yield to.

        MinHash, band keys, SimHash with its weakest bits, and the count of shingles; not ids, URLs and dates.
        """
        return self.permutations * minhash_bits // 8 + self.bands * BAND_KEY_BYTES + BESIDE_BYTES

    def to_json(self, threshold: float, minhash_bits: int) -> dict[str, Any]:
        """As a mapping that JSON can hold."""
        return {
            "bands": self.bands,
            "rows": self.rows,
            "permutations": self.permutations,
            "recall": self.recall(threshold),
            "steepest": steepest(self.bands, self.rows),
            "share_below": self.share_below(threshold),
            "bytes_per_document": self.bytes_per_document(minhash_bits),
        }


def list_bandings(threshold: float, recall: float, most: int = PERMUTATIONS) -> list[Banding]:
    """For each number of rows the fewest bands that find `recall` of the pairs at the threshold, by rising rows.

    Only those of at most `most` permutations. UsageError for values out of range, and when there is none.

    >>> [(one.bands, one.rows) for one in list_bandings(0.5, 0.9, 40)]
    [(4, 1), (9, 2)]
    """
    if not 0 < threshold < 1:
        raise UsageError(f"--threshold is {threshold:g}: a threshold of near duplicates is above 0 and below 1")
    if not 0 < recall < 1:
        raise UsageError(
            f"--recall is {recall:g}: it must be above 0 and below 1, since bands promise no pair for sure"
        )
    if not 1 <= most <= MOST_PERMUTATIONS:
        raise UsageError(f"--permutations is {most}: it must be at least 1 and at most {MOST_PERMUTATIONS}")
    found = list(_within(threshold, recall, most))
    if not found:
        raise UsageError(
            f"no bands of at most {most} permutations find a share of {recall:g} of the pairs at {threshold:g}, which "
            f"takes {_fewest_bands(threshold, recall, 1):,.0f} of one row: give more --permutations, "
            "raise --threshold or lower --recall"
        )
    return found


def propose(bandings: list[Banding], threshold: float) -> Banding:
    """The banding with the fewest expected candidates below the threshold; of equal ones, the cheapest."""
    return min(bandings, key=lambda one: (one.share_below(threshold), one.permutations))


def _within(threshold: float, recall: float, most: int) -> Iterator[Banding]:
    for rows in range(1, most + 1):
        bands = _fewest_bands(threshold, recall, rows)
        if bands * rows <= most:
            yield Banding(round(bands), rows)


def _fewest_bands(threshold: float, recall: float, rows: int) -> float:
    """The least b with 1 - (1 - s^r)^b >= recall: a whole number, or one that is too large for any cap."""
    missed = math.log1p(-(threshold**rows))
    bands = math.log1p(-recall) / missed if missed else math.inf
    if bands > MOST_PERMUTATIONS:
        return bands
    least = max(round(bands) - 1, 1)  # the quotient is rounded, so that its neighbours are tried
    return next(b for b in range(least, least + 4) if recall_at(threshold, b, rows) >= recall)
