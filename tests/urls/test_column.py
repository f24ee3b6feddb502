"""A column gives, row by row, what the scalar function gives, whatever its type and layout."""

import pyarrow as pa
import pytest

from dedup_lib.urls import identify, identify_column

from .rules_for_tests import NO_RULES, product_rules, rules_with

URLS = [
    "http://h.example/",
    "https://a-b.h.example/x/y.html",
    "http://h.example/x/",
    "http://h.example/?id=1",
    "http://h.example/x?utm_id=1",
    "http://h.example/x/?b=1&a=2",
    "http://h.example/x?sid=0123456789abcdef0123456789abcdef",
    "http://h.example/x?a=1&&",
    "http://h.example/x?",
    None,
    "http://h.example/x?q=a+b",
    "http://h.example/%7e/é",
    "http://www.youtube.com/watch?si=1&v=2",
    "HTTP://H.example:80/x",
    "http://xn--bcher-kva.example/x",
    "http://xn--a.example/x",
    "http://1.2.3.4/x",
    "http://a..example/x",
    "http://" + "a" * 64 + ".example/",
    "http://" + "a." * 126 + "example/",
    "http://h.example/" + "a" * 8_200,
    "http://h.example/" + "a" * 7_900 + "?b&a",
    "http://h.example/.a/..b/.../c",
    "http://h.example/a/%2e%2e/b",
    "http://h.example/a;jsessionid=1/b",
    "http://h.example/s-1/b",
    "http://h.example/(S(abcdefghijklmnopqrstuvwx))/b",
    "http://h.example/a\n",
    "nonsense",
    "",
    "http://h.example/x/",
]
RULE_SETS = {
    "product": product_rules(),
    "none": NO_RULES,
    "slashes": rules_with(defaults={"trailing_slash": "strip"}),
    "keep": rules_with(defaults={"trailing_slash": "keep"}),
    "https": rules_with(defaults={"scheme": "https"}),
    "allow": rules_with(defaults={"allow_params": ["id"]}),
    "segment": rules_with(sessions={"path_segments": {"mine": {"pattern": "s-[0-9]"}}}),
    "host": rules_with(hosts={"h.example": {"trailing_slash": "add"}}, aliases={"a-b.h.example": "h.example"}),
    "hashbang": rules_with(defaults={"keep_hashbang": True, "collapse_slashes": True}),
}


def assert_same_as_scalar(urls, column, rules):
    result = identify_column(column, rules)
    expected = [(None,) * 4 if url is None else tuple(identify(url, rules)) for url in urls]
    columns = (result.url_strict, result.policy_url, result.url_key, result.refused)
    for values in columns:
        assert values.type == pa.string()
        values.validate(full=True)
    assert list(zip(*(values.to_pylist() for values in columns), strict=True)) == expected


@pytest.mark.parametrize("name", RULE_SETS)
def test_rows_are_those_of_identify_under_any_rules(name):
    assert_same_as_scalar(URLS, pa.array(URLS), RULE_SETS[name])


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()])
@pytest.mark.parametrize("bounds", [(0, len(URLS)), (1, 4), (3, 29), (9, 10), (5, 5)])
def test_types_and_slices(kind, bounds):
    column = pa.array(URLS, pa.string()).cast(kind)
    assert_same_as_scalar(URLS[slice(*bounds)], column[slice(*bounds)], product_rules())


def test_chunks_and_empty_columns():
    column = pa.chunked_array([URLS[:4], [], [None], URLS[4:]], pa.string())
    assert_same_as_scalar([*URLS[:4], None, *URLS[4:]], column, product_rules())
    for empty in (pa.array([], pa.string()), pa.chunked_array([], pa.string()), pa.array([], pa.binary())):
        assert_same_as_scalar([], empty, product_rules())
    assert_same_as_scalar([None, None], pa.nulls(2), product_rules())


def test_bytes_that_are_not_utf8_also_in_arrays_that_call_them_strings():
    raw = [b"http://h.example/caf\xe9", b"http://h.example/a", b"\xff"]
    binary = pa.array(raw, pa.binary())
    assert_same_as_scalar(raw, binary, product_rules())
    unchecked = pa.Array.from_buffers(pa.string(), 3, binary.buffers())
    assert_same_as_scalar(raw, unchecked, product_rules())


def test_a_column_of_something_else_is_a_type_error():
    with pytest.raises(TypeError, match="strings or bytes, not int64"):
        identify_column(pa.array([1, 2]), product_rules())
