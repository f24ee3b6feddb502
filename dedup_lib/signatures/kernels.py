"""The compiled loops: UTF-8 bytes to word hashes, word hashes to shingles, MinHash, SimHash and band keys.

All hashes are unsigned 64-bit with wrapping arithmetic. `mix` is the finalizer of MurmurHash3 (fmix64), a bijection.
"""

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from dedup_lib.signatures.jit import kernel
from dedup_lib.signatures.unicode_tables import (
    COMBINING,
    COMPOSITE_PRIME,
    CONTINUE,
    MAYBE,
    SLOW,
    SPACELESS,
    START,
)

WORD_SEED = np.uint64(0xCBF29CE484222325)  # FNV-1a's offset basis
WORD_PRIME = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, odd
SHINGLE_BASE = np.uint64(0xD1342543DE82EF95)  # odd, so that no place of a shingle loses bits
BAND_SEED = np.uint64(0xA0761D6478BD642F)
LARGEST = np.uint64(0xFFFFFFFFFFFFFFFF)
CHUNK = 1024  # shingle hashes held at a time: 8 KB, inside the first-level cache
NEEDS_PYTHON = -1
UNSURE = np.uint64(0xFFFFFFFFFFFFFFFF)
BROKEN = np.uint64(0xD800)  # a surrogate: of class SLOW, so that Python decodes the text


@kernel
def mix(value: np.uint64) -> np.uint64:
    """MurmurHash3's 64-bit finalizer: every input bit flips every output bit with probability near a half."""
    value = uint64(value)
    value ^= value >> uint64(33)
    value *= uint64(0xFF51AFD7ED558CCD)
    value ^= value >> uint64(33)
    value *= uint64(0xC4CEB9FE1A85EC53)
    value ^= value >> uint64(33)
    return value


@kernel
def decode(data: NDArray[np.uint8], at: np.uint64, end: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The code point at a byte above ASCII and the place after it; BROKEN where the bytes are no UTF-8.

    Indexes and code points are unsigned, which spares numba the test for negative indexes. The marker bit of a
    continuation byte is flipped: what is left is its six bits, or more than 0x3F if it is none.
    """
    one, two, three = uint64(1), uint64(2), uint64(3)
    marker, six_bits = uint64(0x80), uint64(0x3F)
    lead = uint64(data[at])
    if lead >= uint64(0xC2) and lead < uint64(0xE0) and at + one < end:
        second = uint64(data[at + one]) ^ marker
        code = (lead & uint64(0x1F)) << uint64(6) | second
        return (code if second <= six_bits else uint64(BROKEN)), at + two
    if lead >= uint64(0xE0) and lead < uint64(0xF0) and at + two < end:
        second, third = uint64(data[at + one]) ^ marker, uint64(data[at + two]) ^ marker
        code = (lead & uint64(0x0F)) << uint64(12) | second << uint64(6) | third
        return (code if second | third <= six_bits and code >= uint64(0x800) else uint64(BROKEN)), at + three
    if lead >= uint64(0xF0) and lead < uint64(0xF5) and at + three < end:
        second, third = uint64(data[at + one]) ^ marker, uint64(data[at + two]) ^ marker
        fourth = uint64(data[at + three]) ^ marker
        code = (lead & uint64(0x07)) << uint64(18) | second << uint64(12) | third << uint64(6) | fourth
        whole = second | third | fourth <= six_bits and code >= uint64(0x10000) and code < uint64(0x110000)
        return (code if whole else uint64(BROKEN)), at + uint64(4)
    return uint64(BROKEN), at + one


@kernel
def composes(first: np.uint64, second: np.uint64, composites: NDArray[np.uint64]) -> bool:
    """Whether NFC joins two characters to one, by the hash table of `unicode_tables.hash_pairs`."""
    key = first << uint64(21) | second
    last_slot = uint64(len(composites) - 1)
    slot = (key * uint64(COMPOSITE_PRIME) >> uint64(32)) & last_slot
    while composites[slot] != uint64(0):
        if composites[slot] == key:
            return True
        slot = (slot + uint64(1)) & last_slot
    return False


@kernel
def after_mark(
    code: np.uint64,
    bits: np.uint64,
    context: np.uint64,
    combining: NDArray[np.uint8],
    composites: NDArray[np.uint64],
) -> np.uint64:
    """The context after a character of class SLOW, COMBINING or MAYBE, from the context before it.

    The context is the last character that is no mark, times 256, plus the combining class of the last mark after it; 0
    at the start. It is UNSURE unless the text is in NFC so far (UAX #15, detecting normalization forms: no character
    that NFC replaces, marks in canonical order, none that joins the character before) and no lower case depends on the
    neighbours. A mark that could join, did not another stand between, counts as joining: Python looks closer.
    """
    if bits & uint64(SLOW):
        return UNSURE
    if bits & uint64(MAYBE) and composes(context >> uint64(8), code, composites):
        return UNSURE
    if not bits & uint64(COMBINING):
        return np.uint64(code << uint64(8))
    this_class = uint64(combining[code])
    if this_class < context & uint64(0xFF):
        return UNSURE
    return np.uint64(context >> uint64(8) << uint64(8) | this_class)


@kernel
def hash_words(
    data: NDArray[np.uint8],
    start: int,
    end: int,
    classes: NDArray[np.uint8],
    combining: NDArray[np.uint8],
    lower: NDArray[np.int32],
    composites: NDArray[np.uint64],
    trusted: bool,
    words: NDArray[np.uint64],
) -> int:
    """Writes the hash of each word of data[start:end] to `words`; gives their number.

    Unless `trusted`, gives NEEDS_PYTHON when the bytes are no UTF-8, or the text may not be in NFC, or it has letters
    whose lower case depends on their neighbours: then Python prepares it and the kernel runs again.
    """
    count = uint64(0)
    open_word = False
    value = context = uint64(0)
    at, stop = uint64(start), uint64(end)
    while at < stop:
        code = uint64(data[at])
        if code < uint64(0x80):
            at += uint64(1)
            bits = uint64(classes[code])
            context = code << uint64(8)
        else:
            code, at = decode(data, at, stop)
            bits = uint64(classes[code])
            if not trusted and bits & uint64(SLOW | COMBINING | MAYBE):
                context = after_mark(code, bits, context, combining, composites)
                if context == uint64(UNSURE):
                    return NEEDS_PYTHON
            else:
                context = code << uint64(8)
        if open_word:
            if bits & uint64(CONTINUE):
                value = (value ^ uint64(lower[code])) * uint64(WORD_PRIME)
                continue
            words[count] = mix(value)
            count += uint64(1)
            open_word = False
        if bits & uint64(START | SPACELESS):
            value = (uint64(WORD_SEED) ^ uint64(lower[code])) * uint64(WORD_PRIME)
            if bits & uint64(SPACELESS):
                words[count] = mix(value)
                count += uint64(1)
            else:
                open_word = True
    if open_word:
        words[count] = mix(value)
        count += uint64(1)
    return np.int64(count)  # type: ignore[return-value]


@kernel
def hash_shingles(words: NDArray[np.uint64], first: int, count: int, size: int, shingles: NDArray[np.uint64]) -> None:
    """Hashes of the shingles that start at words `first`, `first + 1`, ...: `count` windows of `size` words.

    A rolling polynomial (Karp and Rabin, 1987) over word hashes, mixed.
    """
    base = uint64(SHINGLE_BASE)
    leaving = uint64(1)
    for _ in range(size):
        leaving *= base
    value = uint64(0)
    for place in range(size - 1):
        value = value * base + words[first + place]
    for window in range(count):
        value = value * base + words[first + window + size - 1]
        if window:
            value -= leaving * words[first + window - 1]
        shingles[window] = mix(value)


@kernel
def lower_minima(
    shingles: NDArray[np.uint64],
    count: int,
    multipliers: NDArray[np.uint64],
    offsets: NDArray[np.uint64],
    minima: NDArray[np.uint64],
) -> None:
    """Lowers each permutation's minimum by the shingle hashes, which are pre-mixed as datasketch's affine64 is."""
    for place in range(count):
        shingles[place] = mix(shingles[place])
    for permutation in range(0, len(minima) - 1, 2):
        a0, b0, least0 = multipliers[permutation], offsets[permutation], minima[permutation]
        a1, b1, least1 = multipliers[permutation + 1], offsets[permutation + 1], minima[permutation + 1]
        for place in range(count):
            least0 = min(least0, a0 * shingles[place] + b0)
            least1 = min(least1, a1 * shingles[place] + b1)
        minima[permutation] = least0
        minima[permutation + 1] = least1
    if len(minima) % 2:
        last = len(minima) - 1
        least = minima[last]
        for place in range(count):
            least = min(least, multipliers[last] * shingles[place] + offsets[last])
        minima[last] = least


@kernel
def count_bits(shingles: NDArray[np.uint64], count: int, ones: NDArray[np.int64]) -> None:
    """Adds, for each of the 64 bit positions, how many of the hashes have that bit set."""
    for bit in range(64):
        shift = uint64(bit)
        total = uint64(0)
        for place in range(count):
            total += (shingles[place] >> shift) & uint64(1)
        ones[bit] += np.int64(total)


@kernel
def simhash_of(ones: NDArray[np.int64], count: int, weakest: NDArray[np.uint8]) -> np.uint64:
    """The SimHash (Charikar 2002) of counted bits; `weakest` gets the bit positions of the smallest margins.

    A bit is set where more than half of the weight has it set. The margin |2 ones - count| says how likely the bit
    is to flip (Sood and Loguinov, CIKM 2011); equal margins are ordered by position.
    """
    result = uint64(0)
    taken = uint64(0)
    for bit in range(64):
        if 2 * ones[bit] > count:
            result |= uint64(1) << uint64(bit)
    for rank in range(len(weakest)):
        best, margin = -1, np.int64(0)
        for bit in range(64):
            if (taken >> uint64(bit)) & uint64(1):
                continue
            this = abs(2 * ones[bit] - count)
            if best < 0 or this < margin:
                best, margin = bit, this
        weakest[rank] = best
        taken |= uint64(1) << uint64(best)
    return np.uint64(result)


@kernel
def band_keys(minima: NDArray[np.uint64], rows: int, keys: NDArray[np.int64]) -> None:
    """One 64-bit key per band: a hash of the band's number and all 64 bits of its ordered rows."""
    for band in range(len(keys)):
        value = mix(uint64(BAND_SEED) + uint64(band) * uint64(WORD_PRIME))
        for row in range(rows):
            value = mix(value ^ minima[band * rows + row]) + uint64(WORD_PRIME)
        keys[band] = np.int64(mix(value))
