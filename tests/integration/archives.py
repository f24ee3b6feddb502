"""A small snapshot cut out of the sample: some of everything that is planted there, record by record as stored."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from dedup_lib.sample import read_truth

SNAPSHOT = "snapshot-a"
ARTICLES = 6  # families for each planted relation
OTHERS = 2  # of each other kind, also of records that are no document


@dataclass(frozen=True)
class StoredRecord:
    """A record as its file has it: one gzip member."""

    record_id: str
    data: bytes


def small_snapshot(sample: Path) -> list[StoredRecord]:
    """Whole families for each planted relation, and some captures of every kind that gives no document."""
    truth = [row for row in read_truth(sample).to_pylist() if row["snapshot"] == SNAPSHOT]
    truth.sort(key=lambda row: row["record_id"])
    taken: Counter[tuple[str, str]] = Counter()
    families, single = set(), set()
    for row in truth:
        kind = (row["kind"], row["relation"])
        if taken[kind] < (ARTICLES if row["kind"] == "article" else OTHERS):
            taken[kind] += 1
            if row["family"] is None:
                single.add(row["record_id"])
            else:
                families.add(row["family"])
    wanted = single | {row["record_id"] for row in truth if row["family"] in families}
    found = [record for path in sorted((sample / SNAPSHOT).glob("*.warc.gz")) for record in read_records(path)]
    return [record for record in found if record.record_id in wanted]


def read_records(path: Path) -> list[StoredRecord]:
    """The responses and revisits of an archive."""
    stored, records = path.read_bytes(), []
    with path.open("rb") as stream:
        archive = ArchiveIterator(stream)
        for record in archive:
            kind, record_id = record.rec_type, record.rec_headers.get_header("WARC-Record-ID")
            offset, length = archive.get_record_offset(), archive.get_record_length()
            if kind in {"response", "revisit"}:
                records.append(StoredRecord(record_id, stored[offset : offset + length]))
    return records


def write_archives(records: list[StoredRecord], folder: Path, files: int) -> list[Path]:
    """Deal the records to so many archives."""
    folder.mkdir(parents=True)
    paths = [folder / f"part-{number}.warc.gz" for number in range(files)]
    for number, path in enumerate(paths):
        path.write_bytes(b"".join(record.data for record in records[number::files]))
    return paths


def stored_page(number: int, body: bytes, content_type: str = "text/html") -> bytes:
    """A record of its own making, not compressed: the page http://site.example/NUMBER."""
    content = b"HTTP/1.1 200 OK\r\nContent-Type: " + content_type.encode() + b"\r\n\r\n" + body
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{number}>\r\nWARC-Date: 2026-11-30T10:00:00Z\r\n"
        f"WARC-Target-URI: http://site.example/{number}\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content + b"\r\n\r\n"
