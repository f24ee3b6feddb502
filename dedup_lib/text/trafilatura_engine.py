"""The main content by trafilatura: better on articles than resiliparse, at ten times the CPU; an extra.

Imported only when the engine asks for it: the import takes a second. Its result depends on the page alone: its own
deduplication, the one part that remembers other pages, is off, and what it caches are functions of their arguments.
"""

import logging
from functools import cache
from importlib.util import find_spec
from typing import Any

from dedup_lib.errors import UsageError
from dedup_lib.text.options import Engine


def require_engine(engine: Engine) -> None:
    """UsageError if the engine is not installed; for a driver to call before it plans work."""
    if engine != "resiliparse" and find_spec("trafilatura") is None:
        raise UsageError(
            f"extract.engine {engine} needs trafilatura: install it on every node with "
            "`pip install crawl-dedup[trafilatura]`, or set extract.engine=resiliparse"
        )


def trafilatura_text(html: str, precise: bool) -> str:
    """The main content in fast mode, without comments; `precise` keeps less when in doubt. Empty if it finds none.

    UsageError if trafilatura is not installed.
    """
    library = _library()
    try:
        text: str | None = library.extract(
            html, fast=True, include_comments=False, favor_precision=precise, deduplicate=False
        )
    except (ValueError, TypeError, AttributeError, AssertionError, RecursionError):  # what odd trees make it raise
        return ""
    return text or ""


@cache
def _library() -> Any:  # noqa: ANN401 (a module that may not be installed)
    require_engine("trafilatura")
    import trafilatura  # noqa: PLC0415

    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # it logs pieces of pages
    return trafilatura
