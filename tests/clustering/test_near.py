"""Near clusters are those of the definition: greedy over all pairs that share a key."""

import numpy as np
import pytest

from dedup_lib.clustering.near import cluster_near
from dedup_lib.config.settings import ClusterSettings

from .sessions import shuffle_partitions, tuples
from .sketches import SCHEME, agreements, contents_table, drawn, keys_of, stars_by_definition, variants
from .texts import words

pytestmark = pytest.mark.usefixtures("module_with_few_rows")


def no_texts(needed):
    raise AssertionError("texts were asked for")


@pytest.fixture(params=["driver", "spark"])
def clustered(request, spark, cut):
    """Clusters minima, with the passes after the first on the driver, or over Spark."""

    def run(minima, fixed=0, keys=None, **settings):
        contents = cut(spark.createDataFrame(contents_table(minima, keys)), "contents")
        where = {"driver_edges": 0} if request.param == "spark" else {}
        chosen = ClusterSettings(**{"verify": "estimate"} | where | settings)
        return cluster_near(contents, no_texts, chosen, SCHEME, cut, fixed)

    return run


def stars_of(near):
    return {item: star for item, star, *_ in tuples(near.stars)}


@pytest.fixture(scope="module")
def families():
    """20 families of 7 in a random order, some pairs of a family above 0.8 and some below; and 40 of no family."""
    rows = [variants(root, 7, 0.9, 10 * place) for place, root in enumerate(drawn(20, 1))]
    minima = np.random.default_rng(2).permutation(np.concatenate([*rows, drawn(40, 3)]))
    related = agreements(minima)[np.triu_indices(len(minima), 1)]
    assert ((related > 0.5) & (related < 0.8)).sum() > 20
    assert (related >= 0.8).sum() > 150
    return minima


def test_items_go_to_the_first_kept_one_that_shares_a_key_and_is_similar(clustered, families):
    stars = stars_by_definition(families, keys_of(families), 0.8)
    assert len(set(stars.values())) > 15
    assert stars_of(clustered(families)) == stars


@pytest.mark.parametrize("fixed", [60, 179])
def test_anchors_of_earlier_runs_stay_and_take_every_new_item_similar_to_them(clustered, families, fixed):
    near = clustered(families, fixed)
    assert stars_of(near) == stars_by_definition(families, keys_of(families), 0.8, fixed)
    assert all(item >= fixed for _, item in tuples(near.pairs.select("anchor", "item")))


def test_a_new_item_goes_to_an_anchor_that_another_anchor_hides(clustered):
    """Three anchors share all keys but one each; only the last is similar to the new item."""
    minima = drawn(4, 5)
    minima[3, :230] = minima[2, :230]
    keys = np.tile(keys_of(minima[:1]), (4, 1))
    assert stars_of(clustered(minima, 3, keys)) == {3: 2}


def test_anchors_alone_are_not_even_compared(clustered, families):
    near = clustered(families, len(families))
    assert tuples(near.pairs) == tuples(near.stars) == tuples(near.edges) == []


@pytest.mark.slow
def test_stars_depend_neither_on_partitions_nor_on_where_they_are_found(spark, clustered, families):
    expected = tuples(clustered(families, 60).stars)
    with shuffle_partitions(spark, 3):
        assert tuples(clustered(families, 60, driver_edges=0).stars) == expected


def test_a_pair_that_only_a_crowded_key_brings_together_is_found(clustered):
    """40 unlike items share one key and no other; the last two are near duplicates."""
    minima = drawn(40, 6)
    minima[39, :230] = minima[38, :230]
    keys = keys_of(drawn(40, 7))
    keys[:, 0] = 5
    near = clustered(minima, keys=keys)
    assert stars_of(near) == {39: 38}
    assert near.passes == 3  # the first item hides it, and so do the first eight


@pytest.mark.parametrize("driver_edges", [0, 1000])
def test_an_estimate_that_is_not_sure_removes_nothing_that_the_texts_do_not_confirm(spark, cut, driver_edges):
    """The estimates of three pairs are 0.898, 0.898 and 0.949; the texts of the second tell otherwise."""
    minima = drawn(6, 8)
    for item, agreeing in ((1, 230), (3, 230), (5, 243)):
        minima[item, :agreeing] = minima[item - 1, :agreeing]
    asked = []
    text, other = " ".join(words(60, 1)), " ".join(words(60, 2))

    def texts(needed):
        rows = [(row["item"], other if row["item"] in (3, 5) else text) for row in needed.collect()]
        asked.extend(item for item, _ in rows)
        return spark.createDataFrame(rows, "item long, text string")

    contents = cut(spark.createDataFrame(contents_table(minima)), "contents")
    near = cluster_near(contents, texts, ClusterSettings(driver_edges=driver_edges), SCHEME, cut)
    assert sorted(asked) == [0, 1, 2, 3]
    assert tuples(near.stars) == [(1, 0, 1.0, True), (5, 4, pytest.approx(243 / 256, abs=1e-6), False)]
    told = {row["item"]: (row["exact"], row["accepted"]) for row in near.verified.toArrow().to_pylist()}
    assert told == {1: (1.0, True), 3: (0.0, False), 5: (None, True)}
