"""The command line: options in, one call, a summary out; errors as one sentence and an exit code."""

import errno
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from dedup_lib import __version__
from dedup_lib.cli.canonicalize import canonicalize_command
from dedup_lib.cli.changes import changes_door
from dedup_lib.cli.commands import Options, as_json, run_stages
from dedup_lib.cli.demo import run_demo
from dedup_lib.cli.explain import explain_door
from dedup_lib.cli.extraction import evaluate_extraction_command, render_extraction
from dedup_lib.cli.global_doors import global_door, remove_door
from dedup_lib.cli.looks import evaluate_command, paths_command, sample_command, status_command
from dedup_lib.cli.options import Config, CrawlDate, DryRun, Input, Output, Replace, Set, Snapshot, Source
from dedup_lib.cli.tune import tune_command
from dedup_lib.errors import CheckFailedError, CrawlDedupError, InputError, UsageError
from dedup_lib.evaluation import render_evaluation
from dedup_lib.tables.schemas import STAGES

STOPPED = 130  # what a shell reports of a command that Ctrl-C has ended
# What a file system refuses, wherever in a store or an input that is, is no fault of ours.
REFUSALS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT}
# Base of all complaints about options. Newer releases of typer carry click within, older ones use click's own.
OptionError: type[Exception] = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name="crawl-dedup",
    help="Deduplicates web-crawl snapshots: WARC in, verified cluster representatives and a signature store out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


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
def canonicalize(
    urls: Annotated[
        list[str] | None, typer.Argument(metavar="URL", help="Without any, lines of standard input.")
    ] = None,
    config: Config = None,
    overrides: Set = None,
    why: Annotated[bool, typer.Option("--why", help="Show each rule that fired, in order.")] = False,
    json_lines: Annotated[bool, typer.Option("--json", help="One JSON object per line and URL.")] = False,
) -> None:
    """What URLs are called under the rules: as the parser writes them, after the rules, and what captures share."""
    canonicalize_command(urls or (), config, overrides or (), typer.echo, why=why, as_json=json_lines)


@app.command()
def evaluate(
    root: Annotated[str, typer.Argument(help="ROOT of the store.")],
    truth: Annotated[Path, typer.Option("--truth", help="truth.parquet of the sample, or labelled pairs.")],
    config: Config = None,
    overrides: Set = None,
) -> None:
    """Precision and recall of a store against labelled captures."""
    evaluation = evaluate_command(root, truth, config, overrides or ())
    typer.echo(render_evaluation(evaluation))
    if evaluation.failures:
        raise CheckFailedError(evaluation.failures, "the store does not agree with the truth")
    _finish({"command": "evaluate", **evaluation.to_json()})


@app.command("evaluate-extraction")
def evaluate_extraction(
    directory: Annotated[Path, typer.Argument(help="Folder with benchmarks: wcxb, scrapinghub, daniel and others.")],
    engines: Annotated[
        list[str] | None, typer.Option("--engine", help="resiliparse, full, trafilatura, hybrid; may be repeated.")
    ] = None,
    json_only: Annotated[bool, typer.Option("--json", help="One line of JSON, and no table.")] = False,
) -> None:
    """Precision, recall and F1 of extracted text against public benchmarks."""
    found = evaluate_extraction_command(directory, engines or ())
    if json_only:
        _finish({"command": "evaluate-extraction", "scores": [one.to_json() for one in found]})
    else:
        typer.echo(render_extraction(found))


app.command("tune")(tune_command)
app.command("global")(global_door)
app.command("remove")(remove_door)
app.command("explain")(explain_door)
app.command("changes")(changes_door)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"crawl-dedup {__version__}")
        raise typer.Exit


@app.callback()
def _root(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True)] = False) -> None:
    pass


def main(arguments: list[str] | None = None) -> int:
    """Runs a command and gives its exit code: 0 done, 1 a fault of ours, 2 usage, 3 inputs, 4 checks failed."""
    given = sys.argv[1:] if arguments is None else arguments
    logging.getLogger().addFilter(_is_not_of_py4j)
    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # what it raises is told in our own words
    try:
        with _terminated_like_interrupted():
            result = app(args=given or ["--help"], prog_name="crawl-dedup", standalone_mode=False)
    except CrawlDedupError as error:
        return _complain(str(error), error.exit_code)
    except OptionError as error:
        return _complain(_option_sentence(error), UsageError.exit_code)
    except OSError as error:
        if error.errno not in REFUSALS:
            raise
        where = f"{error.filename}: " if error.filename else ""
        return _complain(f"{where}{error.strerror}: check permissions and free space", InputError.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        result = STOPPED
    if result == STOPPED:
        return _complain("stopped; what is published is untouched, and the same command takes it up again", STOPPED)
    if not given:
        return UsageError.exit_code
    return result if isinstance(result, int) else 0


def _complain(sentence: str, exit_code: int) -> int:
    typer.echo(f"crawl-dedup: {' '.join(sentence.split())}", err=True)
    return exit_code


def _option_sentence(error: Exception) -> str:
    """What click found wrong, as one sentence that ends in what to do."""
    message: str = getattr(error, "format_message", error.__str__)().strip().rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "crawl-dedup"
    return f"{message[:1].lower()}{message[1:]} (see `{command} --help`)"


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    """Whether a record comes from elsewhere: py4j logs, with a traceback, all that it raises, Ctrl-C too."""
    return "py4j" not in record.pathname


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """SIGTERM, with which schedulers stop a command, ends it as Ctrl-C does: what it was at is swept."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # Python lets no other set handlers
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def entry() -> None:
    """The console script."""
    sys.exit(main())


if __name__ == "__main__":
    entry()
