"""The commands that work across the snapshots of a store, with their options."""

from typing import Annotated

import typer

from dedup_lib.cli.commands import Options, as_json
from dedup_lib.cli.global_command import GlobalOptions, dedup_globally
from dedup_lib.cli.options import Config, DryRun, Output, Set, Snapshot, Source
from dedup_lib.cli.remove import remove_snapshot
from dedup_lib.reports.global_version import render_global_funnel

Against = Annotated[
    list[str] | None,
    typer.Option("--against", help="SOURCE/SNAPSHOT that takes part; may be repeated. Without it, all do."),
]
Rebuild = Annotated[bool, typer.Option("--rebuild", help="Cluster all anew, not only what was added.")]


def _tell(line: str) -> None:
    typer.echo(line, err=True)


def global_door(
    output: Output,
    against: Against = None,
    config: Config = None,
    overrides: Set = None,
    rebuild: Rebuild = False,
    dry_run: DryRun = False,
) -> None:
    """Clusters across snapshots: adds what is new to the global version, or builds it."""
    common = Options(output, "", "", config, overrides or (), dry_run=dry_run)
    summary = dedup_globally(GlobalOptions(common, against or (), rebuild), _tell)
    if "counts" in summary:
        typer.echo(render_global_funnel(summary["counts"]["global"]))
    typer.echo(as_json(summary))


def remove_door(
    source: Source,
    snapshot: Snapshot,
    output: Output,
    config: Config = None,
    overrides: Set = None,
    dry_run: DryRun = False,
) -> None:
    """Take a snapshot out of a store, with all its tables."""
    typer.echo(
        as_json(remove_snapshot(Options(output, source, snapshot, config, overrides or (), dry_run=dry_run), _tell))
    )
