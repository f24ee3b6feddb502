"""Extraction in a child process: a page that hangs or crashes the native extractor costs one reject, not the task."""

from dedup_lib.text.guard.dispatch import PageResult
from dedup_lib.text.guard.outcome import Failure, GuardLimits, PageFailed
from dedup_lib.text.guard.process import ExtractorStartError
from dedup_lib.text.guard.reader import InProcessReader, PageGuard, Window, shared_reader
from dedup_lib.text.guard.wire import PageRequest

__all__ = [
    "ExtractorStartError",
    "Failure",
    "GuardLimits",
    "InProcessReader",
    "PageFailed",
    "PageGuard",
    "PageRequest",
    "PageResult",
    "Window",
    "shared_reader",
]
