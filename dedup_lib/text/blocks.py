"""The shape of a text: one block per line."""


def normalise_blocks(text: str) -> str:
    """One block per line, no blank lines, no white space at the ends of lines.

    >>> normalise_blocks("  One \\n\\n\\u2028 two\\r\\n")
    'One\\ntwo'
    """
    return "\n".join([block for line in text.splitlines() if (block := line.strip())])
