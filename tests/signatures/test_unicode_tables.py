import unicodedata

import numpy as np
import pytest

from dedup_lib.signatures.unicode_tables import build_tables, save_tables, stored_tables

pytestmark = pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="this Python has another Unicode")


def assert_same(stored, made):
    flat = [(*each.tables, *each.compatible, each.digits) for each in (stored, made)]
    for one, other in zip(*flat, strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)


def test_stored_tables_are_those_of_unicode_14(tmp_path, monkeypatch):
    built = build_tables()
    assert_same(stored_tables(), built)

    path = tmp_path / "again.npz"
    save_tables(built, path)
    monkeypatch.setattr("dedup_lib.signatures.unicode_tables._FILE", path)
    assert_same(stored_tables.__wrapped__(), built)
