"""What became of a capture: its page, its cluster, and what it lost to, step by step."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.reports.explain.rows import SnapshotRows
from dedup_lib.tables.keys import SnapshotKey
from dedup_lib.tables.schemas import CLUSTERS, IDENTITIES

ALIASES = 20  # of a cluster, that are told of
GONE = "is no longer there: the snapshot is stale, run cluster again"  # of a document that a stale cluster names
STEPS = 16  # more than any chain of layers has: url, exact, near
_ALIAS = ("doc_id", "url", "canonical_url", "crawl_date", "reason", "similarity", "duplicate_of")


@dataclass(frozen=True)
class Fate:
    """A capture (row of `documents` without its text), its row of `identities`, and its way to the kept document.

    `steps` are rows of `clusters`: the capture's own, that of the document it lost to, and so on to one that was kept;
    empty where the snapshot is not clustered. `aliases` are other captures of the cluster, the first ones by doc_id.
    """

    rows: SnapshotRows
    capture: dict[str, Any]
    identity: dict[str, Any] | None
    steps: tuple[dict[str, Any], ...]
    aliases: tuple[dict[str, Any], ...]

    @property
    def key(self) -> SnapshotKey:
        """The snapshot."""
        return self.rows.version.key

    @property
    def doc_id(self) -> bytes:
        """The capture."""
        doc_id: bytes = self.capture["doc_id"]
        return doc_id

    @property
    def own(self) -> dict[str, Any] | None:
        """Its row of `clusters`."""
        return self.steps[0] if self.steps else None

    @property
    def kept(self) -> bool:
        """Whether it stands for its cluster."""
        return bool(self.steps) and self.steps[0]["reason"] == "kept"

    @property
    def content(self) -> dict[str, Any]:
        """The row of the document that near duplicates of its content were looked for with: it, or what it equals."""
        return next((row for row in self.steps if row["reason"] not in ("url", "exact")), self.steps[-1])

    @property
    def representative(self) -> dict[str, Any] | None:
        """The row of the document that stands for it."""
        return self.steps[-1] if self.steps else None


def fate_of(rows: SnapshotRows, capture: dict[str, Any]) -> Fate:
    """What became of a capture of a snapshot."""
    identities = rows.where(IDENTITIES, "doc_id", [capture["doc_id"]], IDENTITIES.names)
    steps = _steps(rows, capture["doc_id"])
    aliases = _aliases(rows, steps[0]) if steps else ()
    return Fate(rows, capture, identities[0] if identities else None, steps, aliases)


def _steps(rows: SnapshotRows, doc_id: bytes) -> tuple[dict[str, Any], ...]:
    steps: list[dict[str, Any]] = []
    wanted: bytes | None = doc_id
    while wanted is not None and len(steps) < STEPS:
        found = rows.where(CLUSTERS, "doc_id", [wanted], CLUSTERS.names)
        if not found:
            break
        steps += found[:1]
        wanted = found[0]["duplicate_of"]
    return tuple(steps)


def _aliases(rows: SnapshotRows, own: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """Other captures of the cluster; of a cluster of any size no more is held than is told."""
    if own["cluster_size"] == 1:
        return ()
    least: Sequence[bytes] = []
    for batch in rows.batches(CLUSTERS, ["cluster_id", "doc_id"]):
        members = batch.filter(pc.equal(batch.column("cluster_id"), pa.scalar(own["cluster_id"], pa.binary())))
        others = (doc_id for doc_id in members.column("doc_id").to_pylist() if doc_id != own["doc_id"])
        least = heapq.nsmallest(ALIASES, [*least, *others])
    found = rows.where(CLUSTERS, "doc_id", least, _ALIAS)
    return tuple(sorted(found, key=lambda row: row["doc_id"]))
