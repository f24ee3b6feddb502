"""What each code point is to the word rule, fixed at Unicode 14 whatever Python runs.

The rule (DESIGN.md, Words): on NFC text, in scripts written without spaces every letter, number or mark is a word;
elsewhere a word is a run of letters, numbers, marks and underscores that starts with a letter, number or underscore.
Words are compared in lower case. The tables are stored as runs in `unicode14.npz`, built by `build_tables` under
Python 3.11, so that a later Python with a later Unicode signs the same texts the same way.
"""

import unicodedata
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

UNICODE_VERSION = "14.0.0"
CODE_POINTS = 0x110000
START, CONTINUE, SPACELESS, SLOW, COMBINING, WHITE = 1, 2, 4, 8, 16, 32
# Lower-casing depends on the neighbours (sigma) or gives two code points (dotted I): left to Python.
SPECIAL_LOWER = (0x0130, 0x03A3)
SPACELESS_RANGES = (
    (0x0E00, 0x0E7F),  # Thai
    (0x0E80, 0x0EFF),  # Lao
    (0x0F00, 0x0FFF),  # Tibetan
    (0x1000, 0x109F),  # Myanmar, with its extensions
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # iteration marks, Kana
    (0x3040, 0x30FF),
    (0x31F0, 0x31FF),
    (0xFF66, 0xFF9D),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
_FILE = Path(__file__).with_name("unicode14.npz")


class UnicodeTables(NamedTuple):
    """One entry per code point: class bits, canonical combining class, lower case."""

    classes: NDArray[np.uint8]
    combining: NDArray[np.uint8]
    lower: NDArray[np.int32]


def _composes_with_previous() -> set[int]:
    """Code points that NFC may join to what stands before them (NFC_Quick_Check=Maybe): second of a decomposition."""
    second = {*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)}  # Hangul vowels and finals
    for code in range(CODE_POINTS):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            second.add(int(parts[1], 16))
    return second


def build_tables() -> UnicodeTables:
    """The tables from the running Python's `unicodedata`; only Python 3.11 has the Unicode version we fix."""
    classes = np.zeros(CODE_POINTS, np.uint8)
    combining = np.zeros(CODE_POINTS, np.uint8)
    lower = np.arange(CODE_POINTS, dtype=np.int32)
    composing = _composes_with_previous()
    for code in range(CODE_POINTS):
        if 0xD800 <= code < 0xE000:
            classes[code] = SLOW  # no character of a text: stands for bytes that are no UTF-8
            continue
        char = chr(code)
        kind = unicodedata.category(char)[0]
        spaceless = any(first <= code <= last for first, last in SPACELESS_RANGES)
        if spaceless:
            classes[code] = SPACELESS if kind in "LNM" else 0
        elif kind in "LN" or char == "_":
            classes[code] = START | CONTINUE
        elif kind == "M":
            classes[code] = CONTINUE
        if code in SPECIAL_LOWER or code in composing or unicodedata.normalize("NFC", char) != char:
            classes[code] |= SLOW
        if char.isspace():
            classes[code] |= WHITE
        combining[code] = unicodedata.combining(char)
        if combining[code]:
            classes[code] |= COMBINING
        small = char.lower()
        if len(small) == 1:
            lower[code] = ord(small)
    return UnicodeTables(classes, combining, lower)


def save_tables(tables: UnicodeTables, path: Path = _FILE) -> None:
    """Writes the tables as runs (start, value) and the code points whose lower case differs."""
    runs: dict[str, Any] = {}
    for name, values in (("classes", tables.classes), ("combining", tables.combining)):
        starts = np.flatnonzero(np.r_[True, values[1:] != values[:-1]]).astype(np.int32)
        runs[f"{name}_starts"], runs[f"{name}_values"] = starts, values[starts]
    changed = np.flatnonzero(tables.lower != np.arange(CODE_POINTS)).astype(np.int32)
    np.savez_compressed(path, upper=changed, lower=tables.lower[changed], **runs)


@cache
def unicode_tables() -> UnicodeTables:
    """The stored tables, expanded: about 6.7 MB a process."""
    with np.load(_FILE) as stored:
        lower = np.arange(CODE_POINTS, dtype=np.int32)
        lower[stored["upper"]] = stored["lower"]
        expanded = [
            np.repeat(stored[f"{name}_values"], np.diff(stored[f"{name}_starts"], append=np.int32(CODE_POINTS)))
            for name in ("classes", "combining")
        ]
    return UnicodeTables(expanded[0], expanded[1], lower)
