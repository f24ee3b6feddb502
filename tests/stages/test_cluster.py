import random
from collections import Counter
from itertools import combinations
from types import SimpleNamespace

import pyarrow as pa
import pytest
from clustering.sessions import frame_of, shuffle_partitions, tuples
from clustering.texts import words
from signatures.reference import jaccard, reference_shingles, reference_words

from dedup_lib.clustering.representatives import describe_kept
from dedup_lib.clustering.shapes import compare_shapes
from dedup_lib.config.settings import ClusterSettings
from dedup_lib.signatures import Scheme, sign_texts
from dedup_lib.stages import scan_of, texts_in
from dedup_lib.stages.checks import check_references, check_similarities
from dedup_lib.stages.cluster import cluster
from dedup_lib.stages.sign import sign
from dedup_lib.tables.schemas import CLUSTERS, IDENTITIES, PAIRS, SIGNATURES

from .corpus import corpus, earliest_first, identities_of, latest_first, reference_funnel
from .rows import by_id, document, documents_frame

SCHEME = Scheme()
ROWS, LOST = corpus()


def clustered(spark, cut, rows, lost=(), seed=None, **settings):
    """The stage on literal documents, the rows of each table in another order for each seed."""
    lost, dice = dict(lost), random.Random(seed)
    winners = [row for row in rows if row["doc_id"] not in lost]
    signed = sign_texts(pa.array([row["text"] for row in winners], pa.string()), SCHEME).to_arrow()
    for name in ("doc_id", "content_hash"):
        signed[name] = pa.array([row[name] for row in winners], pa.binary())
    columns = [signed.get(field.name, pa.nulls(len(winners), field.type)) for field in SIGNATURES.arrow]
    order = dice.sample(range(len(winners)), len(winners))
    signatures = spark.createDataFrame(pa.table(columns, schema=SIGNATURES.arrow).take(pa.array(order, pa.int64())))
    names = identities_of(rows, lost)
    identities = frame_of(spark, IDENTITIES.arrow, dice.sample(names, len(names)))
    documents = documents_frame(spark, rows, seed)
    return run_stage(documents, identities, signatures, ClusterSettings(**settings), cut)


def run_stage(documents, identities, signatures, settings, cut):
    """The stage on tables as they lie in a store, documents without their texts."""
    found = cluster(documents.drop("text"), texts_in(documents), identities, signatures, settings, SCHEME, cut)
    clusters = cut(found.clusters, "clusters")
    kept = describe_kept(clusters, settings.aliases_per_row)
    return SimpleNamespace(clusters=clusters, pairs=found.pairs, near=found.near, kept=kept)


def fates_of(result):
    rows = by_id(result.clusters)
    return {name: (row["reason"], row["duplicate_of"], row["representative_id"]) for name, row in rows.items()}


@pytest.fixture(scope="module")
def result(spark, cut):
    documents = cut(documents_frame(spark, ROWS), "documents")
    identities = cut(frame_of(spark, IDENTITIES.arrow, identities_of(ROWS, LOST)), "identities")
    signatures = cut(sign(scan_of(documents), identities, SCHEME), "signatures")
    with shuffle_partitions(spark, 1):
        made = run_stage(documents, identities, signatures, ClusterSettings(), cut)
        made.kept = cut(made.kept, "kept")
        return made


@pytest.fixture(scope="module")
def expected():
    return reference_funnel(ROWS, LOST, earliest_first)


def test_the_corpus_has_every_kind_and_no_pair_that_bands_might_miss(expected):
    reasons = Counter(reason for reason, *_ in expected.values())
    assert reasons.keys() == {"kept", "url", "exact", "near"}
    assert min(reasons.values()) >= 20
    assert len(ROWS) > 130
    sets = [reference_shingles(row["text"]) for row in ROWS if row["doc_id"] not in LOST]
    similarities = [jaccard(*pair) for pair in combinations([one for one in sets if len(one) > 1], 2)]
    assert not any(0.75 < value < 0.85 for value in similarities)  # at 0.85, 32 x 8 bands miss 1 pair in 17,000
    assert sum(0.4 < value < 0.75 for value in similarities) > 20


def test_every_capture_meets_the_fate_of_the_definition(result, expected):
    assert fates_of(result) == {name: (reason, lost_to, rep) for name, (reason, lost_to, _, rep) in expected.items()}


def test_similarities_are_to_what_each_lost_to(result, expected):
    found = by_id(result.clusters)
    for name, (reason, _, similarity, _) in expected.items():
        if reason == "near":  # by the estimate where that decides: within 5 standard errors, sqrt(0.2 * 0.8 / 256) each
            assert found[name]["similarity"] == pytest.approx(similarity, abs=0.125)
        else:
            assert found[name]["similarity"] == similarity


def test_clusters_have_the_columns_of_the_table_and_are_named_and_sized_by_their_kept_document(result, expected):
    assert [(field.name, field.dataType) for field in result.clusters.schema] == [
        (field.name, field.dataType) for field in CLUSTERS.spark
    ]
    sizes = Counter(rep for *_, rep in expected.values())
    for row in by_id(result.clusters).values():
        assert row["cluster_id"] == row["representative_id"]
        assert row["cluster_size"] == sizes[row["representative_id"]]


def test_kept_documents_are_described_with_sizes_and_aliases(result, expected):
    found = by_id(result.kept)
    kept = {row["doc_id"]: row for row in ROWS if expected[row["doc_id"]][0] == "kept"}
    assert set(found) == set(kept)
    sizes = Counter(rep for *_, rep in expected.values())
    reasons = {name: sorted(fate[0] for fate in expected.values() if fate[3] == name) for name in kept}
    for name, row in found.items():
        assert (row["canonical_url"], row["cluster_id"]) == (kept[name]["policy_url"], name)
        assert (row["cluster_size"], row["alias_count"]) == (sizes[name], sizes[name] - 1)
        assert sorted(["kept", *(alias["reason"] for alias in row["aliases"])]) == reasons[name]


def test_the_checks_of_the_run_hold(spark, cut, result):
    assert check_references(result.clusters) == []
    texts_of = texts_in(documents_frame(spark, ROWS))
    failures, checked, lowest = check_similarities(result.clusters, texts_of, ClusterSettings(), SCHEME, cut)
    assert failures == []
    assert checked == result.clusters.where("reason = 'near'").count()
    assert 0.85 <= lowest < 0.86  # the chains


@pytest.mark.slow
@pytest.mark.parametrize(("partitions", "driver_edges"), [(4, 0), (13, 5)])
def test_rows_are_identical_whatever_the_partitions_and_the_order_of_input(
    spark, cut, result, partitions, driver_edges
):
    """`result` was made with 1 partition and all edges on the driver."""
    with shuffle_partitions(spark, partitions):
        again = clustered(spark, cut, ROWS, LOST, seed=partitions, driver_edges=driver_edges)
        assert tuples(again.clusters) == tuples(result.clusters)
        assert tuples(again.kept) == tuples(result.kept)


@pytest.mark.slow
def test_with_another_priority_others_stay(spark, cut, expected):
    latest = reference_funnel(ROWS, LOST, latest_first)
    assert {name for name, fate in latest.items() if fate[0] == "kept"} != {
        name for name, fate in expected.items() if fate[0] == "kept"
    }
    found = fates_of(clustered(spark, cut, ROWS, LOST, keep=("latest_crawl",)))
    assert found == {name: (reason, lost_to, rep) for name, (reason, lost_to, _, rep) in latest.items()}


def test_components_are_the_transitive_closure_named_by_their_first(spark, cut, result):
    """Of each chain A-B-C the ends are unlike: stars keep two of them where A or C is first, components one."""
    found = clustered(spark, cut, ROWS, LOST, shape="components", driver_edges=0)
    assert check_references(found.clusters) == []
    names = {row["doc_id"]: row["representative_id"] for row in found.clusters.toArrow().to_pylist()}
    order = {row["doc_id"]: earliest_first(row) for row in ROWS}
    near, sets = {name: {name} for name in names}, {}
    for row in ROWS:
        if row["doc_id"] not in LOST and len(reference_words(row["text"])) >= 5:
            sets[row["doc_id"]] = reference_shingles(row["text"])
    same = {
        (row["doc_id"], row["duplicate_of"]) for row in found.clusters.where("reason in ('exact', 'url')").collect()
    }
    alike = {pair for pair in combinations(sets, 2) if jaccard(sets[pair[0]], sets[pair[1]]) >= 0.8}
    for one, other in same | alike:
        joined = near[one] | near[other]
        near |= dict.fromkeys(joined, joined)
    kept = {name: min(near[name] - set(LOST), key=order.get) for name in names}
    assert names == kept
    stars = {row["doc_id"]: row["representative_id"] for row in result.clusters.toArrow().to_pylist()}
    assert len(set(stars.values())) > len(set(names.values()))
    similarity = {row["doc_id"]: row["similarity"] for row in found.clusters.where("reason = 'near'").collect()}
    assert None in similarity.values()  # the far end of a chain
    assert all(value >= 0.8 for value in similarity.values() if value is not None)


def test_the_run_tells_what_either_shape_makes_of_the_same_edges(cut, result):
    found = {
        shape: compare_shapes(result.near.stars, result.near.edges, ClusterSettings(driver_edges=driver_edges), cut)
        for shape, driver_edges in (("driver", 1000), ("rounds", 0))
    }
    assert found["driver"] == found["rounds"]
    star, components = found["driver"]["star"], found["driver"]["components"]
    assert star["removed"] == result.clusters.where("reason = 'near'").count()
    assert components["removed"] > star["removed"]
    assert components["largest"] >= star["largest"] >= 2


def test_pairs_are_all_candidates_with_what_was_found_of_them(spark, cut, result):
    told = clustered(spark, cut, ROWS, LOST, write_pairs=True)
    assert tuples(told.clusters) == tuples(result.clusters)
    assert [(field.name, field.dataType) for field in told.pairs.schema] == [
        (field.name, field.dataType) for field in PAIRS.spark
    ]
    texts = {row["doc_id"]: row["text"] for row in ROWS}
    rows = told.pairs.toArrow().to_pylist()
    assert len(rows) == result.near.pairs.count()
    for row in rows:
        exact = jaccard(*(reference_shingles(texts[row[name]]) for name in ("anchor_id", "doc_id")))
        assert row["accepted"] == (exact >= 0.8)
        assert row["exact"] in (None, exact)
        assert row["estimate"] == pytest.approx(exact, abs=0.125)
    assert {row["accepted"] for row in rows} == {True, False}
    assert {row["exact"] is None for row in rows} == {True, False}


def test_without_documents_there_are_no_clusters(spark, cut, with_few_rows):
    none = clustered(spark, cut, [])
    assert tuples(none.clusters) == tuples(none.kept) == tuples(none.near.edges) == []


def test_documents_that_are_all_identical_are_one_cluster(spark, cut, with_few_rows):
    text = " ".join(words(40, 1))
    rows = [document(bytes([number]), f"http://a.org/{number}", text) for number in range(1, 8)]
    one = clustered(spark, cut, rows, aliases_per_row=3)
    assert fates_of(one) == {
        b"\1": ("kept", None, b"\1"),
        **{bytes([number]): ("exact", b"\1", b"\1") for number in range(2, 8)},
    }
    (kept,) = one.kept.toArrow().to_pylist()
    assert (kept["cluster_size"], kept["alias_count"]) == (7, 6)
    assert [alias["url"] for alias in kept["aliases"]] == [f"http://a.org/{number}" for number in (2, 3, 4)]


def test_documents_too_short_for_bands_are_compared_by_content_alone(spark, cut, with_few_rows):
    texts = [b"same few words", b"Same few  words", b"same few words!", b"other"]
    rows = [document(bytes([n]), f"http://a.org/{n}", text.decode()) for n, text in enumerate(texts)]
    found = fates_of(clustered(spark, cut, rows))
    assert found == {
        b"\0": ("exact", b"\1", b"\1"),
        b"\1": ("kept", None, b"\1"),  # the longer text
        b"\2": ("kept", None, b"\2"),
        b"\3": ("kept", None, b"\3"),
    }


@pytest.mark.parametrize("verify", ["estimate", "none"])
def test_without_exact_verification_near_ones_are_found_and_marked_as_estimated(spark, cut, with_few_rows, verify):
    pool = words(60, 1)
    texts = [" ".join(pool), " ".join([*pool[:-2], "and", "more"]), " ".join(words(60, 2))]
    rows = [document(bytes([n]), f"http://a.org/{n}", text) for n, text in enumerate(texts)]
    result = clustered(spark, cut, rows, verify=verify)
    assert fates_of(result)[b"\1"] == ("near", b"\0", b"\0")
    assert fates_of(result)[b"\2"] == ("kept", None, b"\2")
    assert [row["exact"] for row in result.near.edges.toArrow().to_pylist()] == [False]
