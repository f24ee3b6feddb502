import random
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

from dedup_lib.clustering.candidates import (
    bucket_members,
    distinct_pairs,
    pair_in_buckets,
    pairing,
)

from .sessions import frame_of, shuffle_partitions, tuples

INT64_ENDS = (-(2**63), 2**63 - 1)
KEYS = st.one_of(st.integers(-2, 2), st.sampled_from(INT64_ENDS))
ROWS = st.sets(st.tuples(KEYS, st.integers(0, 12)), max_size=40).map(sorted)


def reference_buckets(rows, anchors, fixed=0):
    """(key, anchor, item) of each item of a key with the first `anchors` items of that key, from the definition.

    With `fixed`, with the first items below it and the first others.
    """
    buckets = {}
    for key, item in sorted(rows):
        buckets.setdefault(key, []).append(item)
    return sorted(
        (key, anchor, item)
        for key, items in buckets.items()
        for kind in ([one for one in items if one < fixed], [one for one in items if one >= fixed])
        for anchor in kind[:anchors]
        for item in items
        if anchor < item >= fixed
    )


def batches_of(rows, borders, label_of=lambda item: item):
    columns = {"key": [key for key, _ in rows], "item": [item for _, item in rows]}
    columns["label"] = [label_of(item) for item in columns["item"]]
    table = pa.table(columns).cast(pa.schema([(name, pa.int64()) for name in columns]))
    places = [0, *sorted(min(border, len(rows)) for border in borders), len(rows)]
    for start, end in pairwise(places):
        yield pa.RecordBatch.from_pydict(table.slice(start, end - start).to_pydict(), schema=table.schema)


def paired(rows, anchors, borders=(), fixed=0, label_of=lambda item: item):
    batches = pairing(anchors, fixed)(batches_of(rows, borders, label_of))
    return sorted(tuple(row.values()) for batch in batches for row in batch.to_pylist())


def labelled(rows):
    return rows.withColumn("label", F.col("item"))


@settings(deadline=None)  # the first example compiles the kernel
@given(ROWS, st.integers(1, 4), st.lists(st.integers(0, 40), max_size=6), st.sampled_from([0, 1, 5, 13]))
def test_pairs_are_those_of_the_definition_wherever_batches_end(rows, anchors, borders, fixed):
    assert paired(rows, anchors, borders, fixed) == reference_buckets(rows, anchors, fixed)


def test_items_of_one_label_are_not_paired_and_have_one_anchor_of_it():
    rows = [(7, item) for item in range(6)]
    labels = {0: 0, 1: 0, 2: 2, 3: 0, 4: 2, 5: 5}
    assert paired(rows, 2, label_of=labels.get) == [(7, 0, 2), (7, 0, 4), (7, 0, 5), (7, 2, 3), (7, 2, 5)]
    assert paired(rows, 2, range(6), label_of=lambda _: 1) == []


@pytest.mark.parametrize("anchors", [1, 2, 8])
def test_a_border_at_each_place_of_a_key_changes_nothing(anchors):
    rows = [(key, item) for key in (-1, 0, 3) for item in range(5)]
    expected = reference_buckets(rows, anchors)
    assert all(paired(rows, anchors, [border]) == expected for border in range(len(rows) + 1))
    assert paired(rows, anchors, range(len(rows))) == expected


def test_key_0_is_a_key_like_any_other_even_as_the_first():
    assert paired([(0, 4), (0, 6), (1, 5)], 1) == [(0, 4, 6)]


def test_item_0_is_paired_like_any_other():
    assert paired([(7, 0), (7, 1), (8, 0)], 1) == [(7, 0, 1)]


def test_keys_of_one_item_give_nothing():
    assert paired([(key, key * key) for key in range(-50, 50)], 8) == []


@pytest.mark.parametrize(("anchors", "pairs"), [(1, 19_999), (8, 8 * 20_000 - 36)])
def test_a_hot_key_gives_rows_in_proportion_to_its_items(anchors, pairs):
    batches = pairing(anchors)(batches_of([(5, item) for item in range(20_000)], range(0, 20_000, 3_000)))
    assert sum(batch.num_rows for batch in batches) == pairs  # n - 1; 8 n - (1 + ... + 8)


def test_each_run_over_a_partition_begins_without_memory():
    pair = pairing(1)
    for _ in range(2):
        assert sum(batch.num_rows for batch in pair(batches_of([(1, 1)], ()))) == 0


@pytest.mark.parametrize("partitions", [1, 7])
def test_frames_give_the_pairs_of_the_definition(spark, cut, partitions):
    dice = random.Random(3)
    items = [(item, [dice.randrange(-20, 20) * 2**57 for _ in range(3)]) for item in range(120)]
    items = [(item, sorted(set(keys))) for item, keys in items] + [(120, [])]
    rows = [(key, item) for item, keys in items for key in keys]
    dice.shuffle(items)
    frame = frame_of(spark, {"item": pa.int64(), "bands": pa.list_(pa.int64())}, items)
    with shuffle_partitions(spark, partitions):
        buckets = cut(pair_in_buckets(labelled(frame.select(F.explode("bands").alias("key"), "item")), 3), "buckets")
        expected = reference_buckets(rows, 3)
        assert tuples(buckets) == sorted(expected, key=repr)
        pairs = {(anchor, item) for _, anchor, item in expected}
        assert tuples(distinct_pairs(buckets)) == sorted(pairs, key=repr)


def test_bucket_members_are_all_rows_of_shared_keys(spark):
    rows = [(0, 1), (0, 2), (0, 3), (9, 1), (-4, 2), (-4, 7)]
    frame = frame_of(spark, {"key": pa.int64(), "item": pa.int64()}, rows)
    shared = [(0, 1), (0, 2), (0, 3), (-4, 2), (-4, 7)]
    assert tuples(bucket_members(pair_in_buckets(labelled(frame), 1))) == sorted(shared, key=repr)


def test_bucket_members_with_fixed_ones_are_those_of_keys_that_a_new_item_shares(spark):
    rows = [(0, 1), (0, 2), (0, 3), (9, 1), (-4, 2), (-4, 7), (5, 6), (5, 8), (6, 0), (6, 1)]
    frame = frame_of(spark, {"key": pa.int64(), "item": pa.int64()}, rows)
    of_new = [(-4, 2), (-4, 7), (5, 6), (5, 8)]
    assert tuples(bucket_members(pair_in_buckets(labelled(frame), 1), fixed=4)) == sorted(of_new, key=repr)


def test_no_rows_give_no_pairs(spark):
    frame = frame_of(spark, {"key": pa.int64(), "item": pa.int64()}, [])
    assert tuples(pair_in_buckets(labelled(frame), 2)) == []
