"""What is published: one small object per snapshot, and one for the store, that names each table's run and files.

Readers follow it, so that they see the old or the new version of all tables, never a mix.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic

from dedup_lib.errors import InputError, UsageError
from dedup_lib.tables.keys import Key, StoreKey, key_of
from dedup_lib.tables.objects import LocalObjects, objects_at

FORMAT = 1  # of the JSON; a reader refuses a newer one
PUBLISHED = "_published"


@dataclass(frozen=True)
class FileEntry:
    """One Parquet file: its path below ROOT, its size and its rows."""

    path: str
    bytes: int
    rows: int


@dataclass(frozen=True)
class TableEntry:
    """The files of one table of one run, in the order of their paths."""

    rows: int
    files: tuple[FileEntry, ...]

    @classmethod
    def of(cls, files: list[FileEntry]) -> "TableEntry":
        """The entry of these files."""
        return cls(sum(file.rows for file in files), tuple(sorted(files, key=lambda file: file.path)))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "TableEntry":
        """The entry that `to_json` wrote."""
        return cls(data["rows"], tuple(FileEntry(item["path"], item["bytes"], item["rows"]) for item in data["files"]))

    def to_json(self) -> dict[str, Any]:
        """As stored."""
        files = [{"path": file.path, "bytes": file.bytes, "rows": file.rows} for file in self.files]
        return {"rows": self.rows, "files": files}


@dataclass(frozen=True)
class StageEntry:
    """What one run of a stage made: from what (stage to run), by which schemes, with which counts and tables.

    `fingerprint` is the caller's digest of all that shapes the result: inputs, settings, version of the code.
    """

    stage: str
    run: str
    fingerprint: str
    scheme: str | None
    url_scheme: str | None
    made_from: Mapping[str, str]
    counts: Mapping[str, Any]
    tables: Mapping[str, TableEntry]

    @classmethod
    def from_json(cls, stage: str, data: Mapping[str, Any]) -> "StageEntry":
        """The entry that `to_json` wrote."""
        tables = {name: TableEntry.from_json(table) for name, table in data["tables"].items()}
        run, fingerprint, scheme, url_scheme = (data[n] for n in ("run", "fingerprint", "scheme", "url_scheme"))
        return cls(stage, run, fingerprint, scheme, url_scheme, data["made_from"], data["counts"], tables)

    def to_json(self) -> dict[str, Any]:
        """As stored; the stage is the key under which it is stored."""
        return {
            "run": self.run,
            "fingerprint": self.fingerprint,
            "scheme": self.scheme,
            "url_scheme": self.url_scheme,
            "made_from": dict(self.made_from),
            "counts": dict(self.counts),
            "tables": {name: table.to_json() for name, table in self.tables.items()},
        }

    @property
    def files(self) -> list[FileEntry]:
        """The files of all its tables."""
        return [file for table in self.tables.values() for file in table.files]


@dataclass(frozen=True)
class Replaced:
    """Stages that were published before, kept for readers in mid-scan; when they were replaced (ISO 8601, UTC)."""

    replaced_at: str
    stages: Mapping[str, StageEntry]


@dataclass(frozen=True)
class Version(Generic[Key]):
    """One version of a snapshot, or of what the store has once: its stages, and what it replaced a short while ago.

    Also the form of a draft.
    """

    key: Key
    published_at: str | None = None
    stages: Mapping[str, StageEntry] = field(default_factory=dict)
    previous: tuple[Replaced, ...] = ()

    @property
    def removed(self) -> bool:
        """Whether nothing is published any more, and what was stays only for readers in mid-scan."""
        return not self.stages and bool(self.previous)

    def stale_because(self, stage: str) -> str | None:
        """The stage whose replacement made this one stale, or None.

        A stage is stale when the run of a stage it was made from is not that stage's run in this version, or when
        that stage is stale itself. What a store has once is made from snapshots: `across.changes_since` tells of it.
        """
        if isinstance(self.key, StoreKey):
            return None
        for made_from, run in self.stages[stage].made_from.items():
            found = self.stages.get(made_from)
            if found is None or found.run != run:
                return made_from
            if cause := self.stale_because(made_from):
                return cause
        return None

    def stage_of(self, table: str) -> StageEntry | None:
        """The stage that holds a table, or None."""
        return next((entry for entry in self.stages.values() if table in entry.tables), None)

    def to_bytes(self) -> bytes:
        """As stored: JSON, equal versions give equal bytes."""
        data = {
            "format": FORMAT,
            **self.key.to_json(),
            "published_at": self.published_at,
            "stages": _stages_to_json(self.stages),
            "previous": [
                {"replaced_at": old.replaced_at, "stages": _stages_to_json(old.stages)} for old in self.previous
            ],
        }
        return (json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()

    @classmethod
    def from_bytes(cls, data: bytes, where: str) -> "Version[Any]":
        """The version that `to_bytes` wrote. InputError when it is damaged or of a newer format."""
        try:
            found = json.loads(data)
            if found["format"] > FORMAT:
                raise InputError(
                    f"{where} was written by a newer crawl-dedup (format {found['format']}, known is {FORMAT}): upgrade"
                )
            previous = [Replaced(old["replaced_at"], _stages_from_json(old["stages"])) for old in found["previous"]]
            key: Any = key_of(found)
            return Version(key, found["published_at"], _stages_from_json(found["stages"]), tuple(previous))
        except (ValueError, KeyError, TypeError, AttributeError, UsageError) as error:
            raise InputError(f"{where} is damaged: restore it, or delete it and run the stages again") from error


def _stages_to_json(stages: Mapping[str, StageEntry]) -> dict[str, Any]:
    return {stage: entry.to_json() for stage, entry in stages.items()}


def _stages_from_json(data: Mapping[str, Any]) -> dict[str, StageEntry]:
    return {stage: StageEntry.from_json(stage, entry) for stage, entry in data.items()}


def published_path(key: Key) -> str:
    """Where the published version of a key is."""
    return f"{PUBLISHED}/{key.folder}.json"


def load_version(objects: LocalObjects, path: str) -> tuple[Version[Any] | None, str | None]:
    """A stored version and the token for replacing it; None twice if there is none."""
    stored = objects.read(path)
    if stored is None:
        return None, None
    return Version.from_bytes(stored.data, str(objects.local_path(path))), stored.version


def read_version(root: str | Path, key: Key) -> Version[Key] | None:
    """The published version of a key, or None."""
    return load_version(objects_at(root), published_path(key))[0]


def list_versions(root: str | Path) -> list[Version]:
    """The published versions of all snapshots, by source and snapshot."""
    return [version for version in _stored_versions(root) if not version.removed]


def list_removed(root: str | Path) -> list[Version]:
    """What is left of snapshots that were removed, for readers in mid-scan."""
    return [version for version in _stored_versions(root) if version.removed]


def _stored_versions(root: str | Path) -> list[Version]:
    objects = objects_at(root)
    paths = [
        f"{PUBLISHED}/{source}/{name}"
        for source in objects.list_folders(PUBLISHED)
        for name in objects.list_files(f"{PUBLISHED}/{source}")
        if name.startswith("snapshot=") and name.endswith(".json")
    ]
    versions = [load_version(objects, path)[0] for path in paths]
    return sorted((version for version in versions if version), key=lambda version: version.key)
