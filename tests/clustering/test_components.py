"""Components are those of a search through the graph, over Spark and on the driver alike."""

import random
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_lib.clustering.components import component_heads, join_components
from dedup_lib.errors import CheckFailedError

from .sessions import frame_of, shuffle_partitions, tuples

pytestmark = pytest.mark.usefixtures("module_with_few_rows")

PAIR = {"anchor": pa.int64(), "item": pa.int64()}
EDGES = st.sets(st.tuples(st.integers(0, 25), st.integers(0, 25)).filter(lambda edge: edge[0] < edge[1]), max_size=40)


def heads_by_search(edges):
    """(item, head) of every item that is not the first of those that can be reached from it."""
    near = {}
    for anchor, item in edges:
        near.setdefault(anchor, set()).add(item)
        near.setdefault(item, set()).add(anchor)
    seen, heads = set(), []
    for start in sorted(near):
        reached, ahead = {start}, [start]
        while start not in seen and ahead:
            for other in near[ahead.pop()] - reached:
                reached.add(other)
                ahead.append(other)
        heads += [(item, start) for item in reached - seen - {start}]
        seen |= reached
    return sorted(heads)


def table_of(edges):
    return pa.table({name: pa.array([edge[end] for edge in edges], pa.int64()) for end, name in enumerate(PAIR)})


def shuffled(number, seed):
    """A chain through `number` items in a random order."""
    order = random.Random(seed).sample(range(number), number)
    return [tuple(sorted(edge)) for edge in pairwise(order)]


@settings(deadline=None)  # the first example compiles the kernel
@given(EDGES, st.randoms(use_true_random=False), st.sampled_from([0, 10**15]))
def test_union_find_gives_the_first_item_of_each_component(edges, dice, far):
    in_any_order = [(anchor + far, item + far) for anchor, item in edges]
    dice.shuffle(in_any_order)
    found = join_components(table_of(in_any_order)).to_pylist()
    assert sorted((row["item"], row["head"]) for row in found) == heads_by_search(in_any_order)


GRAPHS = {
    "none": [],
    "chain": [(item, item + 1) for item in range(300)],
    "chain in a random order": shuffled(300, 1),
    "star": [(0, item) for item in range(1, 300)],
    "star around the last": [(item, 299) for item in range(299)],
    "clique": [(anchor, item) for item in range(30) for anchor in range(item)],
    "pairs": [(2 * item, 2 * item + 1) for item in range(200)],
    "random": list({tuple(sorted(random.Random(seed).sample(range(300), 2))) for seed in range(260)}),
    "two cliques and what joins them": [
        *((anchor, item) for item in range(12) for anchor in range(item)),
        *((anchor + 50, item + 50) for item in range(12) for anchor in range(item)),
        (11, 61),
    ],
}


def test_rounds_over_spark_find_the_components_of_all_graphs_at_once(spark, cut):
    """Each graph in a range of items of its own, so that the rounds are those of the slowest."""
    edges = [(far * 1000 + a, far * 1000 + b) for far, graph in enumerate(GRAPHS.values()) for a, b in graph]
    random.Random(3).shuffle(edges)
    with shuffle_partitions(spark, 3):
        heads = component_heads(cut(frame_of(spark, PAIR, edges), "edges"), 0, cut)
        assert tuples(heads) == sorted(heads_by_search(edges), key=repr)


@pytest.mark.parametrize("driver_edges", [0, 10])
def test_no_edges_have_no_components(spark, cut, driver_edges):
    assert tuples(component_heads(cut(frame_of(spark, PAIR, []), "edges"), driver_edges, cut)) == []


@pytest.mark.slow
def test_rounds_may_end_on_the_driver(spark, cut):
    clique = [(anchor, item) for item in range(20) for anchor in range(item)]  # 190 edges, 19 after a round
    edges = [*clique, *((item, item + 1) for item in range(100, 110))]
    heads = component_heads(cut(frame_of(spark, PAIR, edges), "edges"), 40, cut)
    assert tuples(heads) == sorted(heads_by_search(edges), key=repr)


def counting(cut):
    def counted(frame, name):
        counted.rounds += 1
        return cut(frame, name)

    counted.rounds = 0
    return counted


@pytest.mark.slow
def test_rounds_grow_with_the_logarithm_of_a_chain(spark, cut):
    """Twice the links take one round more, as Kiveris et al. observe; and one round finds that nothing moves."""
    rounds = []
    for power in (4, 7):
        counted = counting(cut)
        component_heads(cut(frame_of(spark, PAIR, shuffled(1 << power, 2)), "edges"), 0, counted)
        rounds.append(counted.rounds)
    assert rounds[0] <= 5
    assert rounds[1] - rounds[0] <= 3


@pytest.mark.slow
def test_links_that_still_move_after_the_last_round_are_an_error(spark, cut):
    edges = cut(frame_of(spark, PAIR, GRAPHS["chain"]), "edges")
    with pytest.raises(CheckFailedError, match="still move after 2 rounds") as raised:
        component_heads(edges, 0, cut, max_rounds=2)
    assert "cluster.driver_edges" in str(raised.value)
    assert raised.value.exit_code == 4


MILLION = 1_000_000
ALL = np.arange(MILLION + 1, dtype=np.int64)
LARGE = {
    "chain": (ALL[:-1], ALL[1:]),
    "star": (np.zeros(MILLION, np.int64), ALL[1:]),
    "pairs": (2 * ALL[1:], 2 * ALL[1:] + 1),
    "clique": tuple(np.array(np.triu_indices(1_415, 1), np.int64)),  # 1,000,405 edges
}


@pytest.mark.slow
@pytest.mark.parametrize("graph", LARGE)
def test_a_million_links_over_spark_and_on_the_driver(spark, cut, graph):
    anchors, items = LARGE[graph]
    edges = cut(spark.createDataFrame(pa.table({"anchor": anchors, "item": items})), "edges")
    expected = anchors if graph == "pairs" else np.zeros(len(items), np.int64)
    counted = counting(cut)
    with shuffle_partitions(spark, 4):
        for driver_edges in (0, 2 * MILLION):
            heads = component_heads(edges, driver_edges, counted).toArrow().sort_by("item")
            assert np.array_equal(heads["item"].to_numpy(), np.unique(items))
            assert np.array_equal(heads["head"].to_numpy(), expected[: len(heads)])
    assert counted.rounds <= 25
