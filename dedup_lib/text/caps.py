"""Cheap checks before parsing: markup on which the native extractor needs minutes is refused.

Extraction is quadratic in nesting depth (1,000 nested elements take 0.02 s, 10,000 3 s, 200,000 over a minute), in
the options of a select (16,000: 2.4 s) and in the attributes of one tag (100,000: over a minute), and holds the
interpreter lock meanwhile (`research/archives.md`, D8). Flat markup below a deep nest is as bad: each text climbs all
levels. The checks count bytes with NumPy; they bound, they do not parse, and refuse none of 3,800 real pages by far.
What gets past them (attributes hidden behind quoted angle brackets, say) meets the time limit of `guard`.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class PageLimits:
    """What a page may be before it is parsed, and how much text may come out of it."""

    max_html_chars: int = 16 << 20
    max_depth: int = 2_000  # browsers stop nesting at 512; takes 0.1 s
    max_options: int = 5_000  # takes 0.25 s
    max_levels: int = 30_000_000  # depth summed over all tags; takes 3 s, real pages have at most 500,000
    max_attributes: int = 4_000  # of one tag; takes 0.1 s
    max_roots: int = 2_000  # html and body tags: each adds its attributes to the first, which are compared in turn
    max_text_chars: int = 8 << 20


_LESS, _SLASH = ord("<"), ord("/")
_LONG_TAG_BYTES = 1 << 14  # only tags longer than this are looked into for their attributes
_QUOTED = re.compile(rb"(=?)(?:\"[^\"]*\"|'[^']*')")
_SPACE = re.compile(rb"[\s/]+[^\s/>]")
_NAMED = frozenset(b"/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")  # what a tag's first byte may be


def _key(name: bytes) -> int:
    """The first three bytes of a tag name as numbers of 5 bits: letters count from 1, what is no letter is 0."""
    first, second, third = (int(_LETTER[byte]) for byte in name.ljust(3, b"\0")[:3])
    return first << 10 | second << 5 | third


_LETTER = np.zeros(256, dtype=np.uint16)
_LETTER[ord("a") : ord("z") + 1] = _LETTER[ord("A") : ord("Z") + 1] = np.arange(1, 27)
# Elements that never nest, or whose end tag is left out and implied: they say nothing of depth.
_FLAT_NAMES = (
    *(b"area", b"base", b"br", b"col", b"embed", b"hr", b"img", b"input", b"link", b"meta", b"param", b"source"),
    *(b"track", b"wbr", b"p", b"li", b"td", b"th", b"tr", b"dt", b"dd", b"option", b"a", b"path", b"use", b"rect"),
    *(b"circle", b"polygon", b"polyline", b"ellipse", b"stop", b"html", b"script"),
)
_NESTS = np.ones(1 << 15, dtype=np.bool_)
_NESTS[: 1 << 10] = False  # no name begins with something else than a letter
_NESTS[[_key(name) for name in _FLAT_NAMES]] = False
_OPTION = _key(b"option")
_ROOTS = (_key(b"html"), _key(b"body"))


def too_complex(html: str, limits: PageLimits) -> str | None:
    """Why the page should not be parsed, in words; None if it may be.

    >>> too_complex("<div>" * 9000, PageLimits())
    'elements nested 9000 deep'
    """
    if len(html) > limits.max_html_chars:
        return f"{len(html)} characters of markup"
    most_tags = min(limits.max_depth, limits.max_options, limits.max_roots)
    if html.count("<") <= most_tags and _has_no_long_tag(html):
        return None
    data = html.encode("utf-8", "replace")
    buffer = np.frombuffer(data + b"\0\0\0\0\0", dtype=np.uint8)
    opening = np.flatnonzero(buffer == _LESS)
    if len(opening) > most_tags:
        complexity = _shape(buffer, opening).beyond(limits)
        if complexity is not None:
            return complexity
    if len(data) > _LONG_TAG_BYTES:
        attributes = _most_attributes(data, opening, limits.max_attributes)
        if attributes > limits.max_attributes:
            return f"a tag with {attributes} attributes"
    return None


def _has_no_long_tag(html: str) -> bool:
    """A glance at a page of few tags: whether none can be long, however many bytes its characters take."""
    least = _LONG_TAG_BYTES // 4
    return len(html) <= least or max(map(len, html.split("<"))) < least


class _Shape(NamedTuple):
    """How many tags there are, the deepest nesting they could mean and its sum, and how many of some elements open."""

    tags: int
    depth: int
    levels: int
    options: int
    roots: int

    def beyond(self, limits: PageLimits) -> str | None:
        if self.depth > limits.max_depth:
            return f"elements nested {self.depth} deep"
        if self.options > limits.max_options:
            return f"{self.options} options"
        if self.roots > limits.max_roots:
            return f"{self.roots} html and body tags"
        if self.levels > limits.max_levels:
            return f"{self.tags} tags at an average depth of {self.levels // self.tags}"
        return None


def _shape(buffer: NDArray[np.uint8], opening: NDArray[np.intp]) -> _Shape:
    closes = buffer[opening + 1] == _SLASH
    start = opening + 1 + closes
    first, second, third = (_LETTER[buffer[start + place]] for place in range(3))
    third *= second > 0  # a name of one letter ends there
    keys = first << 10 | second << 5 | third
    steps = np.where(closes, -1, 1)
    steps[~_NESTS[keys]] = 0
    depths = np.cumsum(steps)
    opened = keys[~closes]
    roots = sum(int((opened == key).sum()) for key in _ROOTS)
    levels = int(np.maximum(depths, 0).sum())
    return _Shape(len(opening), int(depths.max(initial=0)), levels, int((opened == _OPTION).sum()), roots)


def _most_attributes(data: bytes, opening: NDArray[np.intp], enough: int) -> int:
    """An upper bound of the attributes of the tag that has most, looking only at tags of many bytes."""
    most = 0
    ends = np.append(opening[1:], len(data))
    for start in opening[ends - opening > _LONG_TAG_BYTES]:
        first, tag = int(start), b""
        if data[first + 1] in _NAMED and not _in_script(data, first):
            end = data.find(b">", first)
            tag = data[first : end if end >= 0 else len(data)]
        if len(tag) > _LONG_TAG_BYTES:
            # after a quoted value the next attribute needs no space
            unquoted = _QUOTED.sub(lambda quoted: b"= " if quoted[1] else b"", tag)
            most = max(most, len(_SPACE.findall(unquoted)))
            if most > enough:
                break
    return most


def _in_script(data: bytes, place: int) -> bool:
    """Whether the place is in a script, where `<` is an operator."""
    return data.rfind(b"<script", 0, place) > data.rfind(b"</script", 0, place)
