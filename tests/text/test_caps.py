import gzip
import time
from pathlib import Path

import pytest

from dedup_lib.text.caps import PageLimits, too_complex
from dedup_lib.text.charset import decode_html
from dedup_lib.text.content_type import Kind
from dedup_lib.text.guard import PageGuard, PageRequest
from dedup_lib.text.page import PageContent, PageRefused

LIMITS = PageLimits()
REAL_PAGES = Path("/work/shared/extraction")
NUMBERS = range(100_000)
# Each ran for 4 seconds to minutes before there was a cap on it (resiliparse 2.0.1).
POISON = {
    "nested elements": ("<div>" * 200_000, "nested 200000 deep"),
    "in capitals, closed": ("<DIV CLASS=a>" * 20_000 + "</DIV>" * 20_000, "nested 20000 deep"),
    "nested lists": ("<ul><li>x" * 5_000, "nested 5000 deep"),
    "templates in svg": ("<svg><template>" * 70_000, "nested 140000 deep"),
    "formatting with attributes": ("".join(f"<b a{n}>" for n in NUMBERS), "nested 100000 deep"),
    "options": ("<select>" + "<option>x" * 100_000, "100000 options"),
    "attributes": ("<a " + " ".join(f"a{n}=1" for n in NUMBERS) + ">", "a tag with 100000 attributes"),
    "quoted attributes": ("<a " + " ".join(f'a{n}=" "' for n in NUMBERS) + ">", "a tag with 100000 attributes"),
    "attributes without spaces": ("<a " + "".join(f"a{n}=''" for n in NUMBERS) + ">", "a tag with 100000 attributes"),
    "attributes of an end tag": ("</a/" + "/".join(f"a{n}" for n in NUMBERS) + ">", "a tag with 100001 attributes"),
    "attributes of many html tags": ("".join(f"<html a{n}>" for n in NUMBERS), "100000 html and body tags"),
    "items below a deep nest": ("<div>" * 1_900 + "<li>x" * 50_000, "51900 tags at an average depth of 1865"),
    "breaks below a deep nest": ("<div>" * 1_900 + "<br>x" * 50_000, "51900 tags at an average depth of 1865"),
    "words below a deep nest": ("<div>" * 1_900 + "<i>x</i>" * 30_000, "61900 tags at an average depth of 1871"),
}


@pytest.mark.parametrize("name", POISON)
def test_poison_is_refused_at_once_and_says_why(name):
    html, why = POISON[name]
    start = time.process_time()
    found = too_complex(html, LIMITS)
    assert time.process_time() - start < 0.5
    assert found is not None
    assert why in found


@pytest.mark.parametrize(
    "html",
    [
        "<p>word<br><img src=x><li>item<td>cell<a href=y>link</a>" * 20_000,
        "<table>" + "<tr><td><div><span>1</span></div></td></tr>" * 20_000 + "</table>",
        "<div>" * 60 + "<p>word <b>word</b> <a href=x>y</a></p>" * 60_000 + "</div>" * 60,
        '<img src="data:image/png;base64,' + "A" * 500_000 + '">',
        "<div data-json='" + '{"a": 1, ' * 20_000 + "'>x</div>",
        '<div style="' + "a: b; " * 20_000 + '">x</div>',
        "<script>for(i=0;i<f;i++){" + "a['b c'] = 'd \"e f'; " * 20_000 + "}</script>",
        "<html><body>" * 200,
        "a < b and c </ d " * 30_000,
    ],
)
def test_large_pages_as_they_are_found_are_not_refused(html):
    assert too_complex(html, LIMITS) is None


@pytest.mark.skipif(not REAL_PAGES.is_dir(), reason="the collection of real pages is not here")
def test_no_real_page_is_refused():
    files = sorted(REAL_PAGES.rglob("*.gz"))
    assert len(files) > 800
    reasons = {
        file.name: too_complex(decode_html(gzip.decompress(file.read_bytes()), None)[0], LIMITS) for file in files
    }
    assert {name: why for name, why in reasons.items() if why} == {}


def test_depth_is_what_the_tags_nest_and_not_what_they_imply():
    shallow = PageLimits(max_depth=3, max_options=0, max_roots=10)
    assert too_complex("<div><span><b>x</b></span></div>" * 3, shallow) is None
    assert too_complex("<div><p><li><td><div><br><b>x", shallow) is None
    assert too_complex("<div><p><div><x-y><B>", shallow) == "elements nested 4 deep"
    assert too_complex("</div></div><div><div><div><!-- <1 -->", shallow) is None


@pytest.mark.slow
def test_what_the_caps_let_pass_takes_seconds_at_most():
    """At the caps, a page may take some seconds; the time limit is for what nobody has thought of."""
    pages = [
        "<div>" * 1_990 + "x",
        "<select>" + "<option>x" * 4_990,
        "<a " + " ".join(f"a{n}" for n in range(3_900)) + ">",
        "<div>" * 1_900 + "<li>x" * 8_000,
        "".join(f"<html a{n}>" for n in range(1_990)),
    ]
    with PageGuard() as guard:
        found = list(guard.read([(None, PageRequest(page.encode(), Kind.HTML)) for page in pages]))
        assert guard.starts == 1
    assert all(not isinstance(result, PageRefused) for _, result in found)
    assert all(isinstance(result.content, PageContent) for _, result in found)
