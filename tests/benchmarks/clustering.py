"""What clustering costs as a corpus grows, beside one aggregate over the same band keys. One line of JSON.

    cd tests && python -m benchmarks.clustering [--documents N] [--partitions N] [--properties FILE] [--folder DIR]

Signatures are made, without texts: 5 % of the documents are one cluster, 5 % are unlike but share a band key, and of
the others two fifths are in clusters of a heavy tail (a size of 2^k for a share of documents that falls as 2^-k/2).
Members of a cluster agree in each minimum with the probability of its similarity, 0.85 to 0.98, and band keys come
from the minima by the product's own kernel. `cluster_near` runs with `verify: estimate`, beside Spark's
`groupBy(key).min(item)` over the same exploded bands to a noop sink: the same partitions, both warmed on a small set
before, the aggregate once before and once after. `times_as_long` is the time on the clock of the one over that of
the other, `times_the_cpu` that of the processor, of the whole process tree. `peak_bytes` is the most that the tree
held at once in `cluster_near`, shared pages counted once (PSS).
"""

import json
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from clustering.sessions import parquet_cut, shuffle_partitions
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.processes import Usage, measure_tree
from dedup_lib.cli.session import start_session
from dedup_lib.clustering.near import cluster_near
from dedup_lib.config.places import locate_conf
from dedup_lib.config.settings import ClusterSettings
from dedup_lib.signatures import Scheme

SETTINGS = ClusterSettings(verify="estimate")
WARM_DOCUMENTS = 20_000
GIANT, HOT, UNIQUE = 0.05, 0.10, 0.64  # upper ends of shares of the documents
LARGEST_POWER = 13


def signature_maker(documents: int, scheme: Scheme) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that adds minhash and bands to batches of items; the same item always has the same."""
    powers = np.arange(1, LARGEST_POWER + 1)
    ends = np.cumsum(shares := 2.0 ** (-powers / 2)) / shares.sum()
    clusters = np.maximum((1 - UNIQUE) * documents * shares / shares.sum() / 2.0**powers, 1).astype(np.uint64)
    permutations, bands, rows = scheme.permutations, scheme.bands, scheme.rows

    def make(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from dedup_lib.signatures.kernels import band_keys  # noqa: PLC0415 (in the worker)

        def mix(value: Any) -> Any:
            value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            return value ^ (value >> np.uint64(31))

        def drawn(seeds: Any, stream: int) -> Any:
            return mix(mix(seeds * np.uint64(0x9E3779B97F4A7C15) + np.uint64(stream)))

        def share(values: Any) -> Any:
            return (values >> np.uint64(11)) / 2.0**53

        places = mix(np.arange(1, permutations + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))
        for batch in batches:
            items = batch.column(0).to_numpy()
            own = drawn(items.astype(np.uint64), 1)
            lot = share(drawn(own, 2))
            power = np.searchsorted(ends, share(drawn(own, 3)))
            power = np.minimum(power, LARGEST_POWER - 1)
            cluster = np.where(lot < GIANT, np.uint64(0), drawn(own, 4) % clusters[power] * np.uint64(64) + power + 1)
            root = drawn(cluster.astype(np.uint64), 5)
            keep = np.sqrt(0.85 + 0.13 * share(drawn(root, 6)))
            keep[(lot >= GIANT) & (lot < UNIQUE)] = 0
            kept = share(mix(own[:, None] + places)) < keep[:, None]
            minima = mix(np.where(kept, root[:, None], own[:, None]) ^ places)
            minima[(lot >= GIANT) & (lot < HOT), :rows] = places[:rows]
            keys = np.empty((len(items), bands), np.int64)
            for row in range(len(items)):
                band_keys(minima[row], rows, keys[row])
            low = minima.astype(np.uint16)
            minhash = pa.FixedSizeBinaryArray.from_buffers(
                pa.binary(2 * permutations), len(items), [None, pa.py_buffer(low)]
            )
            offsets = pa.array(np.arange(0, len(items) * bands + 1, bands, dtype=np.int32))
            lists = pa.ListArray.from_arrays(offsets, pa.array(keys.reshape(-1)))
            yield pa.RecordBatch.from_arrays(
                [batch.column(0), minhash.cast(pa.binary()), lists], names=["item", "minhash", "bands"]
            )

    return make


def make_contents(spark: SparkSession, documents: int, partitions: int, path: Path) -> DataFrame:
    """Stored rows (item, minhash, bands) of so many documents."""
    items = spark.range(0, documents, 1, partitions).withColumnRenamed("id", "item")
    made = items.mapInArrow(signature_maker(documents, Scheme()), "item long, minhash binary, bands array<long>")
    made.write.parquet(str(path))
    return spark.read.schema(made.schema).parquet(str(path))


def aggregate(contents: DataFrame) -> None:
    """The yardstick: the first item of every band key."""
    keys = contents.select(F.explode("bands").alias("key"), "item")
    keys.groupBy("key").agg(F.min("item")).write.format("noop").mode("overwrite").save()


def cluster(contents: DataFrame, folder: Path) -> dict[str, int]:
    """The clustering, to its last stored table; gives what it found."""

    def no_texts(needed: DataFrame) -> DataFrame:
        raise AssertionError("verify: estimate reads no text")

    near = cluster_near(contents, no_texts, SETTINGS, Scheme(), parquet_cut(folder))
    sizes = near.stars.groupBy("star").count().agg(F.sum("count"), F.max("count")).collect()[0]
    return {"removed": sizes[0] or 0, "largest": (sizes[1] or 0) + 1, "passes": near.passes}


def measure(spark: SparkSession, documents: int, partitions: int, folder: Path) -> dict[str, Any]:
    """The figures for so many documents."""
    warm = make_contents(spark, min(documents, WARM_DOCUMENTS), partitions, folder / "warm")
    for turn in range(2):
        aggregate(warm)
        cluster(warm, folder / f"warm-cuts-{turn}")
    contents = make_contents(spark, documents, partitions, folder / "contents")
    before, _ = measure_tree(lambda: aggregate(contents))
    spent, found = measure_tree(lambda: cluster(contents, folder / "cuts"))
    after, _ = measure_tree(lambda: aggregate(contents))
    plain = Usage(*(min(pair) for pair in zip(before, after, strict=True)))
    return {
        "benchmark": "clustering",
        "documents": documents,
        "partitions": partitions,
        "cluster_seconds": round(spent.seconds, 1),
        "aggregate_seconds": round(plain.seconds, 1),
        "times_as_long": round(spent.seconds / plain.seconds, 2),
        "times_the_cpu": round(spent.cpu_seconds / plain.cpu_seconds, 2),
        "peak_bytes": spent.peak_bytes,
        **found,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the line."""
    parser = ArgumentParser(description="Clusters made signatures, beside one aggregate over their band keys.")
    parser.add_argument("--documents", type=int, default=1_000_000, help="how many signatures are made")
    parser.add_argument("--partitions", type=int, default=16, help="of every shuffle")
    parser.add_argument("--properties", default="spark-local.conf", help="Spark properties of the session")
    parser.add_argument("--folder", default=None, help="where it may write; 1 KB per document")
    options = parser.parse_args(arguments)
    spark = start_session("benchmark", locate_conf(options.properties, None))
    with tempfile.TemporaryDirectory(dir=options.folder) as folder, shuffle_partitions(spark, options.partitions):
        found = measure(spark, options.documents, options.partitions, Path(folder))
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
