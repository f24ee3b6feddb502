"""Scores a store against the truth of the sample."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dedup_lib.evaluation.agreement import Agreement, codes_of, compare_clusterings
from dedup_lib.evaluation.captures import Judged, Snapshot, merged_strangers, together
from dedup_lib.evaluation.cases import Cases, Tally
from dedup_lib.evaluation.levels import Level, score_levels
from dedup_lib.evaluation.s_curve import Curve

ALL = "all snapshots"


@dataclass(frozen=True)
class SampleScores:
    """How a snapshot, or all of them together, stands to the truth."""

    name: str
    documents: Tally  # of the truth, and how many of them the store has
    missing: Cases
    no_documents: Cases  # captures that the truth says are none and the store has
    unknown: Cases  # captures of the store that the truth has not, or that the store has twice
    merged: Cases  # pairs of planted non-duplicates in one cluster
    merged_by_kind: Mapping[str, int]
    relations: Mapping[str, Tally]  # planted duplicates, by relation
    rules: Mapping[str, Tally]  # and URL variants by rule
    not_found: Cases
    truncated: Tally  # captures cut by the crawler, and those for which a complete one of their page is kept
    truncated_kept: Cases
    levels: tuple[Level, ...]  # near duplicates by similarity
    removed: Tally  # documents that are not kept, and those that are alike to the one kept in their place
    agreement: Agreement  # with families, near duplicates joined from the threshold on

    @property
    def failures(self) -> list[str]:
        """What is wrong, each as a sentence; empty when all is as planted."""
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in self.merged_by_kind.items())
        missed = ", ".join(f"{name} {tally.missed:,}" for name, tally in self.relations.items() if tally.missed)
        found = [
            (self.missing, "documents of the truth are in no cluster"),
            (self.no_documents, "captures that hold no document were clustered"),
            (self.unknown, "clustered captures are unknown to the truth, or are there twice"),
            (self.merged, f"pairs of planted non-duplicates share a cluster ({kinds})"),
            (self.not_found, f"planted duplicates were not found ({missed})"),
            (self.truncated_kept, "truncated captures have no complete one kept for them"),
        ]
        sentences = [f"{cases.count:,} {what}{cases.such_as}" for cases, what in found if cases.count]
        sentences += [level.failure for level in self.levels if level.failure]
        return [f"{self.name}: {sentence}" for sentence in sentences]

    def to_json(self) -> dict[str, Any]:
        """As a mapping that JSON can hold."""
        cases = ("missing", "no_documents", "unknown", "merged", "not_found", "truncated_kept")
        return {
            "name": self.name,
            "documents": self.documents.to_json(),
            **{name: getattr(self, name).to_json() for name in cases},
            "merged_by_kind": dict(self.merged_by_kind),
            "relations": {name: tally.to_json() for name, tally in self.relations.items()},
            "rules": {name: tally.to_json() for name, tally in self.rules.items()},
            "truncated": self.truncated.to_json(),
            "levels": [level.to_json() for level in self.levels],
            "removed": {"documents": self.removed.planted, "wrongly": self.removed.missed},
            "agreement": self.agreement.to_json(),
        }


def score_together(snapshots: Sequence[Snapshot], curve: Curve) -> SampleScores | None:
    """The scores of all snapshots together; None where there is but one."""
    if len(snapshots) < 2:
        return None
    captures = tuple(capture for snapshot in snapshots for capture in snapshot.captures)
    unknown = tuple(url for snapshot in snapshots for url in snapshot.unknown)
    return score_snapshot(Snapshot(ALL, captures, unknown), curve)


def score_snapshot(snapshot: Snapshot, curve: Curve) -> SampleScores:
    """Compares where the captures are with where they belong."""
    documents = [capture for capture in snapshot.captures if capture.is_document]
    missing = [capture.url for capture in documents if not capture.placed]
    strangers = [(kind, f"{one.url} with {other.url}") for kind, one, other in merged_strangers(snapshot.captures)]
    planted = [pair for pair in snapshot.with_original() if pair[0].must_merge]
    near = [
        (copy.jaccard, together(copy, original))
        for copy, original in snapshot.with_original()
        if copy.relation == "near" and copy.jaccard is not None
    ]
    truncated = [capture for capture in documents if capture.kind == "truncated"]
    truncated_kept = [capture.url for capture in truncated if not _complete_one_is_kept(capture, snapshot)]
    return SampleScores(
        name=snapshot.name,
        documents=Tally(len(documents), len(documents) - len(missing)),
        missing=Cases.of(missing),
        no_documents=Cases.of([c.url for c in snapshot.captures if c.placed and not c.is_document]),
        unknown=Cases.of(snapshot.unknown),
        merged=Cases.of([text for _, text in strangers]),
        merged_by_kind=dict(sorted(Counter(kind for kind, _ in strangers).items())),
        relations=_tallies(planted, lambda capture: capture.relation),
        rules=_tallies(planted, lambda capture: capture.rule),
        not_found=Cases.of([f"{one.url} with {other.url}" for one, other in planted if not together(one, other)]),
        truncated=Tally(len(truncated), len(truncated) - len(truncated_kept)),
        truncated_kept=Cases.of(truncated_kept),
        levels=score_levels([jaccard for jaccard, _ in near], [found for _, found in near], curve),
        removed=_removed(snapshot, curve.threshold - curve.borderline),
        agreement=_agreement(snapshot, curve.threshold),
    )


def _tallies(pairs: Sequence[tuple[Judged, Judged]], name_of: Callable[[Judged], str | None]) -> dict[str, Tally]:
    """Found and planted by the name of the copy; copies without a name are left out."""
    hits: dict[str, list[bool]] = defaultdict(list)
    for copy, original in pairs:
        if name := name_of(copy):
            hits[name].append(together(copy, original))
    return {name: Tally(len(found), sum(found)) for name, found in sorted(hits.items())}


def _complete_one_is_kept(capture: Judged, snapshot: Snapshot) -> bool:
    if capture.placed is None or capture.placed.kept:
        return False
    kept = snapshot.by_record().get(capture.placed.representative or "")
    return kept is not None and kept.kind != "truncated" and kept.family == capture.family


def _true_clusters(snapshot: Snapshot, threshold: float) -> dict[str, str]:
    """The record id that stands for each document's true cluster: its family's original, or itself.

    The families of the sample are stars around their originals, so this is also what connected components would give.
    """
    clusters = {capture.record_id: capture.record_id for capture in snapshot.captures if capture.is_document}
    for copy, original in snapshot.with_original():
        near = copy.relation == "near" and copy.jaccard is not None and copy.jaccard >= threshold
        if copy.must_merge or near:
            clusters[copy.record_id] = original.record_id
    return clusters


def _removed(snapshot: Snapshot, threshold: float) -> Tally:
    """Documents that are not kept, and those of them whose representative is of their own true cluster."""
    clusters = _true_clusters(snapshot, threshold)
    right = [
        clusters[capture.record_id] == clusters.get(capture.placed.representative or "")
        for capture in snapshot.captures
        if capture.is_document and capture.placed and not capture.placed.kept
    ]
    return Tally(len(right), sum(right))


def _agreement(snapshot: Snapshot, threshold: float) -> Agreement:
    clusters = _true_clusters(snapshot, threshold)
    placed = [(clusters[c.record_id], c.placed.cluster) for c in snapshot.captures if c.is_document and c.placed]
    return compare_clusterings(codes_of([truth for truth, _ in placed]), codes_of([found for _, found in placed]))
