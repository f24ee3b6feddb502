"""The first pass over packed arrays gives the pairs of the definition, whatever is held, spilled or split."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_lib.clustering.buckets import RangeRows, first_of_keys, packing, pair_with_first

KEYS = st.integers(-(2**63), 2**63 - 1)
POOL = st.lists(KEYS, min_size=1, max_size=12, unique=True)


def pairs_by_definition(rows):
    """(key, anchor, item) of each item that is not the least of its key."""
    least = {}
    for key, item in rows:
        least[key] = min(item, least.get(key, item))
    return sorted((key, least[key], item) for key, item in rows if item != least[key])


def pairs_of(batches):
    return sorted(tuple(row.values()) for batch in batches for row in batch.to_pylist())


@st.composite
def keyed_items(draw):
    pool = draw(POOL)
    return [
        (item, draw(st.lists(st.sampled_from(pool), max_size=4, unique=True)))
        for item in draw(st.lists(st.integers(0, 2**40), max_size=40, unique=True))
    ]


@given(keyed_items(), st.integers(1, 60), st.integers(1, 7))
@settings(deadline=None)
def test_pairs_are_those_of_the_definition_however_few_rows_are_held(items, held, cut):
    rows = [(key, item) for item, keys in items for key in keys]
    whole = RangeRows(held)
    for start in range(0, len(rows), cut):
        part = np.array(rows[start : start + cut], np.int64).reshape(-1, 2)
        whole.add(part[:, 0].copy(), part[:, 1].copy())
    assert pairs_of(whole.pairs()) == pairs_by_definition(rows)


@given(keyed_items(), st.integers(1, 9))
@settings(deadline=None)
def test_packing_loses_no_pair_and_puts_a_key_into_one_range(items, ranges):
    batch = pa.record_batch(
        [pa.array([one for one, _ in items], pa.int64()), pa.array([keys for _, keys in items], pa.list_(pa.int64()))],
        names=["item", "keys"],
    )
    range_of, found = {}, []
    for packed in packing(ranges)(iter([batch.slice(0, 3), batch.slice(3)])):
        for row in packed.to_pylist():
            keys, own = np.frombuffer(row["keys"], np.int64), np.frombuffer(row["items"], np.int64)
            found += zip(keys.tolist(), own.tolist(), strict=True)
            for key in keys.tolist():
                assert range_of.setdefault(key, row["range"]) == row["range"] < ranges
    assert sorted(found) == sorted((key, item) for item, keys in items for key in keys)


def test_a_key_shared_by_very_many_items_is_spilled_and_gives_one_row_less_than_it_has():
    rows = RangeRows(1_000)
    for start in range(0, 50_000, 700):
        items = np.arange(start, min(start + 700, 50_000), dtype=np.int64)[::-1].copy()
        rows.add(np.full(len(items), 7, np.int64), items)
    assert rows.spilled is not None
    found = list(rows.pairs())
    assert sum(batch.num_rows for batch in found) == 49_999
    assert all(set(batch.column("anchor").to_pylist()) == {0} for batch in found)


def test_first_of_no_keys_is_empty():
    assert [len(part) for part in first_of_keys(np.empty(0, np.int64), np.empty(0, np.int64))] == [0, 0, 0]


@pytest.mark.parametrize("partitions", [1, 3])
def test_frames_give_the_pairs_of_the_definition(spark, partitions):
    random = np.random.default_rng(5)
    items = [(item, sorted({int(key) << 50 for key in random.integers(-40, 40, 3)})) for item in range(300)]
    frame = spark.createDataFrame([*items, (300, [])], "item long, keys array<long>").repartition(partitions)
    found = sorted(tuple(row) for row in pair_with_first(frame, "keys").collect())
    assert found == pairs_by_definition([(key, item) for item, keys in items for key in keys])
