"""Objects in S3 and what speaks its protocol, through boto3: one client per process and settings."""

import threading
from contextlib import suppress
from typing import Any

import boto3
from botocore import UNSIGNED, exceptions
from botocore.config import Config
from botocore.parsers import ResponseParserError
from urllib3.exceptions import HTTPError

from dedup_lib.archives.stores.addresses import Address
from dedup_lib.archives.stores.answers import range_of
from dedup_lib.archives.stores.errors import Interrupted, ObjectChanged, ObjectMissing, StorageError, one_line
from dedup_lib.archives.stores.interface import Listed
from dedup_lib.archives.stores.refusals import CREDENTIALS, refusal
from dedup_lib.config.settings import StorageSettings

_BROKEN = (exceptions.HTTPClientError, exceptions.ConnectionError, exceptions.IncompleteReadError)
_MISNAMED = (exceptions.ParamValidationError, exceptions.EndpointProviderError)
CREDENTIAL_ATTEMPTS = 3  # instance roles fail to load when many workers start at once


class S3Store:
    """S3 by its API. Retries of botocore's own are off, so that they do not multiply with ours."""

    lists = True

    def __init__(self, storage: StorageSettings) -> None:
        self._storage = storage
        self._lock = threading.Lock()
        self._made: Any = None
        self._extra = {"RequestPayer": "requester"} if storage.requester_pays else {}

    def stat(self, address: Address) -> Listed:
        """By a HEAD request."""
        try:
            answer = self._ask("head_object", address, Key=address.key)
        except ObjectMissing:
            raise
        except StorageError:  # an answer to HEAD has no body to say why; one to GET has
            with suppress(EOFError):
                self._ask("get_object", address, Key=address.key, Range="bytes=0-0")["Body"].close()
            raise
        return Listed(address, answer["ContentLength"], answer.get("ETag", ""))

    def page(self, prefix: Address, after: str, token: str) -> tuple[list[Listed], str]:
        """At most 1000 objects, in the order of the bytes of their keys."""
        further = {"ContinuationToken": token} if token else {"StartAfter": after} if after else {}
        answer = self._ask("list_objects_v2", prefix, Prefix=prefix.key, **further)
        listed = [Listed(prefix.at(one["Key"]), one["Size"], one.get("ETag", "")) for one in answer.get("Contents", ())]
        return listed, answer.get("NextContinuationToken", "") if answer.get("IsTruncated") else ""

    def get(self, address: Address, start: int, version: str) -> "S3Body":
        """By one GET to the end of the object."""
        options = {"IfMatch": version} if version else {}
        if start:
            options["Range"] = f"bytes={start}-"
        try:
            return S3Body(self._ask("get_object", address, Key=address.key, **options))
        except ObjectChanged:
            raise ObjectChanged(str(address), version, self._version_now(address)) from None

    def _version_now(self, address: Address) -> str:
        try:
            return self.stat(address).version
        except (Interrupted, StorageError):
            return ""

    def _ask(self, operation: str, address: Address, **options: object) -> Any:  # noqa: ANN401 (botocore has no types)
        try:
            return getattr(self._client(), operation)(Bucket=address.place, **options, **self._extra)
        except exceptions.ClientError as error:
            raise refusal(error.response, address, self._storage.anonymous) from error
        except (exceptions.NoCredentialsError, exceptions.CredentialRetrievalError) as error:
            self._made = None  # a client that found no credentials never looks again
            raise Interrupted("there are no credentials", remedy=CREDENTIALS, limit=CREDENTIAL_ATTEMPTS) from error
        except exceptions.EndpointConnectionError as error:
            where = self._storage.endpoint or "S3"
            raise Interrupted(
                f"{where} cannot be reached", remedy="check storage.endpoint, storage.region and the network"
            ) from error
        except (*_BROKEN, ResponseParserError, HTTPError, OSError) as error:
            raise Interrupted(one_line(error)) from error
        except (exceptions.BotoCoreError, ValueError) as error:
            where = f"s3://{address.place}"
            misnamed = isinstance(error, (*_MISNAMED, ValueError))
            remedy = "check the names of bucket and key, and storage.endpoint" if misnamed else CREDENTIALS
            raise StorageError(where, f"{where} cannot be read ({one_line(error)}): {remedy}") from error

    def _client(self) -> Any:  # noqa: ANN401 (botocore has no types)
        with self._lock:
            if self._made is None:
                self._made = self._new_client()
            return self._made

    def _new_client(self) -> Any:  # noqa: ANN401
        storage = self._storage
        config = Config(
            connect_timeout=storage.connect_seconds,
            read_timeout=storage.read_seconds,
            retries={"mode": "standard", "total_max_attempts": 1},
            max_pool_connections=max(10, storage.listing_threads),
            tcp_keepalive=True,
            response_checksum_validation="when_required",  # a checksum of the whole is of no use to ranges
            user_agent_extra="crawl-dedup",
            **({"signature_version": UNSIGNED} if storage.anonymous else {}),
        )
        session = boto3.session.Session(profile_name=storage.profile, region_name=storage.region)
        return session.client("s3", endpoint_url=storage.endpoint, config=config)


class S3Body:
    """The body of a GET."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.start, self.total = range_of(
            answer["ResponseMetadata"]["HTTPStatusCode"], answer.get("ContentRange"), answer.get("ContentLength")
        )
        self.version: str = answer.get("ETag", "")
        self._stream = answer["Body"]

    def read(self, count: int) -> bytes:
        """At most `count` bytes."""
        try:
            data: bytes = self._stream.read(count)
            return data
        except (exceptions.BotoCoreError, HTTPError, OSError) as error:
            raise Interrupted(one_line(error)) from error

    def close(self) -> None:
        """Drops the connection."""
        self._stream.close()
