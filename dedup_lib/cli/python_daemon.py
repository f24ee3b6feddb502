"""The process from which Spark forks its Python workers, with what all of them need imported once.

Named by `spark.python.daemon.module` in the Spark properties. A worker that imports Arrow, pandas, numba and the
kernels by itself pays about two CPU seconds for it; a forked copy of a process that has them pays nothing. Without
the property everything works the same, at that cost.
"""

import gc
import runpy

import pandas  # noqa: F401 (Spark's worker imports it)
import pyarrow as pa
import pyarrow.parquet

from dedup_lib.clustering import buckets, candidates, hot, verify  # noqa: F401 (functions of tasks are there)
from dedup_lib.signatures import Scheme, content_hashes, estimate_jaccard, exact_jaccard, shingle_sets, sign_texts
from dedup_lib.signatures.similarity import minhash_rows
from dedup_lib.stages import extract, resolve, sign  # noqa: F401
from dedup_lib.tables import scan, sink  # noqa: F401


def load_kernels() -> None:
    """Runs each kernel once, so that its compiled form is in memory before the first fork."""
    texts = pa.array(["one two three four five six", "\u00c9t\u00e9 un deux trois quatre"])
    content_hashes(texts)
    minhash = sign_texts(texts, Scheme()).to_arrow()["minhash"].cast(pa.binary()).drop_null()
    estimate_jaccard(minhash, minhash, Scheme().minhash_bits)
    sets = shingle_sets(texts, 5)
    exact_jaccard(sets, sets)
    pair = candidates.pairing(1)
    keys = pa.record_batch([pa.array([1, 1]), pa.array([1, 2]), pa.array([1, 2])], names=["key", "item", "label"])
    list(pair(iter([keys])))
    hot.spread_keys(keys.column(0).to_numpy(), minhash_rows(minhash, Scheme().minhash_bits), 2)
    lists = pa.record_batch([pa.array([1, 2]), pa.array([[1], [1]])], names=["item", "keys"])
    list(buckets.packing(4)(iter([lists])))


if __name__ == "__main__":
    load_kernels()
    gc.freeze()  # the collector would touch, and so copy, the pages that forks share
    runpy.run_module("pyspark.daemon", run_name="__main__")
