"""Writes the sample: two snapshots of WARC files and the truth about them."""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dedup_lib.sample.archive import write_snapshot
from dedup_lib.sample.captures import SNAPSHOTS, captures
from dedup_lib.sample.truth import write_truth


@dataclass(frozen=True)
class SampleSummary:
    """What was written.

    `content_sha256` covers the plain bytes of all records: it is the same on every machine. The files are too, as
    long as the same zlib and pyarrow write them.
    """

    directory: Path
    files: tuple[Path, ...]
    bytes: int  # of the archives
    records: int
    captures: Mapping[str, int]  # per snapshot
    kinds: Mapping[str, int]
    relations: Mapping[str, int]
    content_sha256: str


def write_sample(directory: Path) -> SampleSummary:
    """Writes DIR/snapshot-a/*.warc.gz, DIR/snapshot-b/*.warc.gz and DIR/truth.parquet.

    Files of an earlier sample there are replaced: they have the same names. Nothing depends on the machine, the clock
    or the Python version.
    """
    directory.mkdir(parents=True, exist_ok=True)
    planned = captures()
    files = [file for name in SNAPSHOTS for file in write_snapshot(directory / name, name, planned[name])]
    everything = [capture for name in SNAPSHOTS for capture in planned[name]]
    write_truth(directory, everything)
    return SampleSummary(
        directory=directory,
        files=tuple(file.path for file in files),
        bytes=sum(file.bytes for file in files),
        records=sum(file.records for file in files),
        captures={name: len(planned[name]) for name in SNAPSHOTS},
        kinds=_counts([capture.page.kind for capture in everything]),
        relations=_counts([capture.relation for capture in everything if capture.relation]),
        content_sha256=hashlib.sha256("".join(file.content_sha256 for file in files).encode()).hexdigest(),
    )


def _counts(names: list[str]) -> dict[str, int]:
    """How often each name occurs, in alphabetical order."""
    return dict(sorted(Counter(names).items()))
