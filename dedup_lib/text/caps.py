"""Cheap checks before parsing: markup on which the native extractor needs minutes is refused.

Extraction is quadratic in nesting depth (1,000 nested elements take 0.02 s, 10,000 3 s, 200,000 over a minute), in
the options of a select (16,000: 2.4 s) and in the attributes of one tag (100,000: over a minute), and holds the
interpreter lock meanwhile (`research/archives.md`, D8). The checks count bytes with NumPy; they bound, they do not
parse.
"""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class PageLimits:
    """What a page may be before it is parsed, and how much text may come out of it."""

    max_html_chars: int = 16 << 20
    max_depth: int = 2_000  # browsers stop nesting at 512; takes 0.1 s
    max_options: int = 5_000  # takes 0.25 s
    max_attributes: int = 4_000  # of one tag; takes 0.1 s
    max_text_chars: int = 8 << 20


_LESS, _SLASH = ord("<"), ord("/")
_LONG_TAG_BYTES = 1 << 14  # only tags longer than this are looked into for their attributes
_QUOTED = re.compile(rb"\"[^\"]*\"|'[^']*'")
_SPACE = re.compile(rb"[\s/]+[^\s/>]")


def _key(name: bytes) -> int:
    """The first three bytes of a tag name in lower case; what is no letter counts as 0."""
    letters = [byte if 97 <= byte <= 122 else 0 for byte in name.ljust(3, b"\0")[:3]]
    return letters[0] << 16 | letters[1] << 8 | letters[2]


# Elements that never nest, or whose end tag is left out and implied: they say nothing of depth.
_FLAT = np.array(
    sorted(
        {
            _key(name)
            for name in (
                *(b"area", b"base", b"br", b"col", b"embed", b"hr", b"img", b"input", b"link", b"meta", b"param"),
                *(b"source", b"track", b"wbr", b"p", b"li", b"td", b"th", b"tr", b"dt", b"dd", b"option", b"a"),
                *(
                    b"path",
                    b"use",
                    b"rect",
                    b"circle",
                    b"polygon",
                    b"polyline",
                    b"ellipse",
                    b"stop",
                    b"html",
                    b"script",
                ),
            )
        }
    ),
    dtype=np.uint32,
)
_OPTION = _key(b"option")


def too_complex(html: str, limits: PageLimits) -> str | None:
    """Why the page should not be parsed, in words; None if it may be.

    >>> too_complex("<div>" * 9000, PageLimits())
    'elements nested 9000 deep'
    """
    if len(html) > limits.max_html_chars:
        return f"{len(html)} characters of markup"
    data = html.encode("utf-8", "replace")
    buffer = np.frombuffer(data + b"\0\0\0\0\0", dtype=np.uint8)
    opening = np.flatnonzero(buffer == _LESS)
    if len(opening) > min(limits.max_depth, limits.max_options):
        depth, options = _depth_and_options(buffer, opening)
        if depth > limits.max_depth:
            return f"elements nested {depth} deep"
        if options > limits.max_options:
            return f"{options} options"
    if len(data) > _LONG_TAG_BYTES:
        attributes = _most_attributes(data, opening, limits.max_attributes)
        if attributes > limits.max_attributes:
            return f"a tag with {attributes} attributes"
    return None


def _depth_and_options(buffer: NDArray[np.uint8], opening: NDArray[np.intp]) -> tuple[int, int]:
    """The deepest nesting that the tags could mean, and the number of option elements."""
    closes = buffer[opening + 1] == _SLASH
    start = opening + 1 + closes
    letters = [buffer[start + place] | 0x20 for place in range(3)]
    letters = [np.where((letter >= 97) & (letter <= 122), letter, 0).astype(np.uint32) for letter in letters]
    letters[2] *= letters[1] > 0  # a name of one letter ends there
    keys = letters[0] << 16 | letters[1] << 8 | letters[2]
    nesting = (letters[0] > 0) & ~np.isin(keys, _FLAT)
    steps = np.where(nesting, np.where(closes, -1, 1), 0)
    depth = int(np.cumsum(steps).max(initial=0))
    return depth, int(((keys == _OPTION) & ~closes).sum())


def _most_attributes(data: bytes, opening: NDArray[np.intp], enough: int) -> int:
    """An upper bound of the attributes of the tag that has most, looking only at tags of many bytes."""
    most = 0
    ends = np.append(opening[1:], len(data))
    for start in opening[ends - opening > _LONG_TAG_BYTES]:
        first, tag = int(start), b""
        if data[first + 1 : first + 2].isalpha():
            end = data.find(b">", first)
            tag = data[first : end if end >= 0 else len(data)]
        if len(tag) > _LONG_TAG_BYTES:
            most = max(most, len(_SPACE.findall(_QUOTED.sub(b"", tag))))
            if most > enough:
                break
    return most
