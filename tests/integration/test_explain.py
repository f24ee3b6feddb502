"""`crawl-dedup explain` on the sample: what it tells is what the tables have, and what the texts are."""

import json

import pytest
from signatures.reference import jaccard, reference_shingles

from dedup_lib.sample import SNAPSHOTS
from dedup_lib.tables.keys import SnapshotKey

from .command import call, succeed
from .stored import rows

KEYS = [SnapshotKey("sample", name) for name in SNAPSHOTS]


@pytest.fixture(scope="module")
def clusters(store):
    return {row["doc_id"]: row for row in rows(store.root, "clusters")}


@pytest.fixture(scope="module")
def texts(store):
    return {row["doc_id"]: row["text"] for row in rows(store.root, "documents")}


@pytest.mark.parametrize("reason", ["kept", "url", "exact", "near"])
def test_a_capture_of_each_reason_is_explained_by_its_texts(store, clusters, texts, reason):
    row = max((row for row in clusters.values() if row["reason"] == reason), key=lambda row: row["cluster_size"])
    told = json.loads(succeed("explain", store.root, row["doc_id"].hex(), "--json").out)
    one = told["explained"]
    assert (one["fate"], one["cluster_size"], one["url"]) == (reason, row["cluster_size"], row["url"])
    assert one["representative"]["doc_id"] == row["representative_id"].hex()
    assert len(one["aliases"]) == row["cluster_size"] - 1
    beside = {bytes.fromhex(other["right"]["doc_id"]): other for other in told["comparisons"]}
    assert set(beside) == {row["duplicate_of"], row["representative_id"]} - {None, row["doc_id"]}
    for other, comparison in beside.items():
        exact = jaccard(reference_shingles(texts[row["doc_id"]]), reference_shingles(texts[other]))
        assert comparison["exact"] == pytest.approx(exact)
        assert comparison["shared_chars"] + comparison["left_chars"] == len(texts[row["doc_id"]])
        assert comparison["shared_chars"] + comparison["right_chars"] == len(texts[other])
    assert call("explain", store.root, row["doc_id"].hex()).out.startswith(row["url"])


def test_a_url_is_found_in_both_snapshots_under_any_spelling(store, clusters):
    names = [{row["canonical_url"] for row in rows(store.root, "signatures", key=key)} for key in KEYS]
    url = min(names[0] & names[1])
    told = json.loads(succeed("explain", store.root, f"{url}?utm_source=mail#top", "--json").out)
    assert {one["snapshot"] for one in told["captures"]} == set(SNAPSHOTS)
    assert told["explained"]["canonical_url"] == url
    assert told["explained"]["notes"] == []
