import re

import pytest

from dedup_lib.errors import UsageError
from dedup_lib.tables.keys import ID, SnapshotKey, new_run_id


@pytest.mark.parametrize("name", ["CC-MAIN-2026-10", "x", "news.2026_01-05", "T12", "r1"])
def test_allowed_ids(name):
    assert SnapshotKey(name, name).folder == f"source={name}/snapshot={name}"


@pytest.mark.parametrize(
    "name",
    ["", "2026-10", "1e5", "-1", "nan", "NaN", "Infinity", "today", "null", "a/b", "a b", "a\n", "..", "é", "_x"],
)
def test_refused_ids(name):
    with pytest.raises(UsageError, match=r"snapshot .* is not allowed"):
        SnapshotKey("s", name)
    with pytest.raises(UsageError, match=r"source .* is not allowed"):
        SnapshotKey(name, "s")


def test_too_long_an_id():
    with pytest.raises(UsageError):
        SnapshotKey("s", "a" * 129)


def test_run_ids():
    ids = {new_run_id() for _ in range(200)}
    assert len(ids) == 200
    assert all(ID.fullmatch(run) and re.match(r"r\d{8}T\d{6}-", run) for run in ids)
