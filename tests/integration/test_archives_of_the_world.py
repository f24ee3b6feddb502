"""The collected archives of many projects, as one snapshot; and pages that break extractors."""

import json
from collections import Counter
from pathlib import Path

import pytest

from dedup_lib.archives import Reason

from .archives import stored_page
from .command import CHECKOUT, KEY, succeed
from .stored import rows

WARCS = CHECKOUT.parent / "shared" / "warcs"


@pytest.fixture(scope="module")
def world(spark, tmp_path_factory):
    """What was read of them: archives and rejects by file."""
    if not WARCS.is_dir():
        pytest.skip("the shared archives are not here")
    root = tmp_path_factory.mktemp("world")
    inputs = ("--input", WARCS / "real", "--input", WARCS / "derived/*.warc.*")
    done = succeed("extract", *KEY, *inputs, "--output", root)
    return root, done.summary["counts"]["extract"]


def test_every_file_has_a_verdict_and_every_trouble_a_reason(world):
    root, counts = world
    archives = rows(root, "archives")
    files = [path for path in WARCS.glob("*/*") if path.suffix not in {".json", ".jsonl"}]
    assert len(archives) == counts["inputs"]
    assert {row["archive"] for row in archives} <= {path.name for path in files}
    known = {path.name for path in files if "paths" not in path.name and path.suffix != ".open"}
    assert {row["archive"] for row in archives} >= known
    rejects = rows(root, "rejects")
    assert Counter(row["reason"] for row in rejects) == counts["rejects_by_reason"]
    assert {row["reason"] for row in rejects} <= {reason.value for reason in Reason}
    assert all(row["detail"] for row in rejects)
    for row in archives:
        troubles = [one for one in rejects if one["archive"] == row["archive"]]
        assert row["rejects"] + row["faults"] == len(troubles)
        assert row["verdict"] == "complete" or troubles


def test_what_can_be_recovered_of_the_damaged_ones_is(world):
    root, _ = world
    archives = {row["archive"]: row for row in rows(root, "archives")}
    expected = json.loads((WARCS / "derived" / "EXPECTED.json").read_text())
    found = {name: sum(count for _, count in archives[Path(name).name]["records"]) for name in expected}
    # Four records of this one have lengths that are wrong: each is a fault, and the other 44 are all there.
    wanted = {name: one["records"] for name, one in expected.items()}
    wanted["derived/wrong-content-length-in-members.warc.gz"] -= 4
    assert found == wanted


def test_a_page_that_takes_too_long_is_a_reject_and_its_neighbours_are_documents(tmp_path):
    # under every cap of markup, but quadratic in the extractor: some seconds
    poison = b"<html><body>" + b"<div>" * 1_900 + b"<p>x" * 12_000 + b"</body></html>"
    pages = [b"<p>before</p>", poison, b"<p>after</p>"]
    (tmp_path / "a.warc").write_bytes(b"".join(stored_page(*page) for page in enumerate(pages)))
    limit = ("--set", "extract.page_seconds=0.2")
    succeed("extract", *KEY, "--input", tmp_path / "a.warc", "--output", tmp_path / "store", *limit)
    assert {row["text"] for row in rows(tmp_path / "store", "documents")} == {"before", "after"}
    (reject,) = rows(tmp_path / "store", "rejects")
    assert (reject["reason"], reject["url"], reject["record_id"]) == (
        "timed_out",
        "http://site.example/1",
        "<urn:uuid:1>",
    )
