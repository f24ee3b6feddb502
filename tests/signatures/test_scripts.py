"""In every script an edit costs what theory says, strangers are strangers, and form, case and spaces do not matter."""

import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_lib.signatures import Scheme, sign_texts
from signatures.reference import reference_words
from signatures.script_texts import (
    LANGUAGES,
    PAIRS,
    WITHOUT_SPACES,
    edited,
    edited_pairs,
    planned_similarity,
    prose,
    similarities,
    unrelated_pairs,
    written,
)

SCHEME = Scheme()
LONGEST = 14  # sentences of a text for the property tests
SPACES = "\u00a0\u2007\u202f\u3000\t\n"
ENDS = st.text(st.sampled_from(" \r" + SPACES), min_size=1, max_size=5)
SCRIPTS = st.sampled_from(sorted(LANGUAGES))
NUMBERS = st.integers(0, PAIRS - 1)


def signature(text):
    return pa.table(sign_texts(pa.array([text]), SCHEME).to_arrow()).to_pylist()[0]


def short_text(script, number):
    return written(script, prose(script, number)[:LONGEST])


@pytest.mark.parametrize("script", LANGUAGES)
def test_an_edited_text_of_a_script_is_as_alike_as_theory_says(script):
    found = similarities(edited_pairs(script), SCHEME)
    texts = [prose(script, number) for number in range(PAIRS)]
    planned = [planned_similarity(script, text, edited(script, text, n)) for n, text in enumerate(texts)]
    assert min(planned) > 0.75
    assert max(planned) < 0.95
    assert np.abs(found.exact - planned).max() < 0.01  # a shingle that occurs twice is what arithmetic leaves out
    errors = np.sqrt(found.exact * (1 - found.exact) / SCHEME.permutations)
    assert np.all(np.abs(found.estimated - found.exact) <= 4 * errors)
    error_of_mean = np.sqrt((errors**2).sum()) / PAIRS
    assert abs(found.estimated.mean() - found.exact.mean()) <= 3 * error_of_mean


@pytest.mark.parametrize("script", LANGUAGES)
def test_unrelated_prose_of_a_script_is_estimated_below_a_tenth(script):
    found = similarities(unrelated_pairs(script), SCHEME)
    assert len(found.estimated) == PAIRS * (PAIRS - 1) / 2
    assert found.estimated.max() < 0.1
    errors = np.sqrt(found.exact * (1 - found.exact) / SCHEME.permutations)
    assert np.all(np.abs(found.estimated - found.exact) <= 4 * errors + 1 / SCHEME.permutations)


@pytest.mark.parametrize("script", LANGUAGES)
def test_words_of_white_space_would_lose_the_edited_texts_of_scripts_without_spaces_alone(script):
    """Why a character is the unit there: a whole sentence would be one word, and one edit another word."""
    found = similarities(edited_pairs(script), SCHEME)
    if script in WITHOUT_SPACES:
        assert found.by_white_space.max() < 0.5 < found.estimated.min()
    else:
        assert np.abs(found.by_white_space - found.exact).max() < 0.02


def test_the_scripts_without_spaces_are_han_kana_and_thai():
    assert WITHOUT_SPACES == ("Han", "Kana", "Thai")


@settings(max_examples=60, deadline=None)
@given(SCRIPTS, NUMBERS, ENDS, st.data())
def test_white_space_at_the_end_and_no_break_spaces_between_words_change_no_signature(script, number, end, data):
    text = short_text(script, number)
    moved = "".join(data.draw(st.sampled_from(SPACES)) if char == " " else char for char in text)
    assert signature(text + end) == signature(moved) == signature(text)


@settings(max_examples=60, deadline=None)
@given(SCRIPTS, NUMBERS, st.sampled_from(["NFC", "NFD"]), st.sampled_from([str.upper, str.lower, str.title, str]))
def test_case_and_unicode_form_change_no_signature_in_any_script(script, number, form, in_case):
    text = short_text(script, number)
    other = unicodedata.normalize(form, in_case(text))
    assert reference_words(other) == reference_words(text), "the sample has no letter whose case cannot be undone"
    assert signature(other) == signature(text)


@settings(max_examples=30, deadline=None)
@given(SCRIPTS, SCRIPTS, NUMBERS)
def test_a_text_that_mixes_scripts_has_the_shingles_of_each(one, other, number):
    """Each side keeps its own unit: what mixing adds is the shingles across the seam."""
    sides = [short_text(one, number), short_text(other, number)]
    alone = [signature(side)["shingles"] for side in sides]
    assert alone == [len(reference_words(side)) - 4 for side in sides]
    assert signature("\n".join(sides))["shingles"] == sum(alone) + 4
