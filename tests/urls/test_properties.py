"""What holds of every text: no exception, fixpoints, one key for both schemes, the column agrees."""

import time

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_lib.urls import explain, identify, undone_rule

from .rules_for_tests import product_rules, rules_with
from .test_column import assert_same_as_scalar

BUSY = rules_with(
    defaults={"strip_www": True, "collapse_slashes": True, "drop_params": ["d"], "keep_hashbang": True},
    hosts={"a.example": {"trailing_slash": "add", "allow_params": ["a", "sid"], "keep_params": ["utm_x"]}},
    domains={"b.example": {"trailing_slash": "strip", "scheme": "https", "keep_hashbang": False}},
    aliases={"c.example": "www.b.example"},
    sessions={"path_segments": {"mine": {"pattern": "[st]-[0-9]|x\\)"}}},
)
RULES = st.sampled_from([product_rules(), BUSY])

_hosts = st.sampled_from(
    [
        "h.example",
        "www.a.example",
        "a.example",
        "b.example",
        "c.example",
        "m.b.example",
        "H.Example.",
        "1.2.3.4",
        "[::1]",
        "bücher.example",
        "a..b",
        "u:p@h.example",
        "0x7f",
        "xn--bcher-kva.example",
        "a--b.example",
    ]
)
_ports = st.sampled_from(["", "", "", ":80", ":443", ":8080", ":"])
_atoms = st.sampled_from(
    [
        "a",
        "b",
        "s-1",
        "index.html",
        ".",
        "..",
        "%2e",
        "%2E%2e",
        "...",
        "%7e",
        "%c3%a9",
        "%e9",
        "%",
        "%4",
        "%41",
        "%2541",
        "é",
        ";jsessionid=1",
        ";JSESSIONID=%",
        "(S(abcdefghijklmnopqrstuvwx))",
        "x)",
        "[",
        "|",
        "^",
        " ",
        "+",
        "\\",
        "'",
        "\t",
        "",
    ]
)
_paths = st.lists(st.one_of(_atoms, st.just("/")), max_size=8).map(lambda parts: "/" + "".join(parts))
_names = st.sampled_from(
    [
        "a",
        "B",
        "d",
        "id",
        "utm_x",
        "UTM_y",
        "amp;utm_z",
        "gclid",
        "sid",
        "PHPSESSID",
        "cfid",
        "CFTOKEN",
        "%61",
        "x[]",
        "a+b",
        "a%20b",
        "",
        "é",
    ]
)
_values = st.sampled_from(
    ["", "=", "=1", "=0123456789abcdef0123456789abcdef", "=a+b", "=%zz", "==", "=it's", "=/../", "=é"]
)
_queries = st.one_of(
    st.just(""), st.lists(st.builds(str.__add__, _names, _values), max_size=5).map(lambda parts: "?" + "&".join(parts))
)
_fragments = st.sampled_from(["", "", "#", "#top", "#!/a b", "#!x#y|"])
_rest = st.builds(lambda *parts: "".join(parts), _hosts, _ports, _paths, _queries, _fragments)
URLS = st.builds(str.__add__, st.sampled_from(["http://", "https://", "HTTP:\\\\", "http:/", "ftp://", "//"]), _rest)
ANY_TEXT = st.one_of(URLS, st.text(st.characters(), max_size=40), URLS.map(lambda url: url + "\ud800"))
ANY = st.one_of(ANY_TEXT, st.binary(max_size=40), ANY_TEXT.map(lambda text: text.encode("utf-16", "surrogatepass")))


@settings(max_examples=400, deadline=None)
@given(ANY, RULES)
def test_no_text_raises_and_every_result_is_a_fixpoint(url, rules):
    identity = identify(url, rules)
    for name in (identity.url_strict, identity.policy_url, identity.url_key):
        name.encode()
    assert identity.url_key.startswith("refused|") == (identity.refused is not None)
    again = identify(identity.policy_url, rules)
    assert (again.policy_url, again.url_key) == (identity.policy_url, identity.url_key)
    strict = identify(identity.url_strict, rules)
    assert strict[:3] == identity[:3]
    explain(url, rules)


@pytest.mark.parametrize(
    "flood",
    [
        "cfid&cftoken&",
        "sid=1&",
        "&",
        "amp;",
        "%c3",
        "%",
        "a/../",
        ";jsessionid=1",
        "x)",
        "(S(",
        "//",
        "+&",
        "http://a@",
    ],
)
def test_no_text_of_the_longest_length_takes_long(flood):
    started = time.process_time()
    for start in ("http://h.example/", "http://h.example/?", "http://"):
        url = start + flood * (65_000 // len(flood))
        explain(url, BUSY)
        undone_rule(url, url + "&", BUSY)
    assert time.process_time() - started < 2


@settings(max_examples=150, deadline=None)
@given(_hosts, _paths, _queries, RULES)
def test_http_and_https_share_a_key(host, path, query, rules):
    one, other = (identify(f"{scheme}://{host}{path}{query}", rules) for scheme in ("http", "https"))
    if not one.refused:
        assert one.url_key == other.url_key
        assert undone_rule(one.url_strict, other.url_strict, rules).partition(": ")[2]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.none(), URLS, st.text(st.characters(exclude_categories=["Cs"]), max_size=30)), max_size=12),
    RULES,
)
def test_the_column_gives_what_the_scalar_gives(urls, rules):
    assert_same_as_scalar(urls, pa.array(urls, pa.string()), rules)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=30), max_size=6), RULES)
def test_the_column_of_bytes_too(urls, rules):
    assert_same_as_scalar(urls, pa.array(urls, pa.binary()), rules)


@settings(max_examples=200, deadline=None)
@given(st.lists(_names.map(lambda name: name + "=1"), max_size=5), st.randoms(), RULES)
def test_the_order_of_different_parameters_changes_nothing(pieces, random, rules):
    distinct = list({piece.lower(): piece for piece in pieces}.values())
    shuffled = random.sample(distinct, len(distinct))
    one, other = (identify("http://h.example/?" + "&".join(order), rules) for order in (distinct, shuffled))
    spelled = [piece.replace("+", "%20").replace("%61", "a") for piece in distinct]
    if len(set(spelled)) == len(spelled):
        assert one.url_key == other.url_key
