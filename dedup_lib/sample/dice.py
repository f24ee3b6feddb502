"""Chance that falls the same way on every machine and Python version."""

import hashlib
import random
from bisect import bisect_right
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


class Dice:
    """Draws that depend only on the names the dice were made with.

    The generator is seeded with the SHA-256 of the names, and only `random.Random.random` is used: Python promises
    the same sequence for it in all versions, but not for `choice`, `shuffle` or `sample`.
    """

    def __init__(self, *names: object) -> None:
        seed = hashlib.sha256("|".join(str(name) for name in names).encode()).digest()
        self.unit = random.Random(int.from_bytes(seed, "big")).random

    def below(self, limit: int) -> int:
        """A whole number from 0 to `limit` - 1."""
        return int(self.unit() * limit)

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both possible."""
        return low + int(self.unit() * (high - low + 1))

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self.unit() < probability

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items, each equally likely."""
        return items[int(self.unit() * len(items))]

    def weighted(self, items: Sequence[Item], cumulative: Sequence[float]) -> Item:
        """One of the items, by their cumulative weights."""
        return items[bisect_right(cumulative, self.unit() * cumulative[-1], 0, len(items) - 1)]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """The items in a random order (Fisher and Yates)."""
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.below(last + 1)
            result[last], result[other] = result[other], result[last]
        return result

    def hexadecimal(self, digits: int) -> str:
        """That many random hexadecimal digits."""
        return "".join("0123456789abcdef"[self.below(16)] for _ in range(digits))
