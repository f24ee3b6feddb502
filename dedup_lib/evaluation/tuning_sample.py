"""What bands would do to the documents of a store: measured on a sample of its published signatures."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from dedup_lib.config.banding import recall_at
from dedup_lib.errors import InputError
from dedup_lib.evaluation.tuning import Banding
from dedup_lib.evaluation.tuning_pairs import PairCounts, count_pairs
from dedup_lib.signatures import Scheme
from dedup_lib.signatures.similarity import minhash_rows
from dedup_lib.signatures.texts import text_buffers
from dedup_lib.tables.objects import objects_at
from dedup_lib.tables.published import TableEntry, Version, list_versions
from dedup_lib.tables.read import require_scheme, table_entry
from dedup_lib.tables.schemas import SIGNATURES

SAMPLED_TEXTS = 20_000  # about: all their pairs, 2 x 10^8, take some 10 seconds
EDGES = (0.0, 0.1, 0.2, 0.3, 0.4, *(round(0.5 + 0.05 * step, 2) for step in range(11)))
DIGEST_BYTES = 32  # SHA-256
_BATCH_ROWS = 8192


@dataclass(frozen=True)
class MeasuredLevel:
    """The pairs of the sample with low <= estimated similarity < high (the last level includes 1.0).

    `theory` is the share that the S-curve expects, `error` its standard error if pairs were independent. `met` and
    `recall` are what was found, None where the store has too few permutations to tell.
    """

    low: float
    high: float
    pairs: int
    met: int | None
    theory: float
    error: float

    @property
    def recall(self) -> float | None:
        """The share of the pairs that meet in a band."""
        return None if self.met is None else self.met / self.pairs

    def to_json(self) -> dict[str, Any]:
        """As a mapping that JSON can hold."""
        return {name: getattr(self, name) for name in ("low", "high", "pairs", "met", "recall", "theory", "error")}


@dataclass(frozen=True)
class Load:
    """Candidate pairs in the whole store, with the standard error that the sampling gives it."""

    pairs: float
    error: float

    def to_json(self) -> dict[str, float]:
        """As a mapping that JSON can hold."""
        return {"pairs": self.pairs, "error": self.error}


@dataclass(frozen=True)
class Measured:
    """A banding on a sample of a store.

    A text is sampled by its content hash, at the same rate in every snapshot, and counts once; pairs are within a
    snapshot, as in clustering. `texts` were sampled at `rate`; `load` and `load_below` (the threshold) are of the whole
    store. A pair of texts that shares any band counts as a candidate: clustering pairs texts with the first of their
    band only, and so has at most as many. Without enough permutations the load is what the S-curve expects of the
    estimated similarities, and its sampling error is not known (nan).
    """

    scheme: str
    snapshots: int
    texts: int
    rate: float
    stored_bytes: float  # per signature: the files of the table, compressed, all columns
    levels: tuple[MeasuredLevel, ...]
    load: Load
    load_below: Load
    simulated: bool

    @property
    def all_texts(self) -> float:
        """How many different texts with shingles the store has, estimated."""
        return self.texts / self.rate

    def to_json(self) -> dict[str, Any]:
        """As a mapping that JSON can hold."""
        plain = ("scheme", "snapshots", "texts", "rate", "stored_bytes", "simulated")
        loads = {"load": self.load, "load_below": self.load_below}
        return {
            **{name: getattr(self, name) for name in plain},
            **{name: {"pairs": one.pairs, "error": _or_none(one.error)} for name, one in loads.items()},
            "levels": [level.to_json() for level in self.levels],
        }


def measure(root: str | Path, banding: Banding, threshold: float, most: int = SAMPLED_TEXTS) -> Measured:
    """Measures a banding on about `most` of the texts whose signatures are published under `root`.

    Signatures are streamed once, and only those of the sample are held. The same store gives the same sample. Stale
    signatures serve as well as others, since they are of texts and not of names.
    InputError without signatures, SchemeMismatchError when snapshots were signed by different schemes.
    """
    found = [version for version in list_versions(root) if version.stage_of(SIGNATURES.name)]
    if not found:
        raise InputError(f"no signatures are published under {root}: run sign first, or name another store")
    scheme = _scheme_of(found)
    entries = [table_entry(version, SIGNATURES, allow_stale=True).tables[SIGNATURES.name] for version in found]
    rows = sum(entry.rows for entry in entries)
    rate = min(1.0, most / max(rows, 1))
    samples = [_read_sample(root, entry, scheme, rate) for entry in entries]
    if not any(len(sample) > 1 for sample in samples):
        raise InputError(f"the signatures under {root} are of fewer than two texts: name a larger store")
    counts = reduce(
        add, (count_pairs(one, scheme.minhash_bits, banding.bands, banding.rows, threshold) for one in samples)
    )
    load, load_below = _loads(counts, banding, threshold, rate)
    return Measured(
        scheme=str(scheme),
        snapshots=len(found),
        texts=sum(map(len, samples)),
        rate=rate,
        stored_bytes=sum(file.bytes for entry in entries for file in entry.files) / rows,
        levels=tuple(_levels(counts, banding)),
        load=load,
        load_below=load_below,
        simulated=counts.met is not None,
    )


def _scheme_of(versions: list[Version]) -> Scheme:
    names = [entry.scheme for version in versions if (entry := version.stage_of(SIGNATURES.name))]
    for version, name in zip(versions, names, strict=True):
        require_scheme(f"sign of {version.key}", name, names[0], "sign it again by the same settings")
    return Scheme.parse(names[0] or "")


def _read_sample(root: str | Path, entry: TableEntry, scheme: Scheme, rate: float) -> NDArray[Any]:
    """The minima of the texts of a table whose content hash, as a fraction of 2^64, is below the rate; one per text."""
    objects = objects_at(root)
    columns = ["content_hash", "minhash"]
    parts = [pa.table({name: pa.array([], pa.binary()) for name in columns})]
    for file in entry.files:
        if objects.size(file.path) is None:
            raise InputError(f"{objects.local_path(file.path)} is gone: if sign was replaced, start again")
        with objects.open(file.path) as stream:
            for batch in pq.ParquetFile(stream).iter_batches(_BATCH_ROWS, columns=columns):
                chosen = pc.and_(batch.column("minhash").is_valid(), _sampled(batch.column("content_hash"), rate))
                parts.append(pa.Table.from_batches([batch.filter(chosen)]))
    rows = pa.concat_tables(parts).combine_chunks()
    # Texts with the same content hash are told by it and never compared: their signatures are the same or nearly so.
    hashes = rows.column("content_hash").to_pylist()
    first = list({digest: place for place, digest in reversed(list(enumerate(hashes)))}.values())
    minhash = rows.column("minhash").combine_chunks().take(pa.array(sorted(first), pa.int64()))
    if not len(minhash):
        return np.empty((0, scheme.permutations), np.uint16 if scheme.minhash_bits == 16 else np.uint32)
    return minhash_rows(minhash, scheme.minhash_bits)


def _sampled(hashes: pa.Array, rate: float) -> pa.Array:
    """Which SHA-256 digests are below the rate: their first 8 bytes as a fraction of 2^64."""
    buffers = text_buffers(hashes)
    digests = buffers.data[buffers.offsets[0] : buffers.offsets[-1]].reshape(-1, DIGEST_BYTES)
    first = np.ascontiguousarray(digests[:, :8]).view(">u8").ravel()
    return pa.array(first.astype(np.float64) < rate * 2.0**64) if rate < 1 else pa.array(np.ones(len(first), np.bool_))


def _levels(counts: PairCounts, banding: Banding) -> Iterator[MeasuredLevel]:
    similarity = counts.similarity
    chance = recall_at(similarity, banding.bands, banding.rows)
    place = np.clip(np.searchsorted(EDGES, similarity + 1e-9, side="right") - 1, 0, len(EDGES) - 2)
    for level in range(len(EDGES) - 1):
        within = place == level
        pairs = int(counts.pairs[within].sum())
        if not pairs:
            continue
        expected = float((counts.pairs * chance)[within].sum())
        variance = float((counts.pairs * chance * (1 - chance))[within].sum())
        met = None if counts.met is None else int(counts.met[within].sum())
        yield MeasuredLevel(
            EDGES[level], EDGES[level + 1], pairs, met, expected / pairs, math.sqrt(max(variance, 0.0)) / pairs
        )


def _loads(counts: PairCounts, banding: Banding, threshold: float, rate: float) -> tuple[Load, Load]:
    below = counts.similarity < threshold
    if counts.met is None:
        expected = counts.pairs * recall_at(counts.similarity, banding.bands, banding.rows)
        totals = float(expected.sum()), float(expected[below].sum())
        return Load(totals[0] / rate**2, math.nan), Load(totals[1] / rate**2, math.nan)
    totals = int(counts.met.sum()), int(counts.met[below].sum())
    return _extrapolated(totals[0], counts.wedges[0], rate), _extrapolated(totals[1], counts.wedges[1], rate)


def _extrapolated(pairs: float, wedges: int, rate: float) -> Load:
    """Horvitz and Thompson's estimate (1952): a pair is sampled when both its texts are, which has chance rate^2.

    Pairs that share a text are sampled together with chance rate^3, hence the second term of the variance; both terms
    are estimated from the sample.
    """
    variance = pairs * (1 - rate**2) + 2 * wedges * (1 - rate)
    return Load(pairs / rate**2, math.sqrt(variance) / rate**2)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
