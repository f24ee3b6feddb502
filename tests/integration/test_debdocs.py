"""Real pages: two snapshots of Debian's documentation, every record of which is known from the index beside them."""

import csv
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from dedup_lib.reports.funnel import funnel_closes
from dedup_lib.tables.keys import SnapshotKey

from .command import CHECKOUT, succeed
from .stored import rows, strays

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

CORPUS = CHECKOUT.parent / "shared" / "corpus"
FOUND = os.environ.get("CRAWL_DEDUP_DEBDOCS")  # a folder that make_warc.py has written before
SNAPSHOTS = ("A", "B")


@pytest.fixture(scope="module")
def archives(tmp_path_factory) -> Path:
    """The folder of both snapshots: found, or made from Debian's packages."""
    if not CORPUS.is_dir():
        pytest.skip(f"needs {CORPUS}")
    if FOUND:
        return Path(FOUND)
    folder = tmp_path_factory.mktemp("debdocs")
    tree, made = folder / "docs", folder / "warcs"
    commands = [
        [CORPUS / "build_debdocs.sh", "-t", "mini", "-o", tree],
        [sys.executable, CORPUS / "make_warc.py", "--tree", tree / "tree", "--tier", "mini", "--out", made, "--extras"],
    ]
    for command in commands:
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"the pages cannot be fetched: {done.stderr[-300:]}")
    return made


@pytest.fixture(scope="module")
def index(archives) -> dict[str, list[dict[str, str]]]:
    """The records of each snapshot as they were written."""
    with (archives / "index.tsv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file, dialect="excel-tab", quoting=csv.QUOTE_NONE))
    return {name: [line for line in lines if line["snapshot"] == name] for name in SNAPSHOTS}


@pytest.fixture(scope="module", params=SNAPSHOTS)
def snapshot(request, archives, spark, tmp_path_factory):
    """A snapshot and its store after a run."""
    root = tmp_path_factory.mktemp(f"debdocs-{request.param}")
    key = ("--source", "debian", "--snapshot", request.param)
    done = succeed("run", *key, "--input", archives / request.param, "--output", root)
    return request.param, root, done.summary


def test_the_counts_close(snapshot, index):
    name, root, summary = snapshot
    counts = summary["counts"]
    assert funnel_closes(counts) == []
    assert counts["extract"]["page_records"] == sum(line["type"] in {"response", "revisit"} for line in index[name])
    assert counts["extract"]["verdicts"] == {"complete": 1}
    assert strays(root, SnapshotKey("debian", name)) == []
    print(name, counts)  # noqa: T201


def test_every_page_is_a_document_or_a_reject(snapshot, index):
    name, root, _ = snapshot
    pages = {place_of(line) for line in index[name] if is_page(line)}
    assert pages
    documents, rejects = (places(root, name, table) for table in ("documents", "rejects"))
    assert pages - documents - rejects == set()
    assert documents & rejects == set()
    assert len(documents & pages) > 0.98 * len(pages)


def test_what_is_no_page_is_no_document(snapshot, index):
    name, root, _ = snapshot
    others = {
        place_of(line) for line in index[name] if line["type"] == "revisit" or line["flags"] in {"error", "redirect"}
    }
    assert others
    assert others <= places(root, name, "fetches")
    assert others & places(root, name, "documents") == set()


def test_pages_of_the_same_bytes_have_the_same_text_and_one_of_them_is_kept(snapshot, index):
    name, root, _ = snapshot
    key = SnapshotKey("debian", name)
    documents = {(Path(row["archive"]).name, row["archive_offset"]): row for row in rows(root, "documents", key=key)}
    clusters = {row["doc_id"]: row["cluster_id"] for row in rows(root, "clusters", key=key)}
    same = defaultdict(list)
    for line in index[name]:
        if is_page(line) and "truncated" not in line["flags"] and place_of(line) in documents:
            same[line["sha256"]].append(documents[place_of(line)])
    groups = [group for group in same.values() if len(group) > 1]
    assert groups
    for group in groups:
        assert len({row["content_hash"] for row in group}) == 1, [row["url"] for row in group]
        assert len({clusters[row["doc_id"]] for row in group}) == 1, [row["url"] for row in group]


def is_page(line: dict[str, str]) -> bool:
    return line["type"] == "response" and line["status"] == "200" and line["path"].endswith(("htm", "html"))


def place_of(line: dict[str, str]) -> tuple[str, int]:
    return line["file"], int(line["offset"])


def places(root: Path, name: str, table: str) -> set[tuple[str, int]]:
    found = rows(root, table, key=SnapshotKey("debian", name))
    return {(Path(row["archive"]).name, row["archive_offset"]) for row in found}
