"""Servers for these tests, and settings that do not wait long."""

import random

import pytest
from services.s3 import aws_environment, s3_server
from services.web import web_server

from dedup_lib.config.settings import StorageSettings

__all__ = ["aws_environment", "data", "quick", "s3_server", "web_server"]


@pytest.fixture
def quick() -> dict[str, object]:
    """Settings that keep the waits of tests short."""
    return {"max_wait_seconds": 0.02, "connect_seconds": 5.0, "read_seconds": 1.5, "attempts": 12}


@pytest.fixture
def storage(s3_server, aws_environment, quick) -> StorageSettings:
    """Settings for the S3 server."""
    return StorageSettings(endpoint=s3_server.endpoint, **quick)


@pytest.fixture(scope="session")
def data() -> bytes:
    """Some 600 kB that no two stretches of are alike."""
    return random.Random(4).randbytes(600_001)
