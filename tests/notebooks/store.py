"""A store of one snapshot by hand: documents, their signatures and clusters, published without Spark."""

import hashlib
from datetime import date
from pathlib import Path

import pyarrow as pa
from tables.entries import publish_stages, write_table

from dedup_lib.signatures import Scheme, content_hash, sign_texts
from dedup_lib.tables.columns import Table
from dedup_lib.tables.keys import SnapshotKey
from dedup_lib.tables.published import StageEntry, TableEntry
from dedup_lib.tables.schemas import CLUSTERS, DOCUMENTS, SIGNATURES

KEY = SnapshotKey("web", "snapshot-a")


def doc_id(number: int) -> bytes:
    return hashlib.sha256(str(number).encode()).digest()[:16]


def publish_texts(root: Path, texts: list[str], scheme: Scheme, near: dict[int, float]) -> None:
    """Publishes the texts; `near` has the number and similarity of those that the clusters say were removed."""
    names = [{"doc_id": doc_id(n), "url": f"https://x.example/{n}"} for n in range(len(texts))]
    signed = pa.table(sign_texts(pa.array(texts), scheme).to_arrow()).to_pylist()
    documents = [row | {"text": text} for row, text in zip(names, texts, strict=True)]
    signatures = [
        row | signature | {"content_hash": content_hash(text), "scheme": str(scheme), "crawl_date": date(2026, 11, 30)}
        for row, signature, text in zip(names, signed, texts, strict=True)
    ]
    clusters = [
        row | {"reason": "near" if n in near else "kept", "similarity": near.get(n)} for n, row in enumerate(names)
    ]
    stages = {}
    for stage, table, rows in (
        ("extract", DOCUMENTS, documents),
        ("sign", SIGNATURES, signatures),
        ("cluster", CLUSTERS, clusters),
    ):
        entry = _write(root, table, rows)
        stages[stage] = StageEntry(stage, "r1", "f", str(scheme), "u1", {}, {}, {table.name: entry})
    publish_stages(root, KEY, stages)


def _write(root: Path, table: Table, rows: list[dict]) -> TableEntry:
    parts = [pa.Table.from_pylist(part, schema=table.arrow) for part in (rows[::2], rows[1::2])]
    return write_table(root, table.name, KEY, parts)
