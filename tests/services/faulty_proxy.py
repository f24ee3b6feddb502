"""An HTTP proxy on 127.0.0.1 that passes requests on to a server and, by a plan, spoils the answers.

A plan is a function of a request that gives a `Fault` or None; `seeded_plan` draws faults with a seed. Requests are
passed on with the headers they came with, Host included, so that signatures of S3 stay valid.
"""

import http.client
import random
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from .running import QuietHandler, QuietServer, running

PIECE = 1 << 14
UNSIGNED = ("range", "authorization", "x-amz-")  # S3 signs ranges: without them a request is one of nobody's


@dataclass(frozen=True)
class Request:
    """A request as it came in; `number` counts from 0."""

    number: int
    method: str
    path: str
    headers: dict[str, str]


@dataclass(frozen=True)
class Fault:
    """What is done to an answer. All of it that is set."""

    before: Callable[[], object] | None = None  # called before the request is passed on, to change the object
    delay: float = 0.0  # seconds before the answer
    status: int | None = None  # answered instead, with `headers` and `body`
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    cut_after: int | None = None  # bytes of the body after which the connection is reset
    short_after: int | None = None  # bytes of the body after which it is closed in order
    stall_after: int | None = None  # bytes of the body after which it is silent for `stall`, and then closed
    stall: float = 0.0
    announce: int | None = None  # bytes of the body, less than there are: neither these nor the header tell of more
    drop: bool = False  # reset without an answer
    ignore_range: bool = False  # of S3's buckets only with public ones


def slow_down(status: int = 503, retry_after: str | None = None) -> Fault:
    """The answer of an S3 server that is overloaded."""
    body = b'<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Reduce your rate.</Message></Error>'
    headers = {"Content-Type": "application/xml"} | ({"Retry-After": retry_after} if retry_after else {})
    return Fault(status=status, headers=headers, body=body)


Plan = Callable[[Request], Fault | None]


def seeded_plan(
    seed: int, share: float = 0.6, longest: int = 1 << 16, stall: float = 0.3, unsigned: bool = True
) -> Plan:
    """Spoils a share of the answers to GET requests of objects (not listings), each in a way drawn with the seed.

    `unsigned` says that the objects are public, so that ranges can be taken out of signed requests.
    """
    dice = random.Random(seed)
    lock = threading.Lock()

    def plan(request: Request) -> Fault | None:
        with lock:
            if request.method != "GET" or "list-type" in request.path or dice.random() >= share:
                return None
            at = dice.randrange(longest)
            return dice.choice(
                [
                    *(Fault(cut_after=at), Fault(short_after=at), Fault(cut_after=0), Fault(drop=True)),
                    *(slow_down(), slow_down(429, "0"), Fault(status=500), Fault(delay=0.02, short_after=at)),
                    *((Fault(ignore_range=True), Fault(ignore_range=True, cut_after=at)) if unsigned else ()),
                    *((Fault(stall_after=at, stall=stall),) if dice.random() < 0.1 else ()),
                ]
            )

    return plan


@dataclass
class FaultyProxy:
    """A running proxy; `plan` may be replaced at any time. `faults` counts spoilt answers."""

    host: str
    port: int
    plan: Plan
    requests: list[Request] = field(default_factory=list)
    faults: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def endpoint(self) -> str:
        return f"http://{self.host}:{self.port}"

    def fault_for(self, method: str, path: str, headers: dict[str, str]) -> Fault | None:
        with self.lock:
            request = Request(len(self.requests), method, path, headers)
            self.requests.append(request)
        fault = self.plan(request)
        with self.lock:
            self.faults += fault is not None
        return fault


@contextmanager
def faulty_proxy(host: str, port: int, plan: Plan | None = None) -> Iterator[FaultyProxy]:
    """A proxy before the server at host and port, as long as the block lasts."""
    server = QuietServer(("127.0.0.1", 0), _Handler)
    with running(server) as own_port:
        server.proxy, server.upstream = FaultyProxy("127.0.0.1", own_port, plan or (lambda request: None)), (host, port)
        yield server.proxy


class _Handler(QuietHandler):
    def do_GET(self):
        self._pass_on()

    def do_HEAD(self):
        self._pass_on()

    def do_PUT(self):
        self._pass_on()

    def _pass_on(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.server.proxy.fault_for(self.command, self.path, dict(self.headers)) or Fault()
        if fault.before:
            fault.before()
        time.sleep(fault.delay)
        if fault.drop:
            self._reset()
        elif fault.status is not None:
            self.send_answer(fault.status, {**fault.headers, "Content-Length": str(len(fault.body))})
            self.wfile.write(b"" if self.command == "HEAD" else fault.body)
        else:
            self._relay(fault, sent)

    def _relay(self, fault: Fault, sent: bytes) -> None:
        upstream = http.client.HTTPConnection(*self.server.upstream, timeout=60)
        try:
            upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if not (fault.ignore_range and name.lower().startswith(UNSIGNED)):
                    upstream.putheader(name, value)
            upstream.endheaders(sent)
            answer = upstream.getresponse()
            headers = {name: value for name, value in answer.getheaders() if name.lower() != "connection"}
            if fault.announce is not None:
                headers = {name: value for name, value in headers.items() if name.lower() != "content-length"}
                headers["Content-Length"] = str(fault.announce)
            self.send_answer(answer.status, headers)
            if self.command != "HEAD":
                self._relay_body(answer, fault)
        finally:
            upstream.close()

    def _relay_body(self, answer: http.client.HTTPResponse, fault: Fault) -> None:
        ends = (fault.cut_after, fault.short_after, fault.stall_after, fault.announce)
        ends = [end for end in ends if end is not None]
        left = min(ends, default=None)
        chunked = answer.getheader("Transfer-Encoding") == "chunked"
        while piece := answer.read(PIECE if left is None else min(PIECE, left)):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            left = None if left is None else left - len(piece)
        if left == 0:
            self.wfile.flush()
            if fault.stall_after is not None:
                time.sleep(fault.stall)
            if fault.cut_after is not None:
                self._reset()
            self.close_connection = True
        elif chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _reset(self) -> None:
        """Ends the connection by a reset, not in order (linger on, for no time)."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True
