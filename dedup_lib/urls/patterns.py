"""Patterns that users write. They run on RE2, whose time is linear in the text, so that no pattern can stall a run."""

import re
from collections.abc import Callable, Iterable

import re2

_ANCHOR = re.compile(r"(?<!\[)\^|\$|\\[AzZbB]")
_CLASS_OR_ESCAPE = re.compile(r"\\[^AzZbB]|\[\^?\]?(?:\\.|[^\]\\])*\]")

Matcher = Callable[[str], object]


def compile_whole(patterns: Iterable[str], *, ignore_case: bool = False) -> Matcher:
    """A function that is true of texts that one of the patterns matches as a whole.

    Raises:
        re2.error: a pattern is not RE2.
    """
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    whole: Matcher = re2.compile("|".join(f"(?:{pattern})" for pattern in patterns), options).fullmatch
    return whole


def pattern_problem(pattern: str) -> str | None:
    """What is wrong with a pattern, or None.

    Anchors are refused: a pattern matches the whole value already, and within a URL they would mean something else.

    >>> pattern_problem("[0-9a-f]{32}") is None
    True
    >>> pattern_problem("^x")
    'has an anchor (^): leave it out, a pattern matches the whole text'
    """
    try:
        compile_whole([pattern])
    except re2.error as error:
        reason = error.args[0] if error.args else "unknown fault"
        return f"is not an RE2 pattern ({reason.decode() if isinstance(reason, bytes) else reason})"
    anchor = _ANCHOR.search(_CLASS_OR_ESCAPE.sub("", pattern))
    if anchor:
        return f"has an anchor ({anchor[0]}): leave it out, a pattern matches the whole text"
    return None
