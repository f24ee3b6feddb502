"""Words, shingles and signatures in plain Python, written from the definitions; and our kernels' steps one by one."""

import unicodedata

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from dedup_lib.signatures.kernels import LARGEST, hash_shingles, hash_words, lower_minima
from dedup_lib.signatures.normalisation import PLAIN
from dedup_lib.signatures.texts import text_buffers, with_prepared_texts
from dedup_lib.signatures.unicode_tables import unicode_tables

SPACELESS = (
    *((0x0E00, 0x0E7F), (0x0E80, 0x0EFF), (0x0F00, 0x0FFF)),
    *((0x1000, 0x109F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F), (0x1780, 0x17FF)),
    *((0x3005, 0x3007), (0x3040, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9D)),
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)),
)
WRAP = 1 << 64

# Characters on which word rules go wrong: sigma, dotted I, characters that change under NFC, combining marks of
# several classes and in several blocks, case-ignorable letters and points, Hangul by parts, the edges of the
# spaceless ranges, marks and letters on both sides of them, digits, connectors, astral letters, unassigned.
TRICKY = (
    "ΑΣσςΣ\u0130Iıiſß\u1e9eǅǰΐΆ\u0345\u1fb4"
    "\u0300\u0301\u0307\u0316\u0323\u0327\u0338\u093c\u09be\u09c7\u0bbe\u0dca\u0dcf\u1b35\u3099\u309a\u20d0\u20dd"
    "\u212a\u212b\u2126\u0340\u0344\u0374\u037e\u0387\u0958\u0f43\u0f71\u0f72\u0f73\ufb1d\uf900\U0002f800"
    "\u1100\u1161\u11a8\u11a7\u11c3\u1176가각\ud7a3\u3131"
    "\u0dff\u0e00\u0e01กั\u0e46\u0e7f\u0e80ກ\u0eb1\u0effༀཀ\u0f7e\u0fffကာ\u109f\u10a0\ua9e0\ua9ff\uaa60\uaa7f\uaa80"
    "កា\u17ff\u1800\u3004々〇\u3008\u3040ぁか\u30fb\u30fc\u30ff\u31f0\u31ff\uff65ｦﾝ\uff9e㐀\u4dbf\u4dc0一\u9fff"
    "\ufaff\ufb00\U0001ffff\U00020000\U0003ffff\U00040000"
    "क\u093e\u0947\u094d\u200d\u200cبֳא\u0650ёЁЙ\u0400ԱაᲐⴀᎠꭰ"
    "09٣²Ⅷⅷ_\u203f-'\u2019.:·\u00ad\u02b0\u02bc\u00aa\u00ba\ufeff\u0000\u007f\u0080"
    "Ａａ１＿，．ﾊﾟ①㎏㌔ﬁ…″＝\u0338ﾡￂ\u3131㊗\u2f00"
    "𝐀𐐀𐐨𞤀\U0001d165\U0001d15e\U0001e130😀\U0010ffff\U0010fffd\ue000\u0378\U00010efd\U0001e08f"
)
TRICKY_TEXTS = st.text(
    st.one_of(
        st.sampled_from(TRICKY),
        st.sampled_from("aB  \n"),
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from("ΣΑα"),
    ),
    max_size=24,
)


def is_spaceless(char):
    return any(first <= ord(char) <= last for first, last in SPACELESS)


def reference_words(text, form="NFC"):
    """The words of a text in lower case, from the definition."""
    words, word = [], ""
    for char in unicodedata.normalize(form, text):
        kind = unicodedata.category(char)[0]
        joins = not is_spaceless(char) and (kind in "LN" or char == "_" or (kind == "M" and word))
        if joins:
            word += char
            continue
        if word:
            words.append(word)
            word = ""
        if is_spaceless(char) and kind in "LNM":
            words.append(char)
    if word:
        words.append(word)
    return [word.lower() for word in words]


def reference_shingles(text, size=5):
    """The set of shingles of a text: tuples of words; a text of fewer words is one shingle, one without has none."""
    words = reference_words(text)
    windows = range(max(len(words) - size + 1, 1 if words else 0))
    return {tuple(words[start : start + size]) for start in windows}


def jaccard(left, right):
    return len(left & right) / len(left | right) if left | right else 0.0


def known_in_unicode_14(text):
    """Whether the running Python and Unicode 14 agree on every code point of the text."""
    if unicodedata.unidata_version == "14.0.0":
        return True
    classes = unicode_tables().classes
    return all(classes[ord(char)] or unicodedata.category(char)[0] not in "LNM" for char in text)


def kernel_words(text, normalisation=PLAIN):
    """The word hashes of a text (str, or bytes that may be no UTF-8) by the kernel."""
    buffers = text_buffers(pa.array([text]))
    words = np.empty(3 * (len(buffers.data) + 1), np.uint64)
    count = hash_words(buffers.data, *buffers.offsets, *normalisation.tables, False, words)
    if count < 0:
        buffers = with_prepared_texts(buffers, np.zeros(1, np.int64), normalisation)
        count = hash_words(buffers.data, *buffers.offsets, *normalisation.tables, True, words)
    return words[:count]


def kernel_shingles(text, size=5):
    """The shingle hashes of a text, repetitions and all, before MinHash mixes them."""
    words = kernel_words(text)
    shingles = np.empty(max(len(words) - size + 1, 0), np.uint64)
    hash_shingles(words, 0, len(shingles), size, shingles)
    return shingles


def kernel_minima(shingles, scheme):
    """All 64 bits of the minima of shingle hashes."""
    minima = np.full(scheme.permutations, LARGEST, np.uint64)
    lower_minima(shingles.copy(), len(shingles), *scheme.maps, minima)
    return minima


def reference_simhash(shingles):
    """SimHash of shingle hashes, each as often as it occurs, and the bits by rising margin, then by position."""
    hashes = [int(value) for value in shingles]
    ones = [sum(value >> bit & 1 for value in hashes) for bit in range(64)]
    simhash = sum(1 << bit for bit in range(64) if ones[bit] > len(hashes) - ones[bit])
    order = sorted(range(64), key=lambda bit: (abs(ones[bit] - (len(hashes) - ones[bit])), bit))
    return simhash, order


def random_words(random, count, alphabet="abcdefghijklmnopqrstuvwxyz"):
    """Random words of eight letters: 10^11 of them, so that two texts share none by chance."""
    letters = random.integers(0, len(alphabet), (count, 8))
    return ["".join(word) for word in np.array(list(alphabet))[letters]]
