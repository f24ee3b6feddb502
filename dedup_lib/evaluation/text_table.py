"""Tables as plain text."""

from collections.abc import Sequence
from unicodedata import category, east_asian_width


def width_of(text: str) -> int:
    """How many columns of a terminal a text takes.

    >>> width_of("漢字"), width_of("e\u0301")
    (4, 1)
    """
    return sum(1 + (east_asian_width(char) in "WF") for char in text if category(char) not in ("Mn", "Me", "Cf"))


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1, indent: int = 2) -> str:
    """Aligned columns, two spaces apart: the first `left` to the left, the others to the right. No final newline.

    An empty header is left out; rows may be shorter than the others.

    >>> print(text_table(["step", "rows"], [["kept", "12"], ["near", "3"]]))
      step  rows
      kept    12
      near     3
    """
    lines = [list(line) for line in ((header, *rows) if header else rows)]
    count = max((len(line) for line in lines), default=0)
    filled = [line + [""] * (count - len(line)) for line in lines]
    widths = [max(len(line[column]) for line in filled) for column in range(count)]
    return "\n".join(
        " " * indent
        + "  ".join(
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in filled
    ).rstrip("\n")
