"""The messages between a task and the process that reads its pages.

A message is a header (a mark, the bytes of its values, the bytes of its bodies), values, bodies. Values are written
by `marshal`: for strings and tuples it costs a third of `pickle`, runs no code of what it reads, and both ends run the
same interpreter. Bodies follow as they are: they are handed to the kernel from where they lie.
"""

import marshal
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from operator import attrgetter
from typing import Any, TypeAlias, get_type_hints

from dedup_lib.errors import UsageError
from dedup_lib.text.content_type import Kind
from dedup_lib.text.document import DocumentText
from dedup_lib.text.page import PageRefused

READY = "ready"  # the values of the child's first message
PROGRESS_BYTES = 8  # shared memory for two counters of 32 bits: pages begun, pages finished
Values: TypeAlias = Any  # what marshal carries: constants, tuples and lists of them
HEADER = struct.Struct("<4sIQ")
_MARK = b"\xc6pg1"
Reader = Callable[..., DocumentText | PageRefused]  # takes body, kind, http_charset and the options of the run


class WireError(ValueError):
    """Bytes that are no message: the other end has lost its mind."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The arguments of `read_document` that differ from page to page."""

    body: bytes
    kind: Kind
    http_charset: str | None = None


def pack(values: Values, bodies: Sequence[bytes] = ()) -> list[bytes]:
    """A message, as the buffers to write one after the other."""
    data = marshal.dumps(values)
    return [HEADER.pack(_MARK, len(data), sum(map(len, bodies))), data, *bodies]


def sizes(header: bytes | bytearray | memoryview) -> tuple[int, int]:
    """The bytes of values and of bodies that follow a header."""
    mark, values, bodies = HEADER.unpack_from(header)
    if mark != _MARK:
        raise WireError(f"no message begins with {bytes(header[:4])!r}")
    return values, bodies


def unpack(data: bytes | bytearray | memoryview) -> Values:
    """The values of a message."""
    try:
        return marshal.loads(data)
    except (EOFError, ValueError, TypeError) as error:
        raise WireError(f"the values of a message do not parse: {error}") from error


def pack_requests(requests: Sequence[PageRequest]) -> list[bytes]:
    """Pages to read."""
    values = [(len(request.body), str(request.kind), request.http_charset) for request in requests]
    return pack(values, [request.body for request in requests])


def unpack_requests(values: Values, bodies: memoryview) -> list[PageRequest]:
    """The inverse of `pack_requests`."""
    requests, start = [], 0
    for length, kind, charset in values:
        requests.append(PageRequest(bytes(bodies[start : start + length]), Kind(kind), charset))
        start += length
    return requests


class _Plain:
    """A data class to a tuple of plain values and back; enumerations and data classes in it included."""

    def __init__(self, kind: type) -> None:
        hints = get_type_hints(kind)
        names = [field.name for field in fields(kind)]
        self._kind = kind
        self._values = attrgetter(*names)
        self._enums = [(at, hints[name]) for at, name in enumerate(names) if _is_enum(hints[name])]
        self._parts = [(at, _Plain(hints[name])) for at, name in enumerate(names) if is_dataclass(hints[name])]

    def values(self, found: object) -> tuple[Values, ...]:
        values = list(self._values(found))
        for at, _ in self._enums:
            values[at] = values[at].value
        for at, part in self._parts:
            values[at] = part.values(values[at])
        return tuple(values)

    def made(self, plain: Sequence[Values]) -> Values:
        values = list(plain)
        for at, enum in self._enums:
            values[at] = enum(values[at])
        for at, part in self._parts:
            values[at] = part.made(values[at])
        return self._kind(*values)


def _is_enum(hint: object) -> bool:
    return isinstance(hint, type) and issubclass(hint, StrEnum)


_DOCUMENT, _REFUSED = _Plain(DocumentText), _Plain(PageRefused)
_READ, _NOT_READ, _UNUSABLE = 0, 1, 2


def result_values(result: DocumentText | PageRefused | UsageError) -> tuple[int, Values]:
    """What became of a page, in plain values; an error of usage is no fault of the page, and fails the task."""
    if isinstance(result, DocumentText):
        return _READ, _DOCUMENT.values(result)
    if isinstance(result, PageRefused):
        return _NOT_READ, _REFUSED.values(result)
    return _UNUSABLE, str(result)


def result_of(values: Values) -> DocumentText | PageRefused:
    """The inverse of `result_values`; raises the error of usage if it is one."""
    try:
        how, found = values
        if how != _UNUSABLE:
            result: DocumentText | PageRefused = (_DOCUMENT if how == _READ else _REFUSED).made(found)
            return result
    except (TypeError, ValueError, IndexError) as error:
        raise WireError(f"no result of a page: {error}") from error
    raise UsageError(str(found))
