import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.errors import InputError
from dedup_lib.tables.keys import SnapshotKey
from dedup_lib.tables.objects import objects_at
from dedup_lib.tables.published import (
    FileEntry,
    Replaced,
    StageEntry,
    TableEntry,
    Version,
    list_versions,
    published_path,
    read_version,
)

KEY = SnapshotKey("web", "A")
NAMES = st.text(max_size=5)
FILES = st.builds(FileEntry, NAMES, st.integers(0, 9), st.integers(0, 9))
TABLES = st.builds(TableEntry.of, st.lists(FILES, max_size=3))


def entry(stage, run, **made_from):
    return StageEntry(stage, run, "f", None, "u", made_from, {"rows": 3, "by": {"kept": 2}}, {})


@given(st.dictionaries(NAMES, TABLES, max_size=3), NAMES)
def test_json_round_trip(tables, scheme):
    stage = StageEntry("extract", "r1", "f", scheme, None, {"a": "r0"}, {"rows": 1}, tables)
    version = Version(KEY, "2026-01-01T00:00:00+00:00", {"extract": stage}, (Replaced("2026", {"extract": stage}),))
    assert Version.from_bytes(version.to_bytes(), "x") == version


def test_stored_form(tmp_path):
    data = json.loads(Version(KEY, "2026", {"extract": entry("extract", "r1")}).to_bytes())
    assert set(data) == {"format", "source", "snapshot", "published_at", "stages", "previous"}
    names = {"run", "fingerprint", "scheme", "url_scheme", "made_from", "counts", "tables"}
    assert set(data["stages"]["extract"]) == names
    assert data["format"] == 1


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"{}", b'{"format": "1"}', b"\xff"])
def test_damaged(data, tmp_path):
    with pytest.raises(InputError, match=r"x\.json is damaged"):
        Version.from_bytes(data, "x.json")


def test_newer_format():
    with pytest.raises(InputError, match=r"newer crawl-dedup \(format 2, known is 1\): upgrade"):
        Version.from_bytes(b'{"format": 2}', "x.json")


def test_staleness_is_derived_and_passes_on():
    stages = {
        "extract": entry("extract", "r2"),
        "resolve": entry("resolve", "r1", extract="r1"),
        "sign": entry("sign", "r1", resolve="r1"),
        "other": entry("other", "r1", extract="r2"),
        "orphan": entry("orphan", "r1", gone="r1"),
    }
    version = Version(KEY, None, stages)
    causes = {stage: version.stale_because(stage) for stage in stages}
    assert causes == {"extract": None, "resolve": "extract", "sign": "extract", "other": None, "orphan": "gone"}


def test_read_and_list(tmp_path):
    objects = objects_at(tmp_path)
    keys = [SnapshotKey("web", "B"), SnapshotKey("news", "A"), KEY]
    for key in keys:
        objects.put(published_path(key), Version(key, "2026").to_bytes())
    objects.put("_published/source=web/.snapshot=C.json.123.tmp", b"half")
    assert [version.key for version in list_versions(tmp_path)] == sorted(keys)
    assert read_version(tmp_path, KEY).key == KEY
    assert read_version(tmp_path, SnapshotKey("web", "Z")) is None
    assert list_versions(tmp_path / "nowhere") == []
