"""One split of an input file, read in a task: documents, fetches, rejects, and a row that tells how it went."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.archives import (
    ArchiveFault,
    ArchiveReader,
    ArchiveRecord,
    ReadLimits,
    Reason,
    input_size,
    open_input,
    read_texts,
)
from dedup_lib.archives.stores import ReadMeter, StorageError, StorageUnreachable
from dedup_lib.config.settings import ExtractSettings, StorageSettings
from dedup_lib.errors import InputError
from dedup_lib.stages.captures import Fetch, Page, Reject, close_page, open_record
from dedup_lib.stages.document_rows import DocumentRows, doc_id_of, doc_id_of_text, finish_documents
from dedup_lib.stages.plan import Split
from dedup_lib.stages.rename import renamed_fetches
from dedup_lib.tables.schemas import DOCUMENTS, FETCHES, REJECTS, SPLITS
from dedup_lib.text import ReadOptions, detect_language
from dedup_lib.text.guard import GuardLimits, PageRequest, shared_reader
from dedup_lib.urls import UrlRules

Tagged = tuple[str, pa.RecordBatch]
Opened = tuple[ArchiveFault | ArchiveRecord, Page | Fetch | Reject | None]
_HELD_ROWS = 10_000


@dataclass(frozen=True)
class ReadingContext:
    """What all splits of a run are read with."""

    source: str
    settings: ExtractSettings
    storage: StorageSettings
    rules: UrlRules
    crawl_date: date | None = None


@dataclass
class SplitReading:
    """Reads one split; counts each of its records by what it became."""

    split: Split
    context: ReadingContext
    meter: ReadMeter = field(default_factory=ReadMeter)
    counts: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    fetches: list[dict[str, Any]] = field(default_factory=list)
    rejects: list[dict[str, Any]] = field(default_factory=list)
    held_chars: int = 0  # of URLs and details in these

    @property
    def path(self) -> str:
        """The file."""
        return self.split.file.path

    def archive(self) -> Iterator[Tagged]:
        """An archive, or a stretch of one."""
        settings = self.context.settings
        rows = DocumentRows(self.context.rules, settings.batch_bytes)
        limits = ReadLimits(settings.max_record_bytes, verify_digests=settings.verify_digests)
        pages = shared_reader(
            settings.guard,
            ReadOptions(settings.main_content, settings.engine),
            GuardLimits(settings.page_seconds, settings.page_memory_bytes),
        )
        try:
            with open_input(self.split.file, self.context.storage, self.meter, self.split.start) as stream:
                size = input_size(self.split.file, stream)
                reader = ArchiveReader(stream, size, limits, self.split.start, self.split.end)
                for (item, opened), read in pages.read(self._open(reader)):
                    if isinstance(item, ArchiveFault):
                        self._fault(item)
                    elif isinstance(opened, Page):
                        assert read is not None
                        self._close(item, opened, close_page(item, opened, read), rows)
                    else:
                        assert opened is not None
                        self._close(item, None, opened, rows)
                    if rows.full:
                        yield from (("documents", batch) for batch in rows.take())
                    if self._holds_much:
                        yield from self._side_rows()
        except StorageError as error:
            yield self.failed(error)
            return
        yield from (("documents", batch) for batch in rows.take())
        yield from self._side_rows()
        verdict, ends = reader.verdict, reader.ends
        yield self._summary(
            verdict.records_by_type,
            first=ends.first,
            next=ends.next,
            size=verdict.size,
            bytes_read=verdict.bytes_read,
            found=sorted(verdict.faults_by_reason.items()),
        )

    def _open(self, reader: ArchiveReader) -> Iterator[tuple[Opened, PageRequest | None]]:
        for item in reader:
            if isinstance(item, ArchiveFault):
                yield (item, None), None
                continue
            opened = open_record(item, self.context.settings)
            light = replace(item, payload=b"")  # what waits behind a page may be a hundred videos
            del item
            yield (light, opened), opened.request if isinstance(opened, Page) else None

    def texts(self) -> Iterator[Tagged]:
        """A table of text."""
        try:
            yield from self._texts()
        except StorageError as error:
            yield self.failed(error)

    def _texts(self) -> Iterator[Tagged]:
        damage = 0
        for item in self._text_batches():
            if isinstance(item, InputError):
                damage = 1
                self._reject(self.counts["records"], None, None, Reason.BAD_ROW, str(item), count_as="faults")
                continue
            if isinstance(item, ArchiveFault):
                self._fault(item)
                if self._holds_much:
                    yield from self._side_rows()
                continue
            self.counts["records"] += item.num_rows
            has_text = pc.greater(pc.binary_length(pc.utf8_trim_whitespace(item.column("text"))), 0)
            for row in item.filter(pc.invert(has_text)).select(["row", "url", "record_id"]).to_pylist():
                self._reject(row["row"], row["url"], row["record_id"], Reason.NO_TEXT, "the text is empty")
            kept = item.filter(has_text)
            self.counts["documents"] += kept.num_rows
            if kept.num_rows:
                yield "documents", self._text_documents(kept)
        yield from self._side_rows()
        size = self.split.file.bytes if self.split.file.bytes >= 0 else self.meter.bytes
        yield self._summary(
            {"text": self.counts["records"]} if self.counts["records"] else {},
            first=0,
            next=size,
            size=size,
            bytes_read=size,
            found=[(Reason.BAD_ROW.value, damage)] if damage else [],
        )

    def failed(self, error: StorageError) -> Tagged:
        """A file that storage does not give, at all or for now; whatever was given of it does not count."""
        passing = isinstance(error, StorageUnreachable)
        return self._summary({}, size=max(self.split.file.bytes, 0), failure=str(error), failure_may_pass=passing)

    def _text_batches(self) -> Iterator[pa.RecordBatch | ArchiveFault | InputError]:
        """The batches and faults of a table; a file that stops being readable half way ends with the error."""
        settings = self.context.settings
        try:
            yield from read_texts(
                self.split.file,
                self.context.crawl_date,
                max_bytes=settings.batch_bytes,
                storage=self.context.storage,
                meter=self.meter,
            )
        except InputError as error:
            if isinstance(error, StorageError):
                raise
            yield error

    def _text_documents(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        rows, schema = batch.num_rows, DOCUMENTS.arrow
        source = self.context.source
        urls, ids, moments, texts = (
            batch.column(name).to_pylist() for name in ("url", "record_id", "fetched_at", "text")
        )
        doc_ids = [
            doc_id_of(source, url, moment, None, text) if own is None else doc_id_of_text(source, own)
            for url, own, moment, text in zip(urls, ids, moments, texts, strict=True)
        ]
        arrays = {name: pa.nulls(rows, schema.field(name).type) for name in schema.names}
        arrays |= {name: batch.column(name) for name in ("record_id", "url", "text", "crawl_date", "fetched_at")}
        languages = [detect_language(text) for text in texts]
        arrays |= {
            "language": pa.array(languages, pa.string()),
            "truncated": pa.array([False] * rows),
            "archive": pa.array([self.path] * rows, pa.string()),
            "archive_offset": batch.column("row"),
        }
        return finish_documents(pa.array(doc_ids, pa.binary()), arrays, self.context.rules)

    def _close(
        self, record: ArchiveRecord, page: Page | None, became: dict[str, Any] | Fetch | Reject, rows: DocumentRows
    ) -> None:
        self.counts["records"] += 1
        if isinstance(became, Fetch):
            self.counts["fetches"] += 1
            self.kinds[became.kind] += 1
            self.held_chars += len(record.target_uri) + len(became.target or "")
            self.fetches.append(
                {
                    "url": record.target_uri,
                    "fetched_at": record.date,
                    "kind": became.kind,
                    "http_status": record.http_status,
                    "target": became.target,
                    "refers_to": became.refers_to,
                    "refers_to_date": became.refers_to_date,
                    "archive": self.path,
                    "archive_offset": record.offset,
                }
            )
        elif isinstance(became, Reject):
            self._reject(record.offset, record.target_uri, record.record_id, became.reason, became.detail)
        else:
            doc_id = doc_id_of(
                self.context.source, became["url"], became["fetched_at"], became["record_id"], became["text"]
            )
            rows.add(doc_id, archive=self.path, **became)
            self.counts["documents"] += 1

    def _reject(
        self, offset: int, url: str | None, record_id: str | None, reason: str, detail: str, count_as: str = "rejects"
    ) -> None:
        self.counts[count_as] += 1
        self.reasons[str(reason)] += 1
        self.held_chars += len(url or "") + len(detail)
        self.rejects.append(
            {
                "archive": self.path,
                "archive_offset": offset,
                "url": url,
                "record_id": record_id,
                "reason": str(reason),
                "detail": detail,
            }
        )

    def _fault(self, fault: ArchiveFault) -> None:
        self._reject(fault.offset, fault.url, fault.record_id, fault.reason, fault.detail, count_as="faults")

    @property
    def _holds_much(self) -> bool:
        rows = len(self.fetches) + len(self.rejects)
        return rows >= _HELD_ROWS or self.held_chars >= self.context.settings.batch_bytes

    def _side_rows(self) -> Iterator[Tagged]:
        if self.fetches:
            fetches = pa.RecordBatch.from_pylist(self.fetches, schema=FETCHES.arrow)
            yield "fetches", renamed_fetches(fetches, self.context.rules)
        if self.rejects:
            yield "rejects", pa.RecordBatch.from_pylist(self.rejects, schema=REJECTS.arrow)
        self.fetches, self.rejects, self.held_chars = [], [], 0

    def _summary(self, records: dict[str, int], **values: Any) -> Tagged:  # noqa: ANN401 (columns of SPLITS)
        row = {
            "archive": self.path,
            "start": self.split.start,
            "bytes_read": 0,
            "failure_may_pass": False,
            "records": sorted(records.items()),
            "found": [],
            "fetches_by_kind": sorted(self.kinds.items()),
            "rejects_by_reason": sorted(self.reasons.items()),
            "requests": self.meter.requests,
            "retries": self.meter.retries,
            "waited_seconds": self.meter.waited_seconds,
            "remote_bytes": self.meter.bytes,
            **{name: self.counts[name] for name in ("documents", "fetches", "rejects", "faults")},
            **values,
        }
        return SPLITS.name, pa.RecordBatch.from_pylist([row], schema=SPLITS.arrow)
