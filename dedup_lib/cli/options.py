"""The options that several commands take."""

from pathlib import Path
from typing import Annotated

import typer

Config = Annotated[Path | None, typer.Option("--config", help="Profile (YAML), such as conf/local.yaml.")]
Source = Annotated[str, typer.Option("--source", help="Name of the crawl, such as news-example.")]
Snapshot = Annotated[str, typer.Option("--snapshot", help="Name of the snapshot, such as CC-MAIN-2026-05.")]
Input = Annotated[list[str] | None, typer.Option("--input", help="File, glob, folder or @list; may be repeated.")]
Output = Annotated[str, typer.Option("--output", help="ROOT of the store.")]
Set = Annotated[list[str] | None, typer.Option("--set", help="section.key=value overrides one setting.")]
Replace = Annotated[bool, typer.Option("--replace", help="Remake what is there with other inputs or settings.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan and the inputs, and stop.")]
CrawlDate = Annotated[str | None, typer.Option("--crawl-date", help="Day of the crawl, for tables of text without.")]
