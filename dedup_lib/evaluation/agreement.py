"""How well two clusterings of the same items agree."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dedup_lib.errors import UsageError


@dataclass(frozen=True)
class Agreement:
    """Precision and recall of pairs and of items (B-cubed), and the adjusted Rand index; 1.0 is the best of each.

    Precision is 1.0 where nothing was put together, recall where there was nothing to put together.
    """

    items: int
    pair_precision: float
    pair_recall: float
    pair_f1: float
    b_cubed_precision: float
    b_cubed_recall: float
    b_cubed_f1: float
    adjusted_rand: float

    def to_json(self) -> dict[str, Any]:
        """As a mapping that JSON can hold."""
        return asdict(self)


def compare_clusterings(truth_labels: ArrayLike, labels: ArrayLike) -> Agreement:
    """Compares the clusters of `labels` with those of `truth_labels`; item i has the i-th label of each.

    Items are in one cluster when their labels are equal; names and order of labels mean nothing. B-cubed: Bagga and
    Baldwin, Algorithms for scoring coreference chains (1998): for each item the share of its cluster that is of its
    truth cluster (precision), and the reverse (recall), on average. Adjusted Rand index: Hubert and Arabie, Comparing
    partitions (1985): (index - expected) / (maximum - expected) over pairs.

    >>> found = compare_clusterings([0, 0, 1, 1], [0, 0, 0, 1])
    >>> round(found.pair_precision, 3), found.pair_recall, found.b_cubed_recall
    (0.333, 0.5, 0.75)
    """
    truth, found = _codes(truth_labels), _codes(labels)
    if len(truth) != len(found):
        raise UsageError(f"there are {len(truth)} truth labels and {len(found)} labels: each item needs one of both")
    if not len(truth):
        return Agreement(0, *[1.0] * 7)
    truth_sizes, found_sizes = np.bincount(truth), np.bincount(found)
    cells = truth * len(found_sizes) + found
    _, cell_of, cell_sizes = np.unique(cells, return_inverse=True, return_counts=True)
    both, in_truth, in_found = (_pairs(sizes) for sizes in (cell_sizes, truth_sizes, found_sizes))
    shared = cell_sizes[cell_of]
    precision, recall = _ratio(both, in_found), _ratio(both, in_truth)
    b_precision, b_recall = float((shared / found_sizes[found]).mean()), float((shared / truth_sizes[truth]).mean())
    return Agreement(
        items=len(truth),
        pair_precision=precision,
        pair_recall=recall,
        pair_f1=f1(precision, recall),
        b_cubed_precision=b_precision,
        b_cubed_recall=b_recall,
        b_cubed_f1=f1(b_precision, b_recall),
        adjusted_rand=_adjusted_rand(both, in_truth, in_found, len(truth)),
    )


def f1(precision: float, recall: float) -> float:
    """The harmonic mean of precision and recall."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def codes_of(labels: Sequence[object]) -> NDArray[np.int64]:
    """A number for each distinct label, for labels that NumPy cannot hold unchanged: bytes, tuples."""
    codes: dict[object, int] = {}
    return np.array([codes.setdefault(label, len(codes)) for label in labels], np.int64)


def _codes(labels: ArrayLike) -> NDArray[np.int64]:
    return np.unique(np.asarray(labels), return_inverse=True)[1].astype(np.int64)


def _pairs(sizes: NDArray[np.int64]) -> float:
    counts = sizes.astype(np.float64)
    return float((counts * (counts - 1) / 2).sum())


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 1.0


def _adjusted_rand(both: float, in_truth: float, in_found: float, items: int) -> float:
    every = items * (items - 1) / 2
    expected = in_truth * in_found / every if every else 0.0
    maximum = (in_truth + in_found) / 2
    return (both - expected) / (maximum - expected) if maximum != expected else 1.0
