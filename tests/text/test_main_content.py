"""The main content, and the pages of which resiliparse's rules leave too little."""

import pickle

import pytest

from dedup_lib.text.main_content import Extraction
from dedup_lib.text.options import ReadOptions
from dedup_lib.text.page import read_page

PROSE = "The quick brown fox jumps over the lazy dog near the river bank, and nobody there takes any notice of it. " * 4
NAVIGATION = "<ul>" + "".join(f"<li><a href=/{n}>Chapter number {n}</a>" for n in range(30)) + "</ul>"


def member_index(letter):
    """A page of a generated manual, as doxygen writes them: a heading, and members that are links."""
    members = "".join(f"<li>{letter}{n}()&#160;: <a href=a{n}.html>std::{letter}{n}_engine</a></li>" for n in range(80))
    return (
        f"<html><head><title>{letter}</title></head><body><div id=top><div id=projectname>libexample</div></div>"
        f"<div id=side-nav class=ui-resizable></div><div id=doc-content><div class=header><div class=headertitle>Class "
        f"Members</div></div><div class=contents><div class=textblock>Here is a list of all members:</div>"
        f"<ul>{members}</ul></div></div></body></html>"
    )


def test_indexes_that_differ_in_their_lists_alone_keep_them():
    first, second = read_page(member_index("b")), read_page(member_index("c"))
    assert first.text != second.text
    assert "std::b39_engine" in first.text
    assert "Class Members" in first.text
    assert first.extraction is second.extraction is Extraction.LENIENT


def test_a_short_list_below_a_heading_is_kept_too():
    pages = [
        read_page(
            f"<body><div><div><h3>Members</h3><ul><li><a href=x.html>{name}</a></ul></div></div>{' ' * 999}</body>"
        )
        for name in ("width", "weight")
    ]
    assert [page.text for page in pages] == ["Members\n• width", "Members\n• weight"]


@pytest.mark.parametrize(
    "around",
    [
        "<nav>{}</nav>",
        "<aside>{}</aside>",
        "<footer>{}</footer>",
        "<div role=navigation>{}</div>",
        '<div class="left sidebar">{}</div>',
        "<div id=menu>{}</div>",
        "<div class=breadcrumbs>{}</div>",
    ],
)
def test_what_calls_itself_navigation_is_in_no_lenient_text(around):
    page = read_page(member_index("b").replace("<div id=top>", around.format("<p>Elsewhere</p>" * 3) + "<div id=top>"))
    assert page.extraction is Extraction.LENIENT
    assert "Elsewhere" not in page.text


@pytest.mark.parametrize(
    ("around", "content"),
    [
        ("div class=sphinxsidebar", "div class=body"),
        ("nav", "div"),
        ("div", "div role=main"),
        ("div", "div id=content"),
    ],
)
def test_a_short_page_keeps_its_text_alone_beside_long_navigation(around, content):
    body = f"<{around}>{NAVIGATION * 3}</div></nav><{content}><h1>vdst</h1><p>Size: 1 dword.</p></div>"
    page = read_page(f"<body>{body}</body>")
    assert (page.text, page.extraction) == ("vdst\nSize: 1 dword.", Extraction.MAIN)


def test_prose_is_never_traded_for_the_lists_around_it():
    page = read_page(f"<body><article><h1>Fox</h1><p>{PROSE}</p></article>{NAVIGATION * 20}</body>")
    assert page.extraction is Extraction.MAIN
    assert "Chapter number 7" not in page.text


def test_comments_are_the_text_of_a_forum_and_not_of_an_article():
    posts = f"<article><p>{PROSE}</p></article><div><div class=comments><p>I beg to differ. {PROSE}</p></div></div>"
    assert "I beg to differ" not in read_page(f"<body>{posts}</body>").text
    for body in ('<body id="phpbb" class="section-viewtopic">', '<body class="forum">', '<body id="thread-4">'):
        assert "I beg to differ" in read_page(body + posts).text


def test_a_page_without_main_content_falls_back_to_all_of_it():
    page = read_page("<nav>Only navigation here</nav>")
    assert (page.text, page.extraction) == ("Only navigation here", Extraction.FALLBACK)
    assert read_page("").text == read_page("<script>x</script>").text == ""


@pytest.mark.parametrize("main_content", [True, False])
def test_a_page_that_scripts_would_fill_is_read_without_them(main_content):
    html = f"<body><div id=app></div><noscript><p>{PROSE}</p></noscript><script>start()</script></body>"
    assert read_page(html, ReadOptions(main_content=main_content)).text == PROSE.strip()


def test_the_whole_page_is_marked_as_asked_for():
    page = read_page(member_index("b"), ReadOptions(main_content=False))
    assert page.extraction is Extraction.FULL
    assert "libexample" in page.text


def test_options_travel_to_other_processes_and_key_caches():
    options = ReadOptions(main_content=False, engine="hybrid")
    assert pickle.loads(pickle.dumps(options)) == options
    assert len({options, ReadOptions(main_content=False, engine="hybrid"), ReadOptions()}) == 2
