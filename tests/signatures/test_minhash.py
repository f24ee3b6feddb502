"""MinHash is datasketch's; a band key stands for all 64 bits of its ordered rows."""

import numpy as np
import pyarrow as pa
import pytest
from datasketch import MinHash
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_lib.signatures import Scheme, sign_texts
from dedup_lib.signatures.kernels import band_keys
from signatures.reference import WRAP, kernel_minima, kernel_shingles, kernel_words, random_words

TEXT = (
    " ".join(random_words(np.random.default_rng(1), 300)) + " Und ein Satz: Καλημέρα ΚΟΣΜΟΣ, 我能吞下玻璃而不伤身体。"
)
SCHEMES = [(1, 1, 1), (1, 14, 8), (1, 32, 8), (7, 3, 1), (42, 5, 13), (0, 1, 255), (2**32 - 1, 2, 2)]


def datasketch_of(shingles, scheme):
    sketch = MinHash(scheme.permutations, seed=scheme.seed, scheme="affine64", hashfunc=lambda value: value)
    sketch.update_batch([int(value) for value in shingles])
    return sketch


def keys_of(minima, bands):
    keys = np.empty(bands, np.int64)
    band_keys(np.ascontiguousarray(minima, np.uint64), len(minima) // bands, keys)
    return keys


@pytest.mark.parametrize(("seed", "bands", "rows"), SCHEMES)
def test_permutations_are_those_of_datasketch(seed, bands, rows):
    scheme = Scheme(seed=seed, bands=bands, rows=rows)
    expected = datasketch_of([], scheme).permutations
    assert np.array_equal(np.stack(scheme.maps), np.stack(expected))


@pytest.mark.parametrize(("seed", "bands", "rows"), SCHEMES)
@pytest.mark.parametrize("bits", [16, 32])
def test_minima_equal_datasketch_bit_for_bit_and_the_low_bits_are_kept(seed, bands, rows, bits):
    scheme = Scheme(seed=seed, bands=bands, rows=rows, minhash_bits=bits)
    shingles = kernel_shingles(TEXT)
    expected = datasketch_of(shingles, scheme).hashvalues
    assert np.array_equal(kernel_minima(shingles, scheme), expected)

    signed = sign_texts(pa.array([TEXT]), scheme)
    assert np.array_equal(signed.minhash[0], expected & np.uint64(2**bits - 1))
    stored = signed.to_arrow()["minhash"][0].as_py()
    assert np.frombuffer(stored, f"<u{bits // 8}").tolist() == (expected & np.uint64(2**bits - 1)).tolist()
    assert np.array_equal(signed.bands[0], keys_of(expected, bands))


def test_shingles_hash_the_order_of_their_words_and_all_of_them():
    base = ["a", "b", "c", "d", "e"]
    texts = [base, base[::-1], ["a", "c", "b", "d", "e"], *([*base[:i], "x", *base[i + 1 :]] for i in range(5))]
    hashes = {int(kernel_shingles(" ".join(words))[0]) for words in texts}
    assert len(hashes) == len(texts)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 13])
def test_shingles_of_equal_words_are_equal_wherever_they_stand(size):
    words = random_words(np.random.default_rng(2), 40)
    shingles = kernel_shingles(" ".join(words), size)
    assert len(shingles) == len(set(shingles.tolist())) == 40 - size + 1
    alone = [kernel_shingles(" ".join(words[start : start + size]), size)[0] for start in range(len(shingles))]
    assert shingles.tolist() == [int(value) for value in alone]


def test_word_and_shingle_hashes_spread_over_64_bits():
    text = " ".join(f"w{number}" for number in range(20_000))
    for hashes in (kernel_words(text), kernel_shingles(text)):
        assert len(np.unique(hashes)) == len(hashes)
        assert_bits_are_even(hashes)


def assert_bits_are_even(values):
    for bit in range(64):
        share = np.mean(values >> np.uint64(bit) & np.uint64(1))
        assert abs(share - 0.5) < 5 * 0.5 / np.sqrt(len(values)), bit


def test_equal_rows_have_another_key_in_every_band():
    for value in (0, 1, 2**63, WRAP - 1):
        assert len(set(keys_of(np.full(256, value, np.uint64), 32).tolist())) == 32
    random = np.random.default_rng(3).integers(0, WRAP, (500, 8), np.uint64)
    keys = np.concatenate([keys_of(np.tile(rows, 32), 32) for rows in random])
    assert len(set(keys.tolist())) == 500 * 32


@settings(max_examples=300, deadline=None)
@given(st.permutations(range(8)), st.lists(st.integers(0, WRAP - 1), min_size=8, max_size=8, unique=True))
def test_the_order_of_rows_matters(order, rows):
    moved = [rows[place] for place in order]
    same = keys_of(rows, 1)[0] == keys_of(moved, 1)[0]
    assert same == (rows == moved)


def test_every_bit_of_every_row_matters():
    rows = np.random.default_rng(4).integers(0, WRAP, 8, np.uint64)
    keys = {int(keys_of(rows, 1)[0])}
    for row in range(8):
        for bit in range(64):
            flipped = rows.copy()
            flipped[row] ^= np.uint64(1 << bit)
            keys.add(int(keys_of(flipped, 1)[0]))
    assert len(keys) == 1 + 8 * 64


def test_keys_are_equal_only_where_all_rows_are():
    values = np.array([0, 1, 2, 2**63, WRAP - 1], np.uint64)
    every = np.array(np.meshgrid(*[values] * 5)).reshape(5, -1).T
    keys = [int(keys_of(rows, 1)[0]) for rows in every]
    assert len(set(keys)) == len(every) == 5**5


def test_keys_of_small_numbers_spread_over_64_bits():
    keys = keys_of(np.arange(40_000, dtype=np.uint64), 20_000)
    assert len(np.unique(keys)) == 20_000
    assert_bits_are_even(keys.view(np.uint64))
