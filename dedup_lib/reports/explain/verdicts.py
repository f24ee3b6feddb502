"""Why two documents were not merged, or that they were: the first step of the pipeline that kept them apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.clustering.verify import Bounds
from dedup_lib.config.settings import ClusterSettings
from dedup_lib.reports.explain.across import Across, sentence
from dedup_lib.reports.explain.comparing import Comparison, compare, exact_similarity, signed_documents
from dedup_lib.reports.explain.fates import GONE, Fate
from dedup_lib.reports.explain.lookup import CAPTURE
from dedup_lib.reports.explain.priority import first_rule
from dedup_lib.signatures import Scheme
from dedup_lib.tables.schemas import DOCUMENTS, PAIRS

# In the order in which they are asked; a pair has the first that holds.
VERDICTS = {
    "same_capture": "both names are of one capture",
    "other_snapshot": "they are of different snapshots, which only `crawl-dedup global` compares, and it has not run",
    "not_in_global": "they are of different snapshots, and the global version does not have both",
    "merged_across": "they are in one cluster across snapshots",
    "apart_across": "they are of different snapshots, and `crawl-dedup global` did not merge them",
    "not_clustered": "the snapshot is not clustered: run cluster",
    "merged": "they are in one cluster",
    "too_short": "a text has fewer words than a shingle, so that only equal contents are merged",
    "no_band_met": "they share no band key, so that they never became a candidate pair",
    "below_threshold": "they met, and are less alike than the threshold asks",
    "rejected_by_estimate": "they met, and the estimate alone rejected them",
    "never_paired": "they share band keys, but were not tried: of a key that many share, each is tried with a few only",
    "other_anchor": "they are alike, but one of them was removed for another document, and the other is kept or was "
    "removed for a third",
}


@dataclass(frozen=True)
class Verdict:
    """A key of `VERDICTS`, and what makes it so in sentences.

    `contents` compares the documents that went through the bands: those that the two lost to by URL or by equal
    content, where that are others.
    """

    code: str
    because: tuple[str, ...] = ()
    contents: Comparison | None = None

    def to_json(self) -> dict[str, Any]:
        """As a mapping that JSON can hold."""
        contents = self.contents.to_json() if self.contents else None
        return {
            "verdict": self.code,
            "meaning": VERDICTS[self.code],
            "because": list(self.because),
            "contents": contents,
        }


def judge(left: Fate, right: Fate, comparison: Comparison, settings: ClusterSettings, scheme: Scheme) -> Verdict:
    """Why two captures of one snapshot are in different clusters, or how they came into one."""
    if left.doc_id == right.doc_id:
        return Verdict("same_capture")
    if not left.steps or not right.steps:
        return Verdict("not_clustered")
    if left.steps[0]["cluster_id"] == right.steps[0]["cluster_id"]:
        return Verdict("merged", tuple(_how_merged(left, right, settings)))
    return _judge_contents(left, right, comparison, settings, scheme)


def _judge_contents(
    left: Fate, right: Fate, comparison: Comparison, settings: ClusterSettings, scheme: Scheme
) -> Verdict:
    """Why two captures of one snapshot did not come into one cluster, by the step that kept their contents apart."""
    contents, others = _contents(left, right, comparison, scheme)
    between = contents or comparison
    others += _tried(left, between)
    if between.too_short:
        return Verdict("too_short", others, contents)
    if not between.bands_met:
        chance = f"documents of similarity {between.exact:.4f} meet with probability {between.chance:.4f}"
        return Verdict("no_band_met", (*others, chance), contents)
    if apart := _rejected(between, settings, scheme):
        return Verdict(apart[0], (*others, apart[1]), contents)
    if left.content["reason"] == right.content["reason"] == "kept":
        tried = f"cluster.anchors_per_key is {settings.anchors_per_key}"
        return Verdict("never_paired", (*others, tried), contents)
    return Verdict("other_anchor", (*others, *_anchors(left, right, settings, scheme)), contents)


def across_snapshots(left: Fate, right: Fate, across: Across | None) -> Verdict:
    """Whether `global` merged two captures of different snapshots, by what stands for each in its snapshot."""
    if across is None:
        return Verdict("other_snapshot", (f"one is of {left.key}, one of {right.key}",))
    told, clusters = [], []
    for fate in (left, right):
        row = across.of(fate)
        clusters.append(row and row["cluster_id"])
        because = sentence(fate, row, across.winner(row)) if row else across.missing(fate)
        told.append(f"{fate.doc_id.hex()}: {because}")
    told += across.notes()
    if None in clusters:
        return Verdict("not_in_global", tuple(told))
    return Verdict("merged_across" if clusters[0] == clusters[1] else "apart_across", tuple(told))


def _how_merged(left: Fate, right: Fate, settings: ClusterSettings) -> list[str]:
    """What each was removed for, and which rule put the kept one first."""
    told = []
    for one in (left, right):
        if one.kept:
            told.append(f"{one.doc_id.hex()} stands for the cluster")
        told += [_removal(step) for step in one.steps if step["duplicate_of"] is not None]
    for kept, lost in ((left, right), (right, left)):
        by_priority = kept.kept and lost.steps[0]["reason"] != "url"
        if by_priority and (rule := first_rule(kept.capture, lost.capture, settings.keep)):
            told.append(f"{kept.doc_id.hex()} comes first in the priority order by {rule}")
    return list(dict.fromkeys(told))


def _removal(step: Mapping[str, Any]) -> str:
    similarity = "" if step["similarity"] is None else f", similarity {step['similarity']:.4f}"
    return f"{step['doc_id'].hex()} was removed for {step['duplicate_of'].hex()} ({step['reason']}{similarity})"


def _contents(
    left: Fate, right: Fate, comparison: Comparison, scheme: Scheme
) -> tuple[Comparison | None, tuple[str, ...]]:
    """The comparison of what stood in the bands for the two, where that are others, and what is to be said of it."""
    stood = [one.content["doc_id"] for one in (left, right)]
    if stood == [left.doc_id, right.doc_id]:
        return None, ()
    documents = signed_documents(left.rows, stood, scheme)
    told = tuple(
        f"{one.doc_id.hex()} lost to {name.hex()} by {'URL' if one.steps[0]['reason'] == 'url' else 'equal content'}"
        for one, name in zip((left, right), stood, strict=True)
        if one.doc_id != name
    )
    if gone := [name for name in stood if name not in documents]:
        return None, (*told, *(f"{name.hex()} {GONE}" for name in gone))
    in_place = tuple(f"{one}, which was compared in its place" for one in told)
    return compare(documents[stood[0]], documents[stood[1]], scheme), in_place


def _tried(one: Fate, between: Comparison) -> tuple[str, ...]:
    """What the table `pairs` has of the two, where `cluster.write_pairs` asked for it."""
    if not one.rows.has(PAIRS):
        return ()
    ids = pa.array([between.left.doc_id, between.right.doc_id], pa.binary())

    def both(batch: pa.RecordBatch) -> pa.Array:
        return pc.and_(*(pc.is_in(column, value_set=ids) for column in batch.columns))

    found = one.rows.read(one.rows.places(PAIRS, ("anchor_id", "doc_id"), both, 1), PAIRS.names)
    if not found:
        return ("they were no candidate pair",)
    exact = "" if found[0]["exact"] is None else f", exact {found[0]['exact']:.4f}"
    verdict = "accepted" if found[0]["accepted"] else "rejected"
    return (f"pass {found[0]['pass']} {verdict} them as a candidate pair: estimated {found[0]['estimate']:.4f}{exact}",)


def _rejected(between: Comparison, settings: ClusterSettings, scheme: Scheme) -> tuple[str, str] | None:
    """How verification rejected a pair that met; None where it is an edge."""
    bounds = Bounds.of(settings, scheme.permutations)
    estimated, exact, threshold = between.estimated or 0.0, between.exact, settings.threshold
    if estimated >= (bounds.sure if settings.verify == "exact" else bounds.accept):
        return None
    beside = f"estimated {estimated:.4f}, exact {exact:.4f}, cluster.threshold {threshold:g}"
    if settings.verify == "estimate" or estimated < bounds.reject:
        return ("below_threshold" if exact < threshold else "rejected_by_estimate"), beside
    return ("below_threshold", beside) if exact < threshold else None


def _anchors(left: Fate, right: Fate, settings: ClusterSettings, scheme: Scheme) -> list[str]:
    """What each of two similar documents was removed for, and how alike the other one is to that."""
    told = []
    for one, other in ((left, right), (right, left)):
        anchor = one.content["duplicate_of"]
        if anchor is None:
            told.append(f"{one.content['doc_id'].hex()} is kept")
            continue
        second = other.content["doc_id"]
        documents = signed_documents(one.rows, [anchor, second], scheme)
        if gone := [name for name in (anchor, second) if name not in documents]:
            told.append("; ".join([_removal(one.content), *(f"{name.hex()} {GONE}" for name in gone)]))
            continue
        exact = exact_similarity(documents[anchor], documents[second], scheme)
        told.append(
            f"{_removal(one.content)}{_before(one, anchor, other, settings)}; "
            f"to that, {second.hex()} has similarity {exact:.4f}"
        )
    return told


def _before(one: Fate, anchor: bytes, other: Fate, settings: ClusterSettings) -> str:
    """Which rule put the anchor before the other document."""
    wanted = [anchor, other.content["doc_id"]]
    rows = {row["doc_id"]: row for row in one.rows.where(DOCUMENTS, "doc_id", wanted, CAPTURE)}
    rule = first_rule(rows[anchor], rows[other.content["doc_id"]], settings.keep)
    return f", which comes before {other.content['doc_id'].hex()} in the priority order by {rule}" if rule else ""
