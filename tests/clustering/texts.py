"""Texts of planned similarity."""

import random

LATIN = "abcdefghijklmnopqrstuvwxyz"


def words(number, seed, letters=LATIN):
    """Distinct-looking words of nine letters, the same for the same seed."""
    dice = random.Random(seed)
    return ["".join(dice.choices(letters, k=9)) for _ in range(number)]


def pair_of_texts(shared, other, seed):
    """Two texts with `shared` shingles of five words in common and `other` more each.

    Their Jaccard is shared / (shared + 2 other).
    """
    pool = words(shared + 4 + 2 * other, seed)
    start, rest = pool[: shared + 4], pool[shared + 4 :]
    return " ".join(start + rest[:other]), " ".join(start + rest[other:])
