"""The S-curve of banded MinHash: with which probability two documents meet in at least one band.

Broder, On the resemblance and containment of documents (1997): two sets agree in one MinHash value with probability s,
their Jaccard similarity. Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, chapter 3.4: with b bands of r rows
they agree in all rows of at least one band with probability 1 - (1 - s^r)^b.

It stands here, below all that uses it, since a configuration is checked against it.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dedup_lib.errors import UsageError

LEAST_RECALL = 0.5  # below it a pair at the threshold is more likely missed than found
_SHOWN = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def recall_at(similarity: ArrayLike, bands: int, rows: int) -> NDArray[np.float64]:
    """The probability that a pair of each similarity meets: 1 - (1 - s^r)^b, in the shape of `similarity`.

    Computed as -expm1(b log1p(-s^r)), which keeps its precision where the curve is close to 0.

    >>> [round(float(p), 4) for p in recall_at([0.5, 0.8, 1.0], bands=14, rows=8)]
    [0.0533, 0.9235, 1.0]
    """
    require_bands(bands, rows)
    values = np.asarray(similarity, np.float64)
    if values.size and not (values.min() >= 0 and values.max() <= 1):
        raise UsageError("a similarity is a Jaccard coefficient: it must be at least 0 and at most 1")
    with np.errstate(divide="ignore"):  # log1p(-1) is -inf: equal sets meet with certainty
        return np.asarray(-np.expm1(bands * np.log1p(-(values**rows))))


def steepest(bands: int, rows: int) -> float:
    """Where the curve rises most, about: (1/b)^(1/r), the usual estimate of its threshold (chapter 3.4.2).

    >>> round(steepest(bands=32, rows=8), 3)
    0.648
    """
    require_bands(bands, rows)
    return float((1 / bands) ** (1 / rows))


def require_bands(bands: int, rows: int) -> None:
    """UsageError unless there is at least one band of one row."""
    if bands < 1 or rows < 1:
        raise UsageError(f"{bands} bands of {rows} rows find nothing: both must be at least 1")


def require_threshold_in_reach(threshold: float, bands: int, rows: int) -> None:
    """UsageError, with the S-curve and what to do, when the bands find fewer than half of the pairs at the threshold.

    Bands can find pairs from about (1/b)^(1/r) on (chapter 3.4.2), where the curve stands at about 0.63. A threshold
    at which it is below a half is on the wrong side of its rise: verification would see the lesser part of what
    it has to confirm, and nothing later brings the rest back.

    >>> require_threshold_in_reach(0.8, bands=14, rows=8)
    """
    if float(recall_at(threshold, bands, rows)) >= LEAST_RECALL:
        return
    curve = ", ".join(
        f"{one:g}: {share:.3f}" for one, share in zip(_SHOWN, recall_at(_SHOWN, bands, rows), strict=True)
    )
    raise UsageError(
        f"{bands} bands of {rows} rows (sign.bands, sign.rows) find a share of {recall_at(threshold, bands, rows):.3f} "
        f"of the pairs at cluster.threshold {threshold:g}, and at least {LEAST_RECALL:g} is asked; recall by "
        f"similarity is {curve}: take the bands and rows that `crawl-dedup tune --threshold {threshold:g}` proposes, "
        f"or raise the threshold"
    )
