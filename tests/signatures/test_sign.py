"""A text's signature is its own: whatever the column, the neighbours, the length; and blind to form, case, spaces."""

import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dedup_lib.signatures import Scheme, sign_texts
from dedup_lib.signatures.kernels import CHUNK, band_keys
from dedup_lib.tables.schemas import SIGNATURES
from signatures.reference import (
    TRICKY_TEXTS,
    kernel_minima,
    kernel_shingles,
    random_words,
    reference_simhash,
    reference_words,
)

SCHEME = Scheme()
LONGEST = random_words(np.random.default_rng(10), 2 * CHUNK + 10)
SENTENCES = [
    "The quick brown fox jumps over the lazy dog",
    "Ο ΚΟΣΜΟΣ ΕΙΝΑΙ ΜΙΚΡΟΣ και ο ουρανός μεγάλος",
    "Cafe\u0301 au lait s'il vous plai\u0302t, garc\u0327on",
    "\u0130stanbul'da I\u015f\u0131k ve \u00e7i\u00e7ek var mi",
    "我能吞下玻璃而不伤身体",
    "ฉันกินกระจกได้ แต่มันไม่ทำให้ฉันเจ็บ",
    "나는 유리를 먹을 수 있어요 그래도 아프지 않아요",
    "मैं काँच खा सकता हूँ और मुझे उससे कोई चोट नहीं",
    "short text",
    "",
]


def rows_of(texts):
    """Signatures as a list of rows."""
    return pa.table(sign_texts(texts, SCHEME).to_arrow()).to_pylist()


def signature(text):
    return rows_of(pa.array([text]))[0]


ROWS = {text: signature(text) for text in SENTENCES} | {None: signature("")}


@pytest.mark.parametrize("windows", [1, *range(CHUNK - 1, CHUNK + 7), 2 * CHUNK - 1, 2 * CHUNK, 2 * CHUNK + 1])
def test_texts_around_the_end_of_a_chunk_equal_the_chunk_free_reference(windows):
    text = " ".join(LONGEST[: windows + 4])
    shingles = kernel_shingles(text)
    signed = sign_texts(pa.array([text]), SCHEME)
    simhash, order = reference_simhash(shingles)
    multipliers, offsets = SCHEME.maps
    mixed = shingles ^ shingles >> np.uint64(33)
    mixed *= np.uint64(0xFF51AFD7ED558CCD)
    mixed ^= mixed >> np.uint64(33)
    mixed *= np.uint64(0xC4CEB9FE1A85EC53)
    mixed ^= mixed >> np.uint64(33)
    minima = (multipliers[:, None] * mixed + offsets[:, None]).min(axis=1)
    keys = np.empty(SCHEME.bands, np.int64)
    band_keys(minima, SCHEME.rows, keys)
    assert signed.shingles[0] == windows == len(shingles)
    assert int(signed.simhash[0]) % 2**64 == simhash
    assert signed.simhash_weakest[0].tolist() == order[:16]
    assert signed.minhash[0].tolist() == minima.astype(np.uint16).tolist()
    assert signed.bands[0].tolist() == keys.tolist()
    assert kernel_minima(shingles, SCHEME).tolist() == minima.tolist()


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view()])
def test_every_kind_of_column_gives_the_same_rows(kind):
    texts = [None, *SENTENCES, None, SENTENCES[3]]
    column = pa.array(texts).cast(kind)
    assert rows_of(column) == [ROWS[text] for text in texts]
    assert rows_of(column.slice(3, 5)) == [ROWS[text] for text in texts[3:8]]
    chunked = pa.chunked_array([column.slice(2, 3), column.slice(0, 0), column.slice(5)])
    assert rows_of(chunked) == [ROWS[text] for text in texts[2:]]
    assert rows_of(pa.chunked_array([column.slice(4)])) == [ROWS[text] for text in texts[4:]]


def test_a_dictionary_and_a_column_without_type_are_read_too():
    assert rows_of(pa.array(SENTENCES).dictionary_encode()) == [ROWS[text] for text in SENTENCES]
    assert rows_of(pa.nulls(2)) == [ROWS[None]] * 2


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_columns_without_rows_or_without_bytes(kind):
    assert rows_of(pa.array([], kind)) == []
    assert rows_of(pa.chunked_array([], kind)) == []
    assert rows_of(pa.array(["", None, ""], kind)) == [ROWS[""]] * 3
    assert rows_of(pa.array([None, None], kind)) == [ROWS[""]] * 2


def test_a_null_whose_slot_holds_bytes_is_empty():
    full = pa.array([SENTENCES[0], SENTENCES[1]])
    validity = pa.array([False, True]).buffers()[1]
    hidden = pa.Array.from_buffers(pa.string(), 2, [validity, *full.buffers()[1:]])
    assert rows_of(hidden) == [ROWS[""], ROWS[SENTENCES[1]]]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(SENTENCES) | st.none() | TRICKY_TEXTS, max_size=8))
def test_a_signature_does_not_depend_on_the_neighbours(texts):
    assert rows_of(pa.array(texts, pa.string())) == [ROWS.get(text) or signature(text) for text in texts]


TEXTS = st.lists(st.sampled_from(SENTENCES) | TRICKY_TEXTS, min_size=1, max_size=5).map(" ".join)


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.text(st.sampled_from(" \t\r\n\u00a0\u2007\u202f\u3000"), min_size=1, max_size=4))
def test_spaces_around_and_between_words_do_not_matter(text, spaces):
    assert signature(text + spaces) == signature(spaces + text) == signature(text)
    assert signature(text.replace(" ", spaces)) == signature(text)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_unicode_form_does_not_matter(text):
    forms = [signature(unicodedata.normalize(form, text)) for form in ("NFC", "NFD")]
    assert forms[0] == forms[1] == signature(text)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_case_does_not_matter_where_it_can_be_undone(text):
    assume(reference_words(text.upper()) == reference_words(text))
    assert signature(text.upper()) == signature(text)


@pytest.mark.parametrize("text", [SENTENCES[0], SENTENCES[1].lower(), SENTENCES[2], "ДОМ дом улица ЛЕС поле ёж"])
def test_upper_case_is_signed_as_lower_case(text):
    assert text.upper().lower() == text.lower()
    assert signature(text.upper()) == signature(text.lower()) == signature(text.title())


def test_fewer_words_than_a_shingle_have_no_signature():
    column = pa.array(["one two three four", "", None, "one two three four five"])
    rows = rows_of(column)
    short = {"simhash": None, "simhash_weakest": None, "minhash": None, "bands": [], "shingles": 0}
    assert rows[:3] == [short] * 3
    assert rows[3]["shingles"] == 1
    assert len(rows[3]["bands"]) == 32
    assert len(rows[3]["minhash"]) == 512
    assert len(rows[3]["simhash_weakest"]) == 16


@pytest.mark.parametrize("texts", [[], ["", "x"], [None, SENTENCES[0]]])
def test_columns_have_the_types_of_the_table(texts):
    columns = sign_texts(pa.array(texts, pa.string()), SCHEME).to_arrow()
    expected = {field.name: field.type for field in SIGNATURES.arrow if field.name in columns}
    assert {name: column.type for name, column in columns.items()} == expected
    assert list(columns) == ["simhash", "simhash_weakest", "minhash", "bands", "shingles"]
    for column in columns.values():
        column.validate(full=True)
        assert len(column) == len(texts)
    for name in set(SIGNATURES.required) & set(columns):
        assert columns[name].null_count == 0


def test_bands_and_simhash_come_back_from_arrow_as_they_were_made():
    signed = sign_texts(pa.array(["", SENTENCES[0], "x", SENTENCES[4]]), SCHEME)
    columns = signed.to_arrow()
    assert columns["bands"].to_pylist() == [[], signed.bands[1].tolist(), [], signed.bands[3].tolist()]
    assert columns["simhash"].to_pylist() == [None, int(signed.simhash[1]), None, int(signed.simhash[3])]
    assert columns["simhash_weakest"][1].as_py() == bytes(signed.simhash_weakest[1])
