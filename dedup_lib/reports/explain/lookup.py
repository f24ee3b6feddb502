"""What a user names by a doc_id, a record id or a URL: captures, other records of that URL, or names much like it."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dedup_lib.reports.explain.rows import Matches, SnapshotRows
from dedup_lib.tables.columns import Table
from dedup_lib.tables.schemas import DOCUMENTS, FETCHES, IDENTITIES, REJECTS
from dedup_lib.urls import REFUSED_KEY, UrlRules, identify

MOST = 100  # captures, fetches and rejects of a name that are told of
CONSIDERED = 20_000  # names of a host among which the nearest are looked for
NEAREST = 3
NAMES = ("doc_id", "record_id", "url", "url_strict", "policy_url", "url_key")
CAPTURE = tuple(name for name in DOCUMENTS.names if name not in ("text", "canonical_links"))
_DOC_ID = re.compile(r"(?:0x)?([0-9A-Fa-f]{32})")
_PREFIX = re.compile(r"(?:0x)?([0-9A-Fa-f]{6,31})")


@dataclass(frozen=True)
class Named:
    """What a snapshot has under a name; rows of `documents` without texts, of `fetches` and of `rejects`."""

    rows: SnapshotRows
    captures: list[dict[str, Any]]
    fetches: list[dict[str, Any]]
    rejects: list[dict[str, Any]]


def find(rows: SnapshotRows, name: str, rules: UrlRules | None) -> Named:
    """What a snapshot has under a name: a doc_id in hexadecimal, a record id, a URL as captured or canonical.

    With the rules that the snapshot was named by, a URL is found by its identity, so under any spelling; without them
    by the URL columns as they are. Captures come the latest first.
    """
    keys, urls = _keys(name, rules), [name]
    captures = _captures(rows, name, keys)
    urls += [row["url"] for row in captures]
    keys += [row["url_key"] for row in captures]
    fetches = _records(rows, FETCHES, {"url": urls, "url_key": keys})
    rejects = _records(rows, REJECTS, {"url": urls, "record_id": _record_ids(name)})
    return Named(rows, sorted(captures, key=recency, reverse=True), fetches, rejects)


def recency(capture: dict[str, Any]) -> tuple[str, str, str]:
    """Sorts captures by time."""
    return str(capture["crawl_date"]), str(capture["fetched_at"] or ""), capture["doc_id"].hex()


def nearest(rows: SnapshotRows, name: str, rules: UrlRules | None) -> list[str]:
    """Names that the snapshot has and that are much like one that it has not."""
    if prefix := _PREFIX.fullmatch(name):
        start = prefix[1].lower()
        ids = (doc_id.as_py().hex() for batch in rows.batches(DOCUMENTS, ["doc_id"]) for doc_id in batch.column(0))
        return _first((one for one in ids if one.startswith(start)), NEAREST)
    if "." not in name:
        return []
    key = _keys(name, rules)[-1]
    host = key.partition("/")[0]
    found = _first(_urls_of(rows, host), CONSIDERED)
    by_key = {url.partition("://")[2]: url for url in found}
    return [by_key[one] for one in difflib.get_close_matches(key, by_key, NEAREST, cutoff=0.5)]


def _urls_of(rows: SnapshotRows, host: str) -> Iterator[str]:
    for table in (DOCUMENTS, FETCHES):
        for batch in rows.batches(table, ["url", "url_key"]):
            of_host = pc.starts_with(batch.column("url_key"), host).fill_null(False)
            yield from (url for url in batch.filter(of_host).column("url").to_pylist() if url)


def _first(names: Iterator[str], most: int) -> list[str]:
    return [name for name, _ in zip(names, range(most), strict=False)]


def _keys(name: str, rules: UrlRules | None) -> list[str]:
    """The url_key of a URL under the rules, or what may be it without them."""
    if rules is not None and "." in name:
        named = (identify(spelling, rules).url_key for spelling in (name, f"http://{name}"))
        if key := next((key for key in named if not key.startswith(REFUSED_KEY)), None):
            return [key]
    return [name, f"{REFUSED_KEY}{name}", re.sub(r"^https?://|/+$", "", name)]


def _record_ids(name: str) -> list[str]:
    return [name, f"<{name}>"]


def _captures(rows: SnapshotRows, name: str, keys: Sequence[str]) -> list[dict[str, Any]]:
    """The captures of a name: those of its doc_id, or else all that bear it, or whose page is called so."""
    if (hexadecimal := _DOC_ID.fullmatch(name)) and (
        found := rows.where(DOCUMENTS, "doc_id", [bytes.fromhex(hexadecimal[1])], CAPTURE)
    ):
        return found
    wanted = {"record_id": _record_ids(name), "url_key": keys, **{one: [name] for one in NAMES[2:5]}}
    if not rows.has(DOCUMENTS):
        return []
    if places := rows.places(DOCUMENTS, list(wanted), _any_of(wanted), MOST):
        return rows.read(places, CAPTURE)
    pages = rows.where(IDENTITIES, "canonical_url", [name], ["doc_id"], MOST)
    return rows.where(DOCUMENTS, "doc_id", [page["doc_id"] for page in pages], CAPTURE)


def _records(rows: SnapshotRows, table: Table, wanted: dict[str, Sequence[str]]) -> list[dict[str, Any]]:
    if not rows.has(table):
        return []
    return rows.read(rows.places(table, list(wanted), _any_of(wanted), MOST), table.names)


def _any_of(wanted: dict[str, Sequence[str]]) -> Matches:
    """Whether any of the columns, in this order, has one of its values."""
    sets = [pa.array(list(values), pa.string()) for values in wanted.values()]

    def matches(batch: pa.RecordBatch) -> pa.Array:
        found = [pc.is_in(column, value_set=values) for column, values in zip(batch.columns, sets, strict=True)]
        result = found[0]
        for one in found[1:]:
            result = pc.or_(result, one)
        return result

    return matches
