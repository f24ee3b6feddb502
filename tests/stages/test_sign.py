import numpy as np
import pyarrow as pa
import pytest
from clustering.sessions import frame_of
from clustering.texts import words

from dedup_lib.signatures import Scheme, sign_texts
from dedup_lib.stages import scan_of
from dedup_lib.stages.sign import sign
from dedup_lib.tables.schemas import IDENTITIES, SIGNATURES

from .rows import START, by_id, document, documents_frame

TEXT = " ".join(words(40, 1))
DOCUMENTS = [
    document(b"a", "http://a.org/?s=1", TEXT, policy_url="http://a.org/", url_key="a.org"),
    document(b"b", "http://a.org/?s=2", TEXT + " more", url_key="a.org"),
    document(b"c", "http://c.org/", "four words are few"),
    document(b"d", "http://d.org/", "five words are just enough"),
    document(b"e", "http://e.org/", TEXT) | {"fetched_at": None},
]
DAY = START.date()
NAMES = [
    (b"a", "http://a.org/", DAY, True, None, None),
    (b"b", "http://a.org/", DAY, False, b"a", None),
    (b"c", "http://c.org/settled", DAY, True, None, "rule"),
    (b"d", "http://d.org/", DAY, True, None, None),
    (b"e", "http://e.org/", DAY, True, None, None),
]


def signed_under(spark, scheme):
    frame = sign(scan_of(documents_frame(spark, DOCUMENTS)), frame_of(spark, IDENTITIES.arrow, NAMES), scheme)
    assert [(field.name, field.dataType) for field in frame.schema] == [
        (field.name, field.dataType) for field in SIGNATURES.spark
    ]
    return by_id(frame)


@pytest.fixture(scope="module")
def signed(spark):
    return signed_under(spark, Scheme())


def test_only_captures_that_won_their_key_are_signed(signed):
    assert set(signed) == {b"a", b"c", b"d", b"e"}


def test_a_row_carries_what_identifies_the_document_and_the_settled_name(signed):
    assert {name: signed[b"a"][name] for name in ("url", "url_key", "canonical_url", "content_hash", "scheme")} == {
        "url": "http://a.org/?s=1",
        "url_key": "a.org",
        "canonical_url": "http://a.org/",
        "content_hash": DOCUMENTS[0]["content_hash"],
        "scheme": str(Scheme()),
    }
    assert (signed[b"a"]["crawl_date"], signed[b"a"]["fetched_at"]) == (DAY, START)
    assert signed[b"c"]["canonical_url"] == "http://c.org/settled"
    assert signed[b"e"]["fetched_at"] is None


def test_a_row_has_the_signature_of_its_text(signed):
    expected = sign_texts(pa.array([TEXT]), Scheme())
    assert signed[b"a"]["shingles"] == 36  # 40 words
    assert np.frombuffer(signed[b"a"]["minhash"], np.uint16).tolist() == expected.minhash[0].tolist()
    assert signed[b"a"]["bands"] == expected.bands[0].tolist()
    assert signed[b"a"]["simhash"] == expected.simhash[0]
    assert signed[b"e"]["minhash"] == signed[b"a"]["minhash"]


def test_a_text_of_fewer_words_than_a_shingle_has_no_signature(signed):
    short = signed[b"c"]
    assert (short["shingles"], short["bands"]) == (0, [])
    assert [short[name] for name in ("minhash", "simhash", "simhash_weakest")] == [None, None, None]
    assert (signed[b"d"]["shingles"], len(signed[b"d"]["bands"])) == (1, 32)


def test_the_scheme_decides_the_widths_and_is_stamped_on_each_row(spark):
    scheme = Scheme(bands=4, rows=3, minhash_bits=32)
    found = signed_under(spark, scheme)
    assert {row["scheme"] for row in found.values()} == {str(scheme)}
    assert (len(found[b"a"]["bands"]), len(found[b"a"]["minhash"])) == (4, 4 * 3 * 4)


def test_moments_are_the_same_in_a_session_of_another_zone(spark, signed):
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        elsewhere = signed_under(spark, Scheme())
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    assert elsewhere[b"a"]["fetched_at"] == START  # an aware datetime: the moment counts, not how it is written
    assert elsewhere[b"a"]["crawl_date"] == DAY
    assert elsewhere[b"a"]["bands"] == signed[b"a"]["bands"]
