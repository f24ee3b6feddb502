"""`crawl-dedup explain`: why a document was kept or removed, and why two were not merged. Needs no Spark."""

import io
import json
import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from dedup_lib.errors import InputError
from dedup_lib.reports.explain.across import across_of
from dedup_lib.reports.explain.lookup import NEAREST, Named, find, nearest
from dedup_lib.reports.explain.recorded import Recorded, recorded
from dedup_lib.reports.explain.render import render_explanation
from dedup_lib.reports.explain.rows import SnapshotRows
from dedup_lib.reports.explain.telling import captures_of, explain
from dedup_lib.tables.published import list_versions

Shelf = Sequence[tuple[SnapshotRows, Recorded]]


def explain_door(
    root: Annotated[str, typer.Argument(help="ROOT of the store.")],
    document: Annotated[str, typer.Argument(metavar="DOC_OR_URL", help="A doc_id, a record id or a URL.")],
    other: Annotated[str | None, typer.Argument(help="Another one: why were the two not merged?")] = None,
    source: Annotated[str | None, typer.Option("--source", help="Look in this source only.")] = None,
    snapshot: Annotated[str | None, typer.Option("--snapshot", help="Look in this snapshot only.")] = None,
    json_only: Annotated[bool, typer.Option("--json", help="One JSON object, and no text.")] = False,
) -> None:
    """Why a document was kept or removed, what it shares with what it lost to, and why two were not merged."""
    take_any_letter()
    explain_command(root, document, other, source, snapshot, typer.echo, as_json=json_only)


def explain_command(
    root: str,
    document: str,
    other: str | None,
    source: str | None,
    snapshot: str | None,
    show: Callable[[str], None],
    *,
    as_json: bool,
) -> None:
    """Shows the explanation of a document, or of two, from the published snapshots; InputError if there is none."""
    shelf = _shelf(root, source, snapshot)
    found = _found(root, shelf, document)
    others = _found(root, shelf, other) if other is not None else None
    for name, some in ((document, found), (other, others or ())):
        if others is not None and not captures_of(some):
            raise InputError(f"{name} is no document: `crawl-dedup explain {root} '{name}'` says what there is of it")
    across = across_of(root, list_versions(root))
    told = explain(found, {rows.version.key: made_by for rows, made_by in shelf}, others, across)
    if as_json:
        show(json.dumps({"command": "explain", "name": document, "other_name": other, **told}, ensure_ascii=False))
    else:
        show(render_explanation(told))


def take_any_letter() -> None:
    """Lets the output pass letters that the terminal does not know, as escapes."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _shelf(root: str, source: str | None, snapshot: str | None) -> Shelf:
    """The published snapshots that are asked, each with what shaped it."""
    versions = list_versions(root)
    if not versions:
        raise InputError(f"nothing is published under {root}: check the path, or run a snapshot first")
    chosen = [one for one in versions if source in (None, one.key.source) and snapshot in (None, one.key.snapshot)]
    if not chosen:
        known = ", ".join(f"{one.key.source}/{one.key.snapshot}" for one in versions)
        raise InputError(f"no snapshot under {root} is of that source and name: there are {known}")
    return [(SnapshotRows(root, version), recorded(root, version)) for version in chosen]


def _found(root: str, shelf: Shelf, name: str) -> list[Named]:
    """What the snapshots have under a name, those that have something."""
    named = [find(rows, name, made_by.rules) for rows, made_by in shelf]
    if found := [one for one in named if one.captures or one.fetches or one.rejects]:
        return found
    near = dict.fromkeys(other for rows, made_by in shelf for other in nearest(rows, name, made_by.rules))
    hint = (
        f"is it one of {', '.join(list(near)[:NEAREST])}?" if near else "check the name, or look at `crawl-dedup paths`"
    )
    raise InputError(f"no document, fetch or reject under {root} has the doc_id, record id or URL {name}: {hint}")
