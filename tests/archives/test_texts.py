import gzip
import json
from datetime import UTC, date, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dedup_lib.archives.faults import ArchiveFault, Reason
from dedup_lib.archives.texts import TEXT_SCHEMA, read_texts
from dedup_lib.errors import InputError, UsageError

DAY = date(2024, 5, 18)


def rows(path, **options):
    items = list(read_texts(str(path), **options))
    batches = [item for item in items if not isinstance(item, ArchiveFault)]
    assert all(batch.schema == TEXT_SCHEMA for batch in batches)
    return [row for batch in batches for row in batch.to_pylist()], [
        item for item in items if isinstance(item, ArchiveFault)
    ]


def write(path, columns):
    pq.write_table(pa.table(columns), path, row_group_size=2)
    return path


def test_parquet_of_many_types(tmp_path):
    path = write(
        tmp_path / "a.parquet",
        {
            "id": pa.array([7, 8, 9]),
            "url": pa.array(["http://a/", "http://b/", "http://a/"]).dictionary_encode(),
            "text": pa.array(["x", "", "z"], pa.large_string()),
            "timestamp": pa.array([datetime(2024, 1, 2, 3, 4, 5)] * 3, pa.timestamp("ns")),
            "extra": pa.array([1.0, 2.0, 3.0]),
        },
    )
    found, faults = rows(path)
    assert not faults
    assert [row["record_id"] for row in found] == ["7", "8", "9"]
    assert [row["text"] for row in found] == ["x", "", "z"]
    assert {row["crawl_date"] for row in found} == {date(2024, 1, 2)}
    assert found[0]["fetched_at"] == datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert [row["row"] for row in found] == [0, 1, 2]


@pytest.mark.parametrize("name", ["date", "crawl_date", "fetched_at"])
@pytest.mark.parametrize("value", [DAY, "2024-05-18", "2024-05-18T23:30:00Z"])
def test_dates_of_several_names_and_types(tmp_path, name, value):
    found, faults = rows(write(tmp_path / "a.parquet", {"url": ["http://a/"], "text": ["x"], name: [value]}))
    assert not faults
    assert found[0]["crawl_date"] == DAY
    assert found[0]["record_id"] is None


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_json_lines_with_bad_rows(tmp_path, pack):
    lines = [
        json.dumps({"doc_id": "a", "url": "http://a/", "text": "x", "date": "2024-05-18"}),
        "{broken",
        "[1]",
        "",
        json.dumps({"url": "http://a/", "text": None, "date": "2024-05-18"}),
        json.dumps({"url": " ", "text": "x", "date": "2024-05-18"}),
        json.dumps({"url": "http://b/", "text": "x", "date": "one day"}),
        json.dumps({"url": "http://c/", "text": "\ud800", "date": "2024-05-18"}),
        json.dumps({"url": "http://d/", "text": "last"}),
    ]
    path = tmp_path / "a.jsonl"
    path.write_bytes(pack("\n".join(lines).encode()))
    found, faults = rows(path)
    assert [(row["url"], row["record_id"]) for row in found] == [("http://a/", "a")]
    assert [fault.offset for fault in faults] == [1, 2, 3, 4, 5, 6, 7]
    assert [fault.reason for fault in faults] == [Reason.BAD_ROW] * 4 + [Reason.NO_DATE, Reason.BAD_ROW, Reason.NO_DATE]
    found, faults = rows(path, crawl_date=DAY)
    assert [row["url"] for row in found] == ["http://a/", "http://d/"]
    assert found[1]["crawl_date"] == DAY


def test_batches_are_bounded(tmp_path):
    path = write(tmp_path / "a.parquet", {"url": ["http://a/"] * 50, "text": ["x" * 1000] * 50})
    sizes = [batch.num_rows for batch in read_texts(str(path), DAY, max_rows=7)]
    assert sizes == [7] * 7 + [1]
    sizes = [batch.num_rows for batch in read_texts(str(path), DAY, max_bytes=5000)]
    assert max(sizes) <= 5
    assert sum(sizes) == 50


def test_strings_that_are_not_utf8_cost_one_row(tmp_path):
    buffers = pa.array([b"good", b"bad\xff", b"fine"], pa.binary()).buffers()
    raw = pa.StringArray.from_buffers(3, buffers[1], buffers[2])
    path = write(tmp_path / "a.parquet", {"url": ["http://a/", "http://b/", "http://c/"], "text": raw})
    found, faults = rows(path, crawl_date=DAY)
    assert [row["text"] for row in found] == ["good", "fine"]
    assert [fault.offset for fault in faults] == [1]


def test_wrong_tables_are_errors_of_one_sentence(tmp_path):
    no_text = write(tmp_path / "a.parquet", {"url": ["http://a/"], "content": ["x"]})
    with pytest.raises(InputError, match=r"no column text \(its columns are url, content\)"):
        list(read_texts(str(no_text)))
    with pytest.raises(UsageError, match="--crawl-date"):
        list(read_texts(str(write(tmp_path / "b.parquet", {"url": ["http://a/"], "text": ["x"]}))))
    (tmp_path / "c.parquet").write_bytes(b"PAR1 but not really")
    with pytest.raises(InputError, match="cannot be read as a table"):
        list(read_texts(str(tmp_path / "c.parquet")))
    (tmp_path / "d.json").write_text('[{"url": "http://a/", "text": "x"}]')
    with pytest.raises(InputError, match="JSON array"):
        list(read_texts(str(tmp_path / "d.json")))
    with pytest.raises(InputError, match="cannot be read"):
        list(read_texts(str(tmp_path / "missing.jsonl")))


def test_an_empty_file_has_no_rows_and_a_cut_one_ends_with_a_fault(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"")
    assert rows(tmp_path / "a.jsonl") == ([], [])
    lines = "\n".join(json.dumps({"url": f"http://a/{n}", "text": str(n) * 50}) for n in range(5000))
    data = gzip.compress(lines.encode())
    (tmp_path / "b.jsonl.gz").write_bytes(data[: len(data) // 2])
    found, faults = rows(tmp_path / "b.jsonl.gz", crawl_date=DAY)
    assert len(found) > 1000
    assert [fault.reason for fault in faults] == [Reason.BAD_ROW]
