"""Scores a store against pairs of documents that somebody labelled."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.errors import UsageError
from dedup_lib.evaluation.agreement import f1
from dedup_lib.evaluation.cases import Cases, Tally
from dedup_lib.evaluation.labels import Clustered, bare_id
from dedup_lib.evaluation.levels import Level, score_levels
from dedup_lib.evaluation.s_curve import Curve
from dedup_lib.evaluation.sample import ALL


@dataclass(frozen=True)
class LabelledPair:
    """Two documents and whether they are duplicates. `alone`: neither is in another pair of the truth."""

    a: str
    b: str
    duplicate: bool
    jaccard: float | None
    kind: str | None
    snapshot: str | None
    alone: bool

    def __str__(self) -> str:
        return f"{self.a} with {self.b}"


@dataclass(frozen=True)
class PairScores:
    """Precision and recall over labelled pairs: a pair is found when both documents are in one cluster.

    `levels` are of pairs that share no document with another pair, where a third document cannot help or hinder. They
    are shown, and nothing here is a failure: the labels are the user's, and stars do not promise every pair.
    """

    name: str
    pairs: int
    judged: int  # both documents are in the snapshot
    duplicates: int
    merged: int
    right: int  # duplicates that are merged
    wrongly_merged: Cases
    missed: Cases
    kinds: Mapping[str, Tally]
    levels: tuple[Level, ...]

    @property
    def precision(self) -> float:
        """The share of the merged pairs that are duplicates; 1.0 if none is merged."""
        return self.right / self.merged if self.merged else 1.0

    @property
    def recall(self) -> float:
        """The share of the duplicates that are merged; 1.0 if there are none."""
        return self.right / self.duplicates if self.duplicates else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return f1(self.precision, self.recall)

    @property
    def failures(self) -> list[str]:
        """A sentence if no pair could be judged, else nothing."""
        if self.judged:
            return []
        return [f"{self.name}: of {self.pairs:,} labelled pairs none has both documents in the store"]

    def to_json(self) -> dict[str, Any]:
        """As a mapping that JSON can hold."""
        plain = ("name", "pairs", "judged", "duplicates", "merged", "right", "precision", "recall", "f1")
        return {
            **{name: getattr(self, name) for name in plain},
            "wrongly_merged": self.wrongly_merged.to_json(),
            "missed": self.missed.to_json(),
            "kinds": {kind: {"pairs": tally.planted, "merged": tally.found} for kind, tally in self.kinds.items()},
            "levels": [level.to_json() for level in self.levels],
        }


def labelled_pairs(truth: pa.Table, threshold: float, where: str) -> list[LabelledPair]:
    """The pairs of a truth table: a, b, and `duplicate` or else `jaccard`; `kind` and `snapshot` if it has them.

    Without `duplicate`, pairs with a Jaccard from the threshold on are duplicates. UsageError when labels are missing.
    """
    label = "duplicate" if "duplicate" in truth.column_names else "jaccard"
    empty = [name for name in ("a", "b", label) if truth[name].null_count]
    if empty:
        raise UsageError(f"{where} has rows without {' and without '.join(empty)}: label them or leave them out")
    if not (pa.types.is_boolean if label == "duplicate" else pa.types.is_floating)(truth[label].type):
        raise UsageError(
            f"{where} has {label} as {truth[label].type}: it must be true or false, or a Jaccard as double"
        )
    sides = [[bare_id(text) or "" for text in _texts(truth[name])] for name in ("a", "b")]
    uses = Counter(chain(*sides))
    columns = [_column(truth, name) for name in ("duplicate", "jaccard", "kind", "snapshot")]
    return [
        LabelledPair(
            a,
            b,
            bool(jaccard >= threshold if duplicate is None else duplicate),
            jaccard,
            None if kind is None else str(kind),
            snapshot,
            uses[a] == uses[b] == 1,
        )
        for a, b, duplicate, jaccard, kind, snapshot in zip(*sides, *columns, strict=True)
    ]


def score_pairs(
    pairs: Sequence[LabelledPair], snapshots: Mapping[str, Sequence[Clustered]], curve: Curve
) -> tuple[list[PairScores], PairScores | None]:
    """The scores of each snapshot, and of all together (None where there is but one).

    A pair counts in every snapshot that has both documents, or only in its own if the truth names one.
    """
    judged: dict[str, list[tuple[LabelledPair, bool]]] = {}
    scores = []
    for name, rows in snapshots.items():
        mine = [pair for pair in pairs if pair.snapshot in (None, name)]
        judged[name] = _judge(mine, rows)
        scores.append(_score(name, len(mine), judged[name], curve))
    together = list(chain(*judged.values()))
    return scores, _score(ALL, len(pairs), together, curve) if len(snapshots) > 1 else None


def _texts(ids: pa.ChunkedArray) -> list[str]:
    """Ids as text: digests in hexadecimal, numbers in decimal."""
    if pa.types.is_binary(ids.type) or pa.types.is_fixed_size_binary(ids.type):
        return [digest.hex() for digest in ids.to_pylist()]
    texts: list[str] = pc.cast(ids, pa.string()).to_pylist()
    return texts


def _column(truth: pa.Table, name: str) -> list[Any]:
    return truth[name].to_pylist() if name in truth.column_names else [None] * truth.num_rows


def _judge(pairs: Sequence[LabelledPair], rows: Sequence[Clustered]) -> list[tuple[LabelledPair, bool]]:
    clusters: dict[str, bytes] = {row.doc_id.hex(): row.cluster_id for row in rows}
    clusters |= {record: row.cluster_id for row in rows if (record := bare_id(row.record_id))}
    return [(pair, clusters[pair.a] == clusters[pair.b]) for pair in pairs if pair.a in clusters and pair.b in clusters]


def _score(name: str, pairs: int, judged: Sequence[tuple[LabelledPair, bool]], curve: Curve) -> PairScores:
    kinds: dict[str, list[bool]] = defaultdict(list)
    for pair, merged in judged:
        if pair.kind is not None:
            kinds[pair.kind].append(merged)
    alone = [(pair.jaccard, merged) for pair, merged in judged if pair.alone and pair.jaccard is not None]
    return PairScores(
        name=name,
        pairs=pairs,
        judged=len(judged),
        duplicates=sum(pair.duplicate for pair, _ in judged),
        merged=sum(merged for _, merged in judged),
        right=sum(pair.duplicate and merged for pair, merged in judged),
        wrongly_merged=Cases.of([str(pair) for pair, merged in judged if merged and not pair.duplicate]),
        missed=Cases.of([str(pair) for pair, merged in judged if pair.duplicate and not merged]),
        kinds={kind: Tally(len(merged), sum(merged)) for kind, merged in sorted(kinds.items())},
        levels=score_levels([jaccard for jaccard, _ in alone], [merged for _, merged in alone], curve),
    )
