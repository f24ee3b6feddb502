"""The files: the same on every run, and readable."""

import hashlib
import os
import subprocess
import sys
from collections import Counter

from warcio.archiveiterator import ArchiveIterator

from dedup_lib.sample import SNAPSHOTS, TRUTH_SCHEMA, read_truth

# The plain bytes of all records. A change here changes every number that was measured on the sample.
CONTENT_SHA256 = "c51086f7b5889b0175b801e8f37472154c3de3f4908735228f38eee3b62ee2a6"


def digests(directory):
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def test_a_second_run_writes_the_same_bytes(sample, tmp_path):
    program = "import sys, pathlib, dedup_lib.sample as s; s.write_sample(pathlib.Path(sys.argv[1]))"
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "TZ": "Asia/Kolkata", "LC_ALL": "C"}
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True, env=environment)
    assert digests(tmp_path) == digests(sample.directory)


def test_content_is_pinned(sample):
    assert sample.summary.content_sha256 == CONTENT_SHA256


def test_summary_counts_what_is_there(sample, records):
    summary = sample.summary
    assert list(summary.captures) == list(SNAPSHOTS)
    assert sum(summary.captures.values()) == len(sample.truth)
    assert 3500 < len(sample.truth) < 4500
    assert summary.bytes == sum(path.stat().st_size for path in summary.files)
    assert summary.records == sum(len(kinds) for kinds in records.kinds.values())
    for name in SNAPSHOTS:
        assert len([path for path in summary.files if path.parent.name == name]) > 1


def test_files_hold_all_record_types(records):
    for kinds in records.kinds.values():
        count = Counter(kinds)
        assert kinds[0] == "warcinfo" and count["warcinfo"] == 1
        assert count["request"] == count["response"] + count["revisit"]
        assert count["metadata"] > 10


def test_every_row_of_the_truth_is_a_record(sample, records):
    rows = {row["record_id"]: row for row in sample.truth}
    assert len(rows) == len(sample.truth)
    assert set(records.responses) == set(rows)
    for record_id, response in records.responses.items():
        row = rows[record_id]
        assert response.warc["WARC-Target-URI"] == row["url"]
        assert response.path.parent.name == row["snapshot"]
        assert response.warc["WARC-Date"] < ("2025-06" if row["snapshot"] == SNAPSHOTS[0] else "2025-12")


def test_the_last_record_of_one_file_is_cut(sample, records):
    cut = [row for row in sample.truth if row["kind"] == "cut"]
    assert len(cut) == 1
    response = records.responses[cut[0]["record_id"]]
    assert response.path == sample.summary.files[-1]
    assert records.kinds[response.path][-1] == "response"
    assert len(response.body) < int(response.http["Content-Length"])
    with response.path.open("rb") as file:
        last = list(ArchiveIterator(file, no_record_parse=True))[-1]
    assert last.rec_headers.get_header("WARC-Record-ID") == cut[0]["record_id"]


def test_block_digests_hold(sample):
    for path in sample.summary.files[:1]:
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests=True):
                record.content_stream().read()
                assert record.digest_checker.passed is not False


def test_truth_has_its_schema(sample):
    table = read_truth(sample.directory)
    assert table.schema.equals(TRUTH_SCHEMA)
    assert all(field.metadata[b"meaning"] for field in table.schema)
