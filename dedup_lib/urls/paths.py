"""The path of a canonical URL: sessions taken out, slashes as the host has them."""

import re
from collections.abc import Sequence

from dedup_lib.urls.parser import resolve_dots
from dedup_lib.urls.patterns import Matcher, compile_whole
from dedup_lib.urls.trace import Fired, Trace

_SLASHES = re.compile("//+")


class PathSessions:
    """Session ids in paths: `;jsessionid=…` within a segment (Servlet specification), and whole segments by pattern."""

    def __init__(self, parameters: Sequence[str], segments: Sequence[tuple[str, str]]) -> None:
        names = "|".join(map(re.escape, parameters))
        self._parameters = re.compile(f";({names})=[^;/]*", re.IGNORECASE) if names else None
        self._segments: list[tuple[str, Matcher]] = [(label, compile_whole([pattern])) for label, pattern in segments]
        patterns = [pattern for _, pattern in segments]
        bracketed = all(map(_ends_in_bracket, patterns))
        self.needle = ")" if bracketed else "/"  # a look that spares most paths the patterns
        # RE2, over a URL whose path holds neither `;` nor brackets: whether a segment may be a session.
        whole = "|".join(f"(?:{pattern})" for pattern in patterns)
        self.in_plain_path = "" if bracketed else rf"/(?:{whole})(?:/|\z|\?)"

    def strip(self, path: str, trace: Trace | None = None) -> str:
        """The path without sessions; dot segments that come to light are resolved, or it would not be a fixpoint."""
        if self._parameters is not None and ";" in path:
            if trace is not None:
                found = self._parameters.finditer(path)
                trace.extend(Fired(f"session {match[1].lower()}", match[0], "") for match in found)
            path = self._parameters.sub("", path)
            if "/." in path:
                path = resolve_dots(path)
        if self._segments and self.needle in path:
            segments = path.split("/")
            kept = [segments[0], *(segment for segment in segments[1:] if not self._is_session(segment, trace))]
            path = "/".join(kept) if len(kept) > 1 else "/"
        return path

    def _is_session(self, segment: str, trace: Trace | None) -> bool:
        for label, matches in self._segments:
            if segment and matches(segment):
                if trace is not None:
                    trace.append(Fired(f"session {label}", segment, ""))
                return True
        return False


def _ends_in_bracket(pattern: str) -> bool:
    """Whether every text that the pattern matches surely ends in a closing bracket."""
    return pattern.endswith("\\)") and not pattern.endswith("\\\\)") and "|" not in pattern


def collapse_slashes(path: str) -> str:
    """The path without empty segments."""
    return _SLASHES.sub("/", path) if "//" in path else path


def strip_slashes(path: str) -> str:
    """The path without trailing slashes, unless it is the root.

    >>> strip_slashes("/a//"), strip_slashes("/")
    ('/a', '/')
    """
    return path.rstrip("/") or "/"


def add_slash(path: str) -> str:
    """The path with a trailing slash, unless its last segment looks like a file (as the slash normaliser of Nutch).

    >>> add_slash("/a"), add_slash("/a.html")
    ('/a/', '/a.html')
    """
    last = path.rpartition("/")[2]
    return path if not last or "." in last else path + "/"
