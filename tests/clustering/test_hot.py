"""Near duplicates that meet only under a key of very many unlike items are found, at a constant cost per row."""

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from dedup_lib.clustering.candidates import distinct_pairs, pair_in_buckets
from dedup_lib.clustering.hot import FURTHER_KEYS, further_keys, spread_keys

from .sessions import frame_of, shuffle_partitions, tuples
from .sketches import SCHEME, contents_table, drawn

ITEMS, PLANTED, ANCHORS = 3_000, 300, 8


@pytest.fixture(scope="module")
def boilerplate():
    """Minima of unlike items that share the band 0, of which a tenth are in pairs that share no other band."""
    minima, dice = drawn(ITEMS, 1), np.random.default_rng(2)
    minima[:, :8] = minima[0, :8]
    pairs = np.sort(dice.permutation(ITEMS)[: 2 * PLANTED].reshape(PLANTED, 2))
    differs = dice.random((PLANTED, SCHEME.bands, SCHEME.rows)) >= 0.8
    unbroken = ~differs.any(axis=2)
    differs[unbroken, dice.integers(SCHEME.rows)] = True
    differs[:, 0] = False
    for (anchor, item), own in zip(pairs, differs.reshape(PLANTED, -1), strict=True):
        minima[item] = np.where(own, minima[item], minima[anchor])
    return minima, {tuple(pair) for pair in pairs.tolist()}


@pytest.fixture
def candidates(spark, boilerplate):
    """Pairs of the one key alone, and those of its further keys."""
    sketches = spark.createDataFrame(contents_table(boilerplate[0]))
    rows = sketches.select(F.lit(7).cast("long").alias("key"), "item", F.col("item").alias("label"))

    def pairs_of(rows):
        return {(anchor, item) for anchor, item in tuples(distinct_pairs(pair_in_buckets(rows, ANCHORS)))}

    return pairs_of(rows), pairs_of(further_keys(rows, sketches, SCHEME, ANCHORS))


def test_further_keys_bring_together_what_one_hot_key_hides(boilerplate, candidates):
    """Of two that share one band only, 1 - (1 - 0.76^4)^16 = 99.8 % share a further key; 97 % are 5 errors below."""
    planted = boilerplate[1]
    alone, further = candidates
    assert len(planted & alone) < 0.05 * PLANTED
    assert len(planted & further) > 0.97 * PLANTED
    assert len(further) < ITEMS  # chance brings hardly any other pair


def test_keys_of_no_more_items_or_labels_than_anchors_get_no_further_keys(spark):
    minima = drawn(30, 3)
    sketches = spark.createDataFrame(contents_table(minima))
    schema = {"key": pa.int64(), "item": pa.int64(), "label": pa.int64()}
    small = [(1, item, item) for item in range(ANCHORS)]
    one_label = [(2, item, item % 3) for item in range(30)]
    hot = [(3, item, item) for item in range(ANCHORS + 1)]
    with shuffle_partitions(spark, 3):
        rows = frame_of(spark, schema, [*small, *one_label, *hot])
        found = tuples(further_keys(rows, sketches, SCHEME, ANCHORS))
    assert [(item, label) for _, item, label in sorted(found, key=lambda row: row[1:])] == [
        (item, item) for item in range(ANCHORS + 1) for _ in range(FURTHER_KEYS)
    ]
    assert len({key for key, *_ in found}) == len(found)  # nothing in common, and none of the keys there were


def test_a_further_key_stands_for_its_hot_key_and_four_minima_of_four_bands():
    minima = np.arange(256, dtype=np.uint16)[None, :].repeat(2, axis=0)
    minima[1, 5] = 999
    keys = spread_keys(np.array([1, 1]), minima, FURTHER_KEYS)
    assert np.flatnonzero(keys[0] != keys[1]).tolist() == [5]
    other = spread_keys(np.array([2, 2]), minima, FURTHER_KEYS)
    assert not set(keys.reshape(-1)) & set(other.reshape(-1))
    for place in (0, 15, 16):
        changed = minima[:1].copy()
        changed[0, [place, place + 64, place + 128, place + 192]] = 77
        differ = np.flatnonzero(spread_keys(np.array([1]), changed, FURTHER_KEYS)[0] != keys[0]).tolist()
        assert differ == [place] * (place < FURTHER_KEYS)
