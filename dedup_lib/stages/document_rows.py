"""Rows of the table `documents`, gathered capture by capture and finished column by column."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.signatures import content_hash, content_hashes
from dedup_lib.stages.rename import document_names
from dedup_lib.tables.schemas import DOCUMENTS
from dedup_lib.urls import UrlRules

MAX_ROWS = 5_000
_GATHERED = (
    "record_id",
    "url",
    "canonical_links",
    "crawl_date",
    "fetched_at",
    "http_status",
    "content_type",
    "charset",
    "language",
    "title",
    "extraction",
    "text",
    "truncated",
    "archive",
    "archive_offset",
    "archive_length",
)


def doc_id_of(source: str, url: str, fetched_at: datetime, record_id: str | None, text: str) -> bytes:
    """16 bytes that identify a capture by what it is: source, URL as captured, time of the fetch, record id.

    Without a record id the content hash of the text stands for it, so that two pages are never taken for one capture.
    """
    parts = (source, url, fetched_at.isoformat(), record_id or content_hash(text).hex())
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=16).digest()


def doc_id_of_text(source: str, own_id: str) -> bytes:
    """16 bytes that identify a row of a table of text by its own id."""
    return hashlib.blake2b(f"{source}\0id\0{own_id}".encode("utf-8", "replace"), digest_size=16).digest()


@dataclass
class DocumentRows:
    """Gathers captures up to `batch_bytes` of text; `take` gives them as batches of the table's columns."""

    rules: UrlRules
    batch_bytes: int
    doc_ids: list[bytes] = field(default_factory=list)
    columns: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in _GATHERED})
    held_bytes: int = 0

    def add(self, doc_id: bytes, **values: Any) -> None:  # noqa: ANN401 (one value per gathered column)
        """Adds a capture; columns that are not named are null."""
        self.doc_ids.append(doc_id)
        for name, column in self.columns.items():
            column.append(values.get(name))
        self.held_bytes += 4 * len(values["text"])

    @property
    def full(self) -> bool:
        """Whether it is time to `take`."""
        return self.held_bytes >= self.batch_bytes or len(self.doc_ids) >= MAX_ROWS

    def take(self) -> Iterator[pa.RecordBatch]:
        """Gives what was gathered, with the columns that are computed from it, and starts anew."""
        if self.doc_ids:
            schema = DOCUMENTS.arrow
            arrays = {name: pa.array(values, schema.field(name).type) for name, values in self.columns.items()}
            yield finish_documents(pa.array(self.doc_ids, pa.binary()), arrays, self.rules)
        self.doc_ids = []
        self.columns = {name: [] for name in _GATHERED}
        self.held_bytes = 0


def finish_documents(doc_ids: pa.Array, arrays: dict[str, pa.Array], rules: UrlRules) -> pa.RecordBatch:
    """A batch of the table `documents` from its gathered columns; what follows from URLs and texts is added."""
    computed = {
        "doc_id": doc_ids,
        "text_chars": pc.utf8_length(arrays["text"]).cast(pa.int32()),
        "content_hash": content_hashes(arrays["text"]),
    }
    everything = arrays | computed | document_names(arrays["url"], arrays["canonical_links"], rules)
    schema = DOCUMENTS.arrow
    return pa.RecordBatch.from_arrays([everything[name] for name in schema.names], schema=schema)
