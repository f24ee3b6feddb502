"""What two texts share and where they differ: by lines first, by words within lines that differ."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any, NamedTuple

MOST_LINES = 2000  # of each text between what both begin and end with, that are compared
MOST_WORDS = 3000  # of each side of lines that differ
WORDS_IN_ALL = 12_000
LEAST_SHARED_WORDS = 3  # fewer in a row are no passage
JSON_PASSAGES, JSON_CHARS = 100, 2000
# Scripts without spaces count by characters, as shingles do.
_SPACELESS = (
    r"\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff"
)
_TOKEN = re.compile(rf"[{_SPACELESS}]|[^\W{_SPACELESS}]+|\s+|[^\w\s]")
_WORD = re.compile(r"\w")


class Passage(NamedTuple):
    """A stretch that both texts share, then `left` and `right` are equal, or in which they differ."""

    shared: bool
    left: str
    right: str


@dataclass(frozen=True)
class Passages:
    """The passages of two texts in their order, and how many characters each text has beyond them."""

    passages: tuple[Passage, ...]
    left_beyond: int = 0
    right_beyond: int = 0

    @property
    def shared_chars(self) -> int:
        """Characters of shared passages."""
        return sum(len(one.left) for one in self.passages if one.shared)

    @property
    def differing_chars(self) -> tuple[int, int]:
        """Characters in which the left and the right text differ."""
        apart = [one for one in self.passages if not one.shared]
        return sum(len(one.left) for one in apart), sum(len(one.right) for one in apart)

    def to_json(self) -> dict[str, Any]:
        """As a mapping that JSON can hold; long texts are cut in the middle, of many passages the first are told."""
        left, right = self.differing_chars
        return {
            "shared_chars": self.shared_chars,
            "left_chars": left,
            "right_chars": right,
            "not_compared_chars": [self.left_beyond, self.right_beyond],
            "count": len(self.passages),
            "passages": [
                {"shared": shorten(one.left, JSON_CHARS)}
                if one.shared
                else {"left": shorten(one.left, JSON_CHARS), "right": shorten(one.right, JSON_CHARS)}
                for one in self.passages[:JSON_PASSAGES]
            ],
        }


@dataclass
class _Budget:
    """How many words may still be compared, and how many characters of each text were not, since there were none."""

    words: int = WORDS_IN_ALL
    left_beyond: int = 0
    right_beyond: int = 0

    def skip(self, left: Sequence[str], right: Sequence[str]) -> None:
        self.left_beyond += sum(map(len, left))
        self.right_beyond += sum(map(len, right))


def passages_of(left: str, right: str) -> Passages:
    """The shared and the differing passages of two texts of any size, in bounded time.

    What both begin and end with is found in one pass; of what lies between, the first `MOST_LINES` lines are compared,
    and of lines that differ the first words. Passages follow the order of both texts, so that a paragraph that was
    moved differs in both places.

    >>> [one[:] for one in passages_of("a b c d e f", "a b c d e g").passages]
    [(True, 'a b c d e ', 'a b c d e '), (False, 'f', 'g')]
    """
    sides = [text.splitlines(keepends=True) for text in (left, right)]
    start, end = _common_ends(*sides)
    first, second = (side[start : len(side) - end] for side in sides)
    budget = _Budget()
    found = [_shared(sides[0][:start])]
    lines, others = first[:MOST_LINES], second[:MOST_LINES]
    for tag, i, j, k, m in SequenceMatcher(None, lines, others).get_opcodes():
        same = tag == "equal"
        found += [_shared(lines[i:j])] if same else _within_lines("".join(lines[i:j]), "".join(others[k:m]), budget)
    budget.skip(first[MOST_LINES:], second[MOST_LINES:])
    found.append(_shared(sides[0][len(sides[0]) - end :]))
    return Passages(tuple(_joined(found)), budget.left_beyond, budget.right_beyond)


def shorten(text: str, most: int) -> str:
    """The text, cut in the middle where it is longer than `most` characters."""
    if len(text) <= most:
        return text
    half = (most - 5) // 2
    return f"{text[:half]} [...] {text[-half:]}"


def _common_ends(left: Sequence[str], right: Sequence[str]) -> tuple[int, int]:
    """How many elements both sequences begin and, beyond these, end with."""
    most = min(len(left), len(right))
    start = next((place for place in range(most) if left[place] != right[place]), most)
    end = next((place for place in range(most - start) if left[-1 - place] != right[-1 - place]), most - start)
    return start, end


def _shared(pieces: Sequence[str]) -> Passage:
    text = "".join(pieces)
    return Passage(True, text, text)


def _within_lines(left: str, right: str, budget: _Budget) -> Iterator[Passage]:
    """The passages of lines that differ, by their words, as far as the budget goes."""
    sides = [_TOKEN.findall(text) for text in (left, right)]
    start, end = _common_ends(*sides)
    words, others = (side[start : len(side) - end] for side in sides)
    yield _shared(sides[0][:start])
    most = min(MOST_WORDS, budget.words)
    budget.words -= min(most, max(len(words), len(others)))
    budget.skip(words[most:], others[most:])
    for tag, i, j, k, m in SequenceMatcher(None, words[:most], others[:most]).get_opcodes():
        yield Passage(tag == "equal", "".join(words[i:j]), "".join(others[k:m]))
    yield _shared(sides[0][len(sides[0]) - end :])


def _joined(found: Sequence[Passage]) -> list[Passage]:
    """The passages without empty ones, neighbours of a kind joined; few shared words between differences join them."""
    joined = _join_neighbours(one for one in found if one.left or one.right)
    if len(joined) == 1:
        return joined
    return _join_neighbours(
        one._replace(shared=one.shared and _words(one.left) >= LEAST_SHARED_WORDS) for one in joined
    )


def _join_neighbours(found: Iterable[Passage]) -> list[Passage]:
    return [
        Passage(shared, "".join(one.left for one in group), "".join(one.right for one in group))
        for shared, group in ((shared, list(group)) for shared, group in groupby(found, lambda one: one.shared))
    ]


def _words(text: str) -> int:
    return sum(bool(_WORD.match(token)) for token in _TOKEN.findall(text[:1000]))
