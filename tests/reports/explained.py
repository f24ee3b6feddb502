"""A clustered snapshot by hand, published without Spark: documents, what they lost to, and what is no document."""

import hashlib
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from stages.rows import START, document
from tables.entries import publish_stages, write_table

from dedup_lib.config import Settings, settings_record
from dedup_lib.signatures import Scheme, content_hash, sign_texts
from dedup_lib.tables.keys import GLOBAL, SnapshotKey
from dedup_lib.tables.published import FileEntry, StageEntry, TableEntry, Version, published_path, read_version
from dedup_lib.tables.runs import RunFile
from dedup_lib.tables.schemas import CLUSTERS, DOCUMENTS, FETCHES, IDENTITIES, PAIRS, REJECTS, SIGNATURES
from dedup_lib.tables.store_schemas import GLOBAL_CLUSTERS
from dedup_lib.urls import default_rules_path, identify, load_rules

SCHEME = Scheme()
RULES = load_rules([default_rules_path()])
KEY = SnapshotKey("web", "snapshot-a")


def doc_id(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()[:16]


def page(name: str, text: str, url: str | None = None, hours: int = 0, **others) -> dict:
    """A row of `documents` with the identity of its URL."""
    url = url or f"https://x.example/{name}"
    named = identify(url, RULES)
    forms = {"url_strict": named.url_strict, "policy_url": named.policy_url, "url_key": named.url_key}
    others = {"record_id": f"<urn:uuid:{name}>", "content_hash": content_hash(text), **forms, **others}
    return document(doc_id(name), url, text, START + timedelta(hours=hours), **others)


def publish(
    root: Path,
    pages: dict[str, dict],
    lost: dict[str, tuple[str, str, float | None]],
    *,
    key: SnapshotKey = KEY,
    settings: Settings | None = None,
    fetches: list[dict] = (),
    rejects: list[dict] = (),
    conflicts: dict[str, str] | None = None,
    clustered: bool = True,
    pairs: list[dict] | None = None,
    scheme: Scheme = SCHEME,
    url_scheme: str = RULES.scheme,
) -> Path:
    """Publishes pages by name; `lost` has (reason, name of what it lost to, similarity) of those that were removed."""
    kept = {name: name for name in pages}
    for name in lost:
        while kept[name] in lost:
            kept[name] = lost[kept[name]][1]
    sizes = {name: sum(one == kept[name] for one in kept.values()) for name in pages}
    identities, clusters, winners = [], [], []
    for name, row in pages.items():
        reason, other, similarity = lost.get(name, ("kept", None, None))
        canonical = pages[other if reason == "url" else name]["policy_url"]
        names = {"canonical_url": canonical, "duplicate_of": doc_id(other) if other else None}
        common = {"doc_id": row["doc_id"], "crawl_date": row["crawl_date"], **names}
        identities.append(common | {"wins": reason != "url", "conflict": (conflicts or {}).get(name)})
        identities[-1]["duplicate_of"] = common["duplicate_of"] if reason == "url" else None
        representative = doc_id(kept[name])
        clusters.append(
            {**row, **common, "reason": reason, "similarity": similarity, "cluster_size": sizes[name]}
            | {"cluster_id": representative, "representative_id": representative}
        )
        if reason != "url":
            winners.append(row | {"canonical_url": canonical, "scheme": str(scheme)})
    signed = pa.table(sign_texts(pa.array([row["text"] for row in winners], pa.string()), scheme).to_arrow())
    signatures = [row | signature for row, signature in zip(winners, signed.to_pylist(), strict=True)]
    rows = {DOCUMENTS: list(pages.values()), FETCHES: fetches, REJECTS: rejects}
    stages = {"extract": rows, "resolve": {IDENTITIES: identities}, "sign": {SIGNATURES: signatures}}
    if clustered:
        stages["cluster"] = {CLUSTERS: clusters} | ({PAIRS: pairs} if pairs is not None else {})
    entries = {}
    for stage, tables in stages.items():
        written = {table.name: _write(root, table, key, some) for table, some in tables.items()}
        entries[stage] = StageEntry(stage, "r1", "f", str(scheme), url_scheme, {}, {}, written)
    publish_stages(root, key, entries)
    with RunFile(root, "r1", command="run", configuration=settings_record(settings or Settings())):
        pass
    return root


def publish_global(root: Path, made_from: dict[str, str], rows: list[dict]) -> None:
    """Publishes a global version of literal rows of `global_clusters`."""
    size = len(rows)
    rows = [
        {"duplicate_of": None, "similarity": None, "cluster_size": size, "captures": size, "content_hash": b"c" * 32}
        | {"crawl_date": START.date(), **row}
        for row in rows
    ]
    parts = (pa.Table.from_pylist(rows[place::2], schema=GLOBAL_CLUSTERS.arrow) for place in range(2))
    files = []
    for number, part in enumerate(parts):
        path = root / GLOBAL.runs_folder(GLOBAL_CLUSTERS.name) / "run=r9" / f"part-{number}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(part, path)
        files.append(FileEntry(path.relative_to(root).as_posix(), path.stat().st_size, part.num_rows))
    tables = {GLOBAL_CLUSTERS.name: TableEntry.of(files)}
    entry = StageEntry("global", "r9", "f", str(SCHEME), RULES.scheme, made_from, {}, tables)
    (root / published_path(GLOBAL)).write_bytes(Version(GLOBAL, "2026-11-30T12:00:00Z", {"global": entry}).to_bytes())


def forget(root: Path, name: str, key: SnapshotKey = KEY) -> None:
    """Takes a document out of `documents`, as an `extract --replace` of other archives would: the rest is stale."""
    path = root / published_path(key)
    version = read_version(root, key)
    extract = version.stages["extract"]
    left = [
        pq.read_table(root / file.path).filter(pc.field("doc_id") != doc_id(name))
        for file in extract.tables[DOCUMENTS.name].files
    ]
    tables = {**extract.tables, DOCUMENTS.name: write_table(root, DOCUMENTS.name, key, left)}
    stages = {**version.stages, "extract": replace(extract, run="r2", tables=tables)}
    cluster = replace(stages["cluster"], made_from={"extract": extract.run})
    path.write_bytes(replace(version, stages={**stages, "cluster": cluster}).to_bytes())


def _write(root, table, key, rows):
    """Two files."""
    parts = (pa.Table.from_pylist(rows[place::2], schema=table.arrow) for place in range(2))
    return write_table(root, table.name, key, parts)
