import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.archives.reader import ArchiveReader
from dedup_lib.text.charset import charset_of, codec_of, decode_html

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
    ],
)
def test_labels_of_the_web(label, codec):
    assert codec_of(label) == codec or (codec == "mac-cyrillic" and codec_of(label) == "mac_cyrillic")


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
