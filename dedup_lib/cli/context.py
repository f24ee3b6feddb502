"""What a command works with: settings, rules, scheme, and a Spark session that is started only when needed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Generic

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from dedup_lib.archives import InputFile
from dedup_lib.cli.session import start_session
from dedup_lib.config import Settings, locate_conf
from dedup_lib.signatures import Normalisation, Scheme
from dedup_lib.stages import Scan
from dedup_lib.tables.columns import Table
from dedup_lib.tables.keys import Key
from dedup_lib.tables.published import TableEntry
from dedup_lib.tables.read import load_entry, read_entry, read_table, table_entry
from dedup_lib.tables.runs import RunFile
from dedup_lib.tables.scan import place_rows, rows_reader, scan_entry, with_columns
from dedup_lib.tables.schemas import DOCUMENTS, REPRESENTATIVES
from dedup_lib.tables.workspace import Workspace
from dedup_lib.tables.write import write_frame, write_tagged
from dedup_lib.urls import UrlRules, load_rules


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    root: str
    settings: Settings
    inputs: Sequence[InputFile] = ()
    crawl_date: date | None = None
    replace: bool = False
    beside: Path | None = None  # the profile's folder, where the files that it names are looked for first


@dataclass
class Job(Generic[Key]):
    """A request at work on one key: a stage reads its inputs and its settings here, and leaves its tables."""

    request: Request
    work: Workspace[Key]
    run_file: RunFile
    tell: Callable[[str], None]
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def settings(self) -> Settings:
        """The whole configuration."""
        return self.request.settings

    @cached_property
    def spark(self) -> SparkSession:
        """The session, started at first use: a run with nothing to do needs none."""
        return session_of(self.request)

    @cached_property
    def rules(self) -> UrlRules:
        """The URL rules of the configuration."""
        return rules_of(self.request)

    @cached_property
    def scheme(self) -> Scheme:
        """The signature scheme of the configuration."""
        return scheme_of(self.settings)

    def read(self, table: Table) -> DataFrame:
        """A table as the stage before it left it in this run, or as published."""
        return read_table(self.spark, self.request.root, self.work.version, table)

    def narrow(self, table: Table) -> DataFrame:
        """A table without its texts, which `texts_of` gives."""
        return self.read(table).drop("text")

    def scan(self, table: Table) -> Scan:
        """Maps a function over columns of a table, in the tasks."""
        entry = self._entry(table)
        return lambda columns, function, schema: scan_entry(
            self.spark, self.request.root, entry, columns, function, schema
        )

    def texts_of(self, needed: DataFrame) -> DataFrame:
        """Rows with a column doc_id with the text of that document after them."""
        return with_columns(self.spark, self.request.root, self._entry(DOCUMENTS), DOCUMENTS, needed, ["text"])

    def write_representatives(self, kept: DataFrame) -> TableEntry:
        """Writes the kept documents with what they stand for; each document goes from its file to the new one."""
        return self.write_attached(kept, self._entry(DOCUMENTS), DOCUMENTS, REPRESENTATIVES)

    def write_attached(self, rows: DataFrame, entry: TableEntry, source: Table, table: Table) -> TableEntry:
        """Writes a table whose columns are those of `rows`, and the others of the same doc_id in `source`."""
        root = self.request.root
        placed = place_rows(self.spark, root, entry, source, rows)
        carried = [name for name in table.names if name not in rows.columns]
        read, schema = rows_reader(root, entry, carried), table.arrow

        def attach(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[str, pa.RecordBatch]]:
            for batch in read(batches):
                arrays = [batch.column(name).cast(schema.field(name).type) for name in schema.names]
                yield table.name, pa.RecordBatch.from_arrays(arrays, schema=schema)

        folders = {table.name: self.work.table_folder(table.name)}
        return write_tagged(placed, attach, [table], folders, root)[table.name]

    def _entry(self, table: Table) -> TableEntry:
        return table_entry(self.work.version, table).tables[table.name]

    def staged(self, entry: TableEntry, table: Table) -> DataFrame:
        """A table that was written in this run and is not yet finished."""
        return read_entry(self.spark, self.request.root, entry, table)

    def local(self, entry: TableEntry, table: Table) -> pa.Table:
        """A table of one row per input file, on the driver."""
        return load_entry(self.request.root, entry, table)

    def write(self, frame: DataFrame, table: Table) -> TableEntry:
        """Writes a table into the folder of this run."""
        rows = self.settings.store.rows_per_file
        return write_frame(frame, table, self.work.table_folder(table.name), self.request.root, rows)

    def rewrite(self, frame: DataFrame, table: Table) -> TableEntry:
        """Writes a table anew, into a folder beside the one of what was written of it before; that is swept later."""
        rows = self.settings.store.rows_per_file
        return write_frame(frame, table, f"{self.work.table_folder(table.name)}-once", self.request.root, rows)

    def cut(self, frame: DataFrame, name: str) -> DataFrame:
        """Stores a round's state and hands it back with its lineage cut."""
        return self.work.cut(frame, name)


def session_of(request: Request) -> SparkSession:
    """The Spark session of the profile's properties file, or the one that spark-submit made."""
    properties = locate_conf(request.settings.spark.properties, request.beside)
    return start_session("crawl-dedup", properties)


def rules_of(request: Request) -> UrlRules:
    """The URL rules that the configuration names."""
    return load_rules([locate_conf(name, request.beside) for name in request.settings.urls.rules])


def scheme_of(settings: Settings) -> Scheme:
    """The signature scheme that the configuration describes."""
    sign = settings.sign
    normalisation = Normalisation(sign.unicode_form, sign.digits)
    return Scheme(sign.shingle_words, sign.bands, sign.rows, sign.seed, sign.minhash_bits, normalisation)
