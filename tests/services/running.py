"""Runs a small HTTP server of the tests' own in a thread."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class QuietHandler(BaseHTTPRequestHandler):
    """Keeps connections open, and writes nothing to the terminal."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format, *args):  # noqa: A002 (the name is the base class's)
        pass

    def send_answer(self, status: int, headers: dict[str, str]) -> None:
        """The status line and these headers only."""
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


class QuietServer(ThreadingHTTPServer):
    """Says nothing of connections that break."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


@contextmanager
def running(server: QuietServer) -> Iterator[int]:
    """The port of a server that answers as long as the block lasts."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
