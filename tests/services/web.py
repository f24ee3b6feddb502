"""A tiny web server on 127.0.0.1 whose objects are bytes in memory, with ranges and ETags as real ones have them."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from .running import QuietHandler, QuietServer, running


@dataclass
class WebServer:
    """A running server. Objects by path with a leading slash; `requests` are (path with query, headers)."""

    port: int
    objects: dict[str, bytes] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)  # answered instead of an object
    moved: dict[str, str] = field(default_factory=dict)  # where else an object is
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    etags: str = "strong"  # or weak, or none
    ranges: bool = True
    lengths: bool = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def running_web_server() -> Iterator[WebServer]:
    server = QuietServer(("127.0.0.1", 0), _Handler)
    with running(server) as port:
        server.state = WebServer(port)
        yield server.state


@pytest.fixture
def web_server() -> Iterator[WebServer]:
    """A server of its own for each test."""
    with running_web_server() as server:
        yield server


class _Handler(QuietHandler):
    def do_GET(self):
        state: WebServer = self.server.state
        state.requests.append((self.path, dict(self.headers)))
        path = self.path.partition("?")[0]
        if path in state.moved:
            self._answer(302, {"Location": state.moved[path]}, b"")
        elif path in state.statuses or path not in state.objects:
            self._answer(state.statuses.get(path, 404), {}, b"no")
        else:
            self._object(state, state.objects[path])

    def _object(self, state: WebServer, data: bytes) -> None:
        digest = f'"{hashlib.md5(data).hexdigest()}"'
        headers = {"strong": {"ETag": digest}, "weak": {"ETag": f"W/{digest}"}, "none": {}}[state.etags]
        if self.headers.get("If-Match", digest) != digest:
            self._answer(412, headers, b"")
            return
        wanted = self.headers.get("Range")
        if not wanted or not state.ranges:
            self._answer(200, headers, data)
            return
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        start, end = int(first), min(len(data) - 1, int(last) if last else len(data) - 1)
        if start >= len(data):
            self._answer(416, {"Content-Range": f"bytes */{len(data)}"}, b"")
            return
        headers["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
        self._answer(206, headers, data[start : end + 1])

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        if self.server.state.lengths:
            self.send_answer(status, {**headers, "Content-Length": str(len(body))})
            self.wfile.write(body)
        else:
            self.send_answer(status, {**headers, "Transfer-Encoding": "chunked"})
            self.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n")
