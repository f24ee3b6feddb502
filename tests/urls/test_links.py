"""Links against their base, Link headers, and the structural checks of a declared canonical."""

from functools import cache

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_lib.urls import (
    canonical_from_link_header,
    canonical_links,
    declared_canonical,
    declared_canonicals,
    identify_column,
    registrable_domain,
    resolve_link,
)

from .rules_for_tests import NO_RULES, product_rules, rules_with

PAGE = "https://www.shop.example/list/item?id=5&color=red"


def declared(page, candidates, base, rules):
    return declared_canonical(page, canonical_links(page, candidates, base) or [], rules)


@pytest.mark.parametrize(
    ("base", "href", "expected"),
    [
        (None, "c?x#y", "http://h.example/a/c?x#y"),
        (None, "", "http://h.example/a/b"),
        (None, "//g.example", "http://g.example/"),
        ("/en/", "c", "http://h.example/en/c"),
        ("", "c", "http://h.example/a/c"),
        ("data:text/html,x", "c", "http://h.example/a/c"),
        ("JavaScript:x", "c", "http://h.example/a/c"),
        ("http://[bad", "c", "http://h.example/a/c"),
        ("mailto:x", "c", None),
        ("mailto:x", "https://g.example/c", "https://g.example/c"),
        ("\ud800", "c", "http://h.example/a/c"),
        (None, "mailto:a@h.example", None),
        (None, "\ud800", None),
        (None, "x" * 70_000, None),
        (None, "http://", None),
    ],
)
def test_links_are_resolved_against_the_base_and_that_against_the_document(base, href, expected):
    assert resolve_link("http://h.example/a/b", base, href) == expected


def test_an_absolute_link_needs_no_readable_document_url():
    assert resolve_link("nonsense", None, "http://h.example/") == "http://h.example/"
    assert resolve_link("nonsense", None, "a") is None


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ('<http://h.example/a>; rel="canonical"', ["http://h.example/a"]),
        ("</a,b;c>;rel=Canonical", ["/a,b;c"]),
        ('<a>; rel=preload; as=style, , < b >; title="x, <y>; \\"z"; rel="shortlink canonical"', ["b"]),
        ('<a>; rel="alternate"; hreflang=de, <b>; rel=canonical', ["b"]),
        ("<a>; rel=alternate; rel=canonical", []),
        ('<a>; rel=canonical; anchor="/other"', []),
        ("<a>; rel=canonical, <b>; rel=canonical", ["a", "b"]),
        ("<a>; rel=canonical nonsense, <b>; rel=canonical", ["a"]),
        ("<a", []),
        ("", []),
        ('<a>; rel="canonical', []),
        ("<a>" + ";" * 10_000, []),
    ],
)
def test_link_headers_name_canonicals(header, expected):
    assert canonical_from_link_header(header) == expected


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [
        (["/list/item?id=5&gclid=1#x"], "https://www.shop.example/list/item?id=5"),
        (
            ["", "  ", "javascript:x", "/list/item?id=5", "HTTPS://www.shop.example/list/item?id=5"],
            "https://www.shop.example/list/item?id=5",
        ),
        (["https://m.shop.example/i/5"], "https://m.shop.example/i/5"),
        ([PAGE], "https://www.shop.example/list/item?color=red&id=5"),
        ([], None),
        (["/a", "/b"], None),
        (["https://other.example/list/item"], None),
        (["/"], None),
        (["https://shop.example"], None),
        (["/?id=5"], "https://www.shop.example/?id=5"),
    ],
)
def test_a_declared_canonical_is_one_page_of_the_same_site_and_not_its_root(candidates, expected):
    assert declared(PAGE, candidates, None, product_rules()) == expected


def test_users_of_one_hosting_domain_are_two_sites():
    assert declared("https://a.github.io/x", ["https://b.github.io/x"], None, product_rules()) is None
    assert registrable_domain("www.a.github.io") == "a.github.io"
    assert registrable_domain("192.0.2.1") is None


@pytest.mark.parametrize("host", ["192.0.2.1", "[::1]", "localhost", "github.io"])
def test_hosts_without_a_registrable_domain_are_their_own_site(host):
    rules = product_rules()
    assert declared(f"http://{host}:81/a?x", ["/a"], None, rules) == f"http://{host}:81/a"
    assert declared(f"http://{host}/a", ["http://192.0.2.2/a"], None, rules) is None


@pytest.mark.parametrize(
    ("page", "canonical", "followed"),
    [
        ("/list?page=3", "/list", False),
        ("/list?page=3", "/list?page=1", False),
        ("/list?page=3&sort=up", "/list?page=3", True),
        ("/list?page=1", "/list", True),
        ("/list/page/3/", "/list/", False),
        ("/list/page/3/", "/list?paged=3", True),
        ("/list?page=9" + "9" * 30, "/list", False),
        ("/list?page=x", "/list", True),
        ("/?p=123", "/2020/a-post/", True),
        ("/?x=1", "/", True),
    ],
)
def test_a_page_of_a_list_is_not_another_page_of_it(page, canonical, followed):
    found = declared("http://h.example" + page, [canonical], None, product_rules())
    assert (found is not None) == followed


def test_the_base_holds_for_canonicals_and_a_refused_page_has_none():
    rules = product_rules()
    assert declared("http://h.example/a/b", ["c"], "/d/", rules) == "http://h.example/d/c"
    assert declared("ftp://h.example/a", ["http://h.example/a"], None, rules) is None


@pytest.mark.parametrize(
    ("candidates", "base", "links"),
    [
        (["c", " ", "HTTP://H.example/a/c", "c?utm_source=x#y"], None, ["a/c", "a/c?utm_source=x#y"]),
        (["c", "http://h.example/a/c"], "/d/", ["d/c", "a/c"]),
        (["mailto:a@h.example", "javascript:x", "\ud800", "x" * 70_000], None, None),
        ([], None, None),
        ([*map(str, range(8)), "http://h.example/a/3", "mailto:x"], None, [f"a/{number}" for number in range(8)]),
        (list(map(str, range(9))), None, None),
    ],
)
def test_what_a_page_declares_is_kept_as_absolute_urls_untouched_by_rules_unless_it_is_too_much(
    candidates, base, links
):
    expected = None if links is None else [f"http://h.example/{link}" for link in links]
    assert canonical_links("http://h.example/a/b", candidates, base) == expected


def test_links_that_are_one_url_only_under_the_rules_are_a_canonical_only_under_the_rules():
    links = ["http://h.example/a", "http://h.example/a?utm_source=x"]
    assert declared_canonical("http://h.example/a/b", links, NO_RULES) is None
    assert declared_canonical("http://h.example/a/b", links, product_rules()) == "http://h.example/a"


@cache
def rules_without_www():
    return rules_with(defaults={"strip_www": True})


URLS = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["http://h.example", "https://www.h.example", "http://g.example", "ftp://h.example", ""]),
        st.sampled_from(["/", "/a", "/a/", "/list?page=2", "/list?page=3", "/a?utm_source=x", "/a?b=1", "/%ff"]),
    ),
)
LINKS = st.none() | st.lists(URLS, max_size=3)


@settings(deadline=None)  # the first example reads the rules
@given(st.lists(st.tuples(URLS, LINKS), max_size=12), st.integers(0, 3))
def test_a_column_of_declarations_gives_the_canonicals_of_its_rows(rows, start):
    rules = rules_without_www()
    urls = pa.array([url for url, _ in rows], pa.string()).slice(start)
    links = pa.array([links for _, links in rows], pa.list_(pa.string())).slice(start)
    found = declared_canonicals(identify_column(urls, rules), links, rules)
    assert found.to_pylist() == [declared_canonical(url, links or [], rules) for url, links in rows[start:]]
