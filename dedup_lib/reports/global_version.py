"""The global version of a store, to read: its funnel, and how it stands to the snapshots."""

from collections.abc import Mapping, Sequence
from typing import Any

from dedup_lib.evaluation.text_table import text_table
from dedup_lib.reports.quantities import bytes_text, count_text, share_text
from dedup_lib.tables.across import changes_since, runs_of
from dedup_lib.tables.keys import StoreKey
from dedup_lib.tables.published import Version

LINES = (
    ("documents", "representatives of snapshots", 0),
    ("kept", "kept", 1),
    ("exact", "exact duplicates", 1),
    ("near", "near duplicates", 1),
    ("url", "captures of several snapshots", 1),
    ("clusters_across_snapshots", "clusters across snapshots", 0),
    ("largest_cluster", "largest cluster", 0),
    ("departed", "left the store", 0),
    ("promoted", "took a cluster over", 0),
    ("candidate_pairs", "candidate pairs", 0),
    ("checked", "near duplicates checked", 0),
    ("lowest_checked", "lowest similarity", 0),
)


def render_global_funnel(counts: Mapping[str, Any]) -> str:
    """What came in, what became of it, and how much of each snapshot was kept. Ends in a newline."""
    whole = counts["documents"]
    rows = [
        ["  " * depth + label, count_text(counts[name]), share_text(counts[name], whole) if depth else ""]
        for name, label, depth in LINES
    ]
    by_snapshot = [
        [name, *(count_text(one[part]) for part in ("documents", "kept", "removed"))]
        for name, one in counts["snapshots"].items()
    ]
    return (
        f"global\n{text_table(['', 'count', 'share'], rows)}\n"
        f"{text_table(['snapshot', 'documents', 'kept', 'removed'], by_snapshot)}\n"
    )


def render_global_status(version: Version[StoreKey], snapshots: Sequence[Version]) -> str:
    """The published global version: its run, tables and scheme, and what changed of the snapshots since.

    Ends in a newline.
    """
    entry = version.stages["global"]
    changes = changes_since(version, snapshots)
    rows: list[list[str]] = []
    first = ["global", "stale" if changes.stale else "current", entry.run]
    for name, table in entry.tables.items():
        rows.append([*first, name, f"{table.rows:,}", bytes_text(sum(file.bytes for file in table.files))])
        first = ["", "", ""]
    lines = [
        f"{version.key}, published {version.published_at}",
        text_table(["stage", "state", "run", "table", "rows", "size"], rows, left=4),
        f"  made from {', '.join(runs_of(entry.made_from))}",
    ]
    for names, what in ((changes.replaced, "replaced"), (changes.removed, "removed"), (changes.added, "not in it yet")):
        if names:
            lines.append(f"  {what}: {', '.join(names)}: run global")
    lines.append(f"  scheme {entry.scheme}, URL scheme {entry.url_scheme}")
    return "\n".join(lines) + "\n"
