"""Stores with published signatures, signed by the kernel and written without Spark."""

import datetime
import hashlib
from pathlib import Path

import pyarrow as pa
from tables.entries import publish_stages, write_table

from dedup_lib.signatures import Scheme, content_hashes, sign_texts
from dedup_lib.tables.keys import SnapshotKey
from dedup_lib.tables.published import StageEntry
from dedup_lib.tables.schemas import SIGNATURES


def publish_signatures(root: Path, texts: list[str], scheme: Scheme, snapshot: str = "first", files: int = 2) -> Path:
    """Publishes the signatures of texts as one snapshot, in several files."""
    key = SnapshotKey("web", snapshot)
    signatures = write_table(
        root, "signatures", key, (_rows(texts[number::files], number, scheme) for number in range(files))
    )
    sign = StageEntry("sign", "r1", "f", str(scheme), "u1", {}, {}, {"signatures": signatures})
    publish_stages(root, key, {"sign": sign})
    return root


def _rows(texts: list[str], number: int, scheme: Scheme) -> pa.Table:
    column = pa.array(texts, pa.string())
    urls = [f"https://x.example/{number}/{place}" for place in range(len(texts))]
    made = sign_texts(column, scheme).to_arrow() | {"content_hash": content_hashes(column)}
    made |= {name: pa.array(urls, pa.string()) for name in ("url", "url_key", "canonical_url")}
    made["doc_id"] = pa.array([hashlib.sha256(url.encode()).digest()[:16] for url in urls], pa.binary())
    made["crawl_date"] = pa.array([datetime.date(2026, 11, 30)] * len(texts), pa.date32())
    made["scheme"] = pa.array([str(scheme)] * len(texts), pa.string())
    made["url_scheme"] = pa.array(["u1"] * len(texts), pa.string())
    columns = [made.get(field.name, pa.nulls(len(texts), field.type)) for field in SIGNATURES.arrow]
    return pa.Table.from_arrays(columns, schema=SIGNATURES.arrow)
