import unicodedata

import numpy as np
import pytest

from dedup_lib.signatures.unicode_tables import build_tables, save_tables, unicode_tables

pytestmark = pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="this Python has another Unicode")


def test_stored_tables_are_those_of_unicode_14(tmp_path, monkeypatch):
    built = build_tables()
    for stored, made in zip(unicode_tables(), built, strict=True):
        assert stored.dtype == made.dtype
        assert np.array_equal(stored, made)

    path = tmp_path / "again.npz"
    save_tables(built, path)
    monkeypatch.setattr("dedup_lib.signatures.unicode_tables._FILE", path)
    for stored, made in zip(unicode_tables.__wrapped__(), built, strict=True):
        assert np.array_equal(stored, made)
