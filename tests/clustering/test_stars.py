import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

from dedup_lib.clustering.stars import Removed, assign_stars, find_stars, removed_items, sweep_stars

from .sessions import frame_of, shuffle_partitions, tuples

pytestmark = pytest.mark.usefixtures("module_with_few_rows")

EDGES = st.sets(st.tuples(st.integers(0, 15), st.integers(0, 15)).filter(lambda edge: edge[0] < edge[1]), max_size=60)
PAIR = {"anchor": pa.int64(), "item": pa.int64()}
CHAIN = [(item, item + 1) for item in range(11)]  # 12 items


def reference_removed(edges):
    """Greedy in the order of items: an item stays if no kept one is its neighbour."""
    kept, removed = set(), set()
    for item in sorted({end for edge in edges for end in edge}):
        near_kept = any((anchor, item) in edges for anchor in kept)
        (removed if near_kept else kept).add(item)
    return sorted(removed)


def table_of(edges):
    anchors, items = [list(ends) for ends in zip(*edges, strict=True)] or [[], []]
    return pa.table([pa.array(ends, pa.int64()) for ends in (anchors, items, items)], ["anchor", "item", "place"])


def swept(edges):
    return sorted(sweep_stars(table_of(edges))["item"].to_pylist())


def random_edges(first, last, number, seed):
    dice = random.Random(seed)
    return list({tuple(sorted(dice.sample(range(first, last), 2))) for _ in range(number)})


@settings(deadline=None)  # the first example compiles the kernel
@given(EDGES, st.randoms(use_true_random=False), st.sampled_from([0, 10**15]))
def test_the_sweep_removes_what_the_greedy_of_the_definition_removes(edges, dice, far):
    in_any_order = sorted((anchor + far, item + far) for anchor, item in edges)
    dice.shuffle(in_any_order)
    if in_any_order:
        assert swept(in_any_order) == reference_removed(set(in_any_order))


def test_the_sweep_of_no_edges_removes_nothing():
    assert swept([]) == []


def test_of_a_chain_every_other_item_is_removed():
    assert swept(CHAIN) == [1, 3, 5, 7, 9, 11]


def test_rounds_over_spark_remove_what_the_sweep_removes(spark, cut):
    edges = [*CHAIN, *random_edges(100, 160, 120, seed=1), *((200, item) for item in range(201, 260))]
    frame = cut(frame_of(spark, PAIR, edges), "edges")
    removed = [row["item"] for row in removed_items(frame, 0, 64, cut).items.toArrow().to_pylist()]
    assert len(removed) == len(set(removed))
    assert sorted(removed) == swept(edges) == reference_removed(set(edges))


def test_a_greedy_may_end_on_the_driver_after_rounds_over_spark(spark, cut):
    edges = random_edges(0, 40, 70, seed=2)
    removed = removed_items(cut(frame_of(spark, PAIR, edges), "edges"), len(edges) // 2, 64, cut)
    assert sorted(row["item"] for row in removed.items.toArrow().to_pylist()) == reference_removed(set(edges))
    assert removed.relaxed == 0


def test_no_edges_remove_nothing_in_either_way(spark, cut):
    none = cut(frame_of(spark, PAIR, []), "edges")
    assert tuples(removed_items(none, 0, 1, cut).items) == []
    assert tuples(removed_items(none, 100, 1, cut).items) == []


def greedy_in_order(edges, order):
    """The removed items of the greedy over the neighbours of each item, in any order."""
    near = {end: set() for edge in edges for end in edge}
    for anchor, item in edges:
        near[anchor].add(item)
        near[item].add(anchor)
    kept = set()
    for item in sorted(near, key=order):
        if near[item].isdisjoint(kept):
            kept.add(item)
    return set(near) - kept


def hashes_of(spark, items):
    frame = spark.createDataFrame(pa.table({"item": pa.array(items, pa.int64())}))
    rows = frame.select("item", F.xxhash64("item").alias("place")).collect()
    return {row["item"]: (row["place"], row["item"]) for row in rows}


@pytest.mark.parametrize("driver_edges", [0, 60])
def test_what_a_chain_longer_than_the_rounds_leaves_open_is_decided_in_the_order_of_a_hash(spark, cut, driver_edges):
    """A monotone chain of 200 items, of which two rounds settle the first four; and a star that they settle whole."""
    chain = [(item, item + 1) for item in range(199)]
    edges = [*chain, *((500, item) for item in range(501, 540))]
    with shuffle_partitions(spark, 3):
        removed = removed_items(cut(frame_of(spark, PAIR, edges), "edges"), driver_edges, 2, cut)
        found = [row["item"] for row in removed.items.toArrow().to_pylist()]
    left = [edge for edge in chain if min(edge) >= 4]
    assert removed.relaxed == 196
    places = hashes_of(spark, range(4, 200))
    assert sorted(found) == sorted([1, 3, *range(501, 540), *greedy_in_order(left, places.get)])


def test_a_star_may_come_after_the_removed_item_where_the_order_was_relaxed(spark, cut):
    chain = [(item, item + 1) for item in range(60)]
    rows = [(*edge, 0.9, True) for edge in chain]
    edges = cut(frame_of(spark, {**PAIR, "similarity": pa.float64(), "exact": pa.bool_()}, rows), "edges")
    removed = removed_items(edges, 0, 1, cut)
    gone = {row["item"] for row in removed.items.toArrow().to_pylist()}
    stars = {item: star for item, star, *_ in tuples(assign_stars(edges, removed))}
    assert set(stars) == gone
    assert all(abs(item - star) == 1 and star not in gone for item, star in stars.items())
    assert any(star > item for item, star in stars.items())
    assert all({item - 1, item + 1} <= gone for item in range(1, 60) if item not in gone)


@pytest.mark.slow
def test_a_monotone_chain_of_very_many_items_ends_after_a_few_more_rounds(spark, cut):
    ends = np.arange(300_001, dtype=np.int64)
    edges = cut(spark.createDataFrame(pa.table({"anchor": ends[:-1], "item": ends[1:]})), "edges")
    with shuffle_partitions(spark, 2):
        removed = removed_items(edges, 1_000, 4, cut)
        gone = np.zeros(len(ends), bool)
        gone[removed.items.toArrow()["item"].to_numpy()] = True
    assert removed.relaxed == len(ends) - 8
    assert not (~gone[:-1] & ~gone[1:]).any()  # no two neighbours are kept
    assert not (gone[:-2] & gone[1:-1] & gone[2:]).any()  # each removed one has a kept neighbour


def test_just_enough_rounds_are_enough(spark, cut):
    chain = cut(frame_of(spark, PAIR, CHAIN[:3]), "edges")  # 0-1-2-3: one round removes 1, the next removes 3
    assert tuples(removed_items(chain, 0, 2, cut).items) == [(1,), (3,)]


def test_the_star_of_a_removed_item_is_the_first_kept_item_similar_to_it(spark, cut):
    kept_and_removed = [
        (0, 1, 0.9, True),  # 0 is kept, 1 removed
        (1, 2, 0.95, False),  # 2 has a removed neighbour only: kept
        (2, 5, 0.81, True),
        (0, 5, 0.83, False),  # of 5's kept neighbours 0 comes first, though 4 is more similar
        (4, 5, 0.99, True),
        (2, 6, 0.88, False),
        (1, 6, 0.97, False),  # 1 comes before 2, but is removed
    ]
    edges = frame_of(spark, {**PAIR, "similarity": pa.float64(), "exact": pa.bool_()}, kept_and_removed)
    removed = Removed(frame_of(spark, {"item": pa.int64()}, [(1,), (5,), (6,)]), 0)
    stars = [(1, 0, 0.9, True), (5, 0, 0.83, False), (6, 2, 0.88, False)]
    assert tuples(assign_stars(edges, removed)) == stars
    for driver_edges in (0, len(kept_and_removed)):
        found, relaxed = find_stars(cut(edges, "edges"), driver_edges, 5, cut)
        assert (tuples(found), relaxed) == (stars, 0)
