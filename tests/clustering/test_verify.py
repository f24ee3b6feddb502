import pyarrow as pa
import pytest
from signatures.reference import jaccard, reference_shingles

from dedup_lib.clustering.verify import Bounds, edges_of, estimate_pairs, exact_similarities, judge_pairs, verify_pairs
from dedup_lib.config.settings import ClusterSettings
from dedup_lib.signatures import Scheme, estimate_jaccard, sign_texts

from .sessions import frame_of, shuffle_partitions, tuples
from .texts import pair_of_texts

pytestmark = pytest.mark.usefixtures("module_with_few_rows")

PAIR = {"anchor": pa.int64(), "item": pa.int64()}
SCHEME = Scheme()
# 200 to 240 shingles each, Jaccard from 0.70 to 0.91; 160 and 20 give 0.8 itself
PLANNED = [(160, 20), (160, 20), (159, 20), (161, 20), (80, 10), (200, 10), (190, 40)]
PLANNED += [(160, other) for other in range(9, 33)] + [(180, other) for other in range(10, 36)]


@pytest.fixture(scope="module")
def pairs():
    """(anchor, item) -> their texts; pairs share no item."""
    texts = [pair_of_texts(shared, other, seed) for seed, (shared, other) in enumerate(PLANNED)]
    return {(2 * place, 2 * place + 1): both for place, both in enumerate(texts)}


@pytest.fixture(scope="module")
def sketches(spark, pairs):
    texts = [text for both in pairs.values() for text in both]
    minhash = sign_texts(pa.array(texts), SCHEME).to_arrow()["minhash"]
    return spark.createDataFrame(pa.table({"item": pa.array(range(len(texts)), pa.int64()), "minhash": minhash}))


@pytest.fixture(scope="module")
def texts(spark, pairs):
    rows = [(item, text) for ends, both in pairs.items() for item, text in zip(ends, both, strict=True)]
    frame = frame_of(spark, {"item": pa.int64(), "text": pa.string()}, rows)
    return lambda needed: frame.join(needed, "item", "inner")


def exact_of(pairs):
    return {ends: jaccard(*map(reference_shingles, both)) for ends, both in pairs.items()}


def estimates_of(pairs):
    sides = [
        sign_texts(pa.array(list(side)), SCHEME).to_arrow()["minhash"] for side in zip(*pairs.values(), strict=True)
    ]
    return dict(zip(pairs, estimate_jaccard(*sides, SCHEME.minhash_bits), strict=True))


def test_the_planned_similarities_are_what_was_planned(pairs):
    expected = [shared / (shared + 2 * other) for shared, other in PLANNED]
    assert list(exact_of(pairs).values()) == expected


def test_bounds_are_four_standard_errors_below_the_threshold_and_three_above_and_five_where_a_document_is_removed():
    bounds = Bounds.of(ClusterSettings(), 256)
    assert bounds.sure == pytest.approx(0.8 + 5 * 0.025)
    assert bounds.reject == pytest.approx(0.8 - 4 * 0.025)  # sqrt(0.8 * 0.2 / 256) = 0.4 / 16
    assert bounds.accept == pytest.approx(0.8 + 3 * 0.025)
    fewer = Bounds.of(ClusterSettings(threshold=0.5), 100)
    assert (fewer.reject, fewer.accept) == pytest.approx((0.3, 0.65))  # sqrt(0.25 / 100) = 0.05


def test_with_few_permutations_the_estimate_accepts_nothing_by_itself():
    assert Bounds.of(ClusterSettings(), 16).accept > 1  # 0.8 + 3 * 0.1


def test_the_estimate_alone_decides_at_the_threshold_and_none_accepts_all():
    assert Bounds.of(ClusterSettings(verify="estimate"), 256) == Bounds(0.8, 0.8, 0.8)
    assert Bounds.of(ClusterSettings(verify="none"), 256) == Bounds(0.0, 0.0, 0.0)


def test_estimated_pairs_below_the_bound_are_left_out(spark, pairs, sketches):
    estimates = estimates_of(pairs)
    bound = sorted(estimates.values())[20]  # one of the estimates: at the bound is not below it
    found = estimate_pairs(frame_of(spark, PAIR, list(pairs)), sketches, SCHEME, bound)
    assert tuples(found) == tuples_of({ends: (value,) for ends, value in estimates.items() if value >= bound})


def tuples_of(values):
    return sorted(((*ends, *value) for ends, value in values.items()), key=repr)


def test_exact_similarities_are_the_jaccard_of_the_shingle_sets(spark, pairs, texts):
    with shuffle_partitions(spark, 3):
        found = tuples(exact_similarities(frame_of(spark, PAIR, list(pairs)), texts, SCHEME))
    assert found == tuples_of({ends: (value,) for ends, value in exact_of(pairs).items()})


def test_exact_similarities_read_only_the_texts_of_the_pairs_and_take_ids_of_any_type(spark):
    asked = []
    rows = [(b"a", "One two three four five six"), (b"b", "one two THREE four five, seven"), (b"c", "short one")]
    known = frame_of(spark, {"item": pa.binary(), "text": pa.string()}, [*rows, (b"z", "never asked for")])

    def texts(needed):
        asked.extend(row["item"] for row in needed.toArrow().to_pylist())
        return known.join(needed, "item", "inner")

    pairs = frame_of(spark, {"anchor": pa.binary(), "item": pa.binary()}, [(b"a", b"b"), (b"a", b"c"), (b"c", b"c")])
    found = tuples(exact_similarities(pairs, texts, SCHEME))
    assert found == [(b"a", b"b", 1 / 3), (b"a", b"c", 0.0), (b"c", b"c", 1.0)]
    assert sorted(asked) == [b"a", b"b", b"c"]


def test_verified_edges_are_exactly_the_pairs_at_or_above_the_threshold(spark, cut, pairs, sketches, texts):
    exact, estimates = exact_of(pairs), estimates_of(pairs)
    edges = verify_pairs(frame_of(spark, PAIR, list(pairs)), sketches, texts, ClusterSettings(), SCHEME, cut)
    found = {(row["anchor"], row["item"]): row for row in edges.toArrow().to_pylist()}
    assert set(found) == {ends for ends, value in exact.items() if value >= 0.8}
    for ends, row in found.items():
        assert row["exact"] == (estimates[ends] < 0.925)
        assert row["similarity"] == (exact[ends] if row["exact"] else estimates[ends])
    assert {row["exact"] for row in found.values()} == {True, False}


@pytest.mark.parametrize(("write_pairs", "least"), [(False, 0.7), (True, 0.0)])
def test_pairs_are_compared_exactly_where_the_estimate_cannot_decide(
    spark, cut, pairs, sketches, texts, write_pairs, least
):
    exact, estimates = exact_of(pairs), estimates_of(pairs)
    settings = ClusterSettings(write_pairs=write_pairs)
    judged = judge_pairs(frame_of(spark, PAIR, list(pairs)), sketches, texts, settings, SCHEME, cut)
    expected = {}
    for ends, estimate in estimates.items():
        if estimate >= least:
            between = 0.7 <= estimate < 0.875
            accepted = exact[ends] >= 0.8 if between else estimate >= 0.875
            expected[ends] = (estimate, exact[ends] if between else None, accepted)
    assert tuples(judged) == tuples_of(expected)
    assert {fate[2] for fate in expected.values() if fate[1] is not None} == {True, False}
    edges = {ends: (fate[1] or fate[0], fate[1] is not None) for ends, fate in expected.items() if fate[2]}
    assert tuples(edges_of(judged)) == tuples_of(edges)


@pytest.mark.parametrize(("verify", "least"), [("estimate", 0.8), ("none", 0.0)])
def test_without_exact_verification_no_text_is_read(spark, cut, pairs, sketches, verify, least):
    def no_texts(needed):
        raise AssertionError("texts were asked for")

    settings = ClusterSettings(verify=verify)
    edges = verify_pairs(frame_of(spark, PAIR, list(pairs)), sketches, no_texts, settings, SCHEME, cut)
    estimates = estimates_of(pairs)
    assert tuples(edges) == tuples_of({ends: (value, False) for ends, value in estimates.items() if value >= least})
