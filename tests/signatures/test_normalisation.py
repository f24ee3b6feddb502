"""What the options of normalisation make alike, and that nothing else changes."""

import pickle
import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dedup_lib.signatures import Normalisation, Scheme, exact_jaccard, shingle_sets, sign_texts
from dedup_lib.signatures.kernels import NEEDS_PYTHON, hash_words
from dedup_lib.signatures.normalisation import PLAIN
from dedup_lib.signatures.texts import text_buffers
from dedup_lib.signatures.unicode_tables import stored_tables
from signatures.reference import TRICKY, TRICKY_TEXTS, kernel_words, known_in_unicode_14, reference_words
from signatures.script_texts import LANGUAGES, prose, written

NFKC = Normalisation("nfkc")
ZERO = Normalisation(digits="zero")
BOTH = Normalisation("nfkc", "zero")
COMPATIBLE = "".join(chr(code) for code in stored_tables().compatible.codes.tolist())


def plain_text(words):
    """A text of these words and no others; None where none can be written."""
    text = " ".join(words)
    return text if reference_words(text) == list(words) else None


@settings(max_examples=500, deadline=None)
@given(st.text(st.one_of(st.sampled_from(TRICKY), st.sampled_from(COMPATIBLE), st.sampled_from("aB 9")), max_size=16))
def test_words_under_nfkc_are_those_of_the_definition(text):
    assume(known_in_unicode_14(text))
    words = reference_words(text, "NFKC")
    spelled = plain_text(words)
    hashes = kernel_words(text, NFKC)
    assert len(hashes) == len(words), ascii(text)
    if spelled is not None:
        assert hashes.tolist() == kernel_words(spelled).tolist(), ascii(text)


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="this Python has another Unicode")
def test_every_compatible_character_is_read_as_its_compatible_form():
    for char in COMPATIBLE:
        for text in (f"x{char}y {char}z", f"{char}\u0301\u3099"):
            spelled = plain_text(reference_words(text, "NFKC"))
            if spelled is not None:
                assert kernel_words(text, NFKC).tolist() == kernel_words(spelled).tolist(), ascii(text)


@settings(max_examples=200, deadline=None)
@given(TRICKY_TEXTS)
def test_zero_reads_every_decimal_digit_as_zero_and_changes_nothing_else(text):
    assume(known_in_unicode_14(text))
    zeros = "".join("0" if unicodedata.category(char) == "Nd" else char for char in text)
    assume(reference_words(zeros, "NFC") == ["".join(map(as_zero, word)) for word in reference_words(text)])
    assert kernel_words(text, ZERO).tolist() == kernel_words(zeros).tolist(), ascii(text)


def as_zero(char):
    return "0" if unicodedata.category(char) == "Nd" else char


def test_full_width_and_plain_texts_are_alike_under_nfkc_alone():
    plain, wide = (
        "Release 2.0 of the file manager is out now",
        "Ｒｅｌｅａｓｅ　２．０　ｏｆ the ﬁle manager is out now",
    )
    for normalisation, similarity in ((NFKC, 1.0), (BOTH, 1.0)):
        sets = [shingle_sets(pa.array([text]), 5, normalisation) for text in (plain, wide)]
        assert exact_jaccard(*sets).tolist() == [similarity]
    assert exact_jaccard(*(shingle_sets(pa.array([text]), 5) for text in (plain, wide)))[0] < 0.5


def test_pages_that_differ_in_a_date_are_alike_under_zero_alone():
    texts = [
        f"Opening hours on {day} November {year} are as they always were here" for day, year in ((3, 2024), (9, 1999))
    ]
    assert exact_jaccard(*(shingle_sets(pa.array([text]), 5, ZERO) for text in texts)).tolist() == [1.0]
    assert exact_jaccard(*(shingle_sets(pa.array([text]), 5) for text in texts))[0] < 0.5


@pytest.mark.parametrize("normalisation", [NFKC, ZERO, BOTH])
def test_every_option_shows_in_the_scheme_and_comes_back_from_its_name(normalisation):
    scheme = Scheme(bands=14, normalisation=normalisation)
    assert str(scheme) != str(Scheme(bands=14))
    assert Scheme.parse(str(scheme)) == scheme


def test_a_signature_under_an_option_is_that_of_the_text_with_the_option_applied():
    texts = pa.array(["On 12 May ２０２４ ① the ﬁrst of many other words appeared"])
    spelled = pa.array(["on 00 may 0000 0 the first of many other words appeared"])
    signed = sign_texts(texts, Scheme(normalisation=BOTH))
    assert np.array_equal(signed.minhash, sign_texts(spelled, Scheme()).minhash)


def test_a_scheme_that_was_used_is_sent_to_tasks_without_its_tables():
    scheme = Scheme(normalisation=BOTH)
    sign_texts(pa.array(["one two three four five six"]), scheme)
    assert len(pickle.dumps(scheme.normalisation)) < 1000


@pytest.mark.parametrize("script", LANGUAGES)
def test_prose_in_nfc_is_never_left_to_python(script):
    text = unicodedata.normalize("NFC", written(script, prose(script, 0)))
    text = text.replace("\u03a3", "\u03c3")  # a capital sigma is left to Python, for its place in the word
    buffers = text_buffers(pa.array([text]))
    words = np.empty(len(buffers.data), np.uint64)
    assert hash_words(buffers.data, *buffers.offsets, *PLAIN.tables, False, words) > 100


def test_a_mark_that_would_join_is_left_to_python_and_one_that_would_not_is_taken():
    words = np.empty(16, np.uint64)

    def reads(text):
        buffers = text_buffers(pa.array([text]))
        return hash_words(buffers.data, *buffers.offsets, *PLAIN.tables, False, words) != NEEDS_PYTHON

    assert reads("\u0915\u093c")  # qa: its composed form is excluded from composition
    assert not reads("\u0928\u093c")  # joined to U+0929
    assert not reads("e\u0301")
    assert reads("q\u0301")
    assert not reads("q\u0301\u0323")  # not in canonical order
