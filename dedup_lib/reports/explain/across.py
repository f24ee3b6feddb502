"""What the global version of a store made of a capture: kept across snapshots, or lost to which document of which."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dedup_lib.reports.explain.fates import Fate
from dedup_lib.reports.explain.rows import Rows
from dedup_lib.tables.across import Changes, changes_since, name_of, runs_of
from dedup_lib.tables.keys import GLOBAL, StoreKey
from dedup_lib.tables.published import Version, read_version
from dedup_lib.tables.store_schemas import GLOBAL_CLUSTERS

_PLACE = ("doc_id", "source", "snapshot", "canonical_url")
_REASONS = {
    "exact": "its normalised text is equal to that of",
    "near": "it is a near duplicate of",
    "url": "the same capture is in another snapshot too:",
}


@dataclass(frozen=True)
class Across:
    """The published global version, and how the snapshots differ from those it was made from."""

    rows: Rows[StoreKey]
    changes: Changes

    def of(self, fate: Fate) -> dict[str, Any] | None:
        """The row of `global_clusters` of the document that stands for a capture in its snapshot; None without one."""
        representative = fate.representative
        if representative is None:
            return None
        rows = self._rows_of(representative["doc_id"])
        place = (fate.key.source, fate.key.snapshot)
        return next((row for row in rows if (row["source"], row["snapshot"]) == place), None)

    def winner(self, row: Mapping[str, Any]) -> dict[str, Any] | None:
        """The row of the document that a row lost to; None for one that is kept."""
        if row["duplicate_of"] is None:
            return None
        return next((one for one in self._rows_of(row["duplicate_of"]) if one["reason"] != "url"), None)

    def notes(self) -> list[str]:
        """What of the global version is stale, in sentences."""
        return [
            f"the global version is stale, since {', '.join(names)} {what}: run global again"
            for names, what in ((self.changes.replaced, "changed"), (self.changes.removed, "left the store"))
            if names
        ]

    def missing(self, fate: Fate) -> str:
        """Why a capture has no row."""
        name = name_of(fate.key)
        if fate.representative is None:
            return "its snapshot has no cluster of it, so that the global version has none: run cluster, then global"
        if name not in runs_of(self.rows.version.stages["global"].made_from):
            return f"{name} is not in the global version: run global again"
        return "the global version was made before its snapshot was clustered anew and does not have it: run global"

    def _rows_of(self, doc_id: bytes) -> list[dict[str, Any]]:
        return self.rows.where(GLOBAL_CLUSTERS, "doc_id", [doc_id], GLOBAL_CLUSTERS.names)


def across_of(root: str | Path, snapshots: Sequence[Version]) -> Across | None:
    """The global version of a store, beside all of its published snapshots; None where there is none."""
    version = read_version(root, GLOBAL)
    if version is None or "global" not in version.stages:
        return None
    return Across(Rows(root, version), changes_since(version, snapshots))


def told_across(fate: Fate, across: Across | None) -> dict[str, Any] | None:
    """What the global version made of a capture, with `because` and `notes` in sentences; None where there is none.

    Only the document that stands for a capture in its snapshot takes part: `doc_id` is that one. `fate` is None where
    the version does not have it.
    """
    if across is None:
        return None
    row = across.of(fate)
    if row is None:
        return {"fate": None, "because": [across.missing(fate)], "notes": across.notes()}
    winner = across.winner(row)
    return {
        "fate": row["reason"],
        **{name: row[name] for name in ("doc_id", "similarity", "cluster_id", "cluster_size", "representative_id")},
        "duplicate_of": {name: winner[name] for name in _PLACE} if winner else None,
        "because": [sentence(fate, row, winner)],
        "notes": across.notes(),
    }


def sentence(fate: Fate, row: Mapping[str, Any], winner: Mapping[str, Any] | None) -> str:
    """Why a document was kept or removed across snapshots, and for a removed capture that it is of what stands for it.

    `winner` is the row of what it lost to.
    """
    own = row["doc_id"] == fate.doc_id
    who = "it" if own else f"{row['doc_id'].hex()}, which stands for it in its snapshot,"
    if row["reason"] == "kept":
        others = row["cluster_size"] - 1
        alone = "nothing else in the store is a duplicate of it"
        return f"{who} is kept across snapshots too: " + (
            f"it stands for {others:,} of what other snapshots kept" if others else alone
        )
    similarity = "" if row["similarity"] is None else f", similarity {row['similarity']:.4f}"
    lost_to = (
        f"{winner['doc_id'].hex()} of {winner['source']}/{winner['snapshot']}, {winner['canonical_url']}"
        if winner
        else row["duplicate_of"].hex()
    )
    return f"{who} was removed across snapshots: {_REASONS[row['reason']]} {lost_to} ({row['reason']}{similarity})"
