"""Texts read in the tasks are those that Spark would have read."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType

from dedup_lib.tables.columns import Column, Table
from dedup_lib.tables.published import FileEntry, TableEntry
from dedup_lib.tables.scan import scan_entry, with_columns

TEXTS = Table(
    "texts",
    "extract",
    "a table for this test",
    (Column("doc_id", pa.binary(), "id"), Column("text", pa.string(), "text"), Column("size", pa.int64(), "size")),
    ("doc_id",),
    ("doc_id",),
)
ROWS = 7_000  # several batches, and three row groups


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    root = tmp_path_factory.mktemp("scan")
    entries = []
    for number, rows in enumerate((ROWS, 0, 5)):
        ids = [b"%d-%06d" % (number, row) for row in range(rows)]
        table = pa.table(
            {"doc_id": ids, "text": [f"text of {one.decode()}" for one in ids], "size": list(range(rows))},
            schema=TEXTS.arrow,
        )
        path = f"texts/part-{number}.parquet"
        (root / "texts").mkdir(exist_ok=True)
        pq.write_table(table, root / path, row_group_size=3_000)
        entries.append(FileEntry(path, (root / path).stat().st_size, rows))
    return root, TableEntry.of(entries)


def test_with_columns_gives_the_text_of_each_asked_row_and_no_other(spark, stored):
    root, entry = stored
    asked = [b"0-000000", b"0-002999", b"0-003000", b"0-006999", b"2-000004", b"2-000000", b"9-000000"]
    needed = spark.createDataFrame([(one, place) for place, one in enumerate(asked)], "doc_id binary, place long")

    found = with_columns(spark, root, entry, TEXTS, needed, ["text"]).collect()

    got = {(bytes(row["doc_id"]), row["place"], row["text"]) for row in found}
    assert got == {(one, place, f"text of {one.decode()}") for place, one in enumerate(asked[:-1])}


def test_with_columns_gives_every_row_when_all_are_asked(spark, stored):
    root, entry = stored
    needed = spark.createDataFrame([(b"0-%06d" % row,) for row in range(ROWS)], "doc_id binary").repartition(5)

    found = with_columns(spark, root, entry, TEXTS, needed, ["size", "text"])

    assert found.columns == ["doc_id", "size", "text"]
    assert sorted((row["size"], row["text"]) for row in found.collect()) == [
        (row, f"text of 0-{row:06d}") for row in range(ROWS)
    ]


def test_with_columns_of_no_rows_is_empty(spark, stored):
    root, entry = stored
    needed = spark.createDataFrame([], "doc_id binary")
    assert with_columns(spark, root, entry, TEXTS, needed, ["text"]).count() == 0


def test_with_columns_of_a_table_without_files_is_empty(spark, stored):
    needed = spark.createDataFrame([(b"0-000000",)], "doc_id binary")
    found = with_columns(spark, stored[0], TableEntry.of([]), TEXTS, needed, ["text"])
    assert (found.columns, found.count()) == (["doc_id", "text"], 0)


@pytest.mark.parametrize("task_bytes", [1, 1 << 30])
def test_scan_reads_every_row_once_however_files_are_shared_out(spark, stored, monkeypatch, task_bytes):
    monkeypatch.setattr("dedup_lib.tables.scan.TASK_BYTES", max(task_bytes, stored[1].files[0].bytes // 4))
    root, entry = stored
    schema = StructType([StructField("text", StringType()), StructField("size", LongType())])

    def same(batches):
        yield from batches

    found = scan_entry(spark, root, entry, ["text", "size"], same, schema).collect()

    assert sorted(row["size"] for row in found) == sorted([*range(ROWS), *range(5)])
    assert len({row["text"] for row in found}) == ROWS + 5


def test_scan_of_no_files_is_empty(spark, stored):
    schema = StructType([StructField("text", StringType())])
    assert scan_entry(spark, stored[0], TableEntry.of([]), ["text"], lambda batches: batches, schema).count() == 0
