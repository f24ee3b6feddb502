"""What a store holds: snapshots, their stages, rows, schemes, and what is stale."""

from collections.abc import Iterator, Sequence
from typing import Any

from dedup_lib.evaluation.text_table import text_table
from dedup_lib.reports.quantities import bytes_text
from dedup_lib.tables.published import StageEntry, Version
from dedup_lib.tables.schemas import STAGES


def render_status(versions: Sequence[Version]) -> str:
    """The published versions as text: by snapshot its stages, their runs, schemes and state, rows per table.

    Stages that are missing are named; a stale one says which stage was replaced. Ends in a newline.
    """
    if not versions:
        return "No snapshot is published here.\n"
    return "\n".join(_snapshot(version) for version in versions)


def status_json(versions: Sequence[Version]) -> dict[str, Any]:
    """The same as a mapping that JSON can hold: `snapshots`, each with `stages` by name and `missing` ones."""
    return {"snapshots": [_snapshot_json(version) for version in versions]}


def _snapshot(version: Version) -> str:
    lines = [f"{version.key}, published {version.published_at or 'never'}"]
    rows: list[list[str]] = []
    for stage in _stages(version):
        rows += _stage(version, stage) if stage in version.stages else [[stage, "not run"]]
    lines.append(text_table(["stage", "state", "run", "table", "rows", "size"], rows, left=4))
    lines += _schemes(version)
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
    }
