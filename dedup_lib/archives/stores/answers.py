"""HTTP as S3 and https:// inputs have it in common: statuses that fail, ranges, versions."""

import re
from collections.abc import Mapping

from urllib3.exceptions import InvalidHeader
from urllib3.util import Retry

from dedup_lib.archives.stores.errors import Interrupted, ObjectMissing, StorageError

OVERLOADED = (429, 503)
PASSING = (408, 425, 500, 502, 504)
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


def failure(path: str, status: int, headers: Mapping[str, str], remedy: str = "") -> Exception:
    """The error that an HTTP status stands for."""
    if status in OVERLOADED:
        return Interrupted(
            f"the server is overloaded, HTTP {status}",
            throttled=True,
            retry_after=retry_after(headers),
            remedy="wait until it has recovered, run fewer tasks at once, or raise storage.attempts",
        )
    if status in PASSING:
        return Interrupted(f"the server failed, HTTP {status}", retry_after=retry_after(headers))
    if status in (404, 410):
        return ObjectMissing(path)
    if status in (401, 403):
        return StorageError(path, f"access to {path} is denied (HTTP {status}): {remedy or 'check the address'}")
    return StorageError(path, f"{path} cannot be read (HTTP {status}): {remedy or 'check the address'}")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks to be left alone for (RFC 9110, 10.2.3)."""
    value = headers.get("Retry-After") or headers.get("retry-after")
    try:
        return Retry().parse_retry_after(value) if value else None
    except InvalidHeader:
        return None


def range_of(status: int, content_range: str | None, length: int | None) -> tuple[int, int | None]:
    """Where a body begins in the object, and the object's size; a plain 200 is the whole of it."""
    if status != 206:
        return 0, length
    match = _RANGE.match(content_range or "")
    if match is None:
        raise Interrupted("an answer of a part does not say which part it is")
    return int(match[1]), None if match[2] == "*" else int(match[2])
