"""The life of a run: it owns a key, makes stages, records each that is finished, and publishes them at once.

A crash at any moment leaves the published version as it was; what was finished is resumed, the rest is swept.
"""

import os
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace as changed
from datetime import UTC, datetime
from pathlib import Path
from typing import Generic, Literal

from pyspark.sql import DataFrame

from dedup_lib.errors import ConflictError
from dedup_lib.tables.keys import Key, require_id
from dedup_lib.tables.objects import LOCKS, LocalObjects, objects_at
from dedup_lib.tables.parts import Parts
from dedup_lib.tables.published import Replaced, StageEntry, Version, load_version, published_path
from dedup_lib.tables.runs import mark_killed
from dedup_lib.tables.sweep import DRAFTS, TEMPORARY, sweep_runs, sweep_temporary, unexpired

Plan = Literal["done", "run"]
STAGES_IN_PARTS = ("extract",)  # so long that what they have done is recorded batch by batch


@contextmanager
def open_workspace(root: str | Path, key: Key, run_id: str, retain_seconds: int = 0) -> Iterator["Workspace[Key]"]:
    """Own a key for the time of a run.

    ConflictError when another run owns it; InputError when ROOT cannot be written to. What earlier runs left behind
    is swept first, what this run leaves behind is swept at the end, also after an error.
    """
    require_id(run_id, "run")
    objects = objects_at(root)
    objects.prepare()
    owner = f"run {run_id}, process {os.getpid()} on {socket.gethostname()}"
    with objects.exclusive_lock(f"{LOCKS}/{key.folder}.lock", str(key), owner) as died:
        if found := re.match(r"run ([^,\s]+),", died):
            mark_killed(objects, found[1])
        sweep_temporary(objects, key)
        work = Workspace(objects, key, run_id, retain_seconds)
        work.sweep()
        try:
            yield work
        finally:
            with suppress(OSError):  # not at the cost of the error that ends the run; the next one sweeps again
                objects.delete_folder(work.temporary_folder)
                work.sweep()


class Workspace(Generic[Key]):
    """A key that this run owns; made by `open_workspace`.

    The draft holds the stages that are finished and not yet published. Stages that a killed command finished count
    only after `plan` has found them to be what is wanted: until then they are neither read nor published.
    """

    def __init__(self, objects: LocalObjects, key: Key, run_id: str, retain_seconds: int) -> None:
        self.objects, self.key, self.run_id, self.retain_seconds = objects, key, run_id, retain_seconds
        self.root = objects.root
        self.published, self._token = load_version(objects, published_path(key))
        draft, _ = load_version(objects, self._draft_path)
        left = draft.stages if draft else {}
        published = self.published.stages if self.published else {}
        self._left = {name: entry for name, entry in left.items() if published.get(name) != entry}
        self._finished: dict[str, StageEntry] = {}
        self._parts = {stage: Parts(objects, key, stage) for stage in STAGES_IN_PARTS}
        self._cuts = 0
        if len(self._left) < len(left):  # a run died after it had published
            self._save_draft()

    @property
    def draft(self) -> Version[Key]:
        """The finished stages that `publish` will publish."""
        return Version(self.key, stages=dict(self._finished))

    @property
    def version(self) -> Version[Key]:
        """What would be published now: the draft over the published version. Read inputs from it."""
        published = self.published or Version(self.key)
        return changed(published, stages={**published.stages, **self._finished})

    @property
    def temporary_folder(self) -> str:
        """Where this run may put intermediate data (relative to ROOT)."""
        return f"{TEMPORARY}/{self.key.folder}/{self.run_id}"

    @property
    def _draft_path(self) -> str:
        return f"{DRAFTS}/{self.key.folder}.json"

    def table_folder(self, table: str) -> str:
        """Where this run writes a table (relative to ROOT)."""
        return f"{self.key.runs_folder(table)}/run={self.run_id}"

    def entry(self, stage: str) -> StageEntry | None:
        """The stage as a later stage of this command would read it: of the draft, else as published."""
        return self.version.stages.get(stage)

    def parts(self, stage: str) -> Parts[Key]:
        """The parts of a stage that are finished, by this command or a killed one."""
        return self._parts[stage]

    def plan(
        self,
        stage: str,
        fingerprint: str,
        made_from: Mapping[str, str],
        replace: bool,
        url_scheme: str | None = None,
    ) -> Plan:
        """Whether a stage is done already or must run. Ask in the order of the stages.

        Done: finished by a killed command or published, with this fingerprint, made from these runs, and all files
        there. A published stage whose inputs were replaced, or whose files are gone, runs. ConflictError when the
        published one was made with another fingerprint and may not be replaced.
        """
        left = self._finished.get(stage) or self._left.get(stage)
        published = self.published.stages.get(stage) if self.published else None
        # A killed run by other URL rules left it, and what these rules made is published.
        undone = left and published and left.url_scheme != url_scheme == published.url_scheme
        if left and not undone and self._is_wanted(left, fingerprint, made_from):
            self._finished[stage] = self._left.pop(stage, left)
            self._clear_parts(stage)
            return "done"
        if left:
            self._drop(stage)
            self._save_draft()
        if published is None:
            return "run"
        if self._is_wanted(published, fingerprint, made_from):
            self._clear_parts(stage)
            return "done"
        if published.fingerprint != fingerprint and dict(published.made_from) == dict(made_from) and not replace:
            raise ConflictError(
                f"{stage} of {self.key} was made with other inputs or settings; use --replace to remake it"
            )
        return "run"

    def is_whole(self, entry: StageEntry) -> bool:
        """Whether all files of an entry are there."""
        return all(self.objects.size(file.path) == file.bytes for file in entry.files)

    def finish_stage(self, entry: StageEntry) -> None:
        """Record a stage whose files are written and checked, so that a later command need not run it again."""
        if entry.run != self.run_id:
            raise ValueError(f"the entry of {entry.stage} names run {entry.run}, but this is run {self.run_id}")
        self.objects.sync(file.path for file in entry.files)
        self._drop(entry.stage)
        self._finished[entry.stage] = entry
        self._save_draft()
        self._clear_parts(entry.stage)

    def publish(self) -> Version[Key]:
        """Make all stages of the draft the published version, at once; the other stages stay as they were.

        ConflictError when the published version is no longer the one this run started from. Without finished stages
        nothing changes.
        """
        if self._finished:
            version = self._next_version(self.version.stages)
            self._token = self.objects.replace(published_path(self.key), version.to_bytes(), self._token)
            self.published, self._finished, self._left = version, {}, {}
            self._save_draft()
            self.sweep()
        return self.version

    def withdraw(self) -> None:
        """Unpublish all of this key, and drop its drafts.

        Files that a reader may still be scanning stay for `retain_seconds`: until then the object lies there, without
        a stage; called again after that it removes the object too. ConflictError as of `publish`.
        """
        for parts in self._parts.values():
            parts.clear()
        self._left, self._finished = {}, {}
        self._save_draft()
        if self.published is None or self._token is None:
            return
        version = self._next_version({})
        path = published_path(self.key)
        if version.previous:
            self._token, self.published = self.objects.replace(path, version.to_bytes(), self._token), version
        else:
            self.objects.remove(path, self._token)
            self._token, self.published = None, None
        self.sweep()

    def cut(self, frame: DataFrame, name: str) -> DataFrame:
        """The same rows read back from the temporary folder: their lineage is cut. Gone when the workspace closes."""
        self._cuts += 1
        folder = f"{self.temporary_folder}/{require_id(name, 'cut')}-{self._cuts}"
        writer = frame.write.mode("errorifexists").option("compression", "snappy")
        # Ids and digests repeat too seldom for a dictionary to be worth trying.
        writer.option("parquet.enable.dictionary", "false").parquet(self.objects.uri(folder))
        return frame.sparkSession.read.schema(frame.schema).parquet(self.objects.pattern(folder))

    def sweep(self) -> None:
        """Delete all files of this key that neither the draft nor what is or was just published names."""
        keep = [*self._left.values(), *self._finished.values()]
        keep += [entry for parts in self._parts.values() for entry in parts.entries]
        if self.published:
            keep += self.published.stages.values()
            for old in unexpired(self.published.previous, self.retain_seconds):
                keep += old.stages.values()
        sweep_runs(self.objects, self.key, keep)

    def _next_version(self, stages: Mapping[str, StageEntry]) -> Version[Key]:
        now = datetime.now(UTC).isoformat()
        before = self.published.stages if self.published else {}
        gone = {name: entry for name, entry in before.items() if name not in stages or stages[name].run != entry.run}
        previous = unexpired(self.published.previous if self.published else (), self.retain_seconds)
        if gone and self.retain_seconds:
            previous = (*previous, Replaced(now, gone))
        return Version(self.key, now, stages, previous)

    def _is_wanted(self, entry: StageEntry, fingerprint: str, made_from: Mapping[str, str]) -> bool:
        same = entry.fingerprint == fingerprint and dict(entry.made_from) == dict(made_from)
        return same and self.is_whole(entry)

    def _save_draft(self) -> None:
        stages = {**self._left, **self._finished}
        if stages:
            self.objects.put(self._draft_path, Version(self.key, stages=stages).to_bytes())
        else:
            self.objects.delete(self._draft_path)

    def _clear_parts(self, stage: str) -> None:
        if stage in self._parts:
            self._parts[stage].clear()

    def _drop(self, stage: str) -> None:
        """Drop a stage from the draft, and those that were made from it."""
        gone = self._finished.pop(stage, None) or self._left.pop(stage, None)
        if gone is None:
            return
        for entry in [*self._left.values(), *self._finished.values()]:
            if entry.made_from.get(stage) == gone.run:
                self._drop(entry.stage)
