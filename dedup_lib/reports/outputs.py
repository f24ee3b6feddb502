"""Where the tables of a snapshot are, and how to read them."""

from pathlib import Path, PurePosixPath

from dedup_lib.evaluation.text_table import text_table
from dedup_lib.reports.quantities import bytes_text
from dedup_lib.tables.objects import objects_at
from dedup_lib.tables.published import TableEntry, Version
from dedup_lib.tables.schemas import TABLES

SHOWN = ("representatives", "clusters", "signatures", "documents")  # the table of the example: the first that is there


def render_outputs(root: str | Path, version: Version) -> str:
    """The published tables of a snapshot: folder below ROOT, rows, files, bytes; and a line of Python that reads one.

    Ends in a newline.
    """
    found = {name: entry for stage in version.stages.values() for name, entry in stage.tables.items()}
    tables = {name: found[name] for name in (*TABLES, *sorted(set(found) - set(TABLES))) if name in found}
    if not tables:
        return f"Nothing is published of {version.key} under {root}.\n"
    rows = [
        [
            name,
            _folder(entry),
            f"{entry.rows:,}",
            f"{len(entry.files):,}",
            bytes_text(sum(f.bytes for f in entry.files)),
        ]
        for name, entry in tables.items()
    ]
    lines = [
        f"Tables of {version.key} under {root}",
        text_table(["table", "folder", "rows", "files", "size"], rows, left=2),
    ]
    example = next((_folder(tables[name]) for name in SHOWN if name in tables and tables[name].files), None)
    if example:
        path = str(objects_at(root).local_path(example))
        lines.append(f"Read one with: import pyarrow.parquet; pyarrow.parquet.read_table({path!r})")
    return "\n".join(lines) + "\n"


def _folder(entry: TableEntry) -> str:
    """The folder that holds the files of a table, relative to ROOT; a hyphen for a table without files.

    The files of a table are those of one run, which has one folder per table.
    """
    return str(PurePosixPath(entry.files[0].path).parent) if entry.files else "-"
