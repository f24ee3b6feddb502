"""`crawl-dedup changes`: what became of the pages of a snapshot in a later one of the same source."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.cli.commands import as_json
from dedup_lib.cli.context import Request, session_of
from dedup_lib.cli.explain import take_any_letter
from dedup_lib.cli.options import Config, Set, Source
from dedup_lib.config import Settings, load_settings
from dedup_lib.errors import CheckFailedError, InputError, UsageError
from dedup_lib.evaluation.text_table import text_table
from dedup_lib.reports.explain.render import printable
from dedup_lib.signatures import Scheme
from dedup_lib.stages.changes import KINDS, OF_EARLIER, OF_LATER, SnapshotTables, changes
from dedup_lib.tables.keys import SnapshotKey
from dedup_lib.tables.objects import objects_at
from dedup_lib.tables.published import Version, list_versions, read_version
from dedup_lib.tables.read import read_table, require_one_scheme, table_entry
from dedup_lib.tables.schemas import DOCUMENTS, FETCHES, IDENTITIES, REJECTS, SIGNATURES

MOST_EXAMPLES = 1000  # of each kind, that come to the driver


@dataclass(frozen=True)
class ChangesOptions:
    """What to compare; `examples` rows of each kind are shown, and all rows written to the folder `write`."""

    root: str
    source: str
    earlier: str
    later: str
    config: Path | None = None
    overrides: Sequence[str] = ()
    write: str | None = None
    examples: int = 0


def changes_door(
    root: Annotated[str, typer.Argument(help="ROOT of the store.")],
    source: Source,
    earlier: Annotated[str, typer.Option("--from", help="The earlier snapshot.")],
    later: Annotated[str, typer.Option("--to", help="The later snapshot.")],
    config: Config = None,
    overrides: Set = None,
    write: Annotated[str | None, typer.Option("--write", help="New folder for all rows, as Parquet.")] = None,
    limit: Annotated[int, typer.Option("--limit", help="Pages shown of each kind.")] = 3,
    json_only: Annotated[bool, typer.Option("--json", help="One line of JSON, and no table.")] = False,
) -> None:
    """What became of each page in a later snapshot: new, gone, redirected, edited, moved or unchanged."""
    take_any_letter()
    options = ChangesOptions(root, source, earlier, later, config, overrides or (), write, 0 if json_only else limit)
    found = changes_command(options, _silent if json_only else typer.echo)
    typer.echo(as_json(found))


def _silent(text: str) -> None:
    pass


def changes_command(options: ChangesOptions, show: Callable[[str], None]) -> dict[str, Any]:
    """Tells of every page of both snapshots what became of it; shows counts and examples, and gives the summary."""
    if options.write is not None:
        _require_new_folder(options.write)
    if not 0 <= options.examples <= MOST_EXAMPLES:
        raise UsageError(
            f"--limit is {options.examples}: at least 0 and at most {MOST_EXAMPLES} can be shown of a kind"
        )
    settings = load_settings(options.config, options.overrides)
    earlier, later = _versions(options)
    require_one_scheme((earlier, later), "sign")
    rows = _changed(options, settings, earlier, later).persist()
    try:
        counts, pages = _counts(rows)
        _require_closed(counts, pages, earlier, later)
        show(_rendered(counts, {kind: _examples(rows, kind, options.examples) for kind in KINDS}))
        if options.write is not None:
            writer = rows.write.mode("errorifexists").option("compression", "zstd")
            writer.parquet(objects_at(options.write).uri(""))
    finally:
        rows.unpersist()
    return {
        "command": "changes",
        "source": options.source,
        "from": options.earlier,
        "to": options.later,
        "pages": {"from": _pages_of(earlier), "to": _pages_of(later)},
        "counts": counts,
        "written": options.write,
    }


def _require_new_folder(write: str) -> None:
    """UsageError, before any work is done, unless the rows can be written to a folder of that name."""
    folder = objects_at(write).local_path("")
    if folder.exists():
        raise UsageError(f"--write {write} is there already: name a folder that is not")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--write {write} cannot be made ({error.strerror}): name a folder on a disk") from error
    if not os.access(folder.parent, os.W_OK | os.X_OK):
        raise UsageError(f"--write {write} cannot be made: {folder.parent} cannot be written to")


def _versions(options: ChangesOptions) -> tuple[Version, Version]:
    if options.earlier == options.later:
        raise UsageError(f"--from and --to are both {options.earlier}: name two snapshots")
    found = []
    for snapshot in (options.earlier, options.later):
        version = read_version(options.root, SnapshotKey(options.source, snapshot))
        if version is None or version.removed:
            known = [f"{one.key.source}/{one.key.snapshot}" for one in list_versions(options.root)]
            raise InputError(
                f"there is no snapshot {snapshot} of source {options.source} under {options.root} "
                f"(there are: {', '.join(known) or 'none'}): name one of these, or run it first"
            )
        found.append(version)
    return found[0], found[1]


def _changed(options: ChangesOptions, settings: Settings, earlier: Version, later: Version) -> DataFrame:
    beside = options.config.resolve().parent if options.config else None
    scheme = Scheme.parse(str(table_entry(later, SIGNATURES).scheme))
    for version in (earlier, later):  # what is missing or stale is told before Spark starts
        for table in (IDENTITIES, SIGNATURES):
            table_entry(version, table)
    spark = session_of(Request(options.root, settings, beside=beside))

    def tables_of(version: Version) -> SnapshotTables:
        tables = (DOCUMENTS, FETCHES, REJECTS, IDENTITIES, SIGNATURES)
        return SnapshotTables(*(read_table(spark, options.root, version, table) for table in tables))

    return changes(tables_of(earlier), tables_of(later), scheme)


def _counts(rows: DataFrame) -> tuple[dict[str, int], int]:
    """Rows by kind, and how many of them are pages of the later snapshot."""
    counted = rows.groupBy("kind").agg(F.count("*").alias("count"), F.count_if(F.col("found") == "page").alias("pages"))
    found = {row["kind"]: row for row in counted.collect()}  # one row per kind
    counts = {kind: found[kind]["count"] if kind in found else 0 for kind in KINDS}
    return counts, sum(row["pages"] for row in found.values())


def _require_closed(counts: dict[str, int], pages: int, earlier: Version, later: Version) -> None:
    """Every page of either snapshot has exactly one row."""
    of_earlier = sum(counts.values()) - sum(counts[kind] for kind in OF_LATER)
    pairs = (("earlier", of_earlier, _pages_of(earlier)), ("later", pages, _pages_of(later)))
    failures = [f"{told} pages of the {name} snapshot were told, of {there}" for name, told, there in pairs]
    if any(told != there for _, told, there in pairs):
        raise CheckFailedError(failures, "this is a fault of ours: please report it")


def _pages_of(version: Version) -> int:
    return table_entry(version, SIGNATURES).tables[SIGNATURES.name].rows


def _examples(rows: DataFrame, kind: str, most: int) -> list[dict[str, Any]]:
    if most == 0:
        return []
    chosen = rows.where(F.col("kind") == kind).orderBy("canonical_url").limit(most)
    return [row.asDict() for row in chosen.collect()]  # at most MOST_EXAMPLES


def _rendered(counts: dict[str, int], examples: dict[str, list[dict[str, Any]]]) -> str:
    total = sum(counts.values())
    cells = [[kind, f"{count:,}", f"{100 * count / max(total, 1):.1f} %"] for kind, count in counts.items()]
    lines = [text_table(["kind", "pages", "share"], [*cells, ["all", f"{total:,}", ""]])]
    for kind, rows in examples.items():
        lines += ["", kind, *(f"  {_told(row)}" for row in rows)] if rows else []
    return printable("\n".join(lines))


def _told(row: dict[str, Any]) -> str:
    """A page, and what there is to say of it."""
    facts = []
    if row["similarity"] is not None:
        facts.append(f"similarity {row['similarity']:.2f}")
    if row["related_url"]:
        facts.append(f"{'from' if row['kind'] in OF_LATER else 'to'} {row['related_url']}")
    if row["kind"] in OF_EARLIER and row["found"]:
        facts.append(row["found"] + (f" {row['http_status']}" if row["http_status"] else ""))
    return "  ".join([row["canonical_url"], *facts])
