# ---
# jupyter:
#   jupytext:
#     formats: py:percent
# ---

# %% [markdown]
"""# Threshold, bands and rows on a sample of your own data

Run the pipeline on a sample of a crawl (a few archives, some ten thousand documents), then this page on its store:

    python notebooks/tune.py ROOT [--threshold 0.8] [--recall 0.95] [--plot tune.png]

or open it in Jupyter (with jupytext) and name the store in the environment variable TUNE_ROOT. It shows which
similarities the candidate pairs of the sample have, what other bands and rows would find of them and at which cost,
and pairs on both sides of the threshold with their texts. The extra `notebooks` brings the plot; all else is text.
"""

# %%
import os
import sys
import textwrap
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from dedup_lib.errors import InputError, UsageError
from dedup_lib.evaluation import recall_at
from dedup_lib.evaluation.text_table import text_table, width_of
from dedup_lib.signatures import Scheme, estimate_jaccard
from dedup_lib.tables.columns import Table
from dedup_lib.tables.objects import objects_at
from dedup_lib.tables.published import Version, list_versions
from dedup_lib.tables.read import require_one_scheme, table_entry
from dedup_lib.tables.schemas import CLUSTERS, DOCUMENTS, SIGNATURES

try:
    from matplotlib import pyplot
    from matplotlib.figure import Figure
except ImportError:  # without the extra `notebooks` the tables alone are shown
    pyplot = None

IN_JUPYTER = "ipykernel" in sys.modules
NEIGHBOURS = 20  # in a bucket each document is paired with so many that follow: templates fill buckets with thousands
SEEN = 0.05  # similarities that the bands find less often than this are not counted up from what was found
EDGES = np.round(np.arange(0.3, 1.0001, 0.05), 2)
SHOWN_CHARS, BEFORE_CHARS, WIDTH = 480, 60, 56


def read_options(arguments: Sequence[str]) -> Namespace:
    """What to look at, and the threshold and recall that are wanted."""
    parser = ArgumentParser(description="Proposes threshold, bands and rows for the data of a store.")
    parser.add_argument("root", nargs="?", type=Path, default=Path(os.environ.get("TUNE_ROOT", "out/sample/store")))
    parser.add_argument("--threshold", type=float, default=0.8, help="least similarity of a near duplicate")
    parser.add_argument("--recall", type=float, default=0.95, help="share of the pairs at the threshold to be found")
    parser.add_argument("--documents", type=int, default=200_000, help="of each snapshot at most, the first ones")
    parser.add_argument("--examples", type=int, default=3, help="pairs shown on each side of the threshold")
    parser.add_argument("--plot", type=Path, help="where the plot is written")
    options = parser.parse_args(arguments)
    for name in ("threshold", "recall"):
        if not 0 < getattr(options, name) < 1:
            raise UsageError(f"--{name} is {getattr(options, name)}: it must be above 0 and below 1")
    return options


def show(text: str) -> None:
    """Writes a part of the page."""
    sys.stdout.write(f"{text}\n\n")


options = read_options([] if IN_JUPYTER else sys.argv[1:])

# %% [markdown]
# ## The sample
# The signatures of all snapshots of the store, which must be of one scheme. Of equal texts one is taken: the exact lane
# finds the others, whatever the bands.


# %%
def batches_of(root: Path, version: Version, table: Table, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The rows of a published table batch by batch, some of its columns."""
    objects = objects_at(root)
    for file in table_entry(version, table).tables[table.name].files:
        with pq.ParquetFile(objects.local_path(file.path)) as opened:
            yield from opened.iter_batches(columns=list(names))


def read_signatures(root: Path, version: Version, most: int) -> pa.Table:
    """The first rows with a signature, one of each text: doc_id, content_hash, minhash, bands."""
    names = ("doc_id", "content_hash", "minhash", "bands")
    parts = [pa.schema([SIGNATURES.arrow.field(name) for name in names]).empty_table()]
    rows = 0
    for batch in batches_of(root, version, SIGNATURES, names):
        signed = batch.filter(pc.is_valid(batch["minhash"])).slice(0, most - rows)
        rows += len(signed)
        parts.append(pa.table(signed).cast(parts[0].schema))
        if rows == most:
            break
    found = pa.concat_tables(parts).append_column("row", pa.array(range(rows), pa.int64()))
    first = found.group_by("content_hash").aggregate([("row", "min")])["row_min"]
    return found.take(first.take(pc.array_sort_indices(first)))


versions = list_versions(options.root)
if not versions:
    raise InputError(f"nothing is published under {options.root}: run the pipeline on a sample first")
require_one_scheme(versions, "sign")
scheme = Scheme.parse(str(table_entry(versions[0], SIGNATURES).scheme))
samples = [read_signatures(options.root, version, options.documents) for version in versions]
show(
    "\n".join(
        [
            f"scheme {scheme}: {scheme.bands} bands of {scheme.rows} rows",
            *(
                f"{len(sample):,} different texts of {version.key}"
                for version, sample in zip(versions, samples, strict=True)
            ),
        ]
    )
)

# %% [markdown]
# ## Candidate pairs
# Documents that share a band key, and how alike they are by their signatures. Pairs that the bands of the store miss
# are not seen: `in the sample, about` counts them up, each pair by one over the chance that it was found. Where few are
# found this says too much: what made a pair meet by chance also raises its estimate.


# %%
class Pairs(NamedTuple):
    """Candidate pairs of a snapshot: its number, the rows of both in the sample, the estimated similarity."""

    snapshot: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    similarity: NDArray[np.float64]


def candidate_rows(bands: pa.ChunkedArray, count: int) -> NDArray[np.int64]:
    """Pairs of rows that share the key of at least one band, in the shape (pairs, 2), each once."""
    keys = np.asarray(bands.combine_chunks().flatten()).reshape(-1, count)
    found = [np.empty((0, 2), np.int64)]
    for band in range(count):
        order = np.argsort(keys[:, band], kind="stable")
        ordered = keys[order, band]
        for distance in range(1, min(NEIGHBOURS, len(order) - 1) + 1):
            same = ordered[distance:] == ordered[:-distance]
            if not same.any():
                break
            found.append(np.stack([order[:-distance][same], order[distance:][same]], axis=1))
    return np.unique(np.sort(np.concatenate(found), axis=1), axis=0)


def pairs_of(number: int, sample: pa.Table) -> Pairs:
    """The candidate pairs of a snapshot's sample."""
    rows = candidate_rows(sample["bands"], scheme.bands)
    minhash = sample["minhash"].combine_chunks()
    estimates = [np.empty(0)]
    for start in range(0, len(rows), 50_000):  # so that both sides of the comparison take 50 MB at most
        sides = (minhash.take(pa.array(side)) for side in rows[start : start + 50_000].T)
        estimates.append(estimate_jaccard(*sides, scheme.minhash_bits))
    return Pairs(np.full(len(rows), number), rows[:, 0], rows[:, 1], np.concatenate(estimates))


def near_similarities() -> NDArray[np.float64]:
    """What the store's clusters say of the near duplicates that they removed; empty where none are published."""
    found = [np.empty(0)]
    for version in versions:
        if version.stage_of(CLUSTERS.name) is None:
            continue
        for batch in batches_of(options.root, version, CLUSTERS, ("reason", "similarity")):
            removed = batch.filter(pc.equal(batch["reason"], "near"))["similarity"].drop_null()
            found.append(removed.to_numpy(zero_copy_only=False))
    return np.concatenate(found)


by_snapshot = [pairs_of(number, sample) for number, sample in enumerate(samples)]
pairs = Pairs(*(np.concatenate(column) for column in zip(*by_snapshot, strict=True)))
chance = recall_at(pairs.similarity, scheme.bands, scheme.rows)
grid = np.linspace(0, 1, 1001)
UNSEEN = float(grid[recall_at(grid, scheme.bands, scheme.rows) < SEEN].max())  # pairs less alike are not counted
weights = np.where(chance >= SEEN, 1 / np.maximum(chance, SEEN), 0.0)
removed = near_similarities()

found, expected, near = (
    np.histogram(np.maximum(values, EDGES[0]), EDGES, weights=weight)[0]
    for values, weight in ((pairs.similarity, None), (pairs.similarity, weights), (removed, None))
)
middle = (EDGES[:-1] + EDGES[1:]) / 2
show(
    text_table(
        ["similarity", "candidate pairs", "in the sample, about", "found by the bands", "removed as near"],
        [
            [
                f"{low:.2f} to {high:.2f}" if place else f"below {high:.2f}",
                f"{found[place]:,}",
                f"{expected[place]:,.0f}" if recall_at(middle[place], scheme.bands, scheme.rows) >= SEEN else "unknown",
                f"{float(recall_at(middle[place], scheme.bands, scheme.rows)):.3f}",
                f"{near[place]:,}",
            ]
            for place, (low, high) in enumerate(pairwise(EDGES))
        ],
    )
)

# %% [markdown]
# ## Bands and rows
# For each number of rows the fewest bands that find the wanted share of pairs at the threshold. More rows make the
# curve steeper: fewer candidates below the threshold, for more permutations. `candidates` is what they would bring on
# this sample; `over` where they would also find pairs that are too unlike for the store's bands, which nobody counted.


# %%
class Proposal(NamedTuple):
    """Bands and rows, and the candidate pairs that they would bring on the sample."""

    bands: int
    rows: int
    candidates: float

    @property
    def load(self) -> str:
        """The candidate pairs as text."""
        beyond = recall_at(UNSEEN, self.bands, self.rows) > 2 * SEEN
        return f"{'over ' if beyond else ''}{self.candidates:,.0f}"


def proposals() -> list[Proposal]:
    """For each number of rows the fewest bands that reach the recall, up to 1024 permutations."""
    made = []
    for rows in range(1, 33):
        missed = np.log1p(-(options.threshold**rows))  # all bands miss with (1 - s^r)^b
        bands = max(1, int(np.ceil(np.log1p(-options.recall) / missed - 1e-9)))
        if bands * rows <= 1024:
            candidates = float((weights * recall_at(pairs.similarity, bands, rows)).sum())
            made.append(Proposal(bands, rows, candidates))
    return made


proposed = proposals()
within = [proposal for proposal in proposed if proposal.bands * proposal.rows <= scheme.permutations] or proposed[:1]
chosen = max(within, key=lambda proposal: proposal.rows)
levels = sorted({round(max(options.threshold - 0.2, 0.0), 3), round(max(options.threshold - 0.1, 0.0), 3)})
levels += [options.threshold, round((1 + options.threshold) / 2, 3)]
current = Proposal(scheme.bands, scheme.rows, float((weights * chance).sum()))
show(
    text_table(
        ["bands x rows", "permutations", "candidates", *(f"recall at {level:g}" for level in levels), "key bytes"],
        [
            [
                f"{bands} x {rows}{' (store)' if one is current else ' (proposed)' if one is chosen else ''}",
                f"{bands * rows:,}",
                one.load,
                *(f"{share:.3f}" for share in recall_at(levels, bands, rows)),
                f"{8 * bands:,}",
            ]
            for one in (current, *proposed)
            for bands, rows in [one[:2]]
        ],
    )
)
show(
    f"proposed for threshold {options.threshold:g} and recall {options.recall:g}, of the permutations of the store:\n"
    f"  sign.bands: {chosen.bands}\n  sign.rows: {chosen.rows}\n  cluster.threshold: {options.threshold:g}"
)


# %%
def plot() -> "Figure":
    """The S-curves over the histogram of candidate pairs."""
    figure, curves = pyplot.subplots(figsize=(9, 5))
    for name, one in (("store", current), ("proposed", chosen)):
        label = f"{name}: {one.bands} bands of {one.rows} rows"
        curves.plot(grid, recall_at(grid, one.bands, one.rows), label=label)
    curves.axvline(options.threshold, color="black", linestyle="--", label=f"threshold {options.threshold:g}")
    curves.set(xlabel="Jaccard similarity", ylabel="share of pairs found", xlim=(0, 1), ylim=(0, 1.02))
    bars = curves.twinx()
    bars.hist(pairs.similarity, bins=np.linspace(0, 1, 51), alpha=0.3, color="gray")
    bars.set(ylabel="candidate pairs (logarithmic)", yscale="log" if len(pairs.similarity) else "linear")
    curves.legend(loc="upper left")
    figure.tight_layout()
    return figure


if pyplot is None:
    show("no plot: matplotlib is not there (pip install 'crawl-dedup[notebooks]')")
elif IN_JUPYTER:
    plot()
elif options.plot:
    pyplot.switch_backend("agg")  # a file needs no display
    plot().savefig(options.plot, dpi=120)
    show(f"plot: {options.plot}")

# %% [markdown]
# ## Both sides of the threshold
# The pairs nearest to it, from where their texts part. Would you remove the ones above, and keep the ones below?


# %%
def wrapped(text: str) -> list[str]:
    """Lines that fit a column, also where a script has no spaces to break at."""
    lines = []
    for line in text.splitlines():
        wide = max(1.0, width_of(line) / max(len(line), 1))
        lines += textwrap.wrap(line, int(WIDTH / wide), replace_whitespace=True)
    return lines


def side_by_side(left: str, right: str) -> str:
    """Two texts in two columns, from a little before the place where they part."""
    part = next((place for place, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), 0)
    start = max(0, part - BEFORE_CHARS)
    sides = [wrapped(text[start : start + SHOWN_CHARS].strip()) for text in (left, right)]
    lines = (
        f"  {one}{' ' * max(WIDTH - width_of(one), 0)} | {other}".rstrip()
        for one, other in zip_longest(*sides, fillvalue="")
    )
    return "\n".join(lines)


def texts_of(places: NDArray[np.int64]) -> dict[bytes, tuple[str, str]]:
    """URL and text by doc_id of the documents of some pairs."""
    wanted: dict[int, list[bytes]] = {}
    for place in places:
        number = int(pairs.snapshot[place])
        ids = samples[number]["doc_id"]
        wanted.setdefault(number, []).extend(ids[int(side[place])].as_py() for side in (pairs.left, pairs.right))
    texts = {}
    for number, ids in wanted.items():
        for batch in batches_of(options.root, versions[number], DOCUMENTS, ("doc_id", "url", "text")):
            rows = batch.filter(pc.is_in(batch["doc_id"], value_set=pa.array(ids, pa.binary())))
            texts.update({row["doc_id"]: (row["url"], row["text"]) for row in rows.to_pylist()})
    return texts


order = np.argsort(np.abs(pairs.similarity - options.threshold), kind="stable")
above, below = (
    order[side[order]][: options.examples]
    for side in (pairs.similarity >= options.threshold, pairs.similarity < options.threshold)
)
texts = texts_of(np.concatenate([above, below]))
for name, places in (("at or above the threshold: near duplicates", above), ("below the threshold: kept", below)):
    show(f"{name} (pairs: {len(places)})")
    for place in places:
        ids = samples[int(pairs.snapshot[place])]["doc_id"]
        (url, text), (other_url, other) = (texts[ids[int(s[place])].as_py()] for s in (pairs.left, pairs.right))
        show(f"similarity {pairs.similarity[place]:.3f}\n  {url}\n  {other_url}\n{side_by_side(text, other)}")
