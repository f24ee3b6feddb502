# ---
# jupyter:
#   jupytext:
#     formats: py:percent
# ---

# %% [markdown]
"""# What came out: reading a store's tables

    python notebooks/inspect_run.py ROOT [--source S] [--snapshot ID] [--changes DIR] [--plot inspect.png]

or open it in Jupyter (with jupytext) and name the store in the environment variable INSPECT_ROOT. DuckDB reads the
published files, so leftovers of runs that failed are never seen. It shows the funnel, the sizes of clusters, the
largest ones, hosts, languages, pairs on both sides of the threshold, and what changed from one snapshot to the next.
The extra `notebooks` brings DuckDB and the plots.
"""

# %%
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from dedup_lib.errors import CrawlDedupError, InputError
from dedup_lib.evaluation.text_table import text_table, width_of
from dedup_lib.reports.explain.passages import passages_of, shorten
from dedup_lib.reports.explain.recorded import recorded
from dedup_lib.reports.explain.render import printable
from dedup_lib.reports.explain.rows import SnapshotRows
from dedup_lib.tables.published import list_versions
from dedup_lib.tables.read import published_files
from dedup_lib.tables.schemas import DOCUMENTS

try:
    from matplotlib import pyplot
    from matplotlib.figure import Figure
except ImportError:  # without matplotlib the tables alone are shown
    pyplot = None

IN_JUPYTER = "ipykernel" in sys.modules
TOP, EXAMPLES, WIDTH, PASSAGES = 12, 3, 56, 6
PER_SNAPSHOT = ("documents", "fetches", "rejects", "identities", "signatures", "clusters", "representatives", "pairs")


def read_options(arguments: Sequence[str]) -> Namespace:
    """What to look at."""
    parser = ArgumentParser(description="Shows what a store holds: funnel, clusters, hosts, languages, changes.")
    parser.add_argument("root", nargs="?", type=Path, default=Path(os.environ.get("INSPECT_ROOT", "out/sample/store")))
    parser.add_argument("--source", help="this source only")
    parser.add_argument("--snapshot", help="this snapshot only")
    parser.add_argument("--changes", type=Path, help="a folder that `crawl-dedup changes --write` made")
    parser.add_argument("--plot", type=Path, help="where the plots are written")
    return parser.parse_args(arguments)


def show(text: str) -> None:
    """Writes a part of the page."""
    sys.stdout.write(f"{printable(text)}\n\n")


options = read_options([] if IN_JUPYTER else sys.argv[1:])

# %% [markdown]
# ## The tables
# A view per published table, with the columns `source` and `snapshot` of its files' folders, of the chosen snapshots.


# %%
def quoted(text: object) -> str:
    """A text as SQL has it."""
    return "'" + str(text).replace("'", "''") + "'"


def make_view(table: str) -> bool:
    """Makes the view of a table, if it is published and has rows."""
    try:
        names = ", ".join(map(quoted, published_files(options.root, table)))
    except CrawlDedupError:
        return False
    if not names:
        return False
    chosen = [(name, getattr(options, name)) for name in ("source", "snapshot")]
    conditions = [f"{name} = {quoted(value)}" for name, value in chosen if value is not None]
    store.execute(
        f"CREATE VIEW {table} AS SELECT * FROM read_parquet([{names}], hive_partitioning = true, "
        "hive_types = {'source': VARCHAR, 'snapshot': VARCHAR, 'run': VARCHAR}) "
        f"WHERE {' AND '.join(conditions) or 'true'}"
    )
    return True


def rows_of(query: str, **parameters: object) -> list[tuple[Any, ...]]:
    """The rows of a query."""
    found: list[tuple[Any, ...]] = store.execute(query, parameters or None).fetchall()
    return found


def share(part: int, whole: int) -> str:
    """A share in per cent."""
    return f"{100 * part / max(whole, 1):.1f} %"


versions = [
    version
    for version in list_versions(options.root)
    if options.source in (None, version.key.source) and options.snapshot in (None, version.key.snapshot)
]
if not any("cluster" in version.stages for version in versions):
    raise InputError(f"nothing that is clustered is published under {options.root}: run the pipeline first")
store = duckdb.connect()
there = {table for table in PER_SNAPSHOT if make_view(table)}

# %% [markdown]
# ## The funnel
# What became of the page records of each snapshot. Every capture is kept, or a duplicate by one of the layers.

# %%
counts: dict[str, dict[tuple[str, str], int]] = {}
steps = [
    f"SELECT '{step}', source, snapshot FROM {step}" for step in ("documents", "fetches", "rejects") if step in there
]
rows = " UNION ALL ".join([*steps, "SELECT reason, source, snapshot FROM clusters"])
for step, source, snapshot, count in rows_of(f"SELECT *, count(*) FROM ({rows}) GROUP BY ALL"):
    counts.setdefault(step, {})[source, snapshot] = count
keys = [(version.key.source, version.key.snapshot) for version in versions]
captures = counts["documents"]
cells = [
    [step, *(f"{of.get(key, 0):,}  {share(of.get(key, 0), captures.get(key, 0)):>7}" for key in keys)]
    for step in ("documents", "fetches", "rejects", "url", "exact", "near", "kept")
    if (of := counts.get(step))
]
show(text_table(["", *map("/".join, keys)], cells))

# %% [markdown]
# ## Cluster sizes
# Captures in a cluster; sizes are grouped by powers of two. A straight line in the plot is a power law.

# %%
sizes = rows_of("SELECT cluster_size, count(*) FROM clusters WHERE reason = 'kept' GROUP BY ALL ORDER BY 1")
total = sum(size * count for size, count in sizes)
cells = []
for low in sorted({size.bit_length() - 1 for size, _ in sizes}):
    of_group = [(size, count) for size, count in sizes if size.bit_length() - 1 == low]
    captured = sum(size * count for size, count in of_group)
    name = "1" if low == 0 else f"{1 << low} to {(2 << low) - 1}"
    cells.append([name, f"{sum(count for _, count in of_group):,}", f"{captured:,}", share(captured, total)])
show(text_table(["captures in a cluster", "clusters", "captures", "share"], cells))

# %% [markdown]
# ## The largest clusters
# With what each layer removed, and some of the captures that their document stands for. A large cluster of unlike URLs
# is often a template, an error page that was served as 200, or a mirror.

# %%
LARGEST = """
SELECT c.cluster_id, any_value(cluster_size), any_value(url) FILTER (reason = 'kept'),
    count_if(reason = 'url'), count_if(reason = 'exact'), count_if(reason = 'near'), source || '/' || snapshot
FROM clusters c SEMI JOIN (
    SELECT cluster_id FROM clusters WHERE reason = 'kept' AND cluster_size > 1
    ORDER BY cluster_size DESC, cluster_id LIMIT $most
) l ON c.cluster_id = l.cluster_id
GROUP BY c.cluster_id, source, snapshot ORDER BY 2 DESC, 1 LIMIT $most
"""
largest = rows_of(LARGEST, most=TOP)
cells = [[shorten(url, 70), *map("{:,}".format, (n, u, e, near)), of] for _, n, url, u, e, near, of in largest]
show(text_table(["kept", "captures", "url", "exact", "near", "snapshot"], cells))
for cluster_id, size, url, *_ in largest[:EXAMPLES]:
    others = rows_of(
        "SELECT DISTINCT reason, url FROM clusters WHERE cluster_id = $one AND reason <> 'kept' ORDER BY 1, 2 LIMIT 4",
        one=cluster_id,
    )
    show(f"{size:,} captures: {url}\n" + text_table((), [[reason, shorten(other, 110)] for reason, other in others], 2))

# %% [markdown]
# ## Hosts and languages
# Where captures come from, and what of them is kept. A host of which little is kept repeats itself, or others.

# %%
BY = """
SELECT {name} AS name, count(*) AS captures,
    count_if(reason = 'kept'), count_if(reason = 'url'), count_if(reason = 'exact'), count_if(reason = 'near')
FROM {rows} GROUP BY 1 ORDER BY captures DESC, name LIMIT $most
"""
HOST = "coalesce(nullif(regexp_extract(url, '^[a-z]+://([^/?#]*)', 1), ''), 'none')"
hosts = rows_of(BY.format(name=HOST, rows="clusters"), most=TOP)
with_documents = "clusters JOIN documents USING (doc_id, source, snapshot)"
languages = rows_of(BY.format(name="language", rows=with_documents), most=TOP)
for name, found in (("host", hosts), ("language", languages)):
    cells = [[one, f"{n:,}", f"{kept:,}", share(kept, n), *map("{:,}".format, rest)] for one, n, kept, *rest in found]
    show(text_table([name, "captures", "kept", "share", "url", "exact", "near"], cells))

# %% [markdown]
# ## Near the threshold
# The least similar near duplicates that were removed, and, where `cluster.write_pairs` stored the candidates, the most
# similar pairs that were not. Each line is a passage: on both sides the same, or here that and there this.


# %%
def side_by_side(left: str, right: str) -> str:
    """The passages of two texts in two columns, from the first one that differs."""
    found = list(passages_of(left, right).passages)
    first = next((place for place, one in enumerate(found) if not one.shared), 0)
    lines = []
    for one in found[max(first - 1, 0) :][:PASSAGES]:
        here, there = (" ".join(shorten(" ".join(side.split()), WIDTH).split()) for side in (one.left, one.right))
        lines.append(f"  {here}{' ' * max(WIDTH - width_of(here), 0)} {'=' if one.shared else '|'} {there}".rstrip())
    return "\n".join(lines)


def show_pairs(title: str, pairs: Sequence[tuple[Any, ...]]) -> None:
    """Pairs (source, snapshot, similarity, doc_id, other doc_id) with their texts."""
    show(f"{title} (pairs: {len(pairs)})")
    by_key = {(version.key.source, version.key.snapshot): version for version in versions}
    for source, snapshot, similarity, *ids in pairs:
        rows = SnapshotRows(options.root, by_key[source, snapshot]).where(
            DOCUMENTS, "doc_id", ids, ["doc_id", "url", "text"]
        )
        documents = {row["doc_id"]: row for row in rows}
        one, other = (documents[doc_id] for doc_id in ids)
        show(
            f"similarity {similarity:.4f}\n  {one['url']}\n  {other['url']}\n{side_by_side(one['text'], other['text'])}"
        )


NEAR = """
SELECT source, snapshot, similarity, doc_id, duplicate_of FROM clusters
WHERE reason = 'near' AND similarity IS NOT NULL ORDER BY similarity, doc_id LIMIT $most
"""
BELOW = """
SELECT source, snapshot, coalesce(exact, estimate) AS similarity, doc_id, anchor_id FROM pairs
WHERE NOT accepted ORDER BY similarity DESC, doc_id LIMIT $most
"""
thresholds = {recorded(options.root, version).settings.cluster.threshold for version in versions}
show(f"threshold: {', '.join(f'{one:g}' for one in sorted(thresholds))}")
show_pairs("removed, just above the threshold", rows_of(NEAR, most=EXAMPLES))
if "pairs" in there:
    show_pairs("not merged, just below the threshold", rows_of(BELOW, most=EXAMPLES))

# %% [markdown]
# ## From one snapshot to the next
# What became of every page, as `crawl-dedup changes ROOT --source S --from A --to B --write DIR` wrote it.

# %%
changed: list[tuple[Any, ...]] = []
if options.changes is None:
    show("no changes: make them with `crawl-dedup changes ... --write DIR`, and name that folder with --changes")
elif not list(options.changes.glob("*.parquet")):
    raise InputError(f"{options.changes} has no Parquet files: make them with `crawl-dedup changes --write`")
else:
    store.execute(f"CREATE VIEW changes AS SELECT * FROM read_parquet({quoted(options.changes / '*.parquet')})")
    changed = rows_of("SELECT kind, count(*), round(avg(similarity), 3) FROM changes GROUP BY kind ORDER BY 2 DESC, 1")
    of_all = sum(count for _, count, _ in changed)
    cells = [[kind, f"{n:,}", share(n, of_all), "-" if mean is None else f"{mean:.3f}"] for kind, n, mean in changed]
    show(text_table(["kind", "pages", "share", "mean similarity"], cells))
    least = "SELECT similarity, canonical_url FROM changes WHERE kind = 'edited' ORDER BY 1, 2 LIMIT $most"
    edited = [[f"{value:.2f}", url] for value, url in rows_of(least, most=EXAMPLES) if value is not None]
    show("edited most\n" + text_table((), edited))


# %%
def plot() -> "Figure":
    """Cluster sizes on log axes, similarities of near duplicates, hosts and languages by what is kept."""
    figure, ((left, right), (lower_left, lower_right)) = pyplot.subplots(2, 2, figsize=(12, 9))
    left.loglog([size for size, _ in sizes], [count for _, count in sizes], "o")
    left.set(xlabel="captures in a cluster", ylabel="clusters", title="cluster sizes")
    similar = [row[0] for row in rows_of("SELECT similarity FROM clusters WHERE reason = 'near'") if row[0] is not None]
    right.hist(similar, bins=40)
    right.set(xlabel="similarity to the document kept", ylabel="near duplicates", title="near duplicates")
    for axes, name, found in ((lower_left, "hosts", hosts), (lower_right, "languages", languages)):
        axes.barh(
            [shorten(one[0], 30) for one in found], [one[1] for one in found], color="lightgray", label="captures"
        )
        axes.barh([shorten(one[0], 30) for one in found], [one[2] for one in found], label="kept")
        axes.invert_yaxis()
        axes.set(title=name)
        axes.legend(loc="lower right")
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
