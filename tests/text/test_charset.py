import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.archives.reader import ArchiveReader
from dedup_lib.text.charset import charset_of, decode_html
from dedup_lib.text.charset_labels import codec_of

DERIVED = Path(__file__).parents[3] / "shared" / "warcs" / "derived"


@pytest.mark.parametrize(
    ("body", "label", "text", "codec"),
    [
        (b"\xef\xbb\xbfcaf\xc3\xa9", "latin-1", "café", "utf-8"),
        ("Grüße".encode("utf-16"), None, "Grüße", "utf-16-le"),
        ("<p>plain text</p>".encode("utf-16-be"), None, "<p>plain text</p>", "utf-16-be"),
        ("Grüße".encode(), "iso-8859-1", "Grüße", "utf-8"),
        (b"caf\xe9", "iso-8859-1", "café", "cp1252"),
        (b"caf\xe9 \x93x\x94", "utf-8", "café “x”", "cp1252"),
        ("Привет, мир".encode("cp1251"), "windows-1251", "Привет, мир", "cp1251"),
        (b'<meta charset="iso-8859-1">m\xf6\xf6se', None, '<meta charset="iso-8859-1">mööse', "cp1252"),
        ('<meta charset="koi8-r">Привет'.encode("koi8-r"), "ISO-8859-1", '<meta charset="koi8-r">Привет', "koi8-r"),
        ("똠방각하".encode("cp949"), "euc-kr", "똠방각하", "cp949"),
        ("①㈱髙".encode("cp932"), "Shift_JIS", "①㈱髙", "cp932"),
        ("漢字とかな".encode("iso2022_jp"), "iso-2022-jp", "漢字とかな", "iso2022_jp"),
        (b"", None, "", "utf-8"),
        (b"nothing \xe9lse", "no-such-charset", "nothing élse", None),
        (b"caf\xe9", "rot13", None, None),
    ],
)
def test_the_order_of_evidence(body, label, text, codec):
    decoded, name = decode_html(body, label)
    assert text in {None, decoded}
    assert codec in {None, name}


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("gb2312", "gb18030"),
        ("ks_c_5601-1987", "cp949"),
        ("TIS-620", "cp874"),
        ("big5", "big5hkscs"),
        ('"utf-8"', "utf-8"),
        ("x-sjis", "cp932"),
        ("x-mac-cyrillic", "mac-cyrillic"),
        ("x-cp1251", "cp1251"),
        ("hex", None),
        ("utf-7", None),
        ("ünknown\0", None),
        ("unicode-1-1-utf-8", "utf-8"),
        ("iso88592", "iso8859-2"),
        ("csISO88596E", "iso8859-6"),
        ("ISO-8859-8-I", "iso8859-8"),
        ("iso88591", "cp1252"),
        ("logical", "iso8859-8"),
        ("csisolatin9", "iso8859-15"),
        ("koi8", "koi8-r"),
        ("dos-874", "cp874"),
        ("x-mac-ukrainian", "mac-cyrillic"),
        ("csgb2312", "gb18030"),
        ("cn-big5", "big5hkscs"),
        ("cseucpkdfmtjapanese", "euc_jp"),
        ("ks_c_5601-1989", "cp949"),
    ],
)
def test_labels_of_the_web(label, codec):
    assert codec_of(label) == codec or (codec == "mac-cyrillic" and codec_of(label) == "mac_cyrillic")


RUSSIAN, GERMAN = (
    "Привет, мир, это страница",
    "Grüße aus Köln, schöne Tage für müde Füße übers Jähr dürfen gewählt werden äöü",
)


@pytest.mark.parametrize(
    ("text", "codec", "label"),
    [
        ("한국어 페이지입니다 똠방각하", "cp949", "euc-kr"),
        ("這是一個中文網頁，台灣大學", "big5", "big5"),
        ("这是一个中文页面，北京大学", "gb18030", "gb2312"),
        ("これは日本語のページです。東京", "euc_jp", "euc-jp"),
        (RUSSIAN, "utf-8", "utf-8"),
        (GERMAN, "utf-8", "iso-8859-1"),
    ],
)
def test_a_page_cut_within_a_character_stays_in_its_charset(text, codec, label):
    body = f"<meta charset={label}><p>{text}".encode(codec)
    for declared in (body, body.replace(f"<meta charset={label}>".encode(), b"")):
        assert decode_html(declared[:-1], label)[0].rstrip("\ufffd").endswith(text[:-1])


@pytest.mark.parametrize(
    ("text", "codec", "label", "stray"),
    [
        (RUSSIAN, "cp1251", "windows-1251", b"\x98"),
        ("Zażółć gęślą jaźń, proszę państwa", "cp1250", "windows-1250", b"\x81"),
        ("Καλημέρα κόσμε, αυτή είναι μια σελίδα", "iso8859-7", "iso-8859-7", b"\xff"),
        (GERMAN, "utf-8", "utf-8", b"\xe4"),
        (GERMAN, "utf-8", None, b"\xe4"),
    ],
)
def test_a_stray_byte_costs_one_character_and_not_the_page(text, codec, label, stray):
    decoded, _codec = decode_html(text.encode(codec) + b" " + stray + b" " + text.encode(codec), label)
    assert decoded == f"{text} \ufffd {text}"


@pytest.mark.parametrize(
    ("body", "header", "text"),
    [
        (RUSSIAN.encode("cp1251"), "utf-8", RUSSIAN),
        (RUSSIAN.encode(), "windows-1251", RUSSIAN),
        (f'<meta charset="windows-1251">{RUSSIAN}'.encode("cp1251"), "utf-8", RUSSIAN),
        (f'<meta charset="utf-16">{RUSSIAN}'.encode(), None, RUSSIAN),
        (GERMAN.encode("cp1252"), "utf-8", GERMAN),
        (f"<html><body>{RUSSIAN}</body></html>".encode("utf-16-le"), "windows-1251", RUSSIAN),
        (f"<html><body>{RUSSIAN}</body></html>".encode("utf-16-be"), None, RUSSIAN),
        (b"\xff\xfe" + RUSSIAN.encode("utf-16-le"), "utf-8", RUSSIAN),
        (b"\xfe\xff" + RUSSIAN.encode("utf-16-be"), "koi8-r", RUSSIAN),
    ],
)
def test_a_header_that_lies(body, header, text):
    assert text in decode_html(body, header)[0]


@given(st.binary(max_size=300), st.sampled_from([None, "utf-16", "hz", "euc-kr", "utf-7", "cp037"]))
def test_no_bytes_raise(body, label):
    text, _codec = decode_html(body, label)
    text.encode("utf-8", "surrogatepass")


@pytest.mark.skipif(not DERIVED.is_dir(), reason="the shared archives are not here")
@pytest.mark.parametrize(
    ("name", "least"), [("charset-feeds", 273), ("charset-legacy-pages", 15), ("charset-transcoded-pages", 59)]
)
def test_real_pages_in_45_charsets(name, least):
    archive = DERIVED / f"{name}.warc.gz"
    gold = [json.loads(line) for line in (DERIVED / f"{name}.gold.jsonl").read_text().splitlines()]
    right = 0
    with archive.open("rb") as stream:
        for expected, record in zip(gold, ArchiveReader(stream, archive.stat().st_size), strict=True):
            text, _codec = decode_html(record.payload, charset_of(record.http_headers.get("content-type")))
            right += hashlib.sha256(text.encode()).hexdigest() == expected["decoded_sha256"]
    assert right >= least
