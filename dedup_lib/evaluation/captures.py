"""The captures of a sample: what the truth says of each, and where the store put it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from dedup_lib.evaluation.labels import Clustered, bare_id

# Kinds of the truth that are documents; all others have no text, or are no page.
DOCUMENT_KINDS = frozenset({"article", "product", "documentation", "calendar", "short", "truncated"})


@dataclass(frozen=True)
class Placed:
    """Where the store put a capture. `cluster` and `representative` are unique over all snapshots."""

    cluster: tuple[str, bytes]
    kept: bool
    representative: str | None  # its record id; null when that is not a capture of the truth


@dataclass(frozen=True)
class Judged:
    """One capture of the truth with its place in the store; `placed` is null where the store has no such document."""

    snapshot: str
    record_id: str
    url: str
    kind: str
    family: int | None
    relation: str | None
    rule: str | None
    jaccard: float | None
    original: str | None
    must_merge: bool
    template: bool  # of a family of templated pages, of which no two are duplicates
    placed: Placed | None

    @property
    def is_document(self) -> bool:
        """Whether it must be in the store."""
        return self.kind in DOCUMENT_KINDS


@dataclass(frozen=True)
class Snapshot:
    """The captures of a snapshot, and the URLs of stored captures that the truth does not know, or has only once."""

    name: str
    captures: tuple[Judged, ...]
    unknown: tuple[str, ...]

    def by_record(self) -> Mapping[str, Judged]:
        """The captures by record id."""
        return {capture.record_id: capture for capture in self.captures}

    def with_original(self) -> Iterator[tuple[Judged, Judged]]:
        """Each document with its family's original, where that is another document of the same snapshot."""
        by_record = self.by_record()
        for capture in self.captures:
            original = by_record.get(capture.original) if capture.original else None
            if original and original.snapshot == capture.snapshot and original.is_document and capture.is_document:
                yield capture, original


def join_snapshot(name: str, truth: Sequence[Mapping[str, Any]], clusters: Sequence[Clustered]) -> Snapshot:
    """Joins the truth's rows of one snapshot with its clusters, by record id."""
    records = {row.doc_id: bare_id(row.record_id) for row in clusters}
    placed: dict[str | None, Placed] = {}
    unknown = []
    known = {bare_id(row["record_id"]) for row in truth}
    for row in clusters:
        record = bare_id(row.record_id)
        if record in placed or record not in known:
            unknown.append(row.url)
            continue
        placed[record] = Placed((name, row.cluster_id), row.reason == "kept", records.get(row.representative_id))
    templates = {row["family"] for row in truth if row["relation"] == "template_negative"}
    return Snapshot(name, tuple(_judged(row, templates, placed) for row in truth), tuple(unknown))


def _judged(row: Mapping[str, Any], templates: set[int], placed: Mapping[str | None, Placed]) -> Judged:
    record = bare_id(row["record_id"]) or ""
    return Judged(
        snapshot=row["snapshot"],
        record_id=record,
        url=row["url"],
        kind=row["kind"],
        family=row["family"],
        relation=row["relation"],
        rule=row["rule"],
        jaccard=row["jaccard"],
        original=bare_id(row["original_record_id"]),
        must_merge=row["must_merge"],
        template=row["family"] in templates,
        placed=placed.get(record),
    )


def together(one: Judged, other: Judged) -> bool:
    """Whether both are in the store and in one cluster."""
    return one.placed is not None and other.placed is not None and one.placed.cluster == other.placed.cluster


def merged_strangers(captures: Sequence[Judged]) -> Iterator[tuple[str, Judged, Judged]]:
    """Pairs that are no duplicates by construction and share a cluster, with their kind.

    template: two pages of one template; pk_conflict: two originals that a URL rule confuses; short: two short pages of
    different families, whose texts all differ; family: any others of different families.
    """
    clusters: dict[tuple[str, bytes], list[Judged]] = defaultdict(list)
    for capture in captures:
        if capture.placed and capture.is_document:
            clusters[capture.placed.cluster].append(capture)
    for members in clusters.values():
        for one, other in combinations(members, 2):
            if kind := _strangers(one, other):
                yield kind, one, other


def _strangers(one: Judged, other: Judged) -> str | None:
    if one.family == other.family:
        return "template" if one.template and one.url != other.url else None
    for name, values in (("pk_conflict", (one.relation, other.relation)), ("short", (one.kind, other.kind))):
        if values == (name, name):
            return name
    return "family"
