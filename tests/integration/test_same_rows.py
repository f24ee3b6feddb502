"""Nothing but inputs and configuration shapes a row: not partitions, not cores, not how records lie in files."""

from contextlib import contextmanager

import pytest

from dedup_lib.tables.schemas import TABLES

from .archives import write_archives
from .command import KEY, execute, succeed
from .stored import PLACES, all_rows, rows, version

PARTITIONS = "spark.sql.shuffle.partitions"
PROPERTIES = """\
spark.master {master}
spark.driver.memory 2g
spark.driver.bindAddress 127.0.0.1
spark.driver.host 127.0.0.1
spark.driver.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC
spark.ui.enabled false
spark.ui.showConsoleProgress false
spark.sql.shuffle.partitions {partitions}
spark.sql.session.timeZone UTC
spark.sql.catalogImplementation in-memory
spark.sql.parquet.outputTimestampType TIMESTAMP_MICROS
"""


@contextmanager
def shuffle_partitions(spark, number):
    before = spark.conf.get(PARTITIONS)
    spark.conf.set(PARTITIONS, str(number))
    try:
        yield
    finally:
        spark.conf.set(PARTITIONS, before)


def test_the_small_snapshot_has_something_in_every_table(small):
    found = all_rows(small.root)
    assert all(found.values()), {name: len(found[name]) for name in TABLES}
    assert {row["reason"] for row in found["clusters"]} == {"kept", "url", "exact", "near"}


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1, 4, 13])
def test_rows_do_not_depend_on_shuffle_partitions(small, spark, tmp_path, partitions):
    with shuffle_partitions(spark, partitions):
        succeed("run", *KEY, "--input", small.inputs, "--output", tmp_path)
    assert all_rows(tmp_path) == all_rows(small.root)


@pytest.mark.slow
def test_rows_do_not_depend_on_the_order_of_inputs(small, tmp_path):
    inputs = sorted(small.inputs.iterdir(), reverse=True)
    succeed("run", *KEY, *(f"--input={path}" for path in inputs), "--output", tmp_path)
    assert all_rows(tmp_path) == all_rows(small.root)


def test_rows_do_not_depend_on_how_records_lie_in_files(small, records, tmp_path):
    write_archives(records[::-1], tmp_path / "input", 3)
    succeed("run", *KEY, "--input", tmp_path / "input", "--output", tmp_path / "store")
    for name in TABLES:
        if name != "archives":
            assert rows(tmp_path / "store", name, PLACES) == rows(small.root, name, PLACES), name


def test_records_read_twice_are_counted_and_change_no_document(small, records, tmp_path):
    write_archives(records, tmp_path / "input", 2)
    write_archives(records, tmp_path / "input" / "again", 3)
    done = succeed("extract", *KEY, "--input", tmp_path / "input", "--output", tmp_path / "store")
    assert rows(tmp_path / "store", "documents", PLACES) == rows(small.root, "documents", PLACES)
    extract = done.summary["counts"]["extract"]
    assert extract["repeated"] == extract["documents"] == len(rows(small.root, "documents"))
    assert extract["page_records"] == 2 * small.runs["snapshot-a"].summary["counts"]["extract"]["page_records"]


@pytest.mark.slow
@pytest.mark.parametrize(("master", "partitions"), [("local[1]", 1), ("local[4]", 7)])
def test_rows_do_not_depend_on_the_number_of_cores(small, tmp_path, master, partitions):
    properties = tmp_path / "spark.conf"
    properties.write_text(PROPERTIES.format(master=master, partitions=partitions))
    root = tmp_path / "store"
    arguments = ("--input", small.inputs, "--output", root, "--set", f"spark.properties={properties}")
    done = execute("run", *KEY, *arguments)
    assert done.code == 0, done.err
    assert done.summary["run"] == version(root).stages["cluster"].run
    assert all_rows(root) == all_rows(small.root)
