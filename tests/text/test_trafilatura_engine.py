"""Trafilatura and the hybrid as engines."""

import subprocess
import sys

import pytest

from dedup_lib.errors import UsageError
from dedup_lib.text import trafilatura_engine
from dedup_lib.text.main_content import Extraction
from dedup_lib.text.options import ReadOptions
from dedup_lib.text.page import read_page

SENTENCES = [
    "The committee met on Tuesday to discuss the budget of the coming year and the repair of the old bridge.",
    "Several members asked for a new estimate, as prices of steel have risen by a fifth since the last one.",
    "A decision is expected in March, after the hearing of the neighbours and of the two engineering offices.",
]
ARTICLE = "".join(f"<p>{sentence}</p>\n\n" for sentence in SENTENCES)
PAGE = f"""<html><head><title>The bridge</title><base href="/base/"><link rel=canonical href="/bridge"></head><body>
<nav><ul><li><a href=/>Home</a></ul></nav><article><h1>The bridge</h1>{ARTICLE}</article>
<div class=comments><p>A reader disagrees with all of this, and at some length, too.</p></div></body></html>"""
installed = pytest.mark.skipif(trafilatura_engine.find_spec("trafilatura") is None, reason="the extra is not installed")


@installed
@pytest.mark.parametrize("engine", ["trafilatura", "hybrid"])
def test_text_is_in_blocks_and_the_head_is_read_as_ever(engine):
    page, other = read_page(PAGE, ReadOptions(engine=engine)), read_page(PAGE)
    assert page.extraction is Extraction.TRAFILATURA
    assert page.text.split("\n")[-3:] == SENTENCES
    assert (page.title, page.base_href, page.canonical_links) == (other.title, other.base_href, other.canonical_links)
    assert "A reader disagrees" not in page.text


@installed
def test_the_whole_page_needs_no_engine():
    assert read_page(PAGE, ReadOptions(False, "hybrid")) == read_page(PAGE, ReadOptions(False))


@installed
@pytest.mark.parametrize("engine", ["trafilatura", "hybrid"])
def test_resiliparse_stands_in_where_trafilatura_finds_nothing(engine, monkeypatch):
    monkeypatch.setattr(trafilatura_engine._library(), "extract", lambda html, **options: None)
    assert read_page(PAGE, ReadOptions(engine=engine)) == read_page(PAGE)


@installed
@pytest.mark.parametrize(("share", "extraction"), [(0.4, Extraction.MAIN), (0.6, Extraction.TRAFILATURA)])
def test_the_hybrid_takes_resiliparse_where_trafilatura_keeps_less_than_half(share, extraction, monkeypatch):
    length = round(share * len(read_page(PAGE).text))
    monkeypatch.setattr(trafilatura_engine._library(), "extract", lambda html, **options: "x" * length)
    assert read_page(PAGE, ReadOptions(engine="hybrid")).extraction is extraction
    assert read_page(PAGE, ReadOptions(engine="trafilatura")).extraction is Extraction.TRAFILATURA


@installed
@pytest.mark.parametrize("error", [ValueError, AttributeError, RecursionError])
def test_a_fault_of_trafilatura_is_a_page_without_its_text(error, monkeypatch):
    def fail(html, **options):
        raise error("odd tree")

    monkeypatch.setattr(trafilatura_engine._library(), "extract", fail)
    assert read_page(PAGE, ReadOptions(engine="trafilatura")) == read_page(PAGE)


@installed
def test_a_text_depends_on_its_page_alone():
    pages = [PAGE, PAGE.replace("bridge", "tunnel"), f"<body><div>{ARTICLE}{ARTICLE}</div>", f"<p>{SENTENCES[0]}"] * 3
    options = ReadOptions(engine="trafilatura")
    forwards = [read_page(page, options) for page in pages]
    backwards = [read_page(page, options) for page in reversed(pages)]
    assert forwards == backwards[::-1]
    assert forwards[:4] * 3 == forwards


@pytest.mark.parametrize("engine", ["trafilatura", "hybrid"])
def test_an_engine_that_is_not_installed_says_what_to_install(engine, monkeypatch):
    monkeypatch.setattr(trafilatura_engine, "find_spec", lambda name: None)
    trafilatura_engine._library.cache_clear()
    with pytest.raises(UsageError, match=r"pip install crawl-dedup\[trafilatura\]"):
        trafilatura_engine.require_engine(engine)
    with pytest.raises(UsageError, match="needs trafilatura"):
        read_page(PAGE, ReadOptions(engine=engine))
    trafilatura_engine.require_engine("resiliparse")


def test_nothing_of_trafilatura_is_imported_for_resiliparse():
    program = (
        "import sys; from dedup_lib.text import read_page; read_page('<p>text'); "
        "sys.exit(any(name.partition('.')[0] in {'trafilatura', 'lxml', 'justext'} for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
