"""The identity of one URL: `identify`, `explain`, and which rule made two URLs one.

The steps, in their order, are those of `canonicalise`: the parser, the origin (userinfo, root dot, aliases, www,
scheme), escapes, the path (sessions, slashes), the query (dropped and sorted parameters), the key.
"""

import hashlib
from typing import NamedTuple

from dedup_lib.urls.escapes import needs_respelling, respell
from dedup_lib.urls.parser import decode, parse
from dedup_lib.urls.paths import add_slash, collapse_slashes, strip_slashes
from dedup_lib.urls.policy import HostPolicy, Origin, Policy, ready
from dedup_lib.urls.query import clean_query, key_query
from dedup_lib.urls.rules import UrlRules
from dedup_lib.urls.trace import Fired, Trace

RAW_CHARS = 65_536  # longer texts are refused before they are parsed
POLICY_URL_BYTES = 8_192  # RFC 9110, section 4.1, wants 8000 octets supported
REFUSED_KEY = "refused|"  # begins the key of a URL that does not parse, and no other
REFUSALS = ("encoding", "length", "parse", "scheme", "host")

Row = tuple[str, str, str, str | None]  # the fields of UrlIdentity


class UrlIdentity(NamedTuple):
    """What a URL is called; all four columns of one row.

    `url_strict` is the URL as the parser writes it, without fragment (a fragment is not sent to the server; where the
    host's policy says `keep_hashbang`, one that starts with `#!` stays). `policy_url` is that after the rules, and
    `url_key` is what captures of one page share: without scheme and trailing slash, `+` in the query as `%20`.

    A URL that is `refused` (the reason; one of `REFUSALS`) is its own text in the first two, or `urn:sha256:…` where
    the text is not Unicode or longer than 8192 bytes; its key starts with `refused|`, which no other key does. Two
    captures whose refused keys are equal share a text, not a page: they must not be merged on it.
    """

    url_strict: str
    policy_url: str
    url_key: str
    refused: str | None


def identify(url: str | bytes, rules: UrlRules) -> UrlIdentity:
    """The identity of a URL under the rules. Never raises, whatever the text.

    `policy_url` and `url_strict` are fixpoints: identifying either again gives the same `policy_url` and `url_key`.
    Bytes are read as UTF-8, and each byte that is not UTF-8 is taken as its percent escape.

    >>> identify("HTTP://Example.com:80/a/?b=2&a=1#top", UrlRules())[:3]
    ('http://example.com/a/?b=2&a=1', 'http://example.com/a/?a=1&b=2', 'example.com/a?a=1&b=2')
    """
    return UrlIdentity(*identify_row(url, ready(rules)))


def identify_row(url: str | bytes, policy: Policy, trace: Trace | None = None) -> Row:
    """`identify` for rules made ready, as a plain tuple."""
    text = decode(url) if isinstance(url, bytes) else url
    if len(text) > RAW_CHARS:
        return refused_row(text, "length", trace)
    try:
        href = parse(text)
    except UnicodeEncodeError:
        return refused_row(text, "encoding", trace)
    if href is None:
        return refused_row(text, "parse", trace)
    if not href.startswith(("http://", "https://")):
        return refused_row(text, "scheme", trace)
    if len(href) > RAW_CHARS:  # escapes made it longer
        return refused_row(text, "length", trace)
    if trace is not None and href != text:
        trace.append(Fired("parser", text, href))
    return canonicalise(href, policy, trace) or refused_row(text, refusal_of(href, policy), trace)


def canonicalise(href: str, policy: Policy, trace: Trace | None = None, *, in_grammar: bool = False) -> Row | None:
    """The row of an http(s) URL as the parser wrote it, or None if it is refused (then `refusal_of` says why).

    `in_grammar` promises that no character but `%` needs an escape, which saves a look.
    """
    fragment = ""
    if "#" in href:
        href, fragment = _split_fragment(href, policy, trace)
    slash = href.find("/", 8)
    prefix = href[:slash]
    origin = policy.origins.get(prefix) or policy.origin(prefix)
    if origin.refused:
        return None
    if trace is not None:
        trace.extend(origin.fired)
    rest = href[slash:]
    if "%" in rest or not (in_grammar or needs_respelling(rest) is None):
        rest = _respelled(rest, trace)
    path, mark, query = rest.partition("?")
    if ";" in path or policy.sessions.needle in path:
        path = policy.sessions.strip(path, trace)
    if not origin.policy.leaves_path:
        path = _with_slashes_of_host(path, origin.policy, trace)
    if mark:
        query = clean_query(query, origin.policy.parameters, trace)
        if trace is not None and not query:
            trace.append(Fired("empty query", "?", ""))
    policy_url = origin.prefix + path + ("?" + query if query else "") + fragment
    if len(policy_url) > POLICY_URL_BYTES:
        return None
    if trace is None and not fragment and path[-1] != "/" and "+" not in query:
        return href, policy_url, policy_url[origin.scheme_chars :], None
    return href + fragment, policy_url, _key(origin, path, query, fragment, trace), None


def _split_fragment(href: str, policy: Policy, trace: Trace | None) -> tuple[str, str]:
    href, _, fragment = href.partition("#")
    if fragment.startswith("!") and policy.origin(href[: href.find("/", 8)]).policy.keep_hashbang:
        return href, "#" + _respelled(fragment, trace)
    if trace is not None:
        trace.append(Fired("fragment", "#" + fragment, ""))
    return href, ""


def _respelled(text: str, trace: Trace | None) -> str:
    spelled = respell(text)
    if trace is not None and spelled != text:
        trace.append(Fired("escapes", text, spelled))
    return spelled


def _with_slashes_of_host(path: str, policy: HostPolicy, trace: Trace | None) -> str:
    before = path
    if policy.collapse_slashes:
        path = collapse_slashes(path)
        if trace is not None and path != before:
            trace.append(Fired("collapse_slashes", before, path, policy.owners["collapse_slashes"]))
    before = path
    if policy.trailing_slash == "strip":
        path = strip_slashes(path)
    elif policy.trailing_slash == "add":
        path = add_slash(path)
    if trace is not None and path != before:
        trace.append(Fired(f"trailing_slash {policy.trailing_slash}", before, path, policy.owners["trailing_slash"]))
    return path


def _key(origin: Origin, path: str, query: str, fragment: str, trace: Trace | None) -> str:
    key_path = path
    if path[-1] == "/" and origin.policy.trailing_slash != "keep":
        key_path = strip_slashes(path)
    folded = key_query(query) if "+" in query else query
    if trace is not None:
        trace.append(Fired("key without scheme", origin.prefix, origin.authority))
        if key_path != path:
            trace.append(Fired("key without trailing slash", path, key_path))
        if folded != query:
            trace.append(Fired("key with + as %20", query, folded))
    return origin.authority + key_path + ("?" + folded if folded else "") + fragment


def refusal_of(href: str, policy: Policy) -> str:
    """Why `canonicalise` gave None."""
    prefix = href[: href.find("/", 8)]
    return "host" if policy.origin(prefix).refused else "length"


def refused_row(text: str, reason: str, trace: Trace | None = None) -> Row:
    """The row of a URL that cannot be made canonical; identifying its name again gives the same name and key."""
    raw = text.encode("utf-8", "surrogatepass")  # a text refused for its length may also have surrogates
    fits = reason != "encoding" and len(raw) <= POLICY_URL_BYTES
    name = text if fits else f"urn:sha256:{hashlib.sha256(raw).hexdigest()}"
    if trace is not None:
        trace.append(Fired(f"refused {reason}", text, name))
    return name, name, f"{REFUSED_KEY}{name}", reason


def explain(url: str | bytes, rules: UrlRules) -> Trace:
    """Every rule that fired on a URL, in order; the last ones are those that make the key.

    >>> [fired.name for fired in explain("http://example.com/a?b=1&a=2#x", UrlRules())]
    ['fragment', 'parameter order', 'key without scheme']
    """
    trace: Trace = []
    identify_row(url, ready(rules), trace)
    return trace


def undone_rule(url: str, other_url: str, rules: UrlRules) -> str:
    """The host and the rules that made one key of two URLs: what `identities.conflict` says when that is undone.

    Give the captures' `url_strict`. Rules that did the same to both are left out. At most four are named.
    """
    policy = ready(rules)
    trace: Trace = []
    other_trace: Trace = []
    key = identify_row(url, policy, trace)[2]
    identify_row(other_url, policy, other_trace)
    both = set(trace) & set(other_trace)
    apart = [fired for fired in trace + other_trace if fired not in both]
    if not apart:  # the same was taken from different places
        apart = [fired for fired in trace if not fired.rule.startswith("key")] or trace
    named = list(dict.fromkeys(fired.rule for fired in apart))
    more = f" and {len(named) - 4} more" if len(named) > 4 else ""
    return f"{key.partition('/')[0]}: {', '.join(named[:4])}{more}"
