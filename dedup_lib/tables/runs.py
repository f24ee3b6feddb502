"""The run file: what a run was asked, by which versions, what came of it. It outlives the run, also a killed one."""

import importlib.metadata
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Literal

from dedup_lib.errors import CrawlDedupError
from dedup_lib.tables.keys import require_id
from dedup_lib.tables.objects import LocalObjects, objects_at

Outcome = Literal["running", "done", "failed", "killed"]
# The packages whose version can change a result.
PACKAGES = (
    "crawl-dedup",
    "pyspark",
    "pyarrow",
    "numpy",
    "numba",
    "fastwarc",
    "warcio",
    "resiliparse",
    "ada-url",
    *("isal", "zstandard", "boto3", "trafilatura"),
)


def package_versions() -> dict[str, str]:
    """The versions of Python and of the packages that shape a result."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:  # run from a zip, or an optional package
            continue
    return versions


class RunFile:
    """`_runs/RUN.json`, rewritten at each event. Use it as a context manager: leaving it settles the outcome."""

    def __init__(
        self,
        root: str | Path,
        run_id: str,
        *,
        command: str,
        configuration: Mapping[str, Any],
        inputs: Sequence[Any] = (),
        schemes: Mapping[str, str] | None = None,
    ) -> None:
        self._objects = objects_at(root)
        self._objects.prepare()
        self._path = _path(run_id)
        self.record: dict[str, Any] = {
            "run": run_id,
            "command": command,
            "configuration": dict(configuration),
            "inputs": list(inputs),
            "schemes": dict(schemes or {}),
            "versions": package_versions(),
            "outcome": "running",
            "error": None,
            "started_at": _now(),
            "finished_at": None,
            "counts": {},
            "seconds": {},
        }
        self._write()

    def count(self, step: str, counts: Mapping[str, Any]) -> None:
        """Record the counts of a step."""
        self.record["counts"][step] = dict(counts)
        self._write()

    def note(self, **fields: Any) -> None:  # noqa: ANN401 (whatever JSON can hold)
        """Record further facts under their names; schemes and inputs that were learned on the way, for instance."""
        self.record |= fields
        self._write()

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Record how long a stage takes, in seconds, also when it fails."""
        start = monotonic()
        try:
            yield
        finally:
            self.record["seconds"][stage] = round(monotonic() - start, 3)
            self._write()

    def finish(self, outcome: Outcome, error: BaseException | None = None) -> None:
        """Settle the outcome. Of a fault of ours only its kind is kept: its message may hold data."""
        reason = str(error) if isinstance(error, CrawlDedupError) else type(error).__name__
        self.record |= {"outcome": outcome, "finished_at": _now(), "error": reason if error else None}
        self._write()

    def __enter__(self) -> "RunFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            self.finish("failed" if isinstance(error, Exception) else "killed", error)
        elif self.record["outcome"] == "running":
            self.finish("done")

    def _write(self) -> None:
        self._objects.put(self._path, _to_bytes(self.record))


def read_run(root: str | Path, run_id: str) -> dict[str, Any] | None:
    """The record of a run, or None."""
    return _read(objects_at(root), run_id)


def mark_killed(objects: LocalObjects, run_id: str) -> None:
    """Settle the outcome of a run that died without a word; called by the run that found its lock."""
    record = _read(objects, run_id)
    if record and record["outcome"] == "running":
        objects.put(_path(run_id), _to_bytes(record | {"outcome": "killed", "finished_at": _now()}))


def _read(objects: LocalObjects, run_id: str) -> dict[str, Any] | None:
    stored = objects.read(_path(run_id))
    record: dict[str, Any] | None = json.loads(stored.data) if stored else None
    return record


def _path(run_id: str) -> str:
    return f"_runs/{require_id(run_id, 'run')}.json"


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _to_bytes(record: Mapping[str, Any]) -> bytes:
    return (json.dumps(record, indent=1, ensure_ascii=False, default=str) + "\n").encode()
