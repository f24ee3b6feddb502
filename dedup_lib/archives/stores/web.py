"""Objects behind https:// and http://, through urllib3: single addresses, for the web has no listing."""

from typing import Any
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.exceptions import HTTPError, LocationValueError, MaxRetryError, NameResolutionError
from urllib3.util import Retry, Timeout, make_headers, parse_url

from dedup_lib.archives.stores.addresses import Address
from dedup_lib.archives.stores.answers import failure, range_of
from dedup_lib.archives.stores.errors import Interrupted, ObjectChanged, StorageError, one_line
from dedup_lib.archives.stores.interface import Listed
from dedup_lib.config.settings import StorageSettings
from dedup_lib.errors import UsageError

REDIRECTS = 5
_DENIED = "it is not public, or this machine asked too often: wait, or read Common Crawl through s3://commoncrawl/"


class WebStore:
    """Objects by GET alone: presigned addresses answer nothing else, and some servers know no HEAD."""

    lists = False

    def __init__(self, storage: StorageSettings) -> None:
        options: dict[str, Any] = {
            "timeout": Timeout(connect=storage.connect_seconds, read=storage.read_seconds),
            "retries": Retry(
                total=None, connect=0, read=0, status=0, other=0, redirect=REDIRECTS, respect_retry_after_header=False
            ),
            "headers": {"Accept-Encoding": "identity", "User-Agent": "crawl-dedup"},
            "maxsize": storage.listing_threads,
        }
        self._direct = urllib3.PoolManager(**options)
        self._through = {scheme: _through(proxy, options) for scheme, proxy in getproxies().items() if "://" in proxy}

    def stat(self, address: Address) -> Listed:
        """By a GET of the first byte."""
        answer = self._ask(address, {"Range": "bytes=0-0"})
        try:
            if answer.status == 416:
                return Listed(address, 0, _version(answer, 0))
            _, total = range_of(answer.status, answer.headers.get("Content-Range"), _length(answer))
            return Listed(address, -1 if total is None else total, _version(answer, total))
        finally:
            if answer.status == 200:
                answer.close()  # the whole object, which nobody wants to have now
            else:
                answer.drain_conn()
                answer.release_conn()

    def page(self, prefix: Address, after: str, token: str) -> tuple[list[Listed], str]:
        """Cannot be had."""
        raise UsageError(
            f"{prefix}: folders and globs cannot be listed over https: name files, or a list of them (@{prefix})"
        )

    def get(self, address: Address, start: int, version: str) -> "WebBody":
        """By one GET to the end of the object."""
        headers = {"Range": f"bytes={start}-"} if start else {}
        if version.startswith('"'):  # a weak ETag never matches (RFC 9110, 13.1.1): those are compared by the stream
            headers["If-Match"] = version
        answer = self._ask(address, headers)
        if answer.status == 412:
            found = answer.headers.get("ETag", "")
            answer.close()
            raise ObjectChanged(str(address), version, found)
        if answer.status == 416:
            answer.close()
            raise EOFError
        return WebBody(answer)

    def _ask(self, address: Address, headers: dict[str, str]) -> urllib3.BaseHTTPResponse:
        pool = self._through.get(address.scheme, self._direct)
        if pool is not self._direct and proxy_bypass(address.place.partition(":")[0]):
            pool = self._direct
        try:
            answer = pool.request(
                "GET", address.url, headers={**pool.headers, **headers}, preload_content=False, decode_content=False
            )
        except (LocationValueError, UnicodeError) as error:
            raise StorageError(
                str(address), f"{address} is no address that can be fetched ({one_line(error)})"
            ) from error
        except HTTPError as error:
            cause = error.reason if isinstance(error, MaxRetryError) and error.reason else error
            what = f"{address.place} has no address" if isinstance(cause, NameResolutionError) else one_line(cause)
            raise Interrupted(what, remedy="check the address and the network") from error
        if answer.status in (200, 206, 412, 416):
            return answer
        answer.close()
        raise failure(str(address), answer.status, answer.headers, _DENIED if answer.status in (401, 403) else "")


class WebBody:
    """The body of a GET, as it was stored: a Content-Encoding is not undone."""

    def __init__(self, answer: urllib3.BaseHTTPResponse) -> None:
        self.start, self.total = range_of(answer.status, answer.headers.get("Content-Range"), _length(answer))
        self.version = _version(answer, self.total)
        self._answer = answer

    def read(self, count: int) -> bytes:
        """At most `count` bytes."""
        try:
            return self._answer.read(count, decode_content=False)
        except (HTTPError, OSError) as error:
            raise Interrupted(one_line(error)) from error

    def close(self) -> None:
        """Drops the connection."""
        self._answer.close()


def _version(answer: urllib3.BaseHTTPResponse, total: int | None) -> str:
    """The ETag, or else the time of the last change and the size."""
    changed = answer.headers.get("Last-Modified")
    return answer.headers.get("ETag") or (f"{changed}, {total} bytes" if changed and total is not None else "")


def _length(answer: urllib3.BaseHTTPResponse) -> int | None:
    value = answer.headers.get("Content-Length", "")
    return int(value) if value.isdecimal() else None


def _through(proxy: str, options: dict[str, Any]) -> urllib3.PoolManager:
    """A pool that goes through the proxy of the environment (https_proxy and its like)."""
    secret = parse_url(proxy).auth
    return urllib3.ProxyManager(
        proxy, proxy_headers=make_headers(proxy_basic_auth=secret) if secret else None, **options
    )
