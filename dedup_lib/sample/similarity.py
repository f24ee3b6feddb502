"""The exact similarity of two texts: Jaccard of their sets of 5-word shingles.

The rule of words is the product's (NFC, lower case; in scripts written without spaces every letter, number or mark is
a word), restricted to the scripts that occur in the sample. It is written apart from `dedup_lib.text` on purpose:
a truth that shares code with what it judges proves nothing.
"""

import re
import unicodedata

SHINGLE_WORDS = 5

_MARKS = "\u064b-\u0652\u0900-\u0903\u093a-\u094f\u0962\u0963"  # of Arabic and Devanagari: `\w` leaves them out
_SPACELESS = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u30fc\u4e00-\u9fff"
_WORD = re.compile(rf"[{_SPACELESS}]|(?:(?![{_SPACELESS}])\w)(?:(?![{_SPACELESS}])[\w{_MARKS}])*")


def words(text: str) -> list[str]:
    """The words of a text, in lower case.

    >>> words("Der Fluss, 2024: 河流")
    ['der', 'fluss', '2024', '河', '流']
    """
    return _WORD.findall(unicodedata.normalize("NFC", text).lower())


def shingles(text: str) -> set[tuple[str, ...]]:
    """The set of five consecutive words; empty for a text of fewer words."""
    found = words(text)
    return set(zip(*(found[start:] for start in range(SHINGLE_WORDS)), strict=False))


def jaccard(left: str, right: str) -> float:
    """|A and B| / |A or B| of the two shingle sets; for texts too short for shingles 1.0 if equal, else 0.0."""
    one, other = shingles(left), shingles(right)
    if not one or not other:
        return float(words(left) == words(right))
    return len(one & other) / len(one | other)
