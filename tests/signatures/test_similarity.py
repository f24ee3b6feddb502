"""Estimated similarity against theory, exact similarity against brute force."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dedup_lib.signatures import Scheme, estimate_jaccard, exact_jaccard, shingle_sets, sign_texts
from signatures.reference import TRICKY_TEXTS, jaccard, known_in_unicode_14, random_words, reference_shingles

ALPHABETS = {
    "Latin": "abcdefghijklmnopqrstuvwxyzåßéñ",
    "Cyrillic": "абвгдежзийклмнопрстуфхцчшщыэюя",
    "Greek": "αβγδεζηθικλμνξοπρστυφχψωΣΆ",
    "Arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "Hebrew": "אבגדהוזחטיכלמנסעפצקרשת",
    "Devanagari": "कखगघचछजझटठडढतथदधनपफबभमयरलवशषसहािीुू",
    "Hangul": "가나다라마바사아자차카타파하각난달",
    "Han": "".join(map(chr, range(0x4E00, 0x5600))),
    "Kana": "".join(map(chr, range(0x3041, 0x3097))),
    "Thai": "".join(map(chr, range(0x0E01, 0x0E3B))),
}


MANY_BANDS = Scheme(bands=300, rows=4)


def minhashes(texts, bits=16):
    return sign_texts(pa.array(texts), Scheme(minhash_bits=bits)).to_arrow()["minhash"]


def standard_error(similarity, permutations=256):
    return np.sqrt(similarity * (1 - similarity) / permutations)


def overlapping(random, size, similarity):
    """Two texts of `size` shingles each whose sets have about this Jaccard similarity: a common start."""
    shared = round(2 * size * similarity / (1 + similarity))
    start, *ends = (random_words(random, count) for count in (shared + 4, size - shared, size - shared))
    return [" ".join(start + end) for end in ends], shared / (2 * size - shared)


@pytest.mark.parametrize("size", [10, 100, 1_000, 10_000, 100_000])
@pytest.mark.parametrize("bits", [16, 32])
def test_estimates_are_within_four_standard_errors_at_any_size(size, bits):
    random = np.random.default_rng(size)
    levels = (0.3, 0.8) if size > 10_000 else (0.2, 0.5, 0.8, 0.95)
    pairs = [overlapping(random, size, level) for level in levels]
    sides = [pa.array([texts[side] for texts, _ in pairs]) for side in (0, 1)]
    planned = np.array([similarity for _, similarity in pairs])
    assert exact_jaccard(*(shingle_sets(side, 5) for side in sides)).tolist() == planned.tolist()
    scheme = Scheme(minhash_bits=bits)
    left, right = (sign_texts(side, scheme).to_arrow()["minhash"] for side in sides)
    assert np.all(np.abs(estimate_jaccard(left, right, bits) - planned) <= 4 * standard_error(planned))


@pytest.mark.parametrize("size", [10, 1_000, 1_000_000])
def test_band_keys_meet_as_often_as_the_s_curve_says_at_any_size(size):
    similarities, shares = [], []
    for seed in range(max(1, 4_000 // size) if size < 10_000 else 1):
        texts, similarity = overlapping(np.random.default_rng((size, seed)), size, 0.8)
        left, right = (sign_texts(pa.array([text]), MANY_BANDS).bands[0] for text in texts)
        similarities.append(similarity)
        shares.append(np.mean(left == right))
    expected = similarities[0] ** MANY_BANDS.rows
    error = np.sqrt(expected * (1 - expected) / (MANY_BANDS.bands * len(shares)))
    assert abs(np.mean(shares) - expected) < 4 * error


@pytest.mark.parametrize("similarity", [0.2, 0.5, 0.8, 0.95])
def test_estimates_are_unbiased_and_vary_as_theory_says(similarity):
    random = np.random.default_rng(round(100 * similarity))
    pairs = [overlapping(random, 200, similarity) for _ in range(600)]
    planned = pairs[0][1]
    estimates = estimate_jaccard(*(minhashes([texts[side] for texts, _ in pairs]) for side in (0, 1)), 16)
    error = standard_error(planned)
    assert abs(estimates.mean() - planned) < 4 * error / np.sqrt(len(pairs))
    # the variance of n normal values has the relative standard error sqrt(2 / (n - 1))
    assert abs(estimates.var(ddof=1) / error**2 - 1) < 4 * np.sqrt(2 / (len(pairs) - 1))


@pytest.mark.parametrize("bits", [16, 32])
def test_identical_texts_are_estimated_one(bits):
    column = minhashes([" ".join(random_words(np.random.default_rng(6), n)) for n in (5, 50, 5000)], bits)
    assert estimate_jaccard(column, column, bits).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("script", ALPHABETS)
def test_unrelated_texts_of_a_script_are_estimated_below_a_tenth(script):
    random = np.random.default_rng(7)
    texts = [" ".join(random_words(random, 200, ALPHABETS[script])) for _ in range(10)]
    column = minhashes(texts)
    for turn in range(1, 10):
        others = column.take(pa.array((np.arange(10) + turn) % 10))
        assert estimate_jaccard(column, others, 16).max() < 0.1


@pytest.mark.parametrize("script", ALPHABETS)
def test_one_edited_word_costs_the_shingles_that_hold_it(script):
    words = random_words(np.random.default_rng(8), 100, ALPHABETS[script])
    edited = [*words[:50], words[50] + words[51], *words[52:]]  # two words become one; in spaceless scripts, none
    texts = [" ".join(words), " ".join(edited)]
    expected = jaccard(*(reference_shingles(text) for text in texts))
    found = exact_jaccard(*(shingle_sets(pa.array([text]), 5) for text in texts))[0]
    assert found == expected
    assert expected == (1.0 if script in ("Han", "Kana", "Thai") else 90 / (96 + 95 - 90))
    estimate = estimate_jaccard(*(minhashes([text]) for text in texts), 16)[0]
    assert abs(estimate - expected) <= 4 * standard_error(expected)


PIECES = ["a", "b", "B", "ΑΣ", "Α\u0301", "\u0386", "\u00c1", "A\u0301", "漢字", "x\u0130", "กา", "_", ","]
SMALL = st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(SMALL | TRICKY_TEXTS, SMALL), min_size=1, max_size=8), st.integers(1, 5))
def test_exact_similarity_equals_brute_force(pairs, size):
    assume(all(known_in_unicode_14(text) for pair in pairs for text in pair))
    sides = [[pair[side] for pair in pairs] for side in (0, 1)]
    found = exact_jaccard(*(shingle_sets(pa.array(side), size) for side in sides))
    expected = [jaccard(*(reference_shingles(text, size) for text in pair)) for pair in pairs]
    assert found.tolist() == expected


@settings(max_examples=100, deadline=None)
@given(st.lists(st.none() | SMALL | TRICKY_TEXTS, max_size=10))
def test_shingle_sets_are_distinct_sorted_and_as_many_as_the_definition_says(texts):
    assume(all(known_in_unicode_14(text or "") for text in texts))
    sets = shingle_sets(pa.array(texts, pa.string()), 5)
    assert sets.type == pa.binary()
    for text, blob in zip(texts, sets.to_pylist(), strict=True):
        values = np.frombuffer(blob, np.uint64)
        assert len(values) == len(reference_shingles(text or ""))
        assert np.all(values[:-1] < values[1:])


def test_short_and_empty_texts_have_one_shingle_and_none():
    texts = ["one two three", "One  two, THREE", "one two", "", "!?", None, "one two three four five"]
    sets = shingle_sets(pa.array(texts), 5)
    assert [len(blob) // 8 for blob in sets.to_pylist()] == [1, 1, 1, 0, 0, 0, 1]
    first = sets.take(pa.array([0] * 7))
    assert exact_jaccard(first, sets).tolist() == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert exact_jaccard(sets.slice(3, 1), sets.slice(4, 1)).tolist() == [0.0]


def test_sets_of_sliced_and_chunked_columns_are_compared_row_by_row():
    texts = ["gone", "a b c d e f", "a b c d e", "α ΑΣ β γ δ", None]
    sets = shingle_sets(pa.array(texts), 5)
    chunked = shingle_sets(pa.chunked_array([texts[1:3], texts[3:]], pa.large_string()), 5)
    assert sets.slice(1).to_pylist() == chunked.to_pylist()
    assert exact_jaccard(sets.slice(1, 2), sets.slice(2, 2)).tolist() == [0.5, 0.0]
    assert len(exact_jaccard(sets.slice(0, 0), sets.slice(0, 0))) == 0


def test_what_cannot_be_compared_is_an_error_and_never_read_out_of_bounds():
    texts = pa.array([" ".join(random_words(np.random.default_rng(9), 20))] * 2)
    wide, narrow = (sign_texts(texts, Scheme(bands=bands)).to_arrow()["minhash"] for bands in (32, 14))
    with pytest.raises(ValueError, match="256 permutations"):
        estimate_jaccard(wide, narrow, 16)
    with pytest.raises(ValueError, match="2 minhash values"):
        estimate_jaccard(wide, wide.slice(1), 16)
    with pytest.raises(ValueError, match="different widths"):
        estimate_jaccard(pa.array([wide[0].as_py(), None]), wide, 16)
    sets = shingle_sets(texts, 5)
    with pytest.raises(ValueError, match="1 shingle sets"):
        exact_jaccard(sets.slice(1), sets)
