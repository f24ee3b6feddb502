"""The collected archives of the world: none raises, and what EXPECTED.json says can be recovered is."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from dedup_lib.archives.faults import ArchiveFault
from dedup_lib.archives.http import decode_body
from dedup_lib.archives.reader import ArchiveReader, Verdict
from dedup_lib.archives.records import ArchiveRecord

WARCS = Path(__file__).parents[3] / "shared" / "warcs"
pytestmark = pytest.mark.skipif(not WARCS.is_dir(), reason="the shared archives are not here")
FILES = [path for path in sorted(WARCS.glob("*/*")) if path.suffix not in {".json", ".jsonl"}]
DAMAGED = {"truncated-mid-member": "truncated", "bitflip": "damaged", "garbage": "damaged", "wrong-content": "damaged"}


def read(path):
    with path.open("rb") as stream:
        reader = ArchiveReader(stream, path.stat().st_size)
        items = list(reader)
    return items, reader.verdict


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_file_gets_a_verdict_and_its_items_close(path):
    items, verdict = read(path)
    given = Counter(item.record_type for item in items if isinstance(item, ArchiveRecord))
    assert all(verdict.records_by_type[record_type] == count for record_type, count in given.items())
    assert sum(verdict.faults_by_reason.values()) == sum(isinstance(item, ArchiveFault) for item in items)
    foreign = ".arc" in path.name or path.suffix in {".zst", ".lz4"} or "paths" in path.name
    if foreign:
        assert verdict.verdict is Verdict.NOT_AN_ARCHIVE
    if verdict.verdict is Verdict.COMPLETE:
        assert verdict.bytes_read == verdict.size


def test_what_can_be_recovered_is():
    expected = json.loads((WARCS / "derived" / "EXPECTED.json").read_text())
    for name, counts in expected.items():
        if name.endswith(".zst"):
            continue
        items, verdict = read(WARCS / name)
        lengths_wrong = 4 if "wrong-content-length" in name else 0
        assert sum(verdict.records_by_type.values()) == counts["records"] - lengths_wrong, name
        responses = [item for item in items if isinstance(item, ArchiveRecord) and item.record_type == "response"]
        assert len(responses) == counts["responses"] - lengths_wrong, name
        wanted = next((what for start, what in DAMAGED.items() if f"/{start}" in name), "complete")
        assert verdict.verdict == wanted, name


def test_every_content_encoding_decodes_to_the_same_page():
    name = "derived/content-encodings.warc.gz"
    expected = json.loads((WARCS / "derived" / "EXPECTED.json").read_text())[name]
    items, _verdict = read(WARCS / name)
    for case, item in zip(expected["cases"], items, strict=True):
        headers = item.http_headers
        decoded = decode_body(item.payload, headers.joined("transfer-encoding"), headers.joined("content-encoding"))
        assert hashlib.sha256(decoded.body).hexdigest() == expected["decoded_payload_sha256"], case
