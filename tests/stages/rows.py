"""Literal rows of `documents`."""

import hashlib
import random
from datetime import UTC, datetime

import pyarrow as pa

from dedup_lib.tables.schemas import DOCUMENTS

START = datetime(2024, 5, 1, tzinfo=UTC)


def content_hash(text):
    return hashlib.sha256(" ".join(text.split()).lower().encode()).digest()


def document(doc_id, url, text, fetched_at=START, **others):
    """A row of `documents`; the URL forms are the URL itself unless named."""
    key = url.partition("://")[2].rstrip("/")
    row = {
        "doc_id": doc_id,
        "record_id": f"<{doc_id.hex()}>",
        "url": url,
        "url_strict": url,
        "policy_url": url,
        "url_key": key,
        "crawl_date": fetched_at.date(),
        "fetched_at": fetched_at,
        "http_status": 200,
        "language": "unknown",
        "text": text,
        "text_chars": len(text),
        "truncated": False,
        "content_hash": content_hash(text),
        "archive": "a.warc.gz",
        "archive_offset": 0,
        "url_scheme": "u1",
    }
    return row | others


def documents_frame(spark, rows, seed=None):
    """The rows as a frame; in another order for each seed."""
    rows = list(rows)
    if seed is not None:
        random.Random(seed).shuffle(rows)
    return spark.createDataFrame(pa.Table.from_pylist(rows, DOCUMENTS.arrow))


def by_id(frame):
    """The rows of a small frame as dictionaries by doc_id, each id once."""
    rows = frame.toArrow().to_pylist()
    found = {row["doc_id"]: row for row in rows}
    assert len(found) == len(rows)
    return found
