import pyarrow as pa

from dedup_lib.stages.archive_rows import settle_splits
from dedup_lib.stages.extract import unreadable_rejects
from dedup_lib.tables.schemas import ARCHIVES, REJECTS, SPLITS

NOTHING = {
    **{"records": [], "found": [], "fetches_by_kind": [], "rejects_by_reason": []},
    **dict.fromkeys(("documents", "fetches", "rejects", "faults", "requests", "retries", "remote_bytes"), 0),
    **{"bytes_read": 0, "waited_seconds": 0.0, "size": 300, "failure_may_pass": False},
}


def split(archive, start, first, after, **others):
    return {**NOTHING, "archive": archive, "start": start, "first": first, "next": after, **others}


def settled(rows, failed=None):
    found = settle_splits(pa.Table.from_pylist(rows, schema=SPLITS.arrow), failed or {}, {"gone": 70})
    assert found.archives.schema == ARCHIVES.arrow
    return found


def test_splits_that_meet_add_up_to_one_row_of_their_file():
    later = split(
        "a", 100, 120, 300, bytes_read=300, records=[("response", 2)], documents=1, rejects=1, faults=1,
        found=[("truncated_member", 1)], rejects_by_reason=[("no_text", 1), ("truncated_member", 1)],
        requests=3, retries=2, waited_seconds=1.5, remote_bytes=180,
    )  # fmt: skip
    first = split(
        "a", 0, 0, 120, bytes_read=120, records=[("response", 3), ("request", 4)], documents=2, fetches=1,
        fetches_by_kind=[("redirect", 1)], requests=1, remote_bytes=120,
    )  # fmt: skip
    found = settled([later, first])
    assert not found.unmet
    assert not found.failed
    (row,) = found.archives.to_pylist()
    assert row == {
        "archive": "a",
        "verdict": "truncated",
        "bytes": 300,
        "bytes_read": 300,
        "records": [("request", 4), ("response", 5)],
        "documents": 3,
        "repeated": 0,
        "fetches": 1,
        "rejects": 1,
        "skipped": 4,
        "faults": 1,
        "fetches_by_kind": [("redirect", 1)],
        "rejects_by_reason": [("no_text", 1), ("truncated_member", 1)],
    }
    assert found.storage == {"requests": 4, "retries": 2, "waited_seconds": 1.5, "remote_bytes": 300}


def test_a_file_whose_splits_do_not_meet_has_no_row_and_is_to_be_read_whole():
    found = settled([split("a", 0, 0, 130), split("a", 100, 120, 300), split("b", 0, 0, 300)])
    assert found.unmet == {"a"}
    assert [row["archive"] for row in found.archives.to_pylist()] == ["b"]


def test_a_file_that_one_split_could_not_read_has_failed_as_a_whole():
    found = settled([split("a", 0, 0, 120), split("a", 100, None, None, failure="it was changed")])
    assert found.failed == {"a": "it was changed"}
    assert found.unreachable is None
    assert found.archives.num_rows == 0


def test_a_file_that_had_failed_is_a_row_and_a_reject():
    found = settled([split("a", 0, 0, 300)], failed={"gone": "403"})
    assert not found.failed
    row = {one["archive"]: one for one in found.archives.to_pylist()}["gone"]
    assert (row["verdict"], row["bytes"], row["bytes_read"], row["faults"]) == ("unreadable", 70, 0, 1)
    assert row["rejects_by_reason"] == [("unreadable", 1)]
    rejects = unreadable_rejects({"gone": "403"})
    assert rejects.schema == REJECTS.arrow
    assert rejects.select(["archive", "reason", "detail"]).to_pylist() == [
        {"archive": "gone", "reason": "unreadable", "detail": "403"}
    ]


def test_a_file_that_storage_may_give_later_is_told_apart():
    found = settled([split("a", 0, None, None, failure="no answer", failure_may_pass=True), split("b", 0, 0, 300)])
    assert found.unreachable == "no answer"
