"""The signature scheme: everything that shapes a signature, as one value and one string."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_lib.errors import SchemeMismatchError, UsageError
from dedup_lib.signatures.normalisation import PLAIN, Normalisation
from dedup_lib.signatures.unicode_tables import UNICODE_VERSION

_NAME = re.compile(r"(-nfkc)?(-zerodigits)?-words(\d+)-affine64-(\d+)x(\d+)-seed(\d+)-(\d+)bit")
KERNEL_VERSION = 1  # rises whenever the same text under the same settings would be signed otherwise


class Permutations(NamedTuple):
    """The affine maps h -> a * h + b modulo 2^64, with a odd: datasketch's scheme `affine64`."""

    multipliers: NDArray[np.uint64]
    offsets: NDArray[np.uint64]


@dataclass(frozen=True)
class Scheme:
    """How texts are signed. Signatures of different schemes say nothing of each other.

    >>> str(Scheme())
    's1-unicode14-words5-affine64-32x8-seed1-16bit'
    """

    shingle_words: int = 5
    bands: int = 32
    rows: int = 8
    seed: int = 1
    minhash_bits: int = 16
    normalisation: Normalisation = PLAIN

    def __post_init__(self) -> None:
        if self.minhash_bits not in (16, 32):
            raise UsageError(f"sign.minhash_bits is {self.minhash_bits}: 16 or 32 bits of a minimum can be kept")
        if min(self.shingle_words, self.bands, self.rows) < 1:
            raise UsageError("sign.shingle_words, sign.bands and sign.rows must be at least 1")
        if not 0 <= self.seed < 1 << 32:
            raise UsageError(f"sign.seed is {self.seed}: it must be at least 0 and below 2^32")

    @classmethod
    def parse(cls, name: str) -> "Scheme":
        """The scheme that `str` gave a name, as tables carry it; SchemeMismatchError if we cannot sign by it.

        >>> Scheme.parse("s1-unicode14-words5-affine64-14x8-seed1-16bit").permutations
        112
        """
        found = _NAME.search(name)
        scheme = cls()
        if found:
            nfkc, zero, *numbers = found.groups()
            words, bands, rows, seed, bits = map(int, numbers)
            normalisation = Normalisation("nfkc" if nfkc else "nfc", "zero" if zero else "keep")
            scheme = cls(words, bands, rows, seed, bits, normalisation)
        if str(scheme) != name:
            remedy = "sign the texts again, or use the release of crawl-dedup that signed them"
            raise SchemeMismatchError("the signature store", name, str(scheme), remedy)
        return scheme

    @property
    def permutations(self) -> int:
        """How many permutations there are: bands times rows."""
        return self.bands * self.rows

    @cached_property
    def maps(self) -> Permutations:
        """The permutations, equal to datasketch 2 `MinHash(num_perm, seed, scheme="affine64").permutations`."""
        random = np.random.RandomState(self.seed)
        odd = random.randint(0, 1 << 63, self.permutations, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
        return Permutations(odd, random.randint(0, 1 << 64, self.permutations, dtype=np.uint64))

    def __str__(self) -> str:
        form = "-nfkc" if self.normalisation.form == "nfkc" else ""
        digits = "-zerodigits" if self.normalisation.digits == "zero" else ""
        return (
            f"s{KERNEL_VERSION}-unicode{UNICODE_VERSION.split('.')[0]}{form}{digits}-words{self.shingle_words}-affine64"
            f"-{self.bands}x{self.rows}-seed{self.seed}-{self.minhash_bits}bit"
        )
