"""Links of a page: resolved against its base, and the canonical it declares, with the checks a URL alone permits.

What a page declares is evidence, not truth: pipelines follow it only after a check of the content or of the fan-in.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from dedup_lib.urls.identity import RAW_CHARS, identify_row
from dedup_lib.urls.parser import join, parse
from dedup_lib.urls.policy import Policy, ready, split_port
from dedup_lib.urls.rules import Pagination, UrlRules
from dedup_lib.urls.sites import site

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


def declared_canonical(page_url: str, candidates: Sequence[str], base_href: str | None, rules: UrlRules) -> str | None:
    """The `policy_url` of the canonical that a page declares, or None if it declares none that could be right.

    `candidates` are the values of its rel=canonical elements (in the head) and Link headers. Those that are blank or
    no http(s) URL are ignored. None unless exactly one remains, it is of the same registrable domain, is not the root
    of a site declared by a deep page, and names no other page of a paginated list (Google Search Central, "5 common
    mistakes with rel=canonical", 2013). A page's own URL is a right answer.
    """
    policy = ready(rules)
    page = identify_row(page_url, policy)
    if page[3] is not None:
        return None
    targets = set()
    for candidate in candidates:
        link = resolve_link(page_url, base_href, candidate) if candidate.strip() else None
        if link is not None:
            target = identify_row(link, policy)
            if target[3] is None:
                targets.add(target[1])
    if len(targets) != 1:
        return None
    return _plausible(page[1], targets.pop(), policy)


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
