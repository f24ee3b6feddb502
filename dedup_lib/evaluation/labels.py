"""Reading what is compared: truth files, and the published clusters of a snapshot."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from dedup_lib.errors import InputError, UsageError
from dedup_lib.tables.objects import objects_at
from dedup_lib.tables.published import Version, list_versions
from dedup_lib.tables.read import table_entry
from dedup_lib.tables.schemas import CLUSTERS

SAMPLE_COLUMNS = (
    "snapshot",
    "url",
    "record_id",
    "kind",
    "family",
    "relation",
    "rule",
    "jaccard",
    "original_record_id",
    "must_merge",
)
PAIR_COLUMNS = ("a", "b")
DIGEST_HEX = 32  # characters of a doc_id in hexadecimal


class Clustered(NamedTuple):
    """One capture as the `clusters` table has it."""

    record_id: str | None
    doc_id: bytes
    url: str
    cluster_id: bytes
    reason: str
    representative_id: bytes


def read_truth_file(path: Path) -> pa.Table:
    """A truth file, Parquet or CSV (by its name). InputError when it cannot be read."""
    try:
        return pyarrow.csv.read_csv(path) if path.suffix == ".csv" else pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or "it is no Parquet or CSV table"
        raise InputError(f"cannot read the truth file {path} ({reason}): name another one with --truth") from error


def is_sample_truth(truth: pa.Table, where: str) -> bool:
    """Whether a truth table is a sample's; false for labelled pairs. UsageError when it is neither."""
    names = set(truth.column_names)
    if names.issuperset(SAMPLE_COLUMNS):
        return True
    if names.issuperset(PAIR_COLUMNS) and names & {"duplicate", "jaccard"}:
        return False
    raise UsageError(
        f"{where} is no truth: it must be the truth.parquet of a sample, or labelled pairs with the columns a, b "
        f"(record_id or doc_id) and duplicate or jaccard, but it has {', '.join(truth.column_names)}"
    )


def bare_id(record_id: str | None) -> str | None:
    """A record id without the angle brackets that some WARC headers have and others have not.

    >>> bare_id("<urn:uuid:0b6c>")
    'urn:uuid:0b6c'
    """
    return record_id.removeprefix("<").removesuffix(">") if record_id else None


def versions_of(root: str | Path, source: str | None) -> dict[str, Version]:
    """The published versions of a store by snapshot. InputError without any, UsageError when a name is ambiguous."""
    versions: dict[str, Version] = {}
    for version in list_versions(root):
        if source is not None and version.key.source != source:
            continue
        other = versions.setdefault(version.key.snapshot, version)
        if other is not version:
            raise UsageError(
                f"the sources {other.key.source} and {version.key.source} both have a snapshot {version.key.snapshot}: "
                "name the source that the truth is about"
            )
    if not versions:
        of_source = f" of source {source}" if source else ""
        raise InputError(f"no snapshot{of_source} is published under {root}: run the pipeline first")
    return versions


def read_clusters(root: str | Path, version: Version, ids: Sequence[str] | None = None) -> list[Clustered]:
    """The captures of a version's `clusters`, all or those whose record_id or doc_id (hexadecimal) is among `ids`.

    Files are read batch by batch and only the columns that are needed, so that labels for a few documents of a large
    store cost little memory. InputError when the table is missing, stale or was removed since `version` was read.
    """
    entry = table_entry(version, CLUSTERS)
    wanted = None if ids is None else _wanted(ids)
    objects = objects_at(root)
    found: list[Clustered] = []
    for file in entry.tables[CLUSTERS.name].files:
        path = objects.local_path(file.path)
        if objects.size(file.path) is None:
            raise InputError(f"{path} is gone: if {entry.stage} was replaced, start again")
        for batch in _batches(path):
            rows = batch if wanted is None else batch.filter(_among(batch, *wanted))
            columns: list[list[Any]] = [rows.column(name).to_pylist() for name in Clustered._fields]
            found.extend(Clustered(*values) for values in zip(*columns, strict=True))
    return found


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(path) as file:
        yield from file.iter_batches(columns=list(Clustered._fields))


def _wanted(ids: Sequence[str]) -> tuple[pa.Array, pa.Array]:
    records = [form for found in ids for form in (found, f"<{found}>")]
    digests = [digest for found in ids if (digest := _digest(found)) is not None]
    return pa.array(records, pa.string()), pa.array(digests, pa.binary())


def _among(batch: pa.RecordBatch, records: pa.Array, digests: pa.Array) -> pa.Array:
    by_record = pc.is_in(batch.column("record_id"), value_set=records)
    return pc.or_(by_record, pc.is_in(batch.column("doc_id"), value_set=digests))


def _digest(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text) if len(text) == DIGEST_HEX else None
    except ValueError:
        return None
