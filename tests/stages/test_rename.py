"""Stored rows under other rules are what extraction under them gives."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from dedup_lib.stages.document_rows import finish_documents
from dedup_lib.stages.rename import renamed_documents, renamed_fetches
from dedup_lib.tables.schemas import DOCUMENTS, FETCHES
from dedup_lib.urls import UrlRules
from dedup_lib.urls.rules import HostRule

NONE, DROPPING = UrlRules(), UrlRules(defaults=HostRule(drop_params=("ref",), strip_www=True))
URLS = ["http://www.h.example/a?ref=1", "http://h.example/a?b=1", "n/a", "http://h.example/c?ref=2"]
LINKS = [["http://h.example/a?ref=2", "http://h.example/a"], None, ["http://h.example/"], ["http://h.example/c"]]


def extracted(rules):
    rows, schema = len(URLS), DOCUMENTS.arrow
    arrays = {field.name: pa.nulls(rows, field.type) for field in schema}
    arrays |= {
        "url": pa.array(URLS),
        "canonical_links": pa.array(LINKS, pa.list_(pa.string())),
        "text": pa.array(["one", "two", "three", "four"]),
        "truncated": pa.array([False] * rows),
    }
    return finish_documents(pa.array([b"1", b"2", b"3", b"4"], pa.binary()), arrays, rules)


@pytest.mark.parametrize(("before", "after"), [(NONE, DROPPING), (DROPPING, NONE), (NONE, NONE)])
def test_documents_are_renamed_to_what_extraction_gives(before, after):
    assert renamed_documents(extracted(before), after).equals(extracted(after))
    assert renamed_documents(extracted(before).slice(1, 2), after).equals(extracted(after).slice(1, 2))


def test_rules_shape_names_and_declared_canonicals():
    plain, dropped = (extracted(rules).to_pydict() for rules in (NONE, DROPPING))
    assert plain["declared_canonical"] == [None, None, None, "http://h.example/c"]
    assert dropped["declared_canonical"] == ["http://h.example/a", None, None, "http://h.example/c"]
    assert plain["policy_url"][0] == URLS[0]
    assert dropped["policy_url"][0] == "http://h.example/a"
    assert dropped["url_key"] == ["h.example/a", "h.example/a?b=1", "refused|n/a", "h.example/c"]
    assert dropped["url_strict"] == plain["url_strict"] == URLS
    assert dropped["url_scheme"] == [DROPPING.scheme] * 4 != plain["url_scheme"]


def test_files_whose_lists_name_their_items_otherwise_are_taken():
    batch = extracted(NONE)
    place = batch.schema.get_field_index("canonical_links")
    as_others_write = pa.list_(pa.field("array", pa.string(), nullable=False))
    batch = batch.set_column(place, pa.field("canonical_links", as_others_write), pa.array(LINKS, as_others_write))
    assert renamed_documents(batch, DROPPING).equals(extracted(DROPPING))


def test_keys_of_fetches_follow_the_rules_and_no_url_has_none():
    moment = datetime(2026, 11, 30, tzinfo=UTC)
    rows = [
        {"url": url, "url_key": "old", "fetched_at": moment, "kind": "error", "archive": "a", "archive_offset": 1}
        for url in [*URLS, None]
    ]
    found = renamed_fetches(pa.RecordBatch.from_pylist(rows, FETCHES.arrow), DROPPING).to_pylist()
    assert [row.pop("url_key") for row in found] == [
        *("h.example/a", "h.example/a?b=1", "refused|n/a", "h.example/c"),
        None,
    ]
    for row in rows:
        del row["url_key"]
    assert found == [row | dict.fromkeys(("http_status", "target", "refers_to", "refers_to_date")) for row in rows]
