"""One spelling for percent escapes (RFC 3986, sections 2.1, 2.3 and 6.2.2), which the parser leaves as they are."""

import re

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_OUTSIDE_GRAMMAR = '%[]|^`{}\\"<>'  # the parser lets some of these stand; RFC 3986 has no raw use for them in a path
_HEX = "0123456789ABCDEFabcdef"


def _spellings() -> dict[str, str]:
    table = {char: f"%{ord(char):02X}" for char in _OUTSIDE_GRAMMAR}
    for high in _HEX:
        for low in _HEX:
            char = chr(int(high + low, 16))
            table[f"%{high}{low}"] = char if char in _UNRESERVED else f"%{high}{low}".upper()
    return table


_SPELLING = _spellings()
# One pass decides all of it: decoding first and escaping bare percent signs after would let `%a%41` become `%aA`.
_TO_RESPELL = re.compile(
    r"(?:%[89A-Fa-f][0-9A-Fa-f])+"  # a run of bytes beyond ASCII, as of a word in another script
    r"|%[0-7][0-9A-Fa-f]"
    r"|[" + re.escape(_OUTSIDE_GRAMMAR) + "]"
)
_SUSPECT = re.compile("[" + re.escape(_OUTSIDE_GRAMMAR) + "]")
needs_respelling = _SUSPECT.search


def _respell(match: re.Match[str]) -> str:
    found = match[0]
    return found.upper() if len(found) > 3 else _SPELLING[found]


def respell(text: str) -> str:
    """Hex digits in upper case, unreserved characters decoded once, bare `%` and what is outside the grammar escaped.

    `text` is a path, query or fragment as the parser wrote it. The result is a fixpoint.

    >>> respell("%7Esmith/caf%c3%a9/50%/%a%41[]")
    '~smith/caf%C3%A9/50%25/%25aA%5B%5D'
    """
    return _TO_RESPELL.sub(_respell, text)
