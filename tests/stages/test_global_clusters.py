"""The stage `global` on literal rows: what stays, what is added, who takes over."""

import hashlib
from types import SimpleNamespace

import pyarrow as pa
import pytest
from clustering.texts import words

from dedup_lib.config.settings import ClusterSettings
from dedup_lib.signatures import Scheme
from dedup_lib.stages.global_checks import check_global_references, check_global_similarities
from dedup_lib.stages.global_clusters import cluster_globally
from dedup_lib.stages.global_items import PLACE, order_documents
from dedup_lib.stages.global_representatives import describe_kept_globally
from dedup_lib.tables.schemas import REPRESENTATIVES, SIGNATURES
from dedup_lib.tables.store_schemas import GLOBAL_CLUSTERS

from .global_model import Model
from .global_store import Page, key_of, representative_rows, signed_rows

SCHEME, SETTINGS = Scheme(), ClusterSettings()
SIMILARITIES = {"near": 0.9, "exact": 1.0}  # that an earlier version tells
CHAIN, BASE, OTHER = words(120, 1), words(124, 2), words(60, 3)


def changed(seed):
    """A version of the base text: 116 of 124 shingles are those of any other version, 0.935."""
    return " ".join(BASE[:120] + words(4, seed))


def window(step):
    """Neighbours of the chain are at 92 / 108 = 0.852, others at 84 / 116 = 0.724."""
    return " ".join(CHAIN[8 * step : 8 * step + 104])


K, L, M1, M2 = Page("k", " ".join(BASE)), Page("l", window(1)), Page("m1", window(0)), Page("m2", window(2), 3)
N1, N1_COPY, N1_AGAIN = Page("n1", changed(11)), Page("n1-copy", changed(11).upper()), Page("n1-again", changed(11))
SHORT, F, G = Page("short", "a few words"), Page("f", " ".join(OTHER)), Page("g", " ".join(OTHER[:58]))
STEPS = (
    # what is near, exact, and short; L stands for M1 and M2, which are not similar to each other
    {"a": [K, N1, N1_COPY, L, M1, M2, SHORT, F]},
    # a copy of a removed one, a near one, a copy of a short one, a capture that is in both snapshots
    {
        "a": [K, N1, N1_COPY, L, M1, M2, SHORT, F],
        "b": [N1_AGAIN, Page("n2", changed(12)), Page("short-2", "A few  words"), G, M1, Page("new", window(9) or "x")],
    },
    # the head of a content, a leader and a founder are gone: n1-copy follows, m1 and g take over, m2 is on its own
    {"a": [K, N1_COPY, M1, M2, SHORT], "b": [N1_AGAIN, Page("n2", changed(12)), Page("short-2", "A few  words"), G]},
    # the leader is back, and goes to the first who is similar; the founder comes back with another text
    {
        "a": [K, N1_COPY, M1, M2, SHORT],
        "b": [N1_AGAIN, Page("n2", changed(12)), G],
        "c": [L, Page("f", " ".join(words(30, 4)))],
    },
)


# All at once, over what the second step made: heads, a leader and a founder leave, and some of them come back.
AFTER = {
    "a": [K, N1_COPY, M1, M2, SHORT],
    "b": [N1_AGAIN, Page("n2", changed(12)), G],
    "c": [
        *(L, Page("f", " ".join(words(30, 4))), Page("n3", changed(13)), Page("n2-copy", changed(12).upper()), M2),
        *(Page("first", window(5)), Page("second", window(6))),
    ],
}


@pytest.fixture(scope="module")
def after(spark, cut, module_with_few_rows):
    """One run of the stage, over an earlier version by hand."""
    before = Model()
    for snapshots in STEPS[:2]:
        before.update(snapshots)
    return run_stage(spark, cut, AFTER, earlier_version(spark, before))


def earlier_version(spark, model):
    """The columns of `global_clusters` that the stage reads, as a model has them."""
    ids = {name: Page(name, "").doc_id for _, name in model.fates}
    rows = [
        {
            "doc_id": ids[name],
            "source": "web",
            "snapshot": snapshot,
            "content_hash": model.contents[snapshot, name],
            "cluster_id": ids[fate.cluster],
            "reason": fate.reason,
            "duplicate_of": ids.get(fate.duplicate_of),
            "similarity": SIMILARITIES.get(fate.reason),
            "representative_id": ids[fate.representative],
        }
        for (snapshot, name), fate in model.fates.items()
    ]
    return spark.createDataFrame(pa.Table.from_pylist(rows, GLOBAL_CLUSTERS.arrow))


def run_stage(spark, cut, snapshots, before=None, settings=SETTINGS):
    rows = [
        row | {"source": "web", "snapshot": name}
        for month, (name, pages) in enumerate(snapshots.items(), start=1)
        for row in representative_rows(pages, month)
    ]
    representatives = frame(spark, REPRESENTATIVES, rows)
    signatures = frame(spark, SIGNATURES, signed_rows(rows, SCHEME))
    documents = order_documents(representatives, [key_of(name) for name in snapshots], SETTINGS.keep)
    documents = cut(documents, "documents")

    def sketches_of(needed):
        found = signatures.where("shingles > 0").select(*PLACE, "minhash", "bands")
        return needed.join(found, PLACE, "inner").select(*needed.columns, "minhash", "bands")

    def texts_of(needed):
        found = representatives.select(*PLACE, "text")
        return needed.join(found, PLACE, "inner").select(*needed.columns, "text")

    result = cluster_globally(documents, before, sketches_of, texts_of, settings, SCHEME, cut)
    clusters = cut(result.clusters, "clusters")
    return SimpleNamespace(
        clusters=clusters, existing=result.existing, documents=documents, texts_of=texts_of, rows=told(clusters)
    )


def frame(spark, table, rows):
    columns = {name: [row[name] for row in rows] for name in ("source", "snapshot")}
    made = pa.Table.from_pylist(rows, table.arrow)
    for name, values in columns.items():
        made = made.append_column(name, pa.array(values, pa.string()))
    return spark.createDataFrame(made)


def told(clusters):
    """SNAPSHOT:NAME -> (reason, duplicate_of, representative, cluster), as the model tells it."""
    names = {page.doc_id: page.name for step in (*STEPS, AFTER) for pages in step.values() for page in pages}
    names |= {hashlib.sha256(key + b"1").digest()[:16]: f"again {name}" for key, name in names.items()}
    found = clusters.toArrow().to_pylist()
    rows = {
        f"{row['snapshot']}:{names[row['doc_id']]}": (
            row["reason"],
            names.get(row["duplicate_of"]),
            names[row["representative_id"]],
            names[row["cluster_id"]],
        )
        for row in found
    }
    assert len(rows) == len(found)
    return rows


def test_those_who_stay_keep_their_clusters_and_new_ones_join_them(after):
    rows = after.rows
    assert rows["a:k"] == ("kept", None, "k", "k")
    assert rows["b:n2"] == rows["c:n3"] == ("near", "k", "k", "k")
    assert rows["c:n2-copy"] == ("exact", "n2", "k", "k")
    assert rows["a:short"] == ("kept", None, "short", "short")
    assert rows["c:m2"] == ("url", "m2", "m2", "m2")  # the same capture in both snapshots
    assert rows["c:first"] == ("kept", None, "first", "first")
    assert rows["c:second"] == ("near", "first", "first", "first")


def test_where_the_head_of_a_content_left_the_next_copy_follows(after):
    assert after.rows["a:n1-copy"] == ("near", "k", "k", "k")
    assert after.rows["b:n1-again"] == ("exact", "n1-copy", "k", "k")
    similarities = {row["doc_id"]: row["similarity"] for row in after.clusters.toArrow().to_pylist()}
    assert similarities[N1_COPY.doc_id] == SIMILARITIES["near"]  # as was known of n1
    assert similarities[N1_AGAIN.doc_id] == 1.0


def test_the_best_member_takes_over_and_those_unlike_it_are_clustered_anew(after):
    assert after.rows["a:m1"] == ("kept", None, "m1", "l")
    assert after.rows["a:m2"] == ("kept", None, "m2", "m2")
    assert after.rows["b:g"] == ("kept", None, "g", "f")
    existing = after.existing
    assert (existing.departed, existing.promoted, existing.expelled) == (5, 2, 1)  # n1, l, f, short-2, new


def test_a_leader_that_comes_back_joins_the_cluster_it_founded(after):
    assert after.rows["c:l"] == ("near", "m1", "m1", "l")


def test_a_founder_that_comes_back_unlike_its_cluster_founds_another_one(after):
    assert after.rows["c:f"] == ("kept", None, "f", "again f")


def test_all_of_it_is_what_the_definition_says(after):
    model = Model()
    for snapshots in (*STEPS[:2], AFTER):
        expected = model.update(snapshots)
    assert after.rows == expected


def test_the_checks_hold(after, cut):
    assert [field.name for field in after.clusters.schema] == GLOBAL_CLUSTERS.names
    assert check_global_references(after.clusters) == []
    failures, checked, lowest = check_global_similarities(after.clusters, after.texts_of, SETTINGS, SCHEME, cut)
    assert (failures, checked) == ([], sum(fate[0] == "near" for fate in after.rows.values()))
    assert lowest == pytest.approx(92 / 108)


@pytest.mark.slow
def test_each_step_is_what_the_definition_makes_of_it(spark, cut, with_few_rows):
    model, before = Model(), None
    for number, snapshots in enumerate(STEPS):
        one = run_stage(spark, cut, snapshots, before)
        before = one.clusters
        assert one.rows == model.update(snapshots), number
        assert check_global_references(one.clusters) == []


def test_references_to_what_is_gone_are_found(after):
    gone = after.clusters.where("not (reason = 'kept' and cluster_id = representative_id and cluster_size > 3)")
    failures = check_global_references(gone)
    assert any("have a representative that is not kept" in failure for failure in failures)
    assert any("name a document that their layer did not keep" in failure for failure in failures)


def test_representatives_tell_how_many_documents_and_captures_of_each_snapshot_they_stand_for(after):
    kept = describe_kept_globally(after.clusters, after.documents, 1).toArrow().to_pylist()
    found = {row["doc_id"]: row for row in kept}
    row = found[K.doc_id]
    assert [tuple(count.values()) for count in row["counts"]] == [
        ("web", "a", 2, 2),
        ("web", "b", 2, 2),
        ("web", "c", 2, 2),
    ]
    assert (row["cluster_size"], row["captures"], row["alias_count"]) == (6, 6, 5)
    assert len(row["aliases"]) == 1  # as many as are asked for
    assert [tuple(count.values()) for count in found[M2.doc_id]["counts"]] == [("web", "a", 1, 3), ("web", "c", 1, 3)]
    assert found[M2.doc_id]["captures"] == 6
    assert sum(count["documents"] for row in kept for count in row["counts"]) == len(after.rows)
