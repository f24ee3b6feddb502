"""Tables written and read with Spark."""

import subprocess
import sys
from dataclasses import replace
from datetime import date

import pyarrow as pa
import pyarrow.dataset
import pytest
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from dedup_lib.errors import InputError, SchemeMismatchError, UsageError
from dedup_lib.tables.keys import SnapshotKey
from dedup_lib.tables.published import StageEntry, Version, read_version
from dedup_lib.tables.read import published_files, read_table, require_one_scheme, require_scheme
from dedup_lib.tables.schemas import ARCHIVES, CLUSTERS, FETCHES, IDENTITIES, REJECTS, TABLES
from dedup_lib.tables.validate import check_table
from dedup_lib.tables.workspace import open_workspace
from dedup_lib.tables.write import write_frame, write_tagged

KEY = SnapshotKey("web", "A")


def identities(spark, numbers):
    rows = [(bytes([n]) * 16, f"http://x/{n}", date(2026, 1, 1), True, None, None) for n in numbers]
    return spark.createDataFrame(rows, IDENTITIES.spark)


def entry(run, tables, stage="resolve", made_from=None, scheme="s1"):
    return StageEntry(stage, run, f"f-{run}", scheme, "u1", made_from or {}, {}, tables)


def store(spark, root, run, numbers):
    with open_workspace(root, KEY, run) as work:
        table = write_frame(identities(spark, numbers), IDENTITIES, work.table_folder("identities"), work.root)
        work.finish_stage(entry(run, {"identities": table}))
        return work.publish()


@pytest.fixture(params=["plain", "odd [name] {a,b} *?é %41"])
def root(request, tmp_path):
    return tmp_path / request.param


def test_round_trip(spark, root):
    version = store(spark, root, "r1", [3, 1, 2])
    frame = read_table(spark, root, version, IDENTITIES)
    assert frame.columns == IDENTITIES.names
    assert frame.schema == IDENTITIES.spark
    assert sorted(row.doc_id[0] for row in frame.collect()) == [1, 2, 3]
    table = version.stages["resolve"].tables["identities"]
    assert table.rows == 3
    assert all((root / file.path).stat().st_size == file.bytes for file in table.files)
    assert published_files(root, "identities") == [str(root / file.path) for file in table.files]
    on_disk = {path.name for path in (root / "identities").glob("**/*") if path.is_file()}
    assert on_disk == {file.path.rpartition("/")[2] for file in table.files}


def test_a_plain_glob_at_rest_sees_each_row_once(spark, tmp_path):
    store(spark, tmp_path, "r1", [1, 2])
    with pytest.raises(RuntimeError), open_workspace(tmp_path, KEY, "r2") as work:
        write_frame(identities(spark, [7]), IDENTITIES, work.table_folder("identities"), work.root)
        raise RuntimeError
    found = pa.dataset.dataset(tmp_path / "identities", partitioning="hive").to_table()
    assert sorted(value[0] for value in found["doc_id"].to_pylist()) == [1, 2]
    assert set(found["run"].to_pylist()) == {"r1"}
    assert sorted(row.doc_id[0] for row in spark.read.parquet(str(tmp_path / "identities")).collect()) == [1, 2]


def test_an_empty_frame(spark, tmp_path):
    version = store(spark, tmp_path, "r1", [])
    frame = read_table(spark, tmp_path, version, IDENTITIES)
    assert (frame.count(), frame.schema) == (0, IDENTITIES.spark)
    assert published_files(tmp_path, "identities") is not None


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_all_tables_keep_their_types_on_disk(spark, tmp_path, table):
    written = write_frame(spark.createDataFrame([], table.spark), table, table.name, tmp_path)
    for file in written.files:
        found = pa.parquet.read_schema(tmp_path / file.path)
        assert found.names == table.names
        assert from_arrow_schema(found) == table.spark


def test_order_and_rows_per_file(spark, tmp_path):
    frame = identities(spark, range(100, 0, -1)).repartition(1).select(*reversed(IDENTITIES.names))
    table = write_frame(frame, IDENTITIES, "x", tmp_path, rows_per_file=40)
    assert sorted(file.rows for file in table.files) == [20, 40, 40]
    for file in table.files:
        values = pa.parquet.read_table(tmp_path / file.path)["doc_id"].to_pylist()
        assert values == sorted(values)


def test_a_frame_that_does_not_fit(spark, tmp_path):
    frame = identities(spark, [1]).drop("wins").withColumn("url", sf.lit("x"))
    frame = frame.withColumn("crawl_date", sf.lit("2026-01-01"))
    with pytest.raises(TypeError) as error:
        write_frame(frame, IDENTITIES, "x", tmp_path)
    assert str(error.value) == (
        "the frame does not fit table identities: wins is missing; url is no column of it; "
        "crawl_date is string, not date"
    )
    assert not (tmp_path / "x").exists()


def test_stale_absent_and_removed_tables(spark, tmp_path):
    version = store(spark, tmp_path, "r1", [1])
    with pytest.raises(InputError, match="no table clusters of source web, snapshot A: run cluster first"):
        read_table(spark, tmp_path, version, CLUSTERS)
    stages = {
        "resolve": replace(version.stages["resolve"], made_from={"extract": "r0"}),
        "extract": entry("r1", {}, "extract"),
    }
    stale = Version(KEY, None, stages)
    with pytest.raises(InputError, match=r"identities .* is stale, since extract was replaced .* run resolve again"):
        read_table(spark, tmp_path, stale, IDENTITIES)
    assert read_table(spark, tmp_path, stale, IDENTITIES, allow_stale=True).count() == 1
    (tmp_path / version.stages["resolve"].files[0].path).unlink()
    with pytest.raises(InputError, match="is gone"):
        read_table(spark, tmp_path, version, IDENTITIES)


def test_paths_of_unknown_and_unpublished_tables(tmp_path):
    with pytest.raises(UsageError, match="no table nothing: the tables are documents"):
        published_files(tmp_path, "nothing")
    with pytest.raises(InputError, match="no table clusters is published"):
        published_files(tmp_path, "clusters")


def test_schemes():
    require_scheme("x", "s1", "s1", "remake it")
    with pytest.raises(SchemeMismatchError, match="x has scheme s1, but s2 is needed: remake it"):
        require_scheme("x", "s1", "s2", "remake it")
    versions = [
        Version(SnapshotKey("web", name), None, {"sign": entry("r1", {}, "sign", scheme=scheme)})
        for name, scheme in (("A", "s1"), ("B", "s1"), ("C", "s2"))
    ]
    require_one_scheme(versions[:2], "sign")
    with pytest.raises(SchemeMismatchError, match="sign of source web, snapshot C has scheme s2, but s1"):
        require_one_scheme(versions, "sign")


def test_cut(spark, root):
    with open_workspace(root, KEY, "r1") as work:
        frame = spark.range(5).select("id", sf.lit("a").alias("source"), sf.array("id").alias("ids"))
        first, second = work.cut(frame, "round"), work.cut(frame.limit(0), "round")
        assert first.columns == ["id", "source", "ids"]
        assert sorted(row.id for row in first.collect()) == [0, 1, 2, 3, 4]
        assert second.count() == 0
        plan = first._jdf.queryExecution().optimizedPlan().toString()
        assert "Range" not in plan
    assert not (root / work.temporary_folder).exists()


def fetches_and_rejects(flag):
    """A function for write_tagged whose first attempt fails, after it has written."""
    kept, fetches, rejects = str(flag), FETCHES.arrow, REJECTS.arrow

    def split(batches):
        from pathlib import Path  # noqa: PLC0415

        for batch in batches:
            for number in batch["id"].to_pylist():
                columns = {"archive": "a.warc", "archive_offset": number, "kind": "error", "reason": "x"}
                schema, table = (fetches, "fetches") if number % 3 else (rejects, "rejects")
                row = {name: columns.get(name) for name in schema.names}
                yield table, pa.RecordBatch.from_pylist([row], schema=schema)
        if not Path(kept).exists():
            Path(kept).touch()
            raise RuntimeError("first attempt")

    return split


def folders_of(work):
    return {table.name: work.table_folder(table.name) for table in (FETCHES, REJECTS, ARCHIVES)}


def test_write_tagged(spark, tmp_path):
    (tmp_path / "flag").touch()
    with open_workspace(tmp_path, KEY, "r1") as work:
        lost = tmp_path / work.table_folder("fetches") / "part-lost.parquet"
        lost.parent.mkdir(parents=True)
        lost.write_text("of an attempt that was lost")
        frame = spark.range(0, 100, 1, 4)
        tables = [FETCHES, REJECTS, ARCHIVES]
        made = write_tagged(frame, fetches_and_rejects(tmp_path / "flag"), tables, folders_of(work), work.root)
        assert not lost.exists()
        assert {name: table.rows for name, table in made.items()} == {"fetches": 66, "rejects": 34, "archives": 0}
        work.finish_stage(entry("r1", made, "extract"))
        work.publish()
    version = read_version(tmp_path, KEY)
    offsets = {row.archive_offset for row in read_table(spark, tmp_path, version, REJECTS).collect()}
    assert offsets == set(range(0, 100, 3))
    archives = read_table(spark, tmp_path, version, ARCHIVES)
    assert (archives.count(), archives.schema) == (0, ARCHIVES.spark)


def test_a_failed_write_tagged_leaves_nothing(spark, tmp_path):
    with open_workspace(tmp_path, KEY, "r1") as work, pytest.raises(Exception, match="first attempt"):
        write_tagged(
            spark.range(0, 100, 1, 1),
            fetches_and_rejects(tmp_path / "flag"),
            [FETCHES, REJECTS, ARCHIVES],
            folders_of(work),
            work.root,
        )
    assert list(tmp_path.glob("**/*.parquet")) == []


RETRYING = """
import os, sys
sys.path.insert(0, "tests")
os.environ["PYSPARK_PYTHON"] = sys.executable
from pathlib import Path
from pyspark.sql import SparkSession
from dedup_lib.tables.schemas import FETCHES, REJECTS
from dedup_lib.tables.write import write_tagged
from tables.test_read_write import fetches_and_rejects

root = Path(sys.argv[1])
builder = SparkSession.builder.master("local[1,2]").config("spark.ui.enabled", "false")
spark = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
folders = {"fetches": "fetches/run=r1", "rejects": "rejects/run=r1"}
made = write_tagged(spark.range(0, 100, 1, 1), fetches_and_rejects(root / "flag"), [FETCHES, REJECTS], folders, root)
assert {name: table.rows for name, table in made.items()} == {"fetches": 66, "rejects": 34}
assert {file.path for table in made.values() for file in table.files} == {
    str(path.relative_to(root)) for path in root.glob("*/*/*")
}
"""


@pytest.mark.slow
def test_write_tagged_with_a_retried_task(tmp_path):
    child = subprocess.run([sys.executable, "-c", RETRYING, tmp_path], check=False, capture_output=True, text=True)
    assert child.returncode == 0, child.stderr
    assert (tmp_path / "flag").exists()
    assert "first attempt" in child.stderr


def test_check_table(spark):
    assert check_table(identities(spark, [1, 2]), IDENTITIES) == []
    assert check_table(identities(spark, []), IDENTITIES) == []
    frame = identities(spark, [1, 2, 2, 2]).withColumn("canonical_url", sf.lit(None).cast("string"))
    assert check_table(frame, IDENTITIES) == [
        "identities: canonical_url is null in 4 of 4 rows",
        "identities: doc_id must be unique, but 2 rows repeat one",
    ]
    no_key = identities(spark, [1, 2]).withColumn("doc_id", sf.lit(None).cast("binary"))
    assert check_table(no_key, IDENTITIES) == ["identities: doc_id is null in 2 of 2 rows"]
    assert check_table(spark.createDataFrame([], REJECTS.spark), REJECTS) == []
