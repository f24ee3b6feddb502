import random

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from dedup_lib.clustering.ranks import rank_items

from .sessions import frame_of, shuffle_partitions

COLUMNS = {"size": pa.int32(), "day": pa.int64(), "name": pa.binary()}


def ranked(spark, rows, cut):
    order = [-F.col("size"), F.col("day"), F.col("name")]
    items = rank_items(frame_of(spark, COLUMNS, rows), order, ["name", "size"], cut)
    assert items.columns == ["item", "name", "size"]
    assert items.schema["item"].dataType.simpleString() == "bigint"
    return [(row["item"], row["name"], row["size"]) for row in items.orderBy("item").toArrow().to_pylist()]


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_items_are_the_places_in_the_total_order_whatever_the_partitions_and_the_order_of_rows(spark, cut, partitions):
    dice = random.Random(1)
    names = [bytes([dice.randrange(256) for _ in range(3)]) + bytes([n % 256, n // 256]) for n in range(400)]
    rows = [(dice.choice([1, 2, 3]), dice.choice([None, -5, 0, 7]), name) for name in names]
    in_order = sorted(rows, key=lambda row: (-row[0], (row[1] is not None, row[1] or 0), row[2]))
    dice = random.Random(partitions)
    dice.shuffle(rows)
    with shuffle_partitions(spark, partitions):
        found = ranked(spark, rows, cut)
    assert found == [(place, name, size) for place, (size, _, name) in enumerate(in_order)]


def test_a_single_row_is_item_0_and_no_rows_give_none(spark, cut):
    assert ranked(spark, [(4, None, b"only")], cut) == [(0, b"only", 4)]
    assert ranked(spark, [], cut) == []
