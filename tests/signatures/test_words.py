"""The word rule: our kernel's words are those of the definition, on every script and every broken byte."""

import importlib.util
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dedup_lib.signatures import Scheme, sign_texts
from dedup_lib.signatures import normalisation as normalisation_module
from dedup_lib.signatures.kernels import decode
from dedup_lib.signatures.texts import prepare_text
from dedup_lib.signatures.unicode_tables import unicode_tables
from signatures.reference import (
    TRICKY,
    TRICKY_TEXTS,
    kernel_words,
    known_in_unicode_14,
    reference_words,
)

SHARED_WORDS = Path(__file__).parents[3] / "shared" / "corpus" / "words.py"


class Bijection:
    """Remembers which hash stands for which word; neither may ever stand for another."""

    def __init__(self):
        self.hash_of = {}
        self.word_of = {}

    def check_text(self, text):
        """Of the text, and of its words written in lower case with spaces, where that is a text of the same words."""
        words = reference_words(text)
        self.check(words, kernel_words(text), text)
        spelled = " ".join(words)
        if spelled != text and reference_words(spelled) == words:
            self.check(words, kernel_words(spelled), spelled)

    def check(self, words, hashes, text):
        assert len(words) == len(hashes), ascii(text)
        for word, value in zip(words, hashes.tolist(), strict=True):
            assert self.hash_of.setdefault(word, value) == value, ascii((text, word))
            assert self.word_of.setdefault(value, word) == word, ascii((text, word))


EVERY_WORD = Bijection()


@settings(max_examples=1000, deadline=None)
@given(TRICKY_TEXTS)
def test_words_of_any_text_are_those_of_the_definition(text):
    assume(known_in_unicode_14(text))
    EVERY_WORD.check_text(text)


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="this Python has another Unicode")
def test_every_assigned_code_point_is_classed_lower_cased_and_normalised_as_defined():
    skipped = [range(0x3500, 0x4D00), range(0x5000, 0x9F00), range(0xAD00, 0xD700), range(0x20100, 0x40000)]
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if unicodedata.category(char) in ("Cn", "Co", "Cs") or any(code in part for part in skipped):
            continue
        text = f"x{char}y {char}z"
        EVERY_WORD.check(reference_words(text), kernel_words(text), text)


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="this Python has another Unicode")
def test_every_mark_beside_every_tricky_character_gives_the_words_of_the_definition():
    combining = [char for char in set(TRICKY) if unicodedata.category(char)[0] == "M"]
    for first in combining:
        for second in set(TRICKY):
            for text in (f"a{first}{second}", f"a{second}{first}Α"):
                EVERY_WORD.check_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "ΑΣ",
        "ΣΑ",
        "Σ",
        "ΑΣ\u0301Α",
        "ΑΣ\u0e46Α",
        "ΑΣ.Α",
        "ΑΣ'",
        "Α漢Σ",
        "\u0345Σ",
        "1Σ",
        "Α\u00adΣ",
        "\u0130Σ",
        "_Σ",
        "ΣΣ ΣΣ",
    ],
)
def test_capital_sigma_is_lower_cased_by_its_place_in_the_word_alone(text):
    EVERY_WORD.check_text(text)


@pytest.mark.parametrize(
    "marks", ["\u20d0\u0316", "\u0591\u05b0", "\u0f72\u0f71", "\u064b\u0655\u0652", "\u20d0a\u0316"]
)
def test_marks_are_put_in_canonical_order(marks):
    for text in (f"a{marks}", f"a{marks}b{marks}", f"x {marks}y{marks}"):
        EVERY_WORD.check_text(text)


@pytest.mark.skipif(not SHARED_WORDS.exists(), reason="the workspace's word rule is not here")
def test_words_are_those_of_the_rule_that_the_truth_is_made_with():
    spec = importlib.util.spec_from_file_location("shared_words", SHARED_WORDS)
    rule = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rule)

    @settings(max_examples=500, deadline=None)
    @given(TRICKY_TEXTS)
    def check(text):
        assume(known_in_unicode_14(text))
        EVERY_WORD.check([word.lower() for word in rule.words_of(text)], kernel_words(text), text)

    check()


def test_no_code_point_that_unicode_14_has_not_assigned_reaches_the_running_python(monkeypatch):
    classes = unicode_tables().classes
    seen = []

    class LaterUnicode:
        @staticmethod
        def normalize(form, text):
            seen.extend(text)
            return unicodedata.normalize(form, text)

    monkeypatch.setattr(normalisation_module, "unicodedata", LaterUnicode)
    prepared = prepare_text("a\U00010efd\u0301 Σ\U0001e08f\u0378 e\u0301")
    assert prepared == "a \u0301 σ   é"
    assert all(classes[ord(char)] or char == " " for char in seen)


@given(st.binary(max_size=40) | st.lists(st.sampled_from(b"\x80\xbf\xc2\xe0\xe2\xed\xf0\xf4\xff\x93aZ ")).map(bytes))
@settings(max_examples=600, deadline=None)
def test_bytes_that_are_no_utf8_read_as_replacement_characters(raw):
    assert kernel_words(raw).tolist() == kernel_words(raw.decode("utf-8", "replace")).tolist()


@given(st.text(st.characters(exclude_categories=["Cs"])), st.binary(max_size=4))
@settings(max_examples=300, deadline=None)
def test_decoding_agrees_with_python_and_never_reads_past_the_end(text, tail):
    data = np.frombuffer(text.encode() + tail, np.uint8)  # in plain Python, reading past the end is an IndexError
    at, end, codes = np.uint64(0), np.uint64(len(data)), []
    while at < end:
        ascii_here = data[at] < 0x80
        code, at = (data[at], at + np.uint64(1)) if ascii_here else decode.py_func(data, at, end)
        codes.append(int(code))
    assert at == end
    assert codes[: len(text)] == [ord(char) for char in text]


def test_a_text_cut_in_a_character_does_not_read_on_into_the_next_text():
    cut = "one two three four five 漢".encode()[:-1]
    follow = [b"\xa2\xa2\xa2", b"plain", b""]
    keys = [sign_texts(pa.array([cut, after], pa.binary()), Scheme()).bands[0].tolist() for after in follow]
    assert keys[0] == keys[1] == keys[2]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.binary(max_size=60), max_size=8))
def test_a_binary_column_of_any_bytes_is_signed_as_its_text(raws):
    signed = sign_texts(pa.array(raws, pa.binary()), Scheme(shingle_words=2)).to_arrow()
    decoded = pa.array([raw.decode("utf-8", "replace") for raw in raws], pa.string())
    assert signed == sign_texts(decoded, Scheme(shingle_words=2)).to_arrow()
