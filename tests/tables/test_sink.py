import hashlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dedup_lib.tables.objects import objects_at
from dedup_lib.tables.sink import FILES, TaggedSink

SCHEMAS = {"a": pa.schema({"n": pa.int64(), "text": pa.string()}), "b": pa.schema({"n": pa.int64()})}
FOLDERS = {"a": "a/run=r1", "b": "b/run=r1"}


def batch(table, numbers):
    columns = {"n": numbers, "text": [hashlib.sha512(bytes([n % 251])).hexdigest() for n in numbers]}
    return pa.RecordBatch.from_pydict({name: columns[name] for name in SCHEMAS[table].names}, SCHEMAS[table])


def run(root, tagged, **limits):
    sink = TaggedSink(objects_at(root), lambda _: tagged, FOLDERS, SCHEMAS, **limits)
    (report,) = list(sink(iter([])))
    assert report.schema == FILES
    return report.to_pylist()


def test_each_table_gets_its_rows_in_order(tmp_path):
    tagged = [("a", batch("a", [3, 1])), ("b", batch("b", [7])), ("a", batch("a", [])), ("a", batch("a", [2]))]
    rows = run(tmp_path, tagged)
    assert [(row["table"], row["rows"]) for row in rows] == [("a", 3), ("b", 1)]
    for row in rows:
        assert (tmp_path / row["path"]).stat().st_size == row["bytes"]
    assert pq.read_table(tmp_path / rows[0]["path"], partitioning=None)["n"].to_pylist() == [3, 1, 2]


def test_no_rows_no_files(tmp_path):
    assert run(tmp_path, [("a", batch("a", []))]) == []
    assert list(tmp_path.glob("**/*.parquet")) == []


def test_row_groups_and_files_are_bounded(tmp_path):
    tagged = [("a", batch("a", range(start, start + 100))) for start in range(0, 1000, 100)]
    rows = run(tmp_path, tagged, row_group_bytes=5000, file_bytes=6000)
    assert 3 <= len(rows) <= 10
    assert sum(row["rows"] for row in rows) == 1000
    for row in rows:
        found = pq.read_metadata(tmp_path / row["path"])
        assert found.num_rows == row["rows"]
        assert all(found.row_group(group).num_rows <= 100 for group in range(found.num_row_groups))
        assert found.row_group(0).column(0).compression == "ZSTD"


def fails_after(tagged):
    yield from tagged
    raise OSError("lost")


@pytest.mark.parametrize(
    ("tagged", "error"),
    [
        (fails_after([("a", batch("a", range(1000)))]), OSError),
        ([("a", batch("a", range(1000))), ("a", batch("b", [1]))], TypeError),
        ([("a", batch("a", range(1000))), ("c", batch("b", [1]))], ValueError),
    ],
)
def test_a_failed_attempt_removes_its_files(tmp_path, tagged, error):
    with pytest.raises(error):
        run(tmp_path, tagged, row_group_bytes=5000, file_bytes=2000)
    assert list(tmp_path.glob("**/*.parquet")) == []
