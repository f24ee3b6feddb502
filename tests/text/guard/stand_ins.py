"""Extractors that a page can make misbehave: its body says how. Imported by the guard's child processes."""

import ctypes
import os
import signal
import stat
import sys
import time
from pathlib import Path

from dedup_lib.errors import UsageError
from dedup_lib.text.content_type import Kind
from dedup_lib.text.document import DocumentText
from dedup_lib.text.options import ReadOptions
from dedup_lib.text.page import PageContent, PageRefused, Refusal

read_so_far: list[bytes] = []


def misbehave(body: bytes, kind: Kind, http_charset: str | None, options: ReadOptions) -> DocumentText | PageRefused:
    """Does what the first word of the body names; any other body is its own text."""
    word = body.split(b" ")[0].decode()
    read_so_far.append(body)
    if word in DEEDS:
        DEEDS[word]()
    if word == "refuse":
        return PageRefused(Refusal.BAD_PAGE, "as asked")
    content = PageContent(title=str(kind), text=body.decode(), canonical_links=["/a"])
    return DocumentText(content, http_charset or "utf-8", "en")


def _segfault() -> None:
    ctypes.string_at(0)


def _abort() -> None:
    sys.stderr.write("assertion failed: the tree has no root\n")
    sys.stderr.flush()
    os.abort()


def _spin() -> None:
    while True:
        pass


def _allocate() -> None:
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def _swallow_memory_errors() -> None:
    """As the native parser does: what is left of a failed allocation is a ValueError."""
    try:
        _allocate()
    except MemoryError:
        raise ValueError("Failed to parse") from None


def _garbage() -> None:
    """Writes on every pipe there is, the one with the answers among them."""
    for number in range(3, 20):
        try:
            if stat.S_ISFIFO(os.fstat(number).st_mode):
                os.write(number, b"\0garbage" * 10)
        except OSError:
            continue


def _only_in_company() -> None:
    if len(read_so_far) > 1:
        os.kill(os.getpid(), signal.SIGSEGV)


def _misuse() -> None:
    raise UsageError("the engine is not there: install it")


def _chatter() -> None:
    os.write(1, b"printed " * 20_000)
    os.write(2, b"complained " * 20_000)


def _tell() -> None:
    Path(read_so_far[-1].split(b" ", 1)[1].decode()).write_text(str(os.getpid()))


DEEDS = {
    "segfault": _segfault,
    "abort": _abort,
    "exit": lambda: os._exit(5),
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "sleep": lambda: time.sleep(3600),
    "spin": _spin,
    "allocate": _allocate,
    "swallow": _swallow_memory_errors,
    "garbage": _garbage,
    "company": _only_in_company,
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "raise": lambda: int("none"),
    "usage": _misuse,
    "chatter": _chatter,
    "tell": _tell,
}
