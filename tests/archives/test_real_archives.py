"""The collected archives of the world: none raises, and what can be recovered of each is."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest
from archive_builder import read_splits
from warcio.archiveiterator import ArchiveIterator

from dedup_lib.archives.faults import ArchiveFault, Reason
from dedup_lib.archives.http import decode_body
from dedup_lib.archives.reader import ArchiveReader, Verdict
from dedup_lib.archives.records import ArchiveRecord, ReadLimits
from dedup_lib.archives.splits import merge_verdicts, splits_meet

WARCS = Path(__file__).parents[3] / "shared" / "warcs"
pytestmark = pytest.mark.skipif(not WARCS.is_dir(), reason="the shared archives are not here")
FILES = [path for path in sorted(WARCS.glob("*/*")) if path.suffix not in {".json", ".jsonl"}]
DAMAGED = {"truncated-mid-member": "truncated", "bitflip": "damaged", "garbage": "damaged", "wrong-content": "damaged"}
FOREIGN = {"resiliparse__warcfile.warc.lz4", "whirlwind-python__CC-MAIN-2024-22.warc.paths.gz"}
# Where fewer records come out than the better of FastWARC and warcio counts: how many, and what they count that is not
# a whole record. Each of the others is one fault that names it.
FEWER = {
    "truncated-mid-member.warc.gz": (61, "the last record is cut"),
    "CDX-Writer__date_resolution_microsecond.warc.gz": (0, "Content-Length is more than there is"),
    "CDX-Writer__negative_content_length.arc.gz": (2, "a length of -2046788874, and a response that is no HTTP"),
    "WarcProtocol__incorrect_content_length.warc": (1, "two lengths too small, one record without a target"),
    "WarcProtocol__multiline_header_values.warc": (0, "an empty Content-Length"),
    "WarcProtocol__short_content_block.warc": (0, "the file ends before the record does"),
    "ccscala__appended_zip_fragment_unexpected_eof.wet.gz": (16, "the last record is cut"),
    "ccscala__corrupt_warcconversion_1.wet.gz": (5, "a record without a target"),
    "ccscala__file_and_wet_headers_only.wet.gz": (0, "headers without contents"),
    "ccscala__fragment1_asthma_incomplete_last.wet.gz": (1, "one length too small, the last record is cut"),
    "cdxj-indexer__missing-http.warc.gz": (1, "a response without HTTP"),
    "ipwb__HTTP204.warc": (1, "two lengths too small"),
    "ipwb__broken.warc": (5, "a length of 7, in the middle of the header block"),
    "jhove__invalid-warcrecord-3.warc": (3, "two lengths too small, the last record is cut"),
    "jwat__invalid-warcfile-fields-invalidformat.warc": (0, "a length of 'very lengthy'"),
    "jwat__invalid-warcfile-fields-missing.warc": (0, "no WARC-Type"),
    "jwat__invalid-warcfile-lonely-request-response-resource-conversion.warc": (0, "four times no Content-Length"),
    "netarchivesuite__fyensdk.arc": (1, "contents blotted out with X, HTTP status lines as well"),
    "resiliparse__clipped.warc.gz": (0, "the only record is cut"),
    "warc2zim__http-return-codes.warc.gz": (97, "a status of 0, which is none"),
    "warc__alexa_short_header.arc.gz": (1, "the greeting of an SSH server"),
    "warcio__bad.arc": (0, "lengths of -1, -1 and abc, and a content of one byte"),
    "warcio__example-space-in-url.arc": (1, "the last record is cut, by 12 bytes"),
    "warcio__example-trunc.warc": (3, "a length too small"),
}


def read(path, limits=None):
    with path.open("rb") as stream:
        reader = ArchiveReader(stream, path.stat().st_size, limits)
        items = list(reader)
    return items, reader.verdict


def best_of_libraries():
    manifest = json.loads((WARCS / "MANIFEST.json").read_text())
    return {
        Path(entry["file"]).name: max(entry["measured"][how]["n"] for how in ("fw", "fwq", "wi")) for entry in manifest
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_file_gets_a_verdict_and_its_items_close(path):
    items, verdict = read(path)
    given = Counter(item.record_type for item in items if isinstance(item, ArchiveRecord))
    assert all(verdict.records_by_type[record_type] == count for record_type, count in given.items())
    assert sum(verdict.faults_by_reason.values()) == sum(isinstance(item, ArchiveFault) for item in items)
    assert (verdict.verdict is Verdict.NOT_AN_ARCHIVE) == (path.name in FOREIGN)
    if verdict.verdict is Verdict.COMPLETE:
        assert verdict.bytes_read == verdict.size


def test_each_file_gives_the_records_that_the_better_library_gives_or_names_what_is_wrong_with_them():
    best = best_of_libraries()
    for path in FILES:
        items, verdict = read(path)
        records = sum(verdict.records_by_type.values())
        if path.name in FOREIGN:
            continue
        if path.name in FEWER:
            expected, why = FEWER[path.name]
            assert records == expected, (path.name, why)
            assert records < best[path.name], path.name
        else:
            assert records >= best[path.name], path.name
        named = sum(isinstance(item, ArchiveFault) for item in items)
        assert records + named >= best[path.name], path.name


def test_what_can_be_recovered_is():
    expected = json.loads((WARCS / "derived" / "EXPECTED.json").read_text())
    for name, counts in expected.items():
        items, verdict = read(WARCS / name)
        lengths_wrong = 4 if "wrong-content-length" in name else 0
        assert sum(verdict.records_by_type.values()) == counts["records"] - lengths_wrong, name
        responses = [item for item in items if isinstance(item, ArchiveRecord) and item.record_type == "response"]
        assert len(responses) == counts["responses"] - lengths_wrong, name
        wanted = next((what for start, what in DAMAGED.items() if f"/{start}" in name), "complete")
        assert verdict.verdict == wanted, name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_splits_of_every_file_meet_and_are_the_file(path):
    data = path.read_bytes()
    for pieces in (2, 7):
        items, ends, verdicts = read_splits(data, max(1, len(data) // pieces))
        assert splits_meet(ends, len(data))
        assert (items, merge_verdicts(verdicts)) == read(path)


ARCS = [path for path in FILES if ".arc" in path.name and path.name not in FEWER and "bad" not in path.name]


@pytest.mark.parametrize("path", ARCS, ids=lambda path: path.name)
def test_arc_files_give_the_contents_that_warcio_gives(path):
    ours = [item.payload for item in read(path)[0]]
    with path.open("rb") as stream:
        theirs = [item.raw_stream.read() for item in ArchiveIterator(stream) if item.rec_type != "arc_header"]
    if "dashed" in path.name:  # a file with its line ends converted: warcio stops at the length from before
        ours = [content[: len(wanted)] for content, wanted in zip(ours, theirs, strict=True)]
    assert ours == theirs


def test_every_content_encoding_decodes_to_the_same_page():
    name = "derived/content-encodings.warc.gz"
    expected = json.loads((WARCS / "derived" / "EXPECTED.json").read_text())[name]
    items, _verdict = read(WARCS / name)
    for case, item in zip(expected["cases"], items, strict=True):
        headers = item.http_headers
        decoded = decode_body(item.payload, headers.joined("transfer-encoding"), headers.joined("content-encoding"))
        assert hashlib.sha256(decoded.body).hexdigest() == expected["decoded_payload_sha256"], case


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("jhove__valid-warcrecorddigests-1.warc", 0),
        ("dolma__sample-0000.warc.gz", 0),
        ("warcio__example-wrong-chunks.warc.gz", 1),
        ("pywb__iana.warc.gz", 0),
    ],
)
def test_block_digests_of_real_records(name, wrong):
    _items, verdict = read(WARCS / "real" / name, ReadLimits(verify_digests=True))
    assert verdict.faults_by_reason.get(Reason.BAD_DIGEST, 0) == wrong


def test_compressed_bodies_of_a_real_crawl_decode_to_what_they_were():
    pages = {}
    for coding in ("none", "gzip", "brotli"):
        items, _verdict = read(WARCS / "real" / f"wa-discovery__transfer_compression_{coding}.warc.gz")
        (page,) = [item for item in items if isinstance(item, ArchiveRecord) and item.record_type == "response"]
        headers = page.http_headers
        decoded = decode_body(page.payload, headers.joined("transfer-encoding"), headers.joined("content-encoding"))
        assert not decoded.notes
        pages[coding] = decoded.body
    assert pages["none"].lstrip().startswith(b"<")
    assert pages["gzip"] == pages["brotli"]
