"""The command line: options in, one call, a summary out; errors as one sentence and an exit code."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import click
import typer

from dedup_lib import __version__
from dedup_lib.cli.commands import Options, as_json, run_stages
from dedup_lib.cli.demo import run_demo
from dedup_lib.cli.looks import evaluate_command, paths_command, sample_command, status_command
from dedup_lib.errors import CrawlDedupError
from dedup_lib.tables.schemas import STAGES

app = typer.Typer(
    name="crawl-dedup",
    help="Deduplicates web-crawl snapshots: WARC in, verified cluster representatives and a signature store out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Config = Annotated[Path | None, typer.Option("--config", help="Profile (YAML), such as conf/local.yaml.")]
Source = Annotated[str, typer.Option("--source", help="Name of the crawl, such as news-example.")]
Snapshot = Annotated[str, typer.Option("--snapshot", help="Name of the snapshot, such as CC-MAIN-2026-05.")]
Input = Annotated[list[str] | None, typer.Option("--input", help="File, glob, folder or @list; may be repeated.")]
Output = Annotated[str, typer.Option("--output", help="ROOT of the store.")]
Set = Annotated[list[str] | None, typer.Option("--set", help="section.key=value overrides one setting.")]
Replace = Annotated[bool, typer.Option("--replace", help="Remake what is there with other inputs or settings.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan and the inputs, and stop.")]
CrawlDate = Annotated[str | None, typer.Option("--crawl-date", help="Day of the crawl, for tables of text without.")]


def _tell(line: str) -> None:
    typer.echo(line, err=True)


def _finish(summary: dict[str, Any]) -> None:
    typer.echo(as_json(summary))


@app.command()
def run(
    source: Source,
    snapshot: Snapshot,
    output: Output,
    inputs: Input = None,
    config: Config = None,
    overrides: Set = None,
    crawl_date: CrawlDate = None,
    replace: Replace = False,
    dry_run: DryRun = False,
) -> None:
    """All four stages of one snapshot: extract, resolve, sign, cluster."""
    options = Options(
        output, source, snapshot, config, overrides or (), inputs or (), crawl_date, replace=replace, dry_run=dry_run
    )
    _finish(run_stages("run", STAGES, options, _tell))


@app.command()
def extract(
    source: Source,
    snapshot: Snapshot,
    output: Output,
    inputs: Input = None,
    config: Config = None,
    overrides: Set = None,
    crawl_date: CrawlDate = None,
    replace: Replace = False,
    dry_run: DryRun = False,
) -> None:
    """Archives or tables of text to documents, fetches, rejects and a verdict per file."""
    options = Options(
        output, source, snapshot, config, overrides or (), inputs or (), crawl_date, replace=replace, dry_run=dry_run
    )
    _finish(run_stages("extract", ["extract"], options, _tell))


def _later_stage(stage: str, summary: str) -> Callable[..., None]:
    def command(
        source: Source,
        snapshot: Snapshot,
        output: Output,
        config: Config = None,
        overrides: Set = None,
        replace: Replace = False,
        dry_run: DryRun = False,
    ) -> None:
        options = Options(output, source, snapshot, config, overrides or (), replace=replace, dry_run=dry_run)
        _finish(run_stages(stage, [stage], options, _tell))

    command.__doc__ = summary
    return command


app.command("resolve")(_later_stage("resolve", "Documents to identities: which captures are one page."))
app.command("sign")(_later_stage("sign", "Documents and identities to the signature feature store."))
app.command("cluster")(_later_stage("cluster", "Signatures to verified clusters and representatives."))


@app.command()
def sample(directory: Annotated[Path, typer.Argument(help="Folder to write to.")]) -> None:
    """Write two sample snapshots (WARC) with planted duplicates, and the truth beside them."""
    _finish(sample_command(directory))


@app.command()
def demo(directory: Annotated[Path, typer.Argument(help="Folder for inputs and store.")]) -> None:
    """Write the sample, deduplicate both snapshots, and show what came out."""
    _finish(run_demo(directory, _tell, typer.echo))


@app.command()
def status(root: Annotated[str, typer.Argument(help="ROOT of the store.")]) -> None:
    """Snapshots of a store: stages, row counts, schemes, what is stale."""
    typer.echo(status_command(root))


@app.command()
def paths(
    root: Annotated[str, typer.Argument(help="ROOT of the store.")],
    table: Annotated[str, typer.Argument(help="Name of a table, such as representatives.")],
) -> None:
    """The published files of a table, one per line."""
    for path in paths_command(root, table):
        typer.echo(path)


@app.command()
def evaluate(
    root: Annotated[str, typer.Argument(help="ROOT of the store.")],
    truth: Annotated[Path, typer.Option("--truth", help="truth.parquet of the sample, or labelled pairs.")],
    config: Config = None,
    overrides: Set = None,
) -> None:
    """Precision and recall of a store against labelled captures."""
    text, summary = evaluate_command(root, truth, config, overrides or ())
    typer.echo(text)
    _finish(summary)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"crawl-dedup {__version__}")
        raise typer.Exit


@app.callback()
def _root(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True)] = False) -> None:
    pass


def main(arguments: list[str] | None = None) -> int:
    """Runs a command and gives its exit code: 0 done, 1 a fault of ours, 2 usage, 3 inputs, 4 checks failed."""
    try:
        result = app(args=arguments, standalone_mode=False)
    except CrawlDedupError as error:
        typer.echo(f"crawl-dedup: {' '.join(str(error).split())}", err=True)
        return error.exit_code
    except click.exceptions.Abort:
        typer.echo(
            "crawl-dedup: stopped; what is published is untouched, and the same command takes it up again", err=True
        )
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    return result if isinstance(result, int) else 0


def entry() -> None:
    """The console script."""
    sys.exit(main())


if __name__ == "__main__":
    entry()
