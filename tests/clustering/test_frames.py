"""A table of the driver becomes a frame of the same rows, however large it is."""

import numpy as np
import pyarrow as pa
import pytest

from dedup_lib.clustering.frames import TASK_BYTES, frame_of


@pytest.mark.parametrize("rows", [0, 3, 3 * TASK_BYTES // 16 + 1])
def test_a_frame_has_the_rows_of_its_table(spark, rows):
    numbers = np.arange(rows)
    frame = frame_of(spark, pa.table({"item": numbers, "half": numbers / 2}))
    assert frame.dtypes == [("item", "bigint"), ("half", "double")]
    assert sorted(map(tuple, frame.collect())) == list(zip(numbers.tolist(), (numbers / 2).tolist(), strict=True))
