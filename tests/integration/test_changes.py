"""`crawl-dedup changes` on the sample: every page has the fate that the definition gives it."""

from collections import Counter

import pyarrow.parquet as pq
import pytest
from stages.changing import Snapshot, definition, pages_of

from dedup_lib.stages.changes import KINDS
from dedup_lib.tables.keys import SnapshotKey

from .command import call
from .stored import rows

NAMES = ("snapshot-a", "snapshot-b")


@pytest.fixture(scope="module")
def snapshots(store):
    keys = [SnapshotKey("sample", name) for name in NAMES]
    tables = ("documents", "identities", "fetches", "rejects")
    return [Snapshot(*(rows(store.root, table, key=key) for table in tables)) for key in keys]


@pytest.mark.slow
def test_every_page_of_the_sample_is_told_once_and_as_the_definition_says(store, snapshots, tmp_path):
    written = tmp_path / "changes"
    options = ("--source", "sample", "--from", NAMES[0], "--to", NAMES[1], "--write", written, "--limit", 2)
    done = call("changes", store.root, *options)
    assert done.code == 0, done.err
    expected = definition(*snapshots)
    found = {row["canonical_url"]: row for row in pq.read_table(written).to_pylist()}
    assert {url: (row["kind"], row["related_url"]) for url, row in found.items()} == {
        url: row[:2] for url, row in expected.items()
    }
    for url, (_, _, similarity) in expected.items():
        if similarity is None:
            assert found[url]["similarity"] is None
        else:  # within 5 standard errors
            assert found[url]["similarity"] == pytest.approx(similarity, abs=5 * (0.25 / 256) ** 0.5)
    counts = Counter(kind for kind, *_ in expected.values())
    assert done.summary["counts"] == {kind: counts[kind] for kind in KINDS}
    assert done.summary["pages"] == {"from": len(pages_of(snapshots[0])), "to": len(pages_of(snapshots[1]))}
    assert counts["unchanged"] > counts["edited"] > counts["moved"] > 0
    shown = [line for line in done.out.splitlines() if line.startswith("  http")]
    assert len(shown) == sum(min(2, count) for count in counts.values())
    again = call("changes", store.root, *options)
    assert (again.code, "is there already" in again.complaint) == (2, True)
