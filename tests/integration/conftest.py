"""The sample and its store, made once for all tests of this folder."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from dedup_lib.sample import SNAPSHOTS, write_sample

from .archives import small_snapshot, write_archives
from .command import KEY, Done, succeed

SAMPLE_PROFILE = ("--config", "conf/sample.yaml")


@dataclass(frozen=True)
class Store:
    """A store, what was run into it, and what the runs said."""

    root: Path
    inputs: Path
    runs: dict[str, Done]


@pytest.fixture(scope="session")
def sample(tmp_path_factory) -> Path:
    """The folder of a generated sample."""
    folder = tmp_path_factory.mktemp("sample-input")
    write_sample(folder)
    return folder


@pytest.fixture(scope="session")
def store(sample, spark, tmp_path_factory) -> Store:
    """Both snapshots of the sample, run once. Copy it before changing it."""
    root = tmp_path_factory.mktemp("sample-store")
    runs = {}
    for name in SNAPSHOTS:
        key = ("--source", "sample", "--snapshot", name)
        runs[name] = succeed("run", *SAMPLE_PROFILE, *key, "--input", sample / name, "--output", root)
    return Store(root, sample, runs)


@pytest.fixture(scope="session")
def records(sample):
    """The records of a small snapshot."""
    return small_snapshot(sample)


@pytest.fixture(scope="session")
def small_inputs(records, tmp_path_factory) -> Path:
    """A folder with the small snapshot in two archives."""
    folder = tmp_path_factory.mktemp("small") / "input"
    write_archives(records, folder, 2)
    return folder


@pytest.fixture(scope="session")
def small(small_inputs, spark, tmp_path_factory) -> Store:
    """The small snapshot, run once. Copy it before changing it."""
    root = tmp_path_factory.mktemp("small-store")
    return Store(root, small_inputs, {"snapshot-a": succeed("run", *KEY, "--input", small_inputs, "--output", root)})


@pytest.fixture
def copied(small, tmp_path) -> Store:
    """A copy of the small store that a test may change."""
    root = tmp_path / "store"
    shutil.copytree(small.root, root)
    return Store(root, small.inputs, small.runs)
