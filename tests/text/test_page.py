import time

import pytest

from dedup_lib.archives.faults import Reason
from dedup_lib.text.caps import PageLimits, too_complex
from dedup_lib.text.content_type import Kind, document_kind
from dedup_lib.text.document import read_document
from dedup_lib.text.language import detect_language
from dedup_lib.text.main_content import Extraction
from dedup_lib.text.options import ReadOptions
from dedup_lib.text.page import PageContent, PageRefused, Refusal, read_page

ARTICLE = "<p>" + "The quick brown fox jumps over the lazy dog near the river bank. " * 8 + "</p>"
PAGE = f"""<!doctype html><html><head><title> A \n title </title><base href="/base/">
<link rel="Canonical" href=" /a "><link rel="alternate" href="/b"><LINK REL="x canonical" href="/c"></head>
<body><nav><ul><li><a href=/>Home</a></ul></nav><article><h1>Fox</h1>{ARTICLE * 3}</article>
<link rel=canonical href=/body><footer>Imprint</footer></body></html>"""


def test_a_page_is_read_once_for_text_title_and_declared_addresses():
    page = read_page(PAGE, ReadOptions())
    assert isinstance(page, PageContent)
    assert page.title == "A title"
    assert page.base_href == "/base/"
    assert page.canonical_links == ["/a", "/c"]
    assert page.extraction is Extraction.MAIN
    assert "quick brown fox" in page.text
    assert "Imprint" not in page.text
    assert "Imprint" in read_page(PAGE, ReadOptions(main_content=False)).text
    assert all(line and line == line.strip() for line in page.text.split("\n"))


@pytest.mark.parametrize(
    ("html", "what"),
    [
        ("<div>" * 200_000, "nested 200000 deep"),
        ("<DIV CLASS=a>" * 20_000 + "</div>" * 20_000, "nested 20000 deep"),
        ("<b>" * 30_000, "nested"),
        ("<select>" + "<option>x" * 100_000, "100000 options"),
        ("<a " + " ".join(f"a{n}=1" for n in range(100_000)) + ">", "attributes"),
    ],
)
def test_poison_is_refused_at_once(html, what):
    start = time.perf_counter()
    page = read_page(html)
    assert time.perf_counter() - start < 1
    assert isinstance(page, PageRefused)
    assert page.reason is Refusal.TOO_DEEP
    assert what in page.detail


def test_honest_large_pages_are_not_refused():
    limits = PageLimits()
    flat = "<p>word<br><img src=x><li>item<td>cell<a href=y>link</a>" * 20_000
    assert too_complex(flat, limits) is None
    rows = "<table>" + "<tr><td><div><span>1</span></div></td></tr>" * 20_000 + "</table>"
    assert too_complex(rows, limits) is None
    assert too_complex('<img src="data:image/png;base64,' + "A" * 500_000 + '">' + ARTICLE, limits) is None
    assert too_complex("<div data-json='" + '{"a": 1, ' * 20_000 + "'>x</div>", limits) is None


def test_sizes_are_capped_on_both_sides():
    assert read_page("<p>" + "a" * 100, ReadOptions(limits=PageLimits(max_html_chars=50))).reason is Refusal.TOO_LARGE
    assert read_page("<p>" + "a" * 100, ReadOptions(limits=PageLimits(max_text_chars=50))).reason is Refusal.TOO_LARGE


def test_refusals_are_reasons_of_the_closed_list():
    assert {reason.value for reason in Refusal} <= {reason.value for reason in Reason}


def test_lone_surrogates_and_nul_bytes_do_not_raise():
    assert isinstance(read_page("<p>a\ud800b</p>"), PageRefused | PageContent)
    assert read_page("<p>a\0b</p>").text == "ab"


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/html; charset=utf-8", b"", Kind.HTML),
        ("Application/XHTML+XML", b"", Kind.HTML),
        ("text/plain", b"", Kind.PLAIN),
        ("image/png", b"<html>", Kind.OTHER),
        ("application/pdf", b"%PDF", Kind.OTHER),
        (None, b"\n<!DOCTYPE html><p>x", Kind.HTML),
        ("", b"just words\n", Kind.PLAIN),
        (None, b"\x89PNG\r\n\x1a\n\0", Kind.OTHER),
        (None, b"", Kind.OTHER),
        ("application/octet-stream", b"<html><body>", Kind.HTML),
        (None, b"<?xml version='1.0'?><rss>", Kind.OTHER),
        (None, b"caf\xe9 au lait and much more", Kind.OTHER),
        (None, ("é" * 511 + "x").encode() + "é".encode() * 9, Kind.PLAIN),
    ],
)
def test_which_responses_are_documents(content_type, body, kind):
    assert document_kind(content_type, body) is kind


def test_a_document_from_bytes():
    document = read_document(PAGE.encode("utf-16"), Kind.HTML, None)
    assert (document.charset, document.language, document.content.title) == ("utf-16-le", "en", "A title")
    plain = read_document(
        "Erste Zeile\r\n\r\n  der Hund schläft unter dem Tisch und träumt von der Katze \r\n".encode(), Kind.PLAIN, None
    )
    assert plain.content.text == "Erste Zeile\nder Hund schläft unter dem Tisch und träumt von der Katze"
    assert (plain.language, plain.content.extraction) == ("de", Extraction.PLAIN)


def test_short_texts_have_no_language():
    assert detect_language("") == detect_language(" " * 50) == detect_language("ok") == "unknown"
    assert (
        detect_language(
            "これは日本語で書かれた文章です。今日はとても良い天気ですね。昨日、東京の大学で新しい研究が発表されました。"
            "研究者たちは、長い時間をかけて実験を行い、その結果を論文にまとめました。"
        )
        == "ja"
    )
