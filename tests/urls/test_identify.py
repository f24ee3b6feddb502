"""Vectors of our own, one group per rule, and what holds of refused URLs."""

import pickle

import ada_url
import pytest

from dedup_lib.errors import SchemeMismatchError
from dedup_lib.urls import REFUSALS, UrlRules, identify
from dedup_lib.urls.parser import parse

from .rules_for_tests import product_rules, rules_with

CANONICAL = {
    "scheme and host in lower case, path and query as they are": [
        ("HTTPS://News.Example.ORG/Sport/A1?Q=Z", "https://news.example.org/Sport/A1?Q=Z"),
    ],
    "escapes have one spelling": [
        ("http://h.example/%7euser/%c3%bc", "http://h.example/~user/%C3%BC"),
        ("http://h.example/a%2fb%3fc", "http://h.example/a%2Fb%3Fc"),
        ("http://h.example/%25%34%31", "http://h.example/%2541"),
        ("http://h.example/%%34%31", "http://h.example/%2541"),
        ("http://h.example/5%/%g0?%=%1", "http://h.example/5%25/%25g0?%25=%251"),
        ("http://h.example/{a}|b^?[c]`", "http://h.example/%7Ba%7D%7Cb%5E?%5Bc%5D%60"),
        ("http://h.example/%e9", "http://h.example/%E9"),
    ],
    "dot segments are resolved, dots in names and queries stay": [
        ("http://h.example/x/%2E%2e/./y/...?p=../q", "http://h.example/y/...?p=../q"),
    ],
    "default port, userinfo, root dot and fragment go": [
        ("http://me:pw@h.example.:80/a#b", "http://h.example/a"),
        ("https://h.example:8443/", "https://h.example:8443/"),
    ],
    "hosts are A-labels and addresses have one form": [
        ("http://MÜNCHEN.example/", "http://xn--mnchen-3ya.example/"),
        ("http://0x7F.0.0.1/", "http://127.0.0.1/"),
        ("http://[0:0::1]:80/a", "http://[::1]/a"),
    ],
    "parameters are sorted by name, in byte order, stably": [
        ("http://h.example/?b=1&B=2&a=9&a=10&b10=3", "http://h.example/?B=2&a=9&a=10&b=1&b10=3"),
        ("http://h.example/?&&z&y=&&", "http://h.example/?y=&z"),
        ("http://h.example/?", "http://h.example/"),
    ],
    "trackers go, names like theirs stay": [
        ("http://h.example/?UTM_Term=x&gclid=1&id=2", "http://h.example/?id=2"),
        ("http://h.example/?amp;amp;utm_id=1&amp;id=2", "http://h.example/?amp;id=2"),
        ("http://h.example/?xgclid=1&gclidx=2&utm=3", "http://h.example/?gclidx=2&utm=3&xgclid=1"),
        ("http://h.example/?ref=1&source=2&cid=3", "http://h.example/?cid=3&ref=1&source=2"),
        ("http://h.example/?hsctatracking=1", "http://h.example/"),
    ],
    "sessions go by name, by shape and in pairs": [
        ("http://h.example/?phpsessid=1&amp;PHPSESSID=2", "http://h.example/"),
        ("http://h.example/?sid=7&session_id=0123456789abcdefghijklmnopqrstuv", "http://h.example/?sid=7"),
        ("http://h.example/?cftoken=1&CFID=2", "http://h.example/"),
        ("http://h.example/?cftoken=1", "http://h.example/?cftoken=1"),
        ("http://h.example/?aspsessionidABCDEFGH=1", "http://h.example/"),
        ("http://h.example/?ASPSESSIONIDABC=1", "http://h.example/?ASPSESSIONIDABC=1"),
    ],
    "sessions go from paths, and what they hid is resolved": [
        ("http://h.example/a;x=1;JSESSIONID=F00.n1/b", "http://h.example/a;x=1/b"),
        ("http://h.example/a/.;jsessionid=1/b", "http://h.example/a/b"),
        ("http://h.example/a/%2e.;jsessionid=1", "http://h.example/"),
        ("http://h.example/(X(1)S(abcdefghijklmnopqrstuvwx))/p.aspx", "http://h.example/p.aspx"),
        ("http://h.example/(S(abcdefghijklmnopqrstuvwx))", "http://h.example/"),
        ("http://h.example/(S(abc))/p.aspx", "http://h.example/(S(abc))/p.aspx"),
    ],
    "hosts with rules of their own in the product's file": [
        ("https://www.youtube.com/watch?v=x&si=y&feature=z", "https://www.youtube.com/watch?v=x"),
        ("https://example.com/watch?v=x&si=y", "https://example.com/watch?si=y&v=x"),
    ],
}
REFUSED = [
    ("http://h.example/\udcff", "encoding"),
    ("http://h.example/" + "a" * 70_000, "length"),
    ("http://h.example/" + "a" * 9_000, "length"),
    ("http://h.example/?x=" + "é" * 20_000, "length"),
    ("/a/b", "parse"),
    ("", "parse"),
    ("http://h.example:99999/", "parse"),
    ("ftp://h.example/", "scheme"),
    ("mailto:a@h.example", "scheme"),
    ("http://a..example/", "host"),
    ("http://h.example../", "host"),
    ("http://" + "a" * 64 + ".example/", "host"),
    ("http://" + "a." * 127 + "example/", "host"),
]


@pytest.mark.parametrize(
    ("url", "expected"),
    [pytest.param(*pair, id=f"{rule}: {pair[0]}") for rule, pairs in CANONICAL.items() for pair in pairs],
)
def test_policy_url(url, expected):
    assert identify(url, product_rules()).policy_url == expected


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://h.example/a/", "h.example/a"),
        ("https://h.example/a", "h.example/a"),
        ("https://h.example//", "h.example/"),
        ("http://h.example/a//?q=x+y", "h.example/a?q=x%20y"),
        ("http://h.example/?a%20b=1&a+=2", "h.example/?a%20=2&a%20b=1"),
        ("http://h.example/a+b", "h.example/a+b"),
        ("http://h.example:81/", "h.example:81/"),
        ("http://[::1]/", "[::1]/"),
    ],
)
def test_url_key_has_no_scheme_no_trailing_slash_and_one_kind_of_space(url, key):
    assert identify(url, product_rules()).url_key == key


def test_url_strict_is_the_parser_s_url_without_its_fragment():
    url = "HTTP://me@H.example.:80/%7e/../b%zz?utm_id=1&a|b=2#top"
    assert identify(url, product_rules()).url_strict == "http://me@h.example./b%zz?utm_id=1&a|b=2"


@pytest.mark.parametrize("url", ["HTTP://A.example:80/x/../é?q#f", "nonsense", "data:x", "http://[::1]/", ""])
def test_the_short_way_to_the_parser_gives_what_the_long_one_gives(url):
    try:
        expected = ada_url.normalize_url(url)
    except ValueError:
        expected = None
    assert parse(url) == expected


def test_bytes_are_utf8_and_each_other_byte_is_escaped():
    rules = product_rules()
    assert identify("http://h.example/é".encode(), rules) == identify("http://h.example/é", rules)
    assert identify(b"http://h.example/\xe9\xed\xa0\x80", rules).policy_url == "http://h.example/%E9%ED%A0%80"


@pytest.mark.parametrize(("url", "reason"), REFUSED)
def test_refused_urls_have_a_reason_and_a_name_of_their_own(url, reason):
    identity = identify(url, product_rules())
    assert identity.refused == reason
    assert reason in REFUSALS
    assert identity.url_strict == identity.policy_url
    assert identity.url_key == "refused|" + identity.policy_url
    assert len(identity.policy_url.encode()) <= 8192
    again = identify(identity.policy_url, product_rules())
    assert again.refused
    assert again[:3] == identity[:3]


def test_different_refused_urls_have_different_names():
    names = {identify(url, product_rules()).url_key for url, _ in REFUSED}
    assert len(names) == len(REFUSED)


@pytest.mark.parametrize(
    ("policy", "url", "policy_url", "key"),
    [
        ({"trailing_slash": "keep"}, "http://h.example/a/", "http://h.example/a/", "h.example/a/"),
        ({"trailing_slash": "strip"}, "http://h.example/a//?x", "http://h.example/a?x", "h.example/a?x"),
        ({"trailing_slash": "add"}, "http://h.example/a?x", "http://h.example/a/?x", "h.example/a?x"),
        ({"trailing_slash": "add"}, "http://h.example/a.html", "http://h.example/a.html", "h.example/a.html"),
        ({"scheme": "https"}, "http://h.example/", "https://h.example/", "h.example/"),
        ({"scheme": "https"}, "http://h.example:81/", "http://h.example:81/", "h.example:81/"),
        ({"collapse_slashes": True}, "http://h.example//a///b", "http://h.example/a/b", "h.example/a/b"),
        ({"keep_hashbang": True}, "http://h.example/a/#!/b%7e", "http://h.example/a/#!/b~", "h.example/a#!/b~"),
        ({"keep_hashbang": True}, "http://h.example/a#top", "http://h.example/a", "h.example/a"),
        (
            {"drop_params": ["x[]", "größe"]},
            "http://h.example/?x[]=1&größe=2&y=3",
            "http://h.example/?y=3",
            "h.example/?y=3",
        ),
        ({"allow_params": []}, "http://h.example/?a&b", "http://h.example/", "h.example/"),
        ({"allow_params": ["a"]}, "http://h.example/?b=1&a=2&A=3", "http://h.example/?a=2", "h.example/?a=2"),
        (
            {"keep_params": ["pk_news"]},
            "http://h.example/?pk_news=1&pk_kwd",
            "http://h.example/?pk_news=1",
            "h.example/?pk_news=1",
        ),
        (
            {"allow_params": ["a"], "keep_params": ["b"]},
            "http://h.example/?a&b&c",
            "http://h.example/?a&b",
            "h.example/?a&b",
        ),
    ],
)
@pytest.mark.parametrize("section", ["defaults", "hosts", "domains"])
def test_host_policies_hold_at_each_level(section, policy, url, policy_url, key):
    rules = rules_with(**{section: policy if section == "defaults" else {"h.example": policy}})
    identity = identify(url, rules)
    assert (identity.policy_url, identity.url_key) == (policy_url, key)


def test_a_host_comes_before_its_domain_and_that_before_the_defaults_but_drops_add_up():
    rules = rules_with(
        defaults={"trailing_slash": "strip", "drop_params": ["a"]},
        domains={"shop.example": {"trailing_slash": "add", "drop_params": ["b"]}},
        hosts={"www.shop.example": {"trailing_slash": "keep", "drop_params": ["c"]}},
    )
    query = "/x/?a&b&c&d"
    assert identify("http://other.example" + query, rules).policy_url == "http://other.example/x?b&c&d"
    assert identify("http://m.shop.example" + query, rules).policy_url == "http://m.shop.example/x/?c&d"
    assert identify("http://www.shop.example" + query, rules).policy_url == "http://www.shop.example/x/?d"


def test_a_domain_s_rules_stop_at_public_suffixes_below_it():
    rules = rules_with(domains={"amazonaws.com": {"drop_params": ["x"]}})
    assert identify("http://docs.amazonaws.com/?x", rules).policy_url == "http://docs.amazonaws.com/"
    assert identify("http://bucket.s3.amazonaws.com/?x", rules).policy_url == "http://bucket.s3.amazonaws.com/?x"


def test_aliases_lead_through_chains_and_to_the_rules_of_their_target():
    rules = rules_with(
        aliases={"m.a.example": "old.a.example", "old.a.example": "www.b.example"},
        hosts={"b.example": {"drop_params": ["x"]}},
        defaults={"strip_www": True},
    )
    assert identify("http://m.a.example/?x&y", rules).policy_url == "http://b.example/?y"


@pytest.mark.parametrize("host", ["www2.h.example", "www1355.com", "www.com", "wwwh.example"])
def test_strip_www_takes_only_a_whole_label_from_a_longer_name(host):
    assert identify(f"http://{host}/", rules_with(defaults={"strip_www": True})).policy_url == f"http://{host}/"


def test_rules_travel_to_workers_and_do_the_same_there():
    rules = rules_with(hosts={"h.example": {"drop_params": ["x"]}})
    identify("http://h.example/", rules)
    pickled = pickle.dumps(rules)
    copy = pickle.loads(pickled)
    assert len(pickled) < 20_000
    assert copy == rules
    assert copy.scheme == rules.scheme
    assert identify("http://h.example/?x", copy) == identify("http://h.example/?x", rules)


def test_rules_of_another_parser_are_refused():
    with pytest.raises(SchemeMismatchError, match="ada-url on the driver and on all workers"):
        identify("http://h.example/", UrlRules(parser="ada0.0.1"))
