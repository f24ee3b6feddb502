"""The same MinHash by other means: datasketch 2, and plain NumPy. Both compute less than the product: no SimHash, no
band keys. Words are those of the sample's own rule, which is the product's: a regular expression over NFC text.
"""

import numpy as np
from datasketch import MinHash
from datasketch.hashfunc import sha1_hash64
from numpy.typing import NDArray

from dedup_lib.sample.similarity import words
from dedup_lib.signatures import Scheme

SHINGLE_BASE = np.uint64(0xD1342543DE82EF95)  # odd: no place of a shingle loses bits
CHUNK = 256  # shingles at a time: with 256 permutations half a megabyte, inside the second-level cache


def datasketch_minima(texts: list[str], scheme: Scheme) -> list[NDArray[np.uint64]]:
    """The minima of each text by datasketch, as its documentation has it: SHA-1 of each shingle, one batch a text."""
    maps = tuple(scheme.maps)
    minima = []
    for text in texts:
        sketch = MinHash(
            scheme.permutations, seed=scheme.seed, hashfunc=sha1_hash64, permutations=maps, scheme="affine64"
        )
        found = words(text)
        shingles = zip(*(found[start:] for start in range(scheme.shingle_words)), strict=False)
        sketch.update_batch([" ".join(shingle).encode() for shingle in shingles])
        minima.append(sketch.hashvalues)
    return minima


def numpy_minima(texts: list[str], scheme: Scheme) -> list[NDArray[np.uint64]]:
    """The minima of each text by NumPy: Python's hash of each word, a polynomial of the words of each shingle."""
    return [minima_of(_shingle_hashes(words(text), scheme.shingle_words), scheme) for text in texts]


def minima_of(shingles: NDArray[np.uint64], scheme: Scheme) -> NDArray[np.uint64]:
    """The minimum of each permutation over shingle hashes, as datasketch's `affine64` defines it."""
    multipliers, offsets = (side[:, None] for side in scheme.maps)
    mixed = _mix(shingles)
    minima = np.full(scheme.permutations, np.iinfo(np.uint64).max, np.uint64)
    for start in range(0, len(mixed), CHUNK):
        np.minimum(minima, (multipliers * mixed[start : start + CHUNK] + offsets).min(axis=1), out=minima)
    return minima


def _shingle_hashes(found: list[str], size: int) -> NDArray[np.uint64]:
    hashes = _mix(np.fromiter(map(hash, found), np.int64, len(found)).view(np.uint64))
    count = max(len(found) - size + 1, 0)
    shingles = np.zeros(count, np.uint64)
    for place in range(size):
        shingles = shingles * SHINGLE_BASE + hashes[place : place + count]
    return _mix(shingles)


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """MurmurHash3's 64-bit finalizer."""
    mixed = values ^ values >> np.uint64(33)
    mixed *= np.uint64(0xFF51AFD7ED558CCD)
    mixed ^= mixed >> np.uint64(33)
    mixed *= np.uint64(0xC4CEB9FE1A85EC53)
    mixed ^= mixed >> np.uint64(33)
    return mixed
