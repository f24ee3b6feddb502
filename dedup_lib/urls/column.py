"""Identities of a whole Arrow column.

Most URLs of a crawl are canonical already or nearly so. RE2 patterns, run by Arrow over the whole column, sort the rows
into lanes: those that are their own identity, those where only the query needs work, and the others, one by one. The
results are those of `identify`, row by row.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.urls.identity import canonicalise, identify_row, refusal_of, refused_row
from dedup_lib.urls.parameters import KEEP
from dedup_lib.urls.parser import decode
from dedup_lib.urls.policy import Policy, ready
from dedup_lib.urls.query import clean_query
from dedup_lib.urls.rules import UrlRules

# A host of lower-case letters, digits and single hyphens that cannot be an address (its last label starts with a
# letter) nor have an A-label, whose Punycode the parser would check.
_HOST = r"^https?://(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)*[a-z][a-z0-9]*(?:-[a-z0-9]+)*/"
_NAME = "[A-Za-z0-9_~,-][A-Za-z0-9_~.,-]*"  # a segment that needs no escape and is no dot segment
_PAIR = r"\?[A-Za-z0-9_~.-]+(?:=[A-Za-z0-9_~.,-]*)?"
_CANONICAL = rf"{_HOST}(?:{_NAME}(?:/{_NAME})*(?:/|{_PAIR})?|{_PAIR})?\z"
_QUERIED = rf"{_HOST}(?:{_NAME}(?:/{_NAME})*/?)?\?[A-Za-z0-9_~.,;:@!$&()*=/?-]*\z"
# As the parser would write it: neither a dot segment nor a character to escape.
_IN_PATH = "[A-Za-z0-9_~.,;:@!$&'()*+=%-]"
_SEGMENT = f"(?:(?:[A-Za-z0-9_~,;:@!$&'()*+=-]|%[013-9A-Fa-f]){_IN_PATH}*)?"
_PARSED = rf"{_HOST}{_SEGMENT}(?:/{_SEGMENT})*(?:\?[A-Za-z0-9_~.,;:@!$&()*+=%/?-]*)?\z"
_ORIGIN = "^(?P<origin>https?://[^/]*)"
_NAME_OF_PAIR = r"\?(?P<name>[^=]*)"
_LONGEST = 8_000  # bytes; longer rows are left to the scalar path, which knows the limits


@dataclass(frozen=True)
class UrlColumns:
    """The identities of a column of URLs, as string arrays of its length; null where the URL is.

    `refused` holds the reason why a URL could not be made canonical, and is null where it could; see `UrlIdentity`.
    """

    url_strict: pa.Array
    policy_url: pa.Array
    url_key: pa.Array
    refused: pa.Array


def identify_column(urls: pa.Array | pa.ChunkedArray, rules: UrlRules) -> UrlColumns:
    """`identify` for each row of a column of strings or bytes (also large, sliced or chunked), in the same order.

    Raises:
        TypeError: the column holds neither strings nor bytes.
    """
    policy = ready(rules)
    chunks = urls.chunks if isinstance(urls, pa.ChunkedArray) else [urls]
    parts = [_identify_array(_as_strings(chunk), policy) for chunk in chunks or [pa.array([], urls.type)]]
    return parts[0] if len(parts) == 1 else _concatenated(parts)


def _as_strings(urls: pa.Array) -> pa.Array:
    """The column as strings; bytes that are not UTF-8 become escapes."""
    kind = urls.type
    if pa.types.is_string(kind):
        return urls
    kinds = (pa.types.is_null, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    if not any(is_kind(kind) for is_kind in kinds):
        raise TypeError(f"a column of URLs holds strings or bytes, not {kind}")
    try:
        return urls.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([None if raw is None else decode(raw) for raw in urls.to_pylist()], pa.string())


def _identify_array(strings: pa.Array, policy: Policy) -> UrlColumns:
    """Each row by the first lane that may take it."""
    lanes = [(_are_canonical, _identify_canonical), (_need_only_query, _identify_queried), (_any, _identify_others)]
    rows = np.arange(len(strings))
    taken: list[np.ndarray] = []
    parts: list[UrlColumns] = []
    left = strings
    for may_take, identify_lane in lanes:
        mask = may_take(left, policy)
        lane = left.filter(mask)
        if len(lane):
            chosen = mask.to_numpy(zero_copy_only=False)
            taken.append(rows[chosen])
            parts.append(identify_lane(lane, policy))
            rows, left = rows[~chosen], left.filter(pc.invert(mask))
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return _identify_canonical(strings, policy)
    place = np.empty(len(strings), np.int64)
    place[np.concatenate(taken)] = np.arange(len(strings))
    return UrlColumns(*(column.take(pa.array(place)) for column in _fields(_concatenated(parts))))


def _fields(columns: UrlColumns) -> tuple[pa.Array, pa.Array, pa.Array, pa.Array]:
    return columns.url_strict, columns.policy_url, columns.url_key, columns.refused


def _concatenated(parts: list[UrlColumns]) -> UrlColumns:
    return UrlColumns(*(pa.concat_arrays(column) for column in zip(*map(_fields, parts), strict=True)))


def _are_canonical(strings: pa.Array, policy: Policy) -> pa.Array:
    """The rows that are their own identity; also null rows, as no rule touches them."""
    mask = pc.fill_null(_matching(strings, _CANONICAL), True)
    return _judged(_plain(mask, strings, policy), strings, _NAME_OF_PAIR, lambda name: _stays(name, policy))


def _need_only_query(strings: pa.Array, policy: Policy) -> pa.Array:
    """The rows where everything before the query is canonical, and the query is as the parser would write it."""
    return _plain(_matching(strings, _QUERIED), strings, policy)


def _any(strings: pa.Array, policy: Policy) -> pa.Array:
    return pc.is_valid(strings)


def _matching(strings: pa.Array, pattern: str) -> pa.Array:
    return pc.and_(pc.match_substring_regex(strings, pattern), pc.less(pc.binary_length(strings), _LONGEST))


def _plain(mask: pa.Array, strings: pa.Array, policy: Policy) -> pa.Array:
    """The mask without rows whose origin or path a rule may touch."""
    if not policy.of_most_hosts.leaves_path:
        return pc.and_(mask, pc.is_null(strings))
    if policy.sessions.in_plain_path:
        mask = pc.and_not(mask, pc.fill_null(pc.match_substring_regex(strings, policy.sessions.in_plain_path), False))
    return _judged(mask, strings, _ORIGIN, lambda prefix: _is_plain(prefix, policy))


def _judged(mask: pa.Array, strings: pa.Array, pattern: str, holds: Callable[[str], bool]) -> pa.Array:
    """The mask without rows where what `pattern` captures does not hold; each distinct text is judged once."""
    chosen = pc.if_else(mask, strings, pa.scalar(None, pa.string()))
    encoded = pc.struct_field(pc.extract_regex(chosen, pattern), 0).dictionary_encode()
    verdicts = pa.array([holds(text) for text in encoded.dictionary.to_pylist()], pa.bool_())
    return pc.and_(mask, pc.fill_null(verdicts.take(encoded.indices), True))


def _is_plain(prefix: str, policy: Policy) -> bool:
    origin = policy.origin(prefix)
    return origin.plain and not origin.refused and origin.prefix == prefix and origin.policy is policy.of_most_hosts


def _stays(name: str, policy: Policy) -> bool:
    return policy.of_most_hosts.parameters.judge(name) is KEEP


def _identify_canonical(strings: pa.Array, policy: Policy) -> UrlColumns:
    return UrlColumns(strings, strings, _keys(strings), pa.nulls(len(strings), pa.string()))


def _keys(canonical: pa.Array) -> pa.Array:
    """The keys of canonical URLs: no scheme, and no trailing slash but that of the root."""
    is_https = pc.starts_with(canonical, "https")
    https = pc.binary_replace_slice(canonical, 0, len("https://"), "")
    keys = pc.if_else(is_https, https, pc.binary_replace_slice(canonical, 0, len("http://"), ""))
    slashed = pc.and_(pc.ends_with(keys, "/"), pc.greater(pc.count_substring(keys, "/"), 1))
    return pc.if_else(slashed, pc.ascii_rtrim(keys, "/"), keys)


def _identify_queried(urls: pa.Array, policy: Policy) -> UrlColumns:
    parts = pc.split_pattern(urls, "?", max_splits=1)
    base, query = pc.list_element(parts, 0), pc.list_element(parts, 1)
    parameters = policy.of_most_hosts.parameters
    cleaned = pa.array([clean_query(text, parameters) for text in query.to_pylist()], pa.string())
    empty = pc.equal(cleaned, "")
    policy_url, key = (
        pc.if_else(empty, before, pc.binary_join_element_wise(before, cleaned, "?")) for before in (base, _keys(base))
    )
    return UrlColumns(urls, policy_url, key, pa.nulls(len(urls), pa.string()))


def _identify_others(others: pa.Array, policy: Policy) -> UrlColumns:
    """Each distinct URL once, in Python; the parser is asked only for those not as it would write them."""
    encoded = others.dictionary_encode()
    distinct = encoded.dictionary
    rows = [
        canonicalise(url, policy, in_grammar=True) or refused_row(url, refusal_of(url, policy))
        if is_parsed
        else identify_row(url, policy)
        for url, is_parsed in zip(_texts(distinct), _matching(distinct, _PARSED).to_pylist(), strict=True)
    ]
    columns = (pa.array(column, pa.string()) for column in zip(*rows, strict=True))
    return UrlColumns(*(column if len(rows) == len(others) else column.take(encoded.indices) for column in columns))


def _texts(strings: pa.Array) -> list[str]:
    try:
        texts: list[str] = strings.to_pylist()
    except UnicodeDecodeError:  # a string array that was built without a check
        texts = [decode(raw) for raw in strings.cast(pa.binary()).to_pylist()]
    return texts
