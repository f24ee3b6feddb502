"""A query against stored rows: the estimate of full datasketch MinHashes, and no meeting of unlike schemes."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from datasketch import MinHash

from dedup_lib.errors import SchemeMismatchError, UsageError
from dedup_lib.signatures import Scheme, estimate_jaccard, sign_texts, similarity_to_store
from signatures.reference import kernel_shingles, random_words

RANDOM = np.random.default_rng(11)
WORDS = random_words(RANDOM, 204)
QUERY = " ".join(WORDS)
# 200 shingles, of which a text that keeps the first n + 4 words and goes on otherwise has n.
TEXTS = [" ".join(WORDS[: kept + 4] + random_words(RANDOM, 200 - kept)) for kept in (0, 40, 100, 160, 190, 200)]
SCHEMES = [Scheme(), Scheme(minhash_bits=32), Scheme(seed=7, bands=5, rows=13, minhash_bits=16)]


def sketch_of(text, scheme):
    """A full MinHash by datasketch, over the shingle hashes of a text."""
    sketch = MinHash(scheme.permutations, seed=scheme.seed, scheme="affine64", hashfunc=lambda value: value)
    sketch.update_batch([int(value) for value in kernel_shingles(text, scheme.shingle_words)])
    return sketch


def stored(texts, scheme):
    return sign_texts(pa.array(texts, pa.string()), scheme).to_arrow()["minhash"]


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_a_text_and_its_datasketch_minhash_give_what_full_minhashes_estimate(scheme):
    full = np.array([sketch_of(QUERY, scheme).jaccard(sketch_of(text, scheme)) for text in TEXTS])
    found = similarity_to_store(QUERY, stored(TEXTS, scheme), scheme)
    assert found.type == pa.float64()
    assert found.equals(similarity_to_store(sketch_of(QUERY, scheme), stored(TEXTS, scheme), scheme))
    # Of P permutations, P (1 - J) low parts agree by chance with probability 2^-b each: none, or one of all here.
    chance = 2.0**-scheme.minhash_bits
    corrected = np.maximum((full - chance) / (1 - chance), 0)
    assert np.abs(found.to_numpy() - corrected).max() <= 1 / scheme.permutations + 1e-12
    assert np.sum(np.abs(found.to_numpy() - corrected) > 1e-12) <= 1
    assert found[-1].as_py() == 1.0


def test_chance_agreements_of_the_low_bits_are_taken_out_on_average():
    scheme = Scheme(bands=64, rows=64)
    texts = [" ".join(random_words(RANDOM, 60)) for _ in range(300)]
    (query,) = stored(["one two three four five six"], scheme).to_pylist()
    shares = [
        np.mean(np.frombuffer(query, np.uint16) == np.frombuffer(row, np.uint16))
        for row in stored(texts, scheme).to_pylist()
    ]
    agreeing = np.sum(shares) * scheme.permutations
    expected = 300 * scheme.permutations * 2.0**-16  # Li and Koenig 2010: unlike minima agree with 2^-b
    assert abs(agreeing - expected) <= 4 * np.sqrt(expected)


def test_each_row_is_estimated_as_a_pair_is_and_null_stays_null():
    scheme = Scheme()
    rows = stored([None, *TEXTS, "too short", TEXTS[2]], scheme)
    found = similarity_to_store(QUERY, rows, scheme).to_pylist()
    assert [place for place, value in enumerate(found) if value is None] == [0, len(TEXTS) + 1]
    query = pa.concat_arrays([stored([QUERY], scheme)] * len(TEXTS))
    assert found[1 : len(TEXTS) + 1] == estimate_jaccard(query, stored(TEXTS, scheme), 16).tolist()
    chunked = pa.chunked_array([rows[:2], rows[2:]])
    assert similarity_to_store(QUERY, chunked, scheme).to_pylist() == found
    assert similarity_to_store(QUERY, rows[3:5], scheme).to_pylist() == found[3:5]
    assert similarity_to_store(QUERY, rows[:0], scheme).to_pylist() == []
    assert similarity_to_store(QUERY, rows[:1], scheme).to_pylist() == [None]


def test_the_scheme_may_be_the_name_that_the_store_has():
    for scheme in SCHEMES:
        assert Scheme.parse(str(scheme)) == scheme
        rows = stored(TEXTS, scheme)
        assert similarity_to_store(QUERY, rows, str(scheme)).equals(similarity_to_store(QUERY, rows, scheme))


@pytest.mark.parametrize("name", ["s0-unicode14-words5-affine64-32x8-seed1-16bit", "s1-unicode99-words5", ""])
def test_a_store_that_this_release_cannot_sign_for_is_refused_with_both_schemes(name):
    with pytest.raises(SchemeMismatchError, match="but s1-unicode14-words5-affine64-32x8-seed1-16bit is") as caught:
        similarity_to_store(QUERY, stored(TEXTS, Scheme()), name)
    assert f"has scheme {name}," in str(caught.value)


@pytest.mark.parametrize("change", [{"seed": 2}, {"bands": 16}])
def test_a_minhash_of_other_permutations_is_refused_with_both_schemes(change):
    other = replace(Scheme(), **change)
    with pytest.raises(SchemeMismatchError, match="seed=1, scheme='affine64'") as caught:
        similarity_to_store(sketch_of(QUERY, other), stored(TEXTS, Scheme()), Scheme())
    assert f"affine64-{other.permutations}-seed{other.seed}" in str(caught.value)
    assert str(Scheme()) in str(caught.value)


def test_a_minhash_of_another_family_is_refused():
    with pytest.raises(SchemeMismatchError, match="affine32-256-seed1"):
        similarity_to_store(MinHash(256, scheme="affine32"), stored(TEXTS, Scheme()), Scheme())


def test_rows_of_another_width_are_refused_with_both_schemes():
    with pytest.raises(SchemeMismatchError, match=r"112 permutations of 16 bits, but s1-.*-32x8-"):
        similarity_to_store(QUERY, stored(TEXTS, Scheme(bands=14)), Scheme())


def test_a_query_without_shingles_is_refused():
    with pytest.raises(UsageError, match=r"fewer than 5 words.*content_hash"):
        similarity_to_store("only four words here", stored(TEXTS, Scheme()), Scheme())
    with pytest.raises(UsageError, match="the MinHash is empty"):
        similarity_to_store(MinHash(256, scheme="affine64"), stored(TEXTS, Scheme()), Scheme())
