"""Stores with clustered snapshots, written without Spark, and what global dedup makes of them in plain Python."""

import hashlib
import io
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from clustering.texts import words

from dedup_lib.signatures import Scheme, sign_texts
from dedup_lib.tables.keys import GLOBAL, SnapshotKey
from dedup_lib.tables.published import FileEntry, StageEntry, TableEntry, Version, published_path, read_version
from dedup_lib.tables.schemas import REPRESENTATIVES, SIGNATURES
from dedup_lib.tables.store_schemas import STORE_TABLES

from .rows import content_hash

FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Page:
    """A representative of a snapshot: `name` is what its doc_id is a hash of."""

    name: str
    text: str
    captures: int = 1
    others: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def doc_id(self) -> bytes:
        return hashlib.sha256(self.name.encode()).digest()[:16]


def key_of(name: str) -> SnapshotKey:
    """`c`, or `web/c`."""
    source, _, snapshot = name.rpartition("/")
    return SnapshotKey(source or "web", snapshot)


def add_snapshot(
    root: Path,
    name: str,
    pages: Sequence[Page],
    month: int = 1,
    run: str = "r1",
    scheme: Scheme | None = None,
    url_scheme: str = "u1",
    files: int = 1,
) -> None:
    """Publishes a snapshot whose stage cluster kept these pages, captured one per minute from the first of a month on.

    Another run replaces it.
    """
    scheme, key = scheme or Scheme(), key_of(name)
    rows = representative_rows(pages, month)
    tables = {}
    for table, made in ((REPRESENTATIVES, rows), (SIGNATURES, signed_rows(rows, scheme, url_scheme))):
        written = []
        for part in range(files):
            path = f"{table.name}/{key.folder}/run={run}/{key.source}-{key.snapshot}-{run}-{part}.parquet"
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.Table.from_pylist(made[part::files], table.arrow), root / path)
            written.append(FileEntry(path, (root / path).stat().st_size, len(made[part::files])))
        tables[table.name] = TableEntry.of(written)
    sign = StageEntry("sign", run, "f", str(scheme), url_scheme, {}, {}, {"signatures": tables["signatures"]})
    cluster = StageEntry(
        "cluster", run, "f", str(scheme), url_scheme, {"sign": run}, {}, {"representatives": tables["representatives"]}
    )
    published = root / published_path(key)
    published.parent.mkdir(parents=True, exist_ok=True)
    published.write_bytes(Version(key, "2026-11-30T12:00:00+00:00", {"sign": sign, "cluster": cluster}).to_bytes())


def representative_rows(pages: Sequence[Page], month: int = 1) -> list[dict[str, Any]]:
    """Rows of `representatives`, captured one per minute from the first of a month on."""
    return [_row(page, FIRST_DAY.replace(month=month) + timedelta(minutes=n)) for n, page in enumerate(pages)]


def _row(page: Page, when: datetime) -> dict[str, Any]:
    url = f"http://site.example/{page.name}"
    row = {
        "doc_id": page.doc_id,
        "record_id": page.name,
        "url": url,
        "url_strict": url,
        "policy_url": url,
        "url_key": url.removeprefix("http://"),
        "canonical_url": url,
        "crawl_date": when.date(),
        "fetched_at": when,
        "language": "unknown",
        "text": page.text,
        "text_chars": len(page.text),
        "truncated": False,
        "content_hash": content_hash(page.text),
        "archive": "a.warc.gz",
        "archive_offset": 0,
        "url_scheme": "u1",
        "cluster_id": page.doc_id,
        "cluster_size": page.captures,
        "alias_count": page.captures - 1,
        "aliases": [],
    }
    return row | dict(page.others)


def signed_rows(rows: Sequence[dict[str, Any]], scheme: Scheme, url_scheme: str = "u1") -> list[dict[str, Any]]:
    signed = sign_texts(pa.array([row["text"] for row in rows], pa.string()), scheme).to_arrow()
    made = {name: column.to_pylist() for name, column in signed.items()}
    return [
        row | {name: column[n] for name, column in made.items()} | {"scheme": str(scheme), "url_scheme": url_scheme}
        for n, row in enumerate(rows)
    ]


def global_version(root: Path) -> Version:
    found = read_version(root, GLOBAL)
    assert found is not None
    return found


def global_rows(root: Path, table: str = "global_clusters") -> list[dict[str, Any]]:
    """The published rows of a table of the store."""
    entry = global_version(root).stages["global"].tables[table]
    parts = [pq.read_table(io.BytesIO((root / file.path).read_bytes())) for file in entry.files]
    found = pa.concat_tables(parts) if parts else STORE_TABLES[table].arrow.empty_table()
    return sorted(found.to_pylist(), key=lambda row: (row["doc_id"], row["source"], row["snapshot"]))


def fates(root: Path, *names: str) -> dict[str, tuple[str, str | None, str, str]]:
    """SNAPSHOT:NAME -> (reason, duplicate_of, representative, cluster), by names; `names` are those of gone pages."""
    found = global_rows(root)
    known = {row["doc_id"]: row["canonical_url"].rpartition("/")[2] for row in found}
    known |= {Page(name, "").doc_id: name for name in names} | {None: None}
    return {
        f"{row['snapshot']}:{known[row['doc_id']]}": (
            row["reason"],
            known[row["duplicate_of"]],
            known[row["representative_id"]],
            known[row["cluster_id"]],
        )
        for row in found
    }


def random_pages(seed: int, snapshots: Iterable[str], families: int = 6) -> dict[str, list[Page]]:
    """Snapshots of families of versions of a text, at similarities the bands cannot miss or are sure to be refused.

    Each version changes the last words of a base of 120 (4 of them: 0.93 at least; two changed so share no fewer than
    0.87), or slides a window along a chain in which neighbours are at 0.85 and others at 0.72 or less.
    """
    dice = random.Random(seed)
    names = list(snapshots)
    made: dict[str, list[Page]] = {name: [] for name in names}
    for family in range(families):
        pool, chain = words(124, 1000 * seed + family), words(140, 1000 * seed + 500 + family)
        for version in range(dice.randrange(2, 6)):
            changed = words(4, dice.randrange(10**6)) if version else []
            text = " ".join(pool[: 124 - len(changed)] + changed)
            made[dice.choice(names)].append(Page(f"f{family}v{version}", text))
        for step in range(dice.randrange(4)):
            made[dice.choice(names)].append(Page(f"c{family}s{step}", " ".join(chain[8 * step : 8 * step + 104])))
        for copy in range(dice.randrange(3)):
            text = " ".join(pool).upper() if copy else f"short text {family}"
            made[dice.choice(names)].append(Page(f"x{family}n{copy}", text))
    for pages in made.values():
        dice.shuffle(pages)
    return made
