import random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_lib.clustering.stars import assign_stars, removed_items, sweep_removed
from dedup_lib.errors import CheckFailedError

from .sessions import frame_of, tuples

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
    return pa.table([pa.array(list(ends), pa.int64()) for ends in zip(*edges, strict=True)] or [[], []], list(PAIR))


def random_edges(first, last, number, seed):
    dice = random.Random(seed)
    return list({tuple(sorted(dice.sample(range(first, last), 2))) for _ in range(number)})


@settings(deadline=None)  # the first example compiles the kernel
@given(EDGES, st.randoms(use_true_random=False), st.sampled_from([0, 10**15]))
def test_the_sweep_removes_what_the_greedy_of_the_definition_removes(edges, dice, far):
    in_any_order = sorted((anchor + far, item + far) for anchor, item in edges)
    dice.shuffle(in_any_order)
    if in_any_order:
        assert sweep_removed(table_of(in_any_order)).to_pylist() == reference_removed(set(in_any_order))


def test_the_sweep_of_no_edges_removes_nothing():
    assert sweep_removed(pa.table({name: pa.array([], pa.int64()) for name in PAIR})).to_pylist() == []


def test_of_a_chain_every_other_item_is_removed():
    assert sweep_removed(table_of(CHAIN)).to_pylist() == [1, 3, 5, 7, 9, 11]


def test_rounds_over_spark_remove_what_the_sweep_removes(spark, cut):
    edges = [*CHAIN, *random_edges(100, 160, 120, seed=1), *((200, item) for item in range(201, 260))]
    frame = cut(frame_of(spark, PAIR, edges), "edges")
    removed = [row["item"] for row in removed_items(frame, 0, 64, cut).toArrow().to_pylist()]
    assert len(removed) == len(set(removed))
    assert sorted(removed) == sweep_removed(table_of(edges)).to_pylist() == reference_removed(set(edges))


def test_a_greedy_may_end_on_the_driver_after_rounds_over_spark(spark, cut):
    edges = random_edges(0, 40, 70, seed=2)
    removed = removed_items(cut(frame_of(spark, PAIR, edges), "edges"), len(edges) // 2, 64, cut)
    assert sorted(row["item"] for row in removed.toArrow().to_pylist()) == reference_removed(set(edges))


def test_no_edges_remove_nothing_in_either_way(spark, cut):
    none = cut(frame_of(spark, PAIR, []), "edges")
    assert tuples(removed_items(none, 0, 1, cut)) == []
    assert tuples(removed_items(none, 100, 1, cut)) == []


def test_a_chain_longer_than_the_rounds_is_an_error_that_names_the_settings(spark, cut):
    chain = cut(frame_of(spark, PAIR, CHAIN), "edges")
    with pytest.raises(CheckFailedError, match="after 1 rounds") as raised:
        removed_items(chain, 8, 1, cut)
    assert "cluster.driver_edges" in str(raised.value)
    assert "cluster.max_rounds" in str(raised.value)
    assert raised.value.exit_code == 4


def test_just_enough_rounds_are_enough(spark, cut):
    chain = cut(frame_of(spark, PAIR, CHAIN[:3]), "edges")  # 0-1-2-3: one round removes 1, the next removes 3
    assert tuples(removed_items(chain, 0, 2, cut)) == [(1,), (3,)]


def test_the_star_of_a_removed_item_is_the_first_kept_item_similar_to_it(spark):
    kept_and_removed = [
        (0, 1, 0.9, True),  # 0 is kept, 1 removed
        (1, 2, 0.95, False),  # 2 has a removed neighbour only: kept
        (2, 5, 0.81, True),
        (0, 5, 0.83, False),  # of 5's kept neighbours 0 comes first, though 4 is more similar
        (4, 5, 0.99, True),
        (2, 6, 0.88, False),
        (1, 6, 0.97, False),  # 1 comes before 2, but is removed
    ]
    edges = {**PAIR, "similarity": pa.float64(), "exact": pa.bool_()}
    removed = frame_of(spark, {"item": pa.int64()}, [(1,), (5,), (6,)])
    assert tuples(assign_stars(frame_of(spark, edges, kept_and_removed), removed)) == [
        (1, 0, 0.9, True),
        (5, 0, 0.83, False),
        (6, 2, 0.88, False),
    ]
