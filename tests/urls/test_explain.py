"""What is told of the rules that fired, and of the rule that made one page of two."""

import pytest

from dedup_lib.urls import explain, identify, undone_rule

from .rules_for_tests import product_rules, rules_with


def _told(url, rules):
    return [(fired.name, fired.before, fired.after) for fired in explain(url, rules)]


def test_every_step_is_told_in_order():
    rules = rules_with(
        hosts={"shop.example": {"drop_params": ["color"], "trailing_slash": "strip", "collapse_slashes": True}},
        aliases={"m.shop.example": "shop.example"},
        defaults={"scheme": "https"},
    )
    url = "HTTP://me:pw@m.shop.example./a//%7e;jsessionid=1/?b=x+y&&utm_source=n&color=red&PHPSESSID=2&a=1#top"
    assert _told(url, rules) == [
        ("parser", url, "http" + url[4:]),
        ("fragment", "#top", ""),
        ("userinfo", "…@", ""),
        ("root dot", "m.shop.example.", "m.shop.example"),
        ("alias", "m.shop.example", "shop.example"),
        ("all hosts: scheme", "http", "https"),
        (
            "escapes",
            "/a//%7e;jsessionid=1/?b=x+y&&utm_source=n&color=red&PHPSESSID=2&a=1",
            "/a//~;jsessionid=1/?b=x+y&&utm_source=n&color=red&PHPSESSID=2&a=1",
        ),
        ("session jsessionid", ";jsessionid=1", ""),
        ("host shop.example: collapse_slashes", "/a//~/", "/a/~/"),
        ("host shop.example: trailing_slash strip", "/a/~/", "/a/~"),
        ("empty piece of the query", "&", ""),
        ("tracking utm_source", "utm_source=n", ""),
        ("host shop.example: drop_params color", "color=red", ""),
        ("session PHPSESSID", "PHPSESSID=2", ""),
        ("parameter order", "b=x+y&a=1", "a=1&b=x+y"),
        ("key without scheme", "https://shop.example", "shop.example"),
        ("key with + as %20", "a=1&b=x+y", "a=1&b=x%20y"),
    ]


def test_refusal_is_told():
    assert _told("ftp://h.example/", product_rules()) == [("refused scheme", "ftp://h.example/", "ftp://h.example/")]


@pytest.mark.parametrize(
    ("url", "other", "told"),
    [
        ("http://h.example/?utm_id=1", "http://h.example/?utm_id=2", "h.example: tracking utm_id"),
        ("http://h.example/?utm_id=1&gclid=3", "http://h.example/?utm_id=1", "h.example: tracking gclid"),
        ("http://h.example/?b&a", "http://h.example/?a&b", "h.example: parameter order"),
        ("http://h.example/a/", "http://h.example/a", "h.example: key without trailing slash"),
        ("http://h.example/", "https://h.example/", "h.example: key without scheme"),
        ("http://h.example/?q=a+b", "http://h.example/?q=a%20b", "h.example: key with + as %20"),
        ("http://h.example/%7e", "http://h.example/~", "h.example: escapes"),
        ("http://h.example/?a&gclid", "http://h.example/?gclid&a", "h.example: tracking gclid"),
        ("http://shop.example/?color=1", "http://shop.example/?color=2", "shop.example: drop_params color"),
        ("http://shop.example/?x=1", "http://shop.example/?y=2", "shop.example: allow_params"),
        (
            "http://h.example/?utm_a&utm_b&utm_c&utm_d&utm_e&utm_f",
            "http://h.example/",
            "h.example: tracking utm_a, tracking utm_b, tracking utm_c, tracking utm_d and 3 more",
        ),
    ],
)
def test_the_undone_rule_is_the_one_that_made_two_urls_one(url, other, told):
    rules = rules_with(hosts={"shop.example": {"drop_params": ["color"], "allow_params": ["id"]}})
    assert identify(url, rules).url_key == identify(other, rules).url_key
    assert undone_rule(url, other, rules) == told
