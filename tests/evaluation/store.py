"""Tiny stores by hand: published clusters that need no Spark."""

import hashlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from tables.entries import publish_stages, write_table

from dedup_lib.sample import TRUTH_SCHEMA
from dedup_lib.tables.keys import SnapshotKey
from dedup_lib.tables.published import StageEntry
from dedup_lib.tables.schemas import CLUSTERS


def doc_id(record: str) -> bytes:
    return hashlib.sha256(record.encode()).digest()[:16]


def capture(record: str, cluster: str = "", snapshot: str = "snapshot-a", **truth) -> dict:
    """A row of the truth; `cluster` is the record kept for it, itself by default, None if it is not in the store."""
    row = {
        "snapshot": snapshot,
        "url": f"https://x.example/{record}",
        "record_id": f"<urn:uuid:{record}>",
        "kind": "article",
        "relation": "original",
        "must_merge": False,
        "stored": record if cluster == "" else cluster,
        "original": None,
    }
    return row | truth


def copy(record: str, original: str, cluster: str | None, relation: str, **truth) -> dict:
    """A row of the truth that belongs, or is compared, with the capture of `original`."""
    merges = relation not in ("near", "template_negative", "recrawl_same")
    return capture(record, cluster, relation=relation, original=original, must_merge=merges) | truth


def write_truth(path: Path, captures: list[dict]) -> Path:
    rows = [
        {**row, "original_record_id": f"<urn:uuid:{row['original']}>" if row["original"] else None} for row in captures
    ]
    columns = {name: [row.get(name) for row in rows] for name in TRUTH_SCHEMA.names}
    pq.write_table(pa.table(columns, schema=TRUTH_SCHEMA), path)
    return path


def write_store(root: Path, captures: list[dict], source: str = "sample", stale: bool = False) -> Path:
    """Publishes the clusters of all snapshots, in two files each; record ids are stored without brackets."""
    for snapshot in dict.fromkeys(row["snapshot"] for row in captures):
        rows = [row for row in captures if row["snapshot"] == snapshot and row["stored"] is not None]
        publish(root, SnapshotKey(source, snapshot), [_cluster_row(row) for row in rows], stale)
    return root


def publish(root: Path, key: SnapshotKey, rows: list[dict], stale: bool = False) -> None:
    parts = [pa.Table.from_pylist(part, schema=CLUSTERS.arrow) for part in (rows[::2], rows[1::2])]
    clusters = write_table(root, "clusters", key, parts)
    sign = StageEntry("sign", "r2" if stale else "r1", "f", "s1", "u1", {}, {}, {})
    cluster = StageEntry("cluster", "r1", "f", "s1", "u1", {"sign": "r1"}, {}, {"clusters": clusters})
    publish_stages(root, key, {"sign": sign, "cluster": cluster})


def _cluster_row(row: dict) -> dict:
    record = row["record_id"].strip("<>").removeprefix("urn:uuid:")
    kept = row["stored"] == record
    return {
        "doc_id": doc_id(record),
        "record_id": row["record_id"].strip("<>"),
        "url": row["url"],
        "canonical_url": row["url"],
        "cluster_id": doc_id(row["stored"]),
        "reason": "kept" if kept else "near",
        "duplicate_of": None if kept else doc_id(row["stored"]),
        "representative_id": doc_id(row["stored"]),
        "cluster_size": 1,
    }
