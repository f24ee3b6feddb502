"""All pairs of a sample of signatures: how alike they are, and which of them given bands would find."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dedup_lib.signatures.jit import kernel
from dedup_lib.signatures.similarity import without_chance


@kernel
def _compare_all(
    minima: NDArray[np.uint16],
    bands: int,
    rows: int,
    pairs: NDArray[np.int64],
    met: NDArray[np.int64],
    degrees: NDArray[np.int64],
    alike: int,
) -> None:
    """Counts pairs, and those that meet in a band, by the number of their equal minima.

    `degrees` gets, per row, the pairs that meet, and below it those of them with fewer than `alike` equal minima.
    """
    permutations = minima.shape[1]
    for one in range(minima.shape[0]):
        for other in range(one + 1, minima.shape[0]):
            equal = 0
            for place in range(permutations):
                equal += minima[one, place] == minima[other, place]
            pairs[equal] += 1
            if equal < rows or bands == 0:
                continue
            for band in range(bands):
                agree = 0
                while agree < rows and minima[one, band * rows + agree] == minima[other, band * rows + agree]:
                    agree += 1
                if agree == rows:
                    met[equal] += 1
                    for level in range(2 if equal < alike else 1):
                        degrees[level, one] += 1
                        degrees[level, other] += 1
                    break


@dataclass(frozen=True)
class PairCounts:
    """Pairs of a sample by the number of equal minima, 0 to all. `met` is None where the bands need more than stored.

    `wedges` are pairs of met pairs that share a document: of all, and of those below the threshold. They are what the
    error of an extrapolation needs.
    """

    bits: int
    pairs: NDArray[np.int64]
    met: NDArray[np.int64] | None
    wedges: tuple[int, int]

    @property
    def similarity(self) -> NDArray[np.float64]:
        """The estimated Jaccard that each number of equal minima stands for."""
        permutations = len(self.pairs) - 1
        return without_chance(np.arange(permutations + 1) / permutations, self.bits)

    def __add__(self, other: "PairCounts") -> "PairCounts":
        met = None if self.met is None or other.met is None else self.met + other.met
        wedges = (self.wedges[0] + other.wedges[0], self.wedges[1] + other.wedges[1])
        return PairCounts(self.bits, self.pairs + other.pairs, met, wedges)


def count_pairs(minima: NDArray[np.uint16], bits: int, bands: int, rows: int, threshold: float) -> PairCounts:
    """Compares every row of `minima` (documents x permutations, the low `bits` of each minimum) with every other.

    The bands are simulated on the first bands x rows permutations. A row of two unlike minima agrees in its low bits
    with probability 2^-bits, so that a band is found wrongly about as rarely: 2^-16 per unlike minimum in it.
    """
    permutations = minima.shape[1]
    possible = bands * rows <= permutations
    pairs, met = np.zeros((2, permutations + 1), np.int64)
    degrees = np.zeros((2, len(minima)), np.int64)
    similarity = without_chance(np.arange(permutations + 1) / permutations, bits)
    alike = int(np.searchsorted(similarity, threshold))
    _compare_all(np.ascontiguousarray(minima), bands if possible else 0, rows, pairs, met, degrees, alike)
    wedges = (degrees * (degrees - 1) // 2).sum(axis=1)
    return PairCounts(bits, pairs, met if possible else None, (int(wedges[0]), int(wedges[1])))
