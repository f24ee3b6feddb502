"""Evaluation of a store: its published clusters against a truth file."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dedup_lib.errors import InputError
from dedup_lib.evaluation.captures import join_snapshot
from dedup_lib.evaluation.labels import is_sample_truth, read_clusters, read_truth_file, versions_of
from dedup_lib.evaluation.pairs import PairScores, labelled_pairs, score_pairs
from dedup_lib.evaluation.s_curve import BORDERLINE, Curve
from dedup_lib.evaluation.sample import ALL, SampleScores, score_snapshot, score_together


@dataclass(frozen=True)
class Evaluation:
    """What came of comparing a store with a truth file. `absent`: snapshots of the truth that the store has not."""

    truth: str
    curve: Curve
    scores: tuple[SampleScores | PairScores, ...]  # by snapshot
    overall: SampleScores | PairScores | None  # of all snapshots together, if there are several
    absent: tuple[str, ...]

    @property
    def failures(self) -> list[str]:
        """What is wrong, each as a sentence; empty when the store passes.

        What all snapshots together add to those of a sample is levels of similarity, where more pairs show more. Of
        labelled pairs only all snapshots together are judged: a pair need not be in each.
        """
        if isinstance(self.overall, PairScores):
            return self.overall.failures
        failures = [failure for score in self.scores for failure in score.failures]
        levels = self.overall.levels if self.overall else ()
        return failures + [f"{ALL}: {level.failure}" for level in levels if level.failure]

    def to_json(self) -> dict[str, Any]:
        """As a mapping that JSON can hold."""
        names = ("threshold", "bands", "rows", "verified", "borderline")
        return {
            "truth": self.truth,
            **{name: getattr(self.curve, name) for name in names},
            "absent": list(self.absent),
            "scores": [score.to_json() for score in self.scores],
            "overall": self.overall.to_json() if self.overall else None,
            "failures": self.failures,
        }


def evaluate_store(
    root: str | Path,
    truth: Path,
    threshold: float,
    bands: int,
    rows: int,
    *,
    verified: bool = True,
    borderline: float = BORDERLINE,
    source: str | None = None,
) -> Evaluation:
    """Compares the published `clusters` of a store with the truth: a sample's, or a table of labelled pairs.

    Labelled pairs have the columns a, b (record_id or doc_id in hexadecimal; numbers are taken as text) and `duplicate`
    (bool) or `jaccard` (double); optionally `snapshot` and `kind`. `threshold`, `bands` and `rows` are those the store
    was made with; `verified` is false where pairs were not verified, and `borderline` is how close to the threshold a
    pair is shown and not judged. InputError when truth or clusters are missing, unreadable or stale; UsageError when
    the truth is of neither kind, or a snapshot of its name exists in several sources and `source` names none.
    """
    curve = Curve(threshold, bands, rows, verified, borderline)
    table = read_truth_file(truth)
    evaluate = _evaluate_sample if is_sample_truth(table, str(truth)) else _evaluate_pairs
    return evaluate(root, truth, table, curve, source)


def _evaluate_sample(root: str | Path, truth: Path, table: pa.Table, curve: Curve, source: str | None) -> Evaluation:
    versions = versions_of(root, source)
    by_snapshot: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in table.to_pylist():
        by_snapshot[row["snapshot"]].append(row)
    absent = tuple(name for name in by_snapshot if name not in versions)
    if len(absent) == len(by_snapshot):
        raise InputError(
            f"the truth is about the snapshots {', '.join(by_snapshot) or '(none)'}, but {root} has "
            f"{', '.join(versions)}: name the store that was made from this sample"
        )
    snapshots = [
        join_snapshot(name, found, read_clusters(root, versions[name]))
        for name, found in by_snapshot.items()
        if name in versions
    ]
    scores = tuple(score_snapshot(snapshot, curve) for snapshot in snapshots)
    return Evaluation(str(truth), curve, scores, score_together(snapshots, curve), absent)


def _evaluate_pairs(root: str | Path, truth: Path, table: pa.Table, curve: Curve, source: str | None) -> Evaluation:
    versions = versions_of(root, source)
    pairs = labelled_pairs(table, curve.threshold, str(truth))
    ids = sorted({name for pair in pairs for name in (pair.a, pair.b)})
    named = {pair.snapshot for pair in pairs}
    absent = tuple(sorted(name for name in named if name is not None and name not in versions))
    wanted = {name: version for name, version in versions.items() if None in named or name in named}
    if not wanted:
        raise InputError(
            f"{truth} has no pair of a snapshot that {root} has ({', '.join(versions)}): name another truth or store"
        )
    snapshots = {name: read_clusters(root, version, ids) for name, version in wanted.items()}
    scores, overall = score_pairs(pairs, snapshots, curve)
    return Evaluation(str(truth), curve, tuple(scores), overall, absent)
