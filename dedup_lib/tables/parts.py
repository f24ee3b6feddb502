"""Batches of a long stage that are finished, recorded one by one: a command that takes up a killed one skips them."""

from collections.abc import Collection, Sequence
from typing import Generic

from dedup_lib.tables.keys import Key
from dedup_lib.tables.objects import LocalObjects
from dedup_lib.tables.published import StageEntry, Version, load_version
from dedup_lib.tables.sweep import DRAFTS


class Parts(Generic[Key]):
    """The finished parts of one stage of a snapshot, by fingerprint: an object each, so that recording one is cheap.

    Whoever uses it owns the snapshot.
    """

    def __init__(self, objects: LocalObjects, key: Key, stage: str) -> None:
        self._objects, self._key, self._stage = objects, key, stage
        self._folder = f"{DRAFTS}/{key.folder}.{stage}"
        self._entries: dict[str, StageEntry] = {}
        for name in objects.list_files(self._folder):
            version = load_version(objects, f"{self._folder}/{name}")[0] if name.endswith(".json") else None
            entry = version.stages.get(stage) if version else None
            if entry and name == f"{entry.fingerprint}.json":
                self._entries[entry.fingerprint] = entry
            else:  # half-written when its command was killed
                objects.delete(f"{self._folder}/{name}")

    @property
    def entries(self) -> Sequence[StageEntry]:
        """All finished parts."""
        return list(self._entries.values())

    def get(self, fingerprint: str) -> StageEntry | None:
        """A finished part whose files are all there."""
        entry = self._entries.get(fingerprint)
        if entry and all(self._objects.size(file.path) == file.bytes for file in entry.files):
            return entry
        return None

    def add(self, entry: StageEntry) -> None:
        """Record a part whose files are written and checked."""
        self._objects.sync(file.path for file in entry.files)
        version = Version(self._key, stages={self._stage: entry})
        self._objects.put(f"{self._folder}/{entry.fingerprint}.json", version.to_bytes())
        self._entries[entry.fingerprint] = entry

    def keep(self, fingerprints: Collection[str]) -> None:
        """Forget all other parts; their files go with the next sweep."""
        for fingerprint in set(self._entries) - set(fingerprints):
            self._objects.delete(f"{self._folder}/{fingerprint}.json")
            del self._entries[fingerprint]

    def clear(self) -> None:
        """Forget all parts: the stage is finished as a whole."""
        self._entries.clear()
        self._objects.delete_folder(self._folder)
