"""How inputs are divided: into batches that are committed one by one, and these into the splits that tasks read."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dedup_lib.archives import InputFile

LEAST_SPLIT_BYTES = 8 << 20  # cutting finer costs more in finding the first record than it gains
UNKNOWN_BYTES = 1 << 30  # what a file counts whose size is not known: crawlers close archives at about 1 GB


@dataclass(frozen=True, slots=True)
class Split:
    """A stretch of an input file: [start, end) of its stored bytes; None: to its end."""

    file: InputFile
    start: int = 0
    end: int | None = None

    @property
    def bytes(self) -> int:
        """Stored bytes; `UNKNOWN_BYTES` where the size of the file is unknown."""
        return (weight(self.file) if self.end is None else self.end) - self.start

    @property
    def is_whole(self) -> bool:
        """Whether it is the file, undivided."""
        return self.start == 0 and self.end is None


def weight(file: InputFile) -> int:
    """The bytes of a file for the plan."""
    return file.bytes if file.bytes >= 0 else UNKNOWN_BYTES


def plan_batches(files: Sequence[InputFile], commit_bytes: int) -> list[tuple[InputFile, ...]]:
    """Files, in their order, in batches of about `commit_bytes`; a larger file is a batch of its own."""
    batches: list[tuple[InputFile, ...]] = []
    batch: list[InputFile] = []
    held = 0
    for file in files:
        if batch and held + weight(file) > commit_bytes:
            batches.append(tuple(batch))
            batch, held = [], 0
        batch.append(file)
        held += weight(file)
    return [*batches, tuple(batch)] if batch else batches


def plan_tasks(
    files: Sequence[InputFile], split_bytes: int, tasks: int, whole: Collection[str] = ()
) -> list[tuple[Split, ...]]:
    """Splits packed into tasks of about `split_bytes`, but into no fewer than `tasks` where there are bytes enough.

    Archives are cut, but for those whose paths are in `whole`; tables of text are not. The largest tasks start first.
    Deterministic: sizes, then paths, then places.
    """
    total = sum(map(weight, files))
    limit = min(split_bytes, max(-(-total // max(tasks, 1)), LEAST_SPLIT_BYTES))
    splits = [split for file in files for split in _cut(file, limit, whole=file.path in whole)]
    small = min(split_bytes, -(-total // max(tasks, 1)))  # small files are packed more finely than one is cut
    packed: list[tuple[Split, ...]] = []
    pack: list[Split] = []
    held = 0
    for split in sorted(splits, key=lambda one: (-one.bytes, one.file.path, one.start)):
        if pack and held + split.bytes > small:
            packed.append(tuple(pack))
            pack, held = [], 0
        pack.append(split)
        held += split.bytes
    return [*packed, tuple(pack)] if pack else packed


def _cut(file: InputFile, limit: int, *, whole: bool) -> list[Split]:
    """A file in splits of equal size, none larger than the limit."""
    count = -(-file.bytes // limit)
    if whole or file.kind != "warc" or count <= 1:
        return [Split(file)]
    step = -(-file.bytes // count)
    starts = range(0, file.bytes, step)
    return [Split(file, start, start + step if start + step < file.bytes else None) for start in starts]
