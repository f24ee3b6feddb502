"""The content hash is its plain definition, and blind to what the definition leaves out."""

import hashlib
import re
import unicodedata

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dedup_lib.signatures import content_hashes
from dedup_lib.signatures.content_hash import content_hash
from signatures.reference import TRICKY_TEXTS

SPACES = " \t\n\r\x0b\x0c\x1c\x85\u00a0\u1680\u2003\u2007\u2009\u2028\u2029\u202f\u205f\u3000"
SPACED_TEXTS = st.lists(TRICKY_TEXTS | st.text(st.sampled_from(SPACES), max_size=3)).map("".join)


def plain_hash(text):
    text = unicodedata.normalize("NFC", text)
    text = re.sub("[\u00a0\u2007\u202f]", " ", text)
    text = re.sub(r"\s+", " ", text).strip(" ")
    return hashlib.sha256(text.lower().encode("utf-8")).digest()


@settings(max_examples=500, deadline=None)
@given(SPACED_TEXTS)
def test_content_hash_is_the_plain_definition(text):
    assert content_hash(text) == plain_hash(text)


def test_content_hash_of_a_known_text():
    expected = hashlib.sha256("café au lait".encode()).digest()
    assert content_hash("  CAFE\u0301\u202f\u00a0au\r\n\tLait\u2007") == expected
    assert content_hash("") == content_hash(" \u00a0\n") == hashlib.sha256(b"").digest()


@settings(max_examples=200, deadline=None)
@given(st.lists(TRICKY_TEXTS, min_size=1), st.data())
def test_kind_and_number_of_spaces_and_unicode_form_do_not_matter(parts, data):
    gaps = st.text(st.sampled_from(SPACES), min_size=1, max_size=3)
    spaced = "".join(part + data.draw(gaps) for part in parts)
    plain = " ".join(parts)
    form = data.draw(st.sampled_from(["NFC", "NFD"]))
    assert content_hash(unicodedata.normalize(form, spaced)) == content_hash(plain)


@settings(max_examples=200, deadline=None)
@given(TRICKY_TEXTS)
def test_case_does_not_matter_where_it_can_be_undone(text):
    text = unicodedata.normalize("NFC", text)
    upper = unicodedata.normalize("NFC", text.upper())
    assume(upper.lower() == text.lower())
    assert content_hash(text.upper()) == content_hash(text)


def test_different_words_have_different_hashes():
    texts = ["a b", "ab", "a, b", "b a", "á b", "a  b c", "ß", "ss"]
    assert len(set(map(content_hash, texts))) == len(texts)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary()])
def test_a_column_is_hashed_row_by_row_and_null_stays_null(kind):
    column = pa.array(["skipped", "One", None, "", "two"]).cast(kind)
    chunked = pa.chunked_array([column.slice(1, 2), column.slice(3)])
    for texts in (column.slice(1), chunked):
        hashes = content_hashes(texts)
        assert hashes.type == pa.binary()
        assert hashes.to_pylist() == [plain_hash("One"), None, plain_hash(""), plain_hash("two")]
    assert content_hashes(column.slice(0, 0)).to_pylist() == []


def test_a_string_that_is_no_utf8_is_hashed_as_its_replacement():
    broken = pa.Array.from_buffers(pa.string(), 1, pa.array([b"a\xffb"], pa.binary()).buffers())
    assert content_hashes(broken).to_pylist() == [plain_hash("a\ufffdb")]
