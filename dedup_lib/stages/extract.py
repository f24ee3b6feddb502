"""The stage `extract`: archives and tables of text to documents, fetches, rejects and a verdict per file."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import pyarrow as pa

from dedup_lib.archives import Reason
from dedup_lib.stages.plan import Split
from dedup_lib.stages.reading import ReadingContext, SplitReading, Tagged
from dedup_lib.tables.schemas import REJECTS


def extractor(
    tasks: Sequence[tuple[Split, ...]], context: ReadingContext
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[Tagged]]:
    """The function that tasks run: batches with a column of task numbers in, (table, batch) pairs out.

    Memory is bounded by what is under way: a window of records, and `batch_bytes` of documents.
    """

    def extract(batches: Iterator[pa.RecordBatch]) -> Iterator[Tagged]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for split in tasks[number]:
                    reading = SplitReading(split, context)
                    yield from reading.archive() if split.file.kind == "warc" else reading.texts()

    return extract


def unreadable_rejects(failed: Mapping[str, str]) -> pa.Table:
    """The rejects of files that cannot be read, by path: why."""
    rows = [
        {"archive": path, "archive_offset": 0, "reason": Reason.UNREADABLE.value, "detail": why}
        for path, why in sorted(failed.items())
    ]
    return pa.Table.from_pylist(rows, schema=REJECTS.arrow)
