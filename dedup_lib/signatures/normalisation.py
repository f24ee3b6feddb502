"""How texts are made comparable before they are signed. The stored text and the content hash are never touched."""

import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from dedup_lib.signatures.unicode_tables import (
    COMBINING,
    MAYBE,
    SEVERAL,
    SLOW,
    WHITE,
    UnicodeTables,
    hash_pairs,
    pair_key,
    stored_tables,
)


@dataclass(frozen=True)
class Normalisation:
    """The Unicode form of texts, and whether digits count. Words are compared in lower case always.

    `nfkc` makes compatible characters alike (full-width letters, ligatures, circled numbers); `zero` makes all
    decimal digits alike, in every script, so that dates, prices and counters make no difference.
    """

    form: Literal["nfc", "nfkc"] = "nfc"
    digits: Literal["keep", "zero"] = "keep"

    def apply(self, text: str) -> str:
        """The text in the Unicode form."""
        return unicodedata.normalize("NFKC" if self.form == "nfkc" else "NFC", text)

    @property
    def tables(self) -> UnicodeTables:
        """The tables for the kernels."""
        return _tables_of(self)


PLAIN = Normalisation()


@cache
def _tables_of(normalisation: Normalisation) -> UnicodeTables:
    tables = stored_tables().tables
    if normalisation.form == "nfkc":
        tables = _with_compatible_forms(tables)
    if normalisation.digits == "zero":
        lower = tables.lower.copy()
        lower[np.isin(lower, stored_tables().digits)] = ord("0")
        tables = tables._replace(lower=lower)
    return tables


def _with_compatible_forms(tables: UnicodeTables) -> UnicodeTables:
    """The tables under NFKC: a character with a compatible form of one character is read as that one.

    Python normalises the texts that hold any other: a form of several characters, or of one that may join what stands
    before it.
    """
    codes, targets = stored_tables().compatible
    classes, lower = tables.classes.copy(), tables.lower.copy()
    single = targets != SEVERAL
    plain = single & (tables.classes[codes] & (SLOW | COMBINING | MAYBE) == 0)
    plain &= tables.classes[np.where(single, targets, 0)] & (SLOW | COMBINING | MAYBE) == 0
    kept = tables.classes[codes] & WHITE
    classes[codes] |= SLOW
    classes[codes[plain]] = tables.classes[targets[plain]] & ~np.uint8(WHITE) | kept[plain]
    lower[codes[plain]] = tables.lower[targets[plain]]
    pairs = [int(pair) for pair in tables.composites if pair]
    joined = defaultdict(list)
    for pair in pairs:
        joined[pair >> 21].append(pair & (1 << 21) - 1)
    for code, target in zip(codes[plain].tolist(), targets[plain].tolist(), strict=True):
        pairs += [pair_key(code, second) for second in joined[target]]
    return UnicodeTables(classes, tables.combining, lower, hash_pairs(pairs))
