import pyarrow as pa

from dedup_lib.clustering.exact import group_exact

from .sessions import frame_of, tuples


def test_first_is_the_least_item_of_the_same_digest(spark):
    rows = [(0, b"x", "a"), (1, b"y", "b"), (2, b"x", "c"), (3, b"z", "d"), (4, b"y", "e"), (5, b"x", "f")]
    items = frame_of(spark, {"item": pa.int64(), "digest": pa.binary(), "name": pa.string()}, rows)
    found = group_exact(items, "digest")
    assert found.columns == ["item", "digest", "name", "first"]
    assert [(item, first) for item, _, _, first in tuples(found)] == [(0, 0), (1, 1), (2, 0), (3, 3), (4, 1), (5, 0)]
