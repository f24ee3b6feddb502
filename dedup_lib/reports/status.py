"""What a store holds: snapshots, their stages, rows, schemes, and what is stale."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dedup_lib.evaluation.text_table import text_table
from dedup_lib.reports.quantities import bytes_text
from dedup_lib.tables.published import StageEntry, Version
from dedup_lib.tables.schemas import STAGES

URL_COUNTS = ("conflicts_by_rule", "canonicals", "canonicals_refused_by_host")
SHOWN, COUNTED = 10, 100  # of the most frequent hosts: shown here, and at most in the counts of a run
# What became of the page that a page declares in rel=canonical, as resolve counts it.
FATES = {
    "followed": "followed",
    "different_text": "to pages of another text",
    "over_fan_in": "to pages that too many declare",
    "not_captured": "to pages not captured",
    "chained": "to pages that declare another themselves",
    "truncated": "to pages cut short",
}


def render_status(versions: Sequence[Version]) -> str:
    """The published versions as text: by snapshot its stages, their runs, schemes and state, rows per table.

    Stages that are missing are named; a stale one says which stage was replaced. Below stand the hosts and URL rules
    that resolve undid, and what became of the canonicals that pages declare. Ends in a newline.
    """
    if not versions:
        return "No snapshot is published here.\n"
    return "\n".join(_snapshot(version) for version in versions)


def status_json(versions: Sequence[Version]) -> dict[str, Any]:
    """The same as a mapping that JSON can hold: `snapshots`, each with `stages` by name and `missing` ones.

    A stage that counted URLs by rule, fate or host (`URL_COUNTS`) has these counts under their names.
    """
    return {"snapshots": [_snapshot_json(version) for version in versions]}


def _snapshot(version: Version) -> str:
    lines = [f"{version.key}, published {version.published_at or 'never'}"]
    rows: list[list[str]] = []
    for stage in _stages(version):
        rows += _stage(version, stage) if stage in version.stages else [[stage, "not run"]]
    lines.append(text_table(["stage", "state", "run", "table", "rows", "size"], rows, left=4))
    lines += _schemes(version)
    if resolved := version.stages.get("resolve"):
        lines += [*_conflicts(resolved), *_canonicals(resolved)]
    return "\n".join(lines) + "\n"


def _stages(version: Version) -> list[str]:
    """The stages of every snapshot in their order, then any others this one has."""
    return [*STAGES, *sorted(set(version.stages) - set(STAGES))]


def _stage(version: Version, stage: str) -> Iterator[list[str]]:
    entry = version.stages[stage]
    cause = version.stale_because(stage)
    first = [stage, f"stale: {cause} was replaced" if cause else "current", entry.run]
    for name, table in entry.tables.items() or [("-", None)]:
        rows = [f"{table.rows:,}", bytes_text(sum(file.bytes for file in table.files))] if table else []
        yield [*first, name, *rows]
        first = ["", "", ""]


def _schemes(version: Version) -> Iterator[str]:
    for what, name in (("scheme", "scheme"), ("URL scheme", "url_scheme")):
        stages: dict[str, list[str]] = {}
        for stage in _stages(version):
            entry: StageEntry | None = version.stages.get(stage)
            if entry and (scheme := getattr(entry, name)):
                stages.setdefault(scheme, []).append(stage)
        yield from (f"  {what} {scheme} ({', '.join(users)})" for scheme, users in stages.items())


def _conflicts(resolved: StageEntry) -> Iterator[str]:
    """The captures that the URL rules called one page and whose texts said otherwise, by host and rule."""
    by_rule: Mapping[str, int] = resolved.counts.get("conflicts_by_rule") or {}
    if by_rule:
        yield f"  URL rules undone for {resolved.counts['conflicts']:,} captures, as their texts differ"
        yield from _most_frequent(by_rule, "hosts and rules", resolved, "conflicts_by_rule", " and identities.conflict")


def _canonicals(resolved: StageEntry) -> Iterator[str]:
    """What became of the canonicals that pages declare, and where they proved wrong."""
    counts: Mapping[str, int] = resolved.counts.get("canonicals") or {}
    fates = [f"{counts[fate]:,} {words}" for fate, words in FATES.items() if counts.get(fate)]
    if fates:
        yield f"  another page declared as canonical by {counts['declared']:,} pages: {', '.join(fates)}"
    by_host: Mapping[str, int] = resolved.counts.get("canonicals_refused_by_host") or {}
    if by_host:
        yield "  hosts whose rel=canonical was refused most often"
        yield from _most_frequent(by_host, "hosts", resolved, "canonicals_refused_by_host")


def _most_frequent(
    counts: Mapping[str, int], what: str, entry: StageEntry, name: str, elsewhere: str = ""
) -> Iterator[str]:
    """The highest counts, and where the others are."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    width = len(f"{ordered[0][1]:,}")
    yield from (f"    {count:>{width},}  {key}" for key, count in ordered[:SHOWN])
    if len(ordered) > SHOWN:
        more = f"{'at least ' if len(ordered) >= COUNTED else ''}{len(ordered) - SHOWN} more {what}"
        yield f"    and {more}: see counts.{entry.stage}.{name} in _runs/{entry.run}.json{elsewhere}"


def _snapshot_json(version: Version) -> dict[str, Any]:
    return {
        "source": version.key.source,
        "snapshot": version.key.snapshot,
        "published_at": version.published_at,
        "stages": {stage: _stage_json(version, stage) for stage in _stages(version) if stage in version.stages},
        "missing": [stage for stage in STAGES if stage not in version.stages],
    }


def _stage_json(version: Version, stage: str) -> dict[str, Any]:
    entry = version.stages[stage]
    return {
        "run": entry.run,
        "scheme": entry.scheme,
        "url_scheme": entry.url_scheme,
        "stale_because": version.stale_because(stage),
        "tables": {
            name: {"rows": table.rows, "files": len(table.files), "bytes": sum(file.bytes for file in table.files)}
            for name, table in entry.tables.items()
        },
        **{name: dict(entry.counts[name]) for name in URL_COUNTS if name in entry.counts},
    }
