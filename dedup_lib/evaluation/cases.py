"""What every score is made of: how many of how many, and a few cases to look at."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

EXAMPLES = 10


@dataclass(frozen=True)
class Tally:
    """How many of the planted ones were found."""

    planted: int
    found: int

    @property
    def missed(self) -> int:
        """How many were not found."""
        return self.planted - self.found

    def to_json(self) -> dict[str, int]:
        """As a mapping that JSON can hold."""
        return {"planted": self.planted, "found": self.found}


@dataclass(frozen=True)
class Cases:
    """How many there are, and the first ten."""

    count: int
    examples: tuple[str, ...]

    @classmethod
    def of(cls, found: Sequence[str]) -> "Cases":
        """The cases of a list."""
        return cls(len(found), tuple(found[:EXAMPLES]))

    @property
    def such_as(self) -> str:
        """The end of a sentence that names the first case."""
        return f", such as {self.examples[0]}" if self.examples else ""

    def to_json(self) -> dict[str, Any]:
        """As a mapping that JSON can hold."""
        return {"count": self.count, "examples": list(self.examples)}
