"""SimHash equals the plain definition: frequency-weighted shingles, the weakest bits by margin, then by position."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_lib.signatures import Scheme, sign_texts
from dedup_lib.signatures.kernels import simhash_of
from signatures.reference import kernel_shingles, random_words, reference_simhash

SCHEME = Scheme(bands=1, rows=1, shingle_words=2)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(["one", "two", "three", "vier", "ΠΕΝΤΕΣ", "六", "e\u0301"]), min_size=2, max_size=40))
def test_simhash_and_its_weakest_bits_equal_the_plain_definition(words):
    text = " ".join(words)
    signed = sign_texts(pa.array([text]), SCHEME)
    simhash, order = reference_simhash(kernel_shingles(text, 2))
    assert int(signed.simhash[0]) % 2**64 == simhash
    assert signed.simhash_weakest[0].tolist() == order[:16]


def test_repeated_shingles_weigh_as_often_as_they_occur():
    rare, common = "a b", "c d"
    text = f"{rare} {'c d ' * 50}"
    signed = sign_texts(pa.array([text, common]), SCHEME)
    counts = kernel_shingles(text, 2)
    assert len(counts) == signed.shingles[0] == 101
    assert int(signed.simhash[0]) % 2**64 == reference_simhash(counts)[0]
    assert int(signed.simhash[0]) % 2**64 != reference_simhash(np.unique(counts))[0]


def test_equal_margins_are_ordered_by_position_and_a_tie_is_no_bit():
    ones = np.full(64, 10, np.int64)  # margin 0 of 20
    ones[[3, 9]] = 11, 0
    weakest = np.zeros(64, np.uint8)
    assert simhash_of(ones, 20, weakest) == 1 << 3
    assert weakest.tolist() == [bit for bit in range(64) if bit not in (3, 9)] + [3, 9]


@pytest.mark.parametrize("changed", [1, 3])
def test_a_small_edit_of_a_long_text_flips_few_bits(changed):
    words = random_words(np.random.default_rng(5), 3000)
    edited = [*words[:-changed], *(["edited"] * changed)]
    signed = sign_texts(pa.array([" ".join(words), " ".join(edited), " ".join(words[::-1])]), Scheme())
    near, far = (int(signed.simhash[0] ^ signed.simhash[i]) % 2**64 for i in (1, 2))
    assert near.bit_count() <= 6
    assert far.bit_count() > 12
