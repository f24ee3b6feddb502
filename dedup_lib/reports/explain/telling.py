"""The explanation of one document, and of two, as one mapping that JSON can hold and `render` makes text of."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from dedup_lib.reports.explain.across import Across, told_across
from dedup_lib.reports.explain.comparing import Comparison, compare, signed_documents
from dedup_lib.reports.explain.fates import GONE, Fate, fate_of
from dedup_lib.reports.explain.lookup import CAPTURE, Named, recency
from dedup_lib.reports.explain.priority import first_rule
from dedup_lib.reports.explain.recorded import Recorded
from dedup_lib.reports.explain.verdicts import across_snapshots, judge
from dedup_lib.signatures import Scheme
from dedup_lib.tables.keys import SnapshotKey
from dedup_lib.tables.schemas import CLUSTERS, DOCUMENTS

Told = dict[str, Any]
Captured = tuple[Named, dict[str, Any]]
_LISTED = ("doc_id", "url", "crawl_date", "fetched_at", "archive", "archive_offset")


def explain(
    found: Sequence[Named],
    made_by: Mapping[SnapshotKey, Recorded],
    others: Sequence[Named] | None,
    across: Across | None,
) -> dict[str, Any]:
    """Why what was found under a name was kept or removed, and why it and `others` were not merged.

    `made_by` has what shaped each snapshot; `across` is the global version, if there is one. Of several captures the
    latest is explained; of two names, the latest ones within one snapshot if there is one that has both.
    """
    told: dict[str, Any] = {
        "captures": [_listed(named, capture) for named, capture in captures_of(found)],
        "fetches": [_of_snapshot(named) | row for named in found for row in named.fetches],
        "rejects": [_of_snapshot(named) | row for named in found for row in named.rejects],
    }
    one, other = _chosen(captures_of(found), captures_of(others or ()))
    if one is None:
        return {name: _plain(value) for name, value in told.items()}
    fate = fate_of(one[0].rows, one[1])
    recorded = made_by[fate.key]
    told["explained"] = _explained(fate, recorded, across)
    told["settings"] = {
        "threshold": recorded.settings.cluster.threshold,
        "verify": recorded.settings.cluster.verify,
        "scheme": str(recorded.scheme),
    }
    if others is None:
        told["comparisons"] = [one.to_json() for one in _comparisons(fate, recorded.scheme)]
    elif other is not None:
        told |= _pair(fate, fate_of(other[0].rows, other[1]), made_by, across)
    return {name: _plain(value) for name, value in told.items()}


def captures_of(found: Sequence[Named]) -> list[Captured]:
    """The captures of all snapshots, the latest first."""
    all_captures = [(named, capture) for named in found for capture in named.captures]
    return sorted(all_captures, key=lambda one: recency(one[1]), reverse=True)


def _chosen(first: Sequence[Captured], second: Sequence[Captured]) -> tuple[Captured | None, Captured | None]:
    """The latest captures of two names, of the same snapshot and not the same where that can be."""
    if not first or not second:
        return (first[0] if first else None), (second[0] if second else None)

    def unlike(pair: tuple[Captured, Captured]) -> tuple[bool, bool]:
        (one, capture), (other, other_capture) = pair
        return one.rows.version.key != other.rows.version.key, capture["doc_id"] == other_capture["doc_id"]

    return min(((one, other) for one in first for other in second), key=unlike)


def _pair(fate: Fate, other: Fate, made_by: Mapping[SnapshotKey, Recorded], across: Across | None) -> dict[str, Any]:
    recorded, other_recorded = made_by[fate.key], made_by[other.key]
    told: dict[str, Any] = {"other": _explained(other, other_recorded, across)}
    if recorded.scheme != other_recorded.scheme:
        told["pair"] = {
            "verdict": "other_scheme",
            "meaning": f"they are signed by different schemes, {recorded.scheme} and {other_recorded.scheme}",
            "because": [],
        }
        return told
    first, second = (signed_documents(one.rows, [one.doc_id], recorded.scheme)[one.doc_id] for one in (fate, other))
    comparison = compare(first, second, recorded.scheme)
    if fate.key != other.key:
        verdict = across_snapshots(fate, other, across)
    else:
        verdict = judge(fate, other, comparison, recorded.settings.cluster, recorded.scheme)
    told["pair"] = comparison.to_json() | verdict.to_json()
    return told


def _comparisons(fate: Fate, scheme: Scheme) -> list[Comparison]:
    """The document beside the one it lost to, and beside the one that stands for it if that is another.

    What a stale cluster names and is no longer there is left out.
    """
    beside = dict.fromkeys(
        row["doc_id"] for row in (*fate.steps[1:2], *fate.steps[-1:]) if row["doc_id"] != fate.doc_id
    )
    signed = signed_documents(fate.rows, [fate.doc_id, *beside], scheme) if beside else {}
    return [compare(signed[fate.doc_id], signed[doc_id], scheme) for doc_id in beside if doc_id in signed]


def _explained(fate: Fate, recorded: Recorded, across: Across | None) -> dict[str, Any]:
    own, representative = fate.own or {}, fate.representative or {}
    return {
        **_of_snapshot(fate),
        **fate.capture,
        "canonical_url": fate.identity["canonical_url"] if fate.identity else None,
        "conflict": fate.identity["conflict"] if fate.identity else None,
        "fate": own.get("reason"),
        "because": _because(fate, recorded),
        "similarity": own.get("similarity"),
        "cluster_id": own.get("cluster_id"),
        "cluster_size": own.get("cluster_size"),
        "representative": {name: representative.get(name) for name in ("doc_id", "url", "canonical_url")},
        "steps": [
            {name: step[name] for name in ("doc_id", "url", "reason", "duplicate_of", "similarity")}
            for step in fate.steps
        ],
        "aliases": list(fate.aliases),
        "across_snapshots": told_across(fate, across),
        "notes": list(recorded.notes),
    }


def _because(fate: Fate, recorded: Recorded) -> list[str]:
    """Why it was kept or removed, in sentences."""
    told = []
    if fate.identity and fate.identity["conflict"]:
        told.append(f"a URL rule was undone for it, since the texts differ: {fate.identity['conflict']}")
    if fate.own is None:
        stale = "the clusters of its snapshot are stale and do not have it: run cluster again"
        return [*told, stale if fate.rows.has(CLUSTERS) else "the snapshot is not clustered yet: run cluster"]
    if fate.kept:
        size = fate.own["cluster_size"]
        alone = "within its snapshot, nothing else has its URL or its content, or was found to be near it"
        return [*told, f"within its snapshot, it stands for a cluster of {size} captures" if size > 1 else alone]
    return [*told, *_lost(fate, fate.own, recorded)]


def _lost(fate: Fate, own: Mapping[str, Any], recorded: Recorded) -> list[str]:
    """Why a capture lost to another one; `own` is its row of `clusters`."""
    told = []
    found = fate.rows.where(DOCUMENTS, "doc_id", [own["duplicate_of"]], CAPTURE)
    winner = found[0] if found else None
    settings, reason = recorded.settings, own["reason"]
    if reason == "url" and winner:
        return [_same_page(fate.capture, winner, settings.resolve.threshold)]
    if reason == "exact":
        told.append("its normalised text is equal to that of the document it lost to")
    elif reason == "near":
        told.append(
            f"its similarity to the document it lost to is {own['similarity']:.4f}, "
            f"and cluster.threshold is {settings.cluster.threshold:g}"
        )
    if winner is None:
        told.append(f"the document it lost to, {own['duplicate_of'].hex()}, {GONE}")
    elif rule := first_rule(winner, fate.capture, settings.cluster.keep):
        told.append(f"that one comes before it in the priority order by {rule}")
    return told


def _same_page(capture: Mapping[str, Any], winner: Mapping[str, Any], threshold: float) -> str:
    """What made resolve take two captures for one page."""
    if capture["url_key"] != winner["url_key"]:
        return f"it, or the page of its URL, declares {winner['policy_url']} as canonical, and the texts agree"
    if capture["url_strict"] == winner["url_strict"]:
        return "it is another capture of the same URL; the latest complete one is the page"
    if capture["content_hash"] == winner["content_hash"]:
        return "its URL has the same url_key, and its content is the same"
    return f"its URL has the same url_key, and the texts are similar at resolve.threshold {threshold:g} or above"


def _listed(named: Named, capture: Mapping[str, Any]) -> dict[str, Any]:
    return _of_snapshot(named) | {name: capture[name] for name in _LISTED}


def _of_snapshot(named: Named | Fate) -> dict[str, Any]:
    key = named.rows.version.key
    return {"source": key.source, "snapshot": key.snapshot}


def _plain(value: Any) -> Any:  # noqa: ANN401 (a tree of whatever tables hold)
    """The value as JSON can hold it: ids and digests in hexadecimal, times by ISO 8601."""
    match value:
        case bytes():
            return value.hex()
        case date():
            return value.isoformat()
        case dict():
            return {name: _plain(one) for name, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
        case _:
            return value
