"""The pages: written in the charset they claim, and such that an extractor finds the main text and nothing else."""

from collections import Counter, defaultdict
from statistics import median

import pytest
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.lang import detect_fast

from dedup_lib.sample.dice import Dice
from dedup_lib.sample.lexicon import LANGUAGES
from dedup_lib.sample.prose import article, main_text, write_phrase
from dedup_lib.sample.responses import codec_of
from dedup_lib.sample.similarity import jaccard
from dedup_lib.sample.sites import boilerplate_of, site_of
from dedup_lib.sample.templates import LAYOUTS, render

HTML_KINDS = ("article", "product", "documentation", "calendar", "short", "empty", "truncated")


def extract(html):
    return extract_plain_text(html, main_content=True, alt_texts=False)


@pytest.fixture(scope="module")
def pages(sample, records):
    """(capture, response) of all HTML documents."""
    return [
        (capture, records.responses[capture.record_id])
        for capture in sample.planned.values()
        if capture.page.kind in HTML_KINDS
    ]


def test_charsets_decode(sample, pages):
    charset_of = {row["record_id"]: row["charset"] for row in sample.truth}
    seen = defaultdict(set)
    for capture, response in pages:
        charset = charset_of[capture.record_id]
        html = response.body.decode(charset)
        assert "\ufffd" not in html
        if capture.page.text is not None:
            assert write_phrase(capture.page.text.language, capture.page.text.title) in html
        seen[capture.page.site.language].add(charset)
    everything = set().union(*seen.values())
    assert everything >= {
        *("utf-8", "utf-16", "windows-1252", "iso-8859-1", "windows-1251", "koi8-r", "gbk", "gb18030", "gb2312"),
        *("shift_jis", "euc-jp", "euc-kr", "tis-620", "cp874", "windows-1256"),
    }
    assert all("utf-8" in charsets for charsets in seen.values())


def test_charsets_are_declared_in_all_ways(pages):
    ways = Counter(
        ("charset=" in response.http["Content-Type"], b"charset=" in response.body[:1024]) for _, response in pages
    )
    assert set(ways) == {(True, True), (True, False), (False, True), (False, False)}


def test_transfer_codings(pages):
    stored = [
        response.http for capture, response in pages if capture.page.transfer and capture.snapshot == "snapshot-a"
    ]
    assert sorted(headers.get("Content-Encoding", "") for headers in stored) == ["", "gzip"]
    assert all(headers["Transfer-Encoding"] == "chunked" for headers in stored)


def test_extraction_gives_the_generated_text(pages):
    closeness = defaultdict(list)
    for capture, response in pages[::4]:
        page = capture.page
        if page.text is not None and page.kind != "short":
            extracted = extract(response.body.decode(codec_of(page)))
            closeness[page.template].append(jaccard(extracted, main_text(page.text)))
    assert set(closeness) == set(LAYOUTS)
    for levels in closeness.values():
        assert len(levels) >= 10
        assert median(levels) >= 0.97
        assert min(levels) >= 0.9


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_boilerplate_stays_out(language, layout):
    site = site_of(language, "news")
    text = article(language, Dice("boilerplate test", language, layout), 300)
    extracted = extract(render(site, layout, text, Dice("advertisements")))
    boilerplate = boilerplate_of(site)
    assert jaccard(extracted, main_text(text)) >= 0.97
    for passage in (boilerplate.cookie_notice, boilerplate.footer, boilerplate.name, *boilerplate.advertisements):
        assert passage not in extracted


def test_odd_pages_extract_as_the_truth_says(pages):
    for capture, response in pages:
        page = capture.page
        html = response.body.decode(codec_of(page))
        if page.kind == "empty":
            assert extract_plain_text(html, main_content=False).strip() == ""
        elif page.kind == "truncated" or page.transfer or page.charset:
            assert jaccard(extract(html), main_text(page.content)) >= 0.97
        elif page.kind == "short":
            assert extract(html).strip() == main_text(page.content)


def test_captures_of_one_text_differ_in_bytes(pages):
    bodies = Counter(response.body for capture, response in pages if capture.page.kind != "empty")
    assert max(bodies.values()) == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_language_is_recognised(language):
    texts = [main_text(article(language, Dice("language test", language, index))) for index in range(30)]
    assert sum(detect_fast(text)[0] == language for text in texts) >= 27
