"""What each code point is to the word rule, fixed at Unicode 14 whatever Python runs.

The rule (DESIGN.md, Words): on NFC text, in scripts written without spaces every letter, number or mark is a word;
elsewhere a word is a run of letters, numbers, marks and underscores that starts with a letter, number or underscore.
Words are compared in lower case. The tables are stored as runs in `unicode14.npz`, built by `build_tables` under
Python 3.11, so that a later Python with a later Unicode signs the same texts the same way.
"""

import unicodedata
from collections.abc import Container, Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

UNICODE_VERSION = "14.0.0"
CODE_POINTS = 0x110000
START, CONTINUE, SPACELESS, SLOW, COMBINING, WHITE, MAYBE = 1, 2, 4, 8, 16, 32, 64
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
SEVERAL = -1
COMPOSITE_PRIME = 0x9E3779B97F4A7C15  # 2^64 / golden ratio (Knuth's multiplicative hashing)
_FILE = Path(__file__).with_name("unicode14.npz")


class UnicodeTables(NamedTuple):
    """One entry per code point: class bits, canonical combining class, lower case; and the pairs that NFC joins.

    `composites` is a hash table with open addressing, its length a power of two: `pair_key` of a character and the one
    that NFC joins to it, 0 where free.
    """

    classes: NDArray[np.uint8]
    combining: NDArray[np.uint8]
    lower: NDArray[np.int32]
    composites: NDArray[np.uint64]


class CompatibleForms(NamedTuple):
    """The code points that NFKC, but not NFC, writes otherwise, and the one it writes instead; SEVERAL for more.

    Of several that only separate words, the first.
    """

    codes: NDArray[np.int32]
    targets: NDArray[np.int32]


class StoredTables(NamedTuple):
    """What is stored: the tables of NFC, what NFKC adds to them, and which code points are decimal digits."""

    tables: UnicodeTables
    compatible: CompatibleForms
    digits: NDArray[np.int32]


def pair_key(first: int, second: int) -> int:
    """Two code points as one number, never 0."""
    return first << 21 | second


def hash_pairs(keys: Iterable[int]) -> NDArray[np.uint64]:
    """The hash table of `composites`, at most half full; `kernels.composes` looks a key up."""
    ordered = sorted(keys)
    table = np.zeros(1 << (2 * len(ordered)).bit_length(), np.uint64)
    for key in ordered:
        slot = (key * COMPOSITE_PRIME >> 32) % len(table)
        while table[slot]:
            slot = (slot + 1) % len(table)
        table[slot] = key
    return table


def _joined_pairs() -> set[int]:
    """Keys of the pairs that NFC joins to one character, but for Hangul's, which follow a rule."""
    pairs = set()
    for code in range(CODE_POINTS):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            first, second = (int(part, 16) for part in parts)
            if unicodedata.normalize("NFC", chr(first) + chr(second)) == chr(code):
                pairs.add(pair_key(first, second))
    return pairs


def _class_of(code: int, joined: Container[int]) -> int:
    """The class bits of a code point; `joined` are those that NFC may join to what stands before them."""
    if 0xD800 <= code < 0xE000:
        return SLOW  # no character of a text: stands for bytes that are no UTF-8
    char = chr(code)
    kind = unicodedata.category(char)[0]
    bits = 0
    if any(first <= code <= last for first, last in SPACELESS_RANGES):
        bits = SPACELESS if kind in "LNM" else 0
    elif kind in "LN" or char == "_":
        bits = START | CONTINUE
    elif kind == "M":
        bits = CONTINUE
    hangul_part = 0x1161 <= code < 0x1176 or 0x11A8 <= code < 0x11C3  # a vowel or a final, joined by rule
    if code in SPECIAL_LOWER or hangul_part or unicodedata.normalize("NFC", char) != char:
        bits |= SLOW
    elif code in joined:
        bits |= MAYBE
    return bits | (WHITE if char.isspace() else 0) | (COMBINING if unicodedata.combining(char) else 0)


def _compatible_forms() -> CompatibleForms:
    found = {}
    for code in range(CODE_POINTS):
        char = chr(code)
        form = unicodedata.normalize("NFKC", char)
        if form not in (char, unicodedata.normalize("NFC", char)):
            only_separate = not any(_class_of(ord(part), ()) & ~WHITE for part in form)
            found[code] = ord(form[0]) if len(form) == 1 or only_separate else SEVERAL
    return CompatibleForms(np.array([*found], np.int32), np.array([*found.values()], np.int32))


def build_tables() -> StoredTables:
    """The tables from the running Python's `unicodedata`; only Python 3.11 has the Unicode version we fix."""
    pairs = _joined_pairs()
    joined = {pair & (1 << 21) - 1 for pair in pairs}
    chars = [chr(code) for code in range(CODE_POINTS)]
    classes = np.array([_class_of(code, joined) for code in range(CODE_POINTS)], np.uint8)
    combining = np.array([unicodedata.combining(char) for char in chars], np.uint8)
    small = [char.lower() for char in chars]
    lower = np.array([ord(low if len(low) == 1 else char) for char, low in zip(chars, small, strict=True)], np.int32)
    digits = [code for code, char in enumerate(chars) if unicodedata.category(char) == "Nd"]
    tables = UnicodeTables(classes, combining, lower, hash_pairs(pairs))
    return StoredTables(tables, _compatible_forms(), np.array(digits, np.int32))


def save_tables(stored: StoredTables, path: Path = _FILE) -> None:
    """Writes the tables as runs (start, value), the code points whose lower case differs, and the rest as it is."""
    tables = stored.tables
    runs: dict[str, Any] = {}
    for name, values in (("classes", tables.classes), ("combining", tables.combining)):
        starts = np.flatnonzero(np.r_[True, values[1:] != values[:-1]]).astype(np.int32)
        runs[f"{name}_starts"], runs[f"{name}_values"] = starts, values[starts]
    changed = np.flatnonzero(tables.lower != np.arange(CODE_POINTS)).astype(np.int32)
    np.savez_compressed(
        path,
        upper=changed,
        lower=tables.lower[changed],
        pairs=np.sort(tables.composites[tables.composites > 0]),
        compatible=stored.compatible.codes,
        targets=stored.compatible.targets,
        digits=stored.digits,
        **runs,
    )


@cache
def stored_tables() -> StoredTables:
    """The stored tables, expanded: about 6.7 MB a process."""
    with np.load(_FILE) as stored:
        lower = np.arange(CODE_POINTS, dtype=np.int32)
        lower[stored["upper"]] = stored["lower"]
        expanded = [
            np.repeat(stored[f"{name}_values"], np.diff(stored[f"{name}_starts"], append=np.int32(CODE_POINTS)))
            for name in ("classes", "combining")
        ]
        tables = UnicodeTables(expanded[0], expanded[1], lower, hash_pairs(stored["pairs"].tolist()))
        return StoredTables(tables, CompatibleForms(stored["compatible"], stored["targets"]), stored["digits"])


def unicode_tables() -> UnicodeTables:
    """The tables of the word rule: NFC, every digit itself."""
    return stored_tables().tables
