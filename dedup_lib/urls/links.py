"""Links of a page: resolved against its base, and the canonical it declares, with the checks a URL alone permits.

What a page declares is evidence, not truth: pipelines follow it only after a check of the content or of the fan-in.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.urls.column import UrlColumns, identify_column
from dedup_lib.urls.identity import RAW_CHARS, identify_row
from dedup_lib.urls.parser import join, parse
from dedup_lib.urls.policy import Policy, ready, split_port
from dedup_lib.urls.rules import Pagination, UrlRules
from dedup_lib.urls.sites import site

MAX_CANONICAL_LINKS = 8  # more than one is a mistake of the site; of a page that has more than a few, none counts

_LINK = re.compile(r"\s*<([^>]*)>")  # RFC 8288, section 3
_LINK_PARAMETER = re.compile(r'\s*;\s*(?:([^\s=;,"]+)\s*(?:=\s*("(?:[^"\\]|\\.)*"|[^\s;,"]*))?)?')
_SEPARATOR = re.compile(r"\s*,[\s,]*")  # elements of a list may be empty (RFC 9110, section 5.6.1.2)
_IGNORED_BASES = ("data:", "javascript:")  # HTML, section 4.2.3


def resolve_link(document_url: str, base_href: str | None, href: str) -> str | None:
    """The absolute http(s) URL a link leads to, fragment and all, or None if it leads to none.

    `base_href` is the page's first `<base href>`, itself resolved against the document; one that cannot be is ignored.

    >>> resolve_link("http://example.com/fr/1", "/", "fr/2")
    'http://example.com/fr/2'
    """
    if len(href) > RAW_CHARS or len(document_url) > RAW_CHARS:
        return None
    base = document_url
    if base_href is not None and len(base_href) <= RAW_CHARS:
        declared = join(document_url, base_href)
        if declared is not None and not declared.startswith(_IGNORED_BASES):
            base = declared
    target = join(base, href)
    if target is None:  # an absolute link needs no base
        try:
            target = parse(href)
        except UnicodeEncodeError:
            return None
    return target if target is not None and target.startswith(("http://", "https://")) else None


def canonical_from_link_header(value: str) -> list[str]:
    """The targets with rel=canonical in the value of a Link header, as written, in order.

    A link with an `anchor` speaks of another page and is left out. Only the first `rel` of a link counts (RFC 8288,
    section 3.3). Reading ends where the header stops being one.

    >>> canonical_from_link_header('</a.css>; rel=preload, <http://example.com/a>; rel="canonical"')
    ['http://example.com/a']
    """
    found = []
    end = 0
    while link := _LINK.match(value, end):
        end = link.end()
        parameters: dict[str, str] = {}
        while parameter := _LINK_PARAMETER.match(value, end):
            end = parameter.end()
            if parameter[1]:
                parameters.setdefault(parameter[1].lower(), (parameter[2] or "").strip('"'))
        if "canonical" in parameters.get("rel", "").lower().split() and "anchor" not in parameters:
            found.append(link[1].strip())
        separator = _SEPARATOR.match(value, end)
        if separator is None:
            break
        end = separator.end()
    return found


def canonical_links(page_url: str, candidates: Sequence[str], base_href: str | None) -> list[str] | None:
    """The different absolute http(s) URLs that a page names as its canonical, in order; no rule has touched them.

    `candidates` are the values of its rel=canonical elements (in the head) and Link headers. Those that are blank or
    lead to no http(s) URL are left out. None where none remains, or more than `MAX_CANONICAL_LINKS`.

    >>> canonical_links("http://example.com/fr/1", ["/a", "", "http://EXAMPLE.com/a"], None)
    ['http://example.com/a']
    """
    links: dict[str, None] = {}
    for candidate in dict.fromkeys(candidates):
        link = resolve_link(page_url, base_href, candidate) if candidate.strip() else None
        if link is not None and len(link) <= RAW_CHARS:
            links[link] = None
            if len(links) > MAX_CANONICAL_LINKS:
                return None
    return list(links) or None


def declared_canonical(page_url: str, links: Sequence[str], rules: UrlRules) -> str | None:
    """The `policy_url` of the canonical that a page declares, or None if it declares none that could be right.

    `links` are its `canonical_links`. None unless they are one URL under the rules, and it is of the same registrable
    domain, is not the root of a site declared by a deep page, and names no other page of a paginated list (Google
    Search Central, "5 common mistakes with rel=canonical", 2013). A page's own URL is a right answer.
    """
    policy = ready(rules)
    page = identify_row(page_url, policy)
    if page[3] is not None:
        return None
    targets = (identify_row(link, policy) for link in links)
    return _settled(page[1], {target[1] for target in targets if target[3] is None}, policy)


def declared_canonicals(pages: UrlColumns, links: pa.Array, rules: UrlRules) -> pa.Array:
    """`declared_canonical` for each row, as strings: of pages whose identities these are, and their links or null."""
    policy = ready(rules)
    declares = pc.and_(pc.is_valid(links), pc.is_null(pages.refused))
    declared = links.filter(declares)
    targets = identify_column(declared.flatten(), rules)
    names: list[set[str]] = [set() for _ in range(len(declared))]
    rows = pc.list_parent_indices(declared).to_pylist()
    for row, name, refused in zip(rows, targets.policy_url.to_pylist(), targets.refused.to_pylist(), strict=True):
        if refused is None:
            names[row].add(name)
    urls = pages.policy_url.filter(declares).to_pylist()
    found = [_settled(url, named, policy) for url, named in zip(urls, names, strict=True)]
    return pc.replace_with_mask(pa.nulls(len(links), pa.string()), declares, pa.array(found, pa.string()))


def _settled(page: str, targets: set[str], policy: Policy) -> str | None:
    """The one target, if there is one and it could be right."""
    return _plausible(page, next(iter(targets)), policy) if len(targets) == 1 else None


def _plausible(page: str, target: str, policy: Policy) -> str | None:
    page_host, page_path = _host_and_path(page)
    host, path = _host_and_path(target)
    if site(host) != site(page_host):
        return None
    if path == "/" and "?" not in target and page_path != "/":
        return None
    number = _page_number(page, policy.rules.pagination)
    if number > 1 and _page_number(target, policy.rules.pagination) != number:
        return None
    return target


def _host_and_path(policy_url: str) -> tuple[str, str]:
    authority, slash, rest = policy_url.partition("://")[2].partition("/")
    return split_port(authority)[0], slash + rest.partition("#")[0].partition("?")[0]


def _page_number(policy_url: str, pagination: Pagination) -> int:
    """The page of a list that a URL names, or 1."""
    path, _, query = policy_url.partition("#")[0].partition("?")
    for piece in query.split("&"):
        name, _, value = piece.partition("=")
        if name in pagination.parameters and value.isdecimal():
            return int(value[:9])
    segments = path.split("/")[3:]
    for name, value in pairwise(segments):
        if name in pagination.path_segments and value.isdecimal():
            return int(value[:9])
    return 1
