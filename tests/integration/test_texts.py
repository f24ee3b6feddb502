"""Tables of text as input: which ids and dates they may have, and what becomes of rows without text."""

import json
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from .command import KEY, call, succeed
from .stored import rows, strays

PLACES = ("archive", "archive_offset", "fetched_at")
WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
TEXTS = [
    ("http://a.example/1", WORDS, "first"),
    ("http://a.example/1?utm_source=x", WORDS, "variant"),
    ("http://b.example/2", f" {WORDS.upper()} ", "exact"),
    ("http://b.example/3", f"{WORDS} eighteen", "near"),
    ("http://b.example/4", "something else altogether, as short as can be seen", "other"),
    ("http://b.example/5", "", "empty"),
    ("http://b.example/6", " \n\t ", "blank"),
]


def table_of(**columns):
    """The texts as columns, each further column by a function of the row's own id."""
    own_ids = [own for _, _, own in TEXTS]
    return pa.table(
        {"url": [url for url, _, _ in TEXTS], "text": [text for _, text, _ in TEXTS]}
        | {name: [make(own) for own in own_ids] for name, make in columns.items()}
    )


def write_jsonl(table, path):
    path.write_text("".join(json.dumps(row, default=str) + "\n" for row in table.to_pylist()), encoding="utf-8")


def run(path, root, *more):
    return succeed("run", *KEY, "--input", path, "--output", root, *more)


def day(_):
    return date(2026, 11, 30)


@pytest.fixture(scope="module")
def with_ids(spark, tmp_path_factory):
    """A Parquet table with ids and dates: its store and summary."""
    folder = tmp_path_factory.mktemp("texts")
    pq.write_table(table_of(id=str, crawl_date=day), folder / "a.parquet")
    return folder / "store", run(folder / "a.parquet", folder / "store").summary


def test_texts_pass_the_same_funnel_as_pages(with_ids):
    root, summary = with_ids
    counts = summary["counts"]
    assert counts["extract"]["rejects_by_reason"] == {"no_text": 2}
    assert (counts["extract"]["records"], counts["extract"]["documents"]) == (7, 5)
    assert counts["extract"]["verdicts"] == {"complete": 1}
    reasons = {row["record_id"]: row["reason"] for row in rows(root, "clusters")}
    # The longest text stays; one that differs in case and spaces is exact, its variant by URL is not looked at again.
    assert reasons == {"near": "kept", "exact": "near", "first": "exact", "variant": "url", "other": "kept"}
    assert sorted(row["url"] for row in rows(root, "rejects")) == ["http://b.example/5", "http://b.example/6"]
    assert strays(root) == []


def test_the_tables_own_id_is_the_record_id(with_ids):
    documents = rows(with_ids[0], "documents")
    assert {row["record_id"] for row in documents} == {"first", "variant", "exact", "near", "other"}
    assert {row["crawl_date"] for row in documents} == {date(2026, 11, 30)}
    assert all(row["http_status"] is None for row in documents)


@pytest.mark.parametrize("name", ["doc_id", "id"])
def test_the_same_texts_as_json_lines_are_the_same_documents(with_ids, tmp_path, name):
    write_jsonl(table_of(**{name: str, "crawl_date": day}), tmp_path / "a.jsonl")
    succeed("extract", *KEY, "--input", tmp_path / "a.jsonl", "--output", tmp_path / "store")
    assert rows(tmp_path / "store", "documents", PLACES) == rows(with_ids[0], "documents", PLACES)


def test_a_crawl_date_stands_in_for_the_column(with_ids, tmp_path):
    pq.write_table(table_of(id=str), tmp_path / "a.parquet")
    arguments = ("--input", tmp_path / "a.parquet", "--output", tmp_path / "store", "--crawl-date", "2026-11-30")
    succeed("extract", *KEY, *arguments)
    assert rows(tmp_path / "store", "documents", PLACES) == rows(with_ids[0], "documents", PLACES)


def test_without_ids_a_text_is_known_by_its_url_and_date(tmp_path):
    pq.write_table(table_of(date=day), tmp_path / "a.parquet")
    write_jsonl(table_of(date=day), tmp_path / "b.jsonl")
    found = []
    for name in ("a.parquet", "b.jsonl"):
        succeed("extract", *KEY, "--input", tmp_path / name, "--output", tmp_path / f"store-{name}")
        found.append(rows(tmp_path / f"store-{name}", "documents", PLACES))
    assert found[0] == found[1]
    assert len({row["doc_id"] for row in found[0]}) == 5
    assert {row["record_id"] for row in found[0]} == {None}


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_neither_a_date_column_nor_a_crawl_date_is_wrong_usage(spark, tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    if ending == "parquet":
        pq.write_table(table_of(id=str), path)
    else:
        write_jsonl(table_of(id=str), path)
    done = call("run", *KEY, "--input", path, "--output", tmp_path / "store")
    assert done.code == 2, done.err[-2000:]
    assert f"{path} has no date column" in done.complaint
    assert "--crawl-date" in done.complaint


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("no-text.jsonl", b'{"url": "http://a.example/", "date": "2026-11-30"}\n'),
        ("array.json", b'[{"url": "http://a.example/", "text": "words", "date": "2026-11-30"}]\n'),
        ("torn.parquet", b"PAR1 and no more"),
    ],
)
def test_a_table_that_cannot_be_read_is_a_missing_input(spark, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    done = call("run", *KEY, "--input", tmp_path / name, "--output", tmp_path / "store")
    assert done.code == 3, done.err[-2000:]
    assert str(tmp_path / name) in done.complaint
