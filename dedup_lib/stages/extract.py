"""The stage `extract`: archives and tables of text to documents, fetches, rejects and a verdict per file."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.archives import ArchiveFault, ArchiveReader, ArchiveRecord, InputFile, ReadLimits, Reason, read_texts
from dedup_lib.config.settings import ExtractSettings
from dedup_lib.errors import InputError
from dedup_lib.stages.captures import Document, Fetch, judge_record
from dedup_lib.stages.document_rows import DocumentRows, doc_id_of, doc_id_of_text, finish_documents
from dedup_lib.stages.rename import renamed_fetches
from dedup_lib.tables.schemas import ARCHIVES, DOCUMENTS, FETCHES, REJECTS
from dedup_lib.text import detect_language
from dedup_lib.urls import UrlRules

Tagged = tuple[str, pa.RecordBatch]
_HELD_ROWS = 10_000


def pack_inputs(files: Sequence[InputFile], split_bytes: int, tasks: int) -> list[tuple[InputFile, ...]]:
    """Files packed into tasks of about `split_bytes`, but into no fewer than `tasks` where there are files enough.

    The largest files start first; a file is never cut. Deterministic: sizes, then paths.
    """
    limit = min(split_bytes, -(-sum(file.bytes for file in files) // max(tasks, 1)))
    packed: list[tuple[InputFile, ...]] = []
    open_pack: list[InputFile] = []
    held = 0
    for file in sorted(files, key=lambda one: (-one.bytes, one.path)):
        if open_pack and held + file.bytes > limit:
            packed.append(tuple(open_pack))
            open_pack, held = [], 0
        open_pack.append(file)
        held += file.bytes
    return [*packed, tuple(open_pack)] if open_pack else packed


def extractor(
    packs: Sequence[tuple[InputFile, ...]],
    source: str,
    settings: ExtractSettings,
    rules: UrlRules,
    crawl_date: date | None = None,
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[Tagged]]:
    """The function that tasks run: batches with a column of pack numbers in, (table, batch) pairs out.

    Memory is bounded by one record and `settings.batch_bytes` of documents.
    """

    def extract(batches: Iterator[pa.RecordBatch]) -> Iterator[Tagged]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for file in packs[number]:
                    reading = _FileReading(file, source, settings, rules)
                    yield from reading.archive() if file.kind == "warc" else reading.texts(crawl_date)

    return extract


@dataclass
class _FileReading:
    """Reads one input file; counts each of its records by what it became."""

    file: InputFile
    source: str
    settings: ExtractSettings
    rules: UrlRules
    counts: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    fetches: list[dict[str, Any]] = field(default_factory=list)
    rejects: list[dict[str, Any]] = field(default_factory=list)

    def archive(self) -> Iterator[Tagged]:
        """A WARC file."""
        rows = DocumentRows(self.rules, self.settings.batch_bytes)
        with Path(self.file.path).open("rb") as stream:
            limits = ReadLimits(max_record_bytes=self.settings.max_record_bytes)
            reader = ArchiveReader(stream, self.file.bytes, limits)
            for item in reader:
                if isinstance(item, ArchiveFault):
                    self._fault(item)
                else:
                    self._record(item, rows)
                if rows.full:
                    yield from (("documents", batch) for batch in rows.take())
                if len(self.fetches) + len(self.rejects) >= _HELD_ROWS:
                    yield from self._side_rows()
        yield from (("documents", batch) for batch in rows.take())
        yield from self._side_rows()
        verdict = reader.verdict
        yield self._summary(verdict.verdict.value, verdict.records_by_type)

    def texts(self, crawl_date: date | None) -> Iterator[Tagged]:
        """A table of text."""
        verdict = "complete"
        for item in self._text_batches(crawl_date):
            if isinstance(item, InputError):
                verdict = "damaged"
                self._reject(self.counts["records"], None, Reason.BAD_ROW, str(item), count_as="faults")
                continue
            if isinstance(item, ArchiveFault):
                self._fault(item)
                continue
            self.counts["records"] += item.num_rows
            with_text = pc.utf8_trim_whitespace(item.column("text"))
            has_text = pc.greater(pc.binary_length(with_text), 0)
            for row in item.filter(pc.invert(has_text)).select(["row", "url"]).to_pylist():
                self._reject(row["row"], row["url"], Reason.NO_TEXT, "the text is empty")
            kept = item.filter(has_text)
            self.counts["documents"] += kept.num_rows
            if kept.num_rows:
                yield "documents", self._text_documents(kept)
        yield from self._side_rows()
        if verdict == "complete" and not self.counts["records"]:
            verdict = "empty"
        yield self._summary(verdict, {"text": self.counts["records"]})

    def _text_batches(self, crawl_date: date | None) -> Iterator[pa.RecordBatch | ArchiveFault | InputError]:
        """The batches and faults of a table; a file that stops being readable half way ends with the error."""
        try:
            yield from read_texts(self.file.path, crawl_date, max_bytes=self.settings.batch_bytes)
        except InputError as error:
            yield error

    def _text_documents(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        rows, schema = batch.num_rows, DOCUMENTS.arrow
        urls, ids, moments, texts = (
            batch.column(name).to_pylist() for name in ("url", "record_id", "fetched_at", "text")
        )
        doc_ids = [
            doc_id_of(self.source, url, moment, None, text) if own is None else doc_id_of_text(self.source, own)
            for url, own, moment, text in zip(urls, ids, moments, texts, strict=True)
        ]
        arrays = {name: pa.nulls(rows, schema.field(name).type) for name in schema.names}
        arrays |= {name: batch.column(name) for name in ("record_id", "url", "text", "crawl_date", "fetched_at")}
        languages = [detect_language(text) for text in texts]
        arrays |= {
            "language": pa.array(languages, pa.string()),
            "truncated": pa.array([False] * rows),
            "archive": pa.array([self.file.path] * rows, pa.string()),
            "archive_offset": batch.column("row"),
        }
        return finish_documents(pa.array(doc_ids, pa.binary()), arrays, self.rules)

    def _record(self, record: ArchiveRecord, rows: DocumentRows) -> None:
        self.counts["records"] += 1
        found = judge_record(record, self.settings)
        if isinstance(found, Document):
            columns = found.columns
            doc_id = doc_id_of(
                self.source, columns["url"], columns["fetched_at"], columns["record_id"], columns["text"]
            )
            rows.add(doc_id, archive=self.file.path, **columns)
            self.counts["documents"] += 1
        elif isinstance(found, Fetch):
            self.counts["fetches"] += 1
            self.kinds[found.kind] += 1
            self.fetches.append(
                {
                    "url": record.target_uri,
                    "fetched_at": record.date,
                    "kind": found.kind,
                    "http_status": record.http_status,
                    "target": found.target,
                    "archive": self.file.path,
                    "archive_offset": record.offset,
                }
            )
        else:
            self._reject(record.offset, record.target_uri, found.reason, found.detail)

    def _reject(self, offset: int, url: str | None, reason: str, detail: str, count_as: str = "rejects") -> None:
        self.counts[count_as] += 1
        self.reasons[str(reason)] += 1
        self.rejects.append(
            {"archive": self.file.path, "archive_offset": offset, "url": url, "reason": str(reason), "detail": detail}
        )

    def _fault(self, fault: ArchiveFault) -> None:
        self._reject(fault.offset, fault.url, fault.reason, fault.detail, count_as="faults")

    def _side_rows(self) -> Iterator[Tagged]:
        if self.fetches:
            yield "fetches", renamed_fetches(pa.RecordBatch.from_pylist(self.fetches, schema=FETCHES.arrow), self.rules)
        if self.rejects:
            yield "rejects", pa.RecordBatch.from_pylist(self.rejects, schema=REJECTS.arrow)
        self.fetches, self.rejects = [], []

    def _summary(self, verdict: str, records: dict[str, int]) -> Tagged:
        row = {
            "archive": self.file.path,
            "verdict": verdict,
            "bytes": self.file.bytes,
            "records": sorted(records.items()),
            "repeated": 0,
            "skipped": sum(records.values()) - self.counts["records"],
            "fetches_by_kind": sorted(self.kinds.items()),
            "rejects_by_reason": sorted(self.reasons.items()),
            **{name: self.counts[name] for name in ("documents", "fetches", "rejects", "faults")},
        }
        return "archives", pa.RecordBatch.from_pylist([row], schema=ARCHIVES.arrow)
