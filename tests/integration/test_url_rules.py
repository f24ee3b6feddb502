"""Other URL rules over a store that is there: URL columns are remade from its tables, and what rests on them."""

import io
import json
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from dedup_lib.cli.steps import MAKERS
from dedup_lib.tables.schemas import STAGES
from dedup_lib.tables.workspace import Workspace
from dedup_lib.urls import default_rules_path, load_rules

from .command import KEY, call, succeed
from .stored import all_rows, rows, strays, version

SITE = "https://site.example"
DROPPING = "version: 1\ndefaults:\n  drop_params: [ref]\n"
FIRST, SECOND, THIRD = (" ".join(f"{word}{number}" for number in range(60)) for word in ("apple", "bread", "cider"))
# URL, head of the page, its text, further HTTP headers. `ref` tells pages apart or does not: that is up to the rules.
PAGES = [
    ("/story", "", FIRST, []),
    ("/story?ref=a", "", FIRST, []),
    ("/story?ref=b", "", THIRD, []),  # another text under what may become the same key
    ("/late?ref=a", '<link rel="canonical" href="other?ref=x">', SECOND, [("Link", '<?ref=y>; rel="canonical"')]),
    ("/other?ref=a", '<base href="/x/"><link rel="canonical" href="/other?ref=x">', SECOND + " end",
     [("Link", '</other?ref=y>; rel="canonical"')]),
    ("/many", "".join(f'<link rel="canonical" href="/many?ref={number}">' for number in range(6)), THIRD + " end",
     [("Link", ", ".join(f'</many?ref={number}>; rel="canonical"' for number in range(4, 12)))]),
    ("/blank?ref=a", "", "", []),
]  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A small snapshot, and its stores by the product's rules (`plain`) and with `ref` dropped (`fresh`)."""

    folder: Path

    @property
    def inputs(self) -> Path:
        return self.folder / "input"

    @property
    def dropping(self) -> tuple[str, str]:
        return ("--set", f"urls.rules=[url_rules.yaml, {self.folder / 'dropping.yaml'}]")

    def run(self, root, *arguments):
        return succeed("run", *KEY, "--input", self.inputs, "--output", root, *arguments)

    @contextmanager
    def without_archives(self):
        """The archives gone, for a while."""
        aside = self.inputs.rename(self.folder / "aside")
        try:
            yield
        finally:
            aside.rename(self.inputs)


@pytest.fixture(scope="module")
def case(spark, tmp_path_factory) -> Case:
    case = Case(tmp_path_factory.mktemp("url-rules"))
    case.inputs.mkdir()
    (case.folder / "dropping.yaml").write_text(DROPPING)
    (case.inputs / "a.warc.gz").write_bytes(archive(PAGES[:4]))
    (case.inputs / "b.warc.gz").write_bytes(archive(PAGES[3:]))  # one record is in both
    case.run(case.folder / "plain")
    case.run(case.folder / "fresh", *case.dropping)
    return case


@pytest.fixture
def root(case, tmp_path) -> Path:
    """A copy of the store by the product's rules."""
    return shutil.copytree(case.folder / "plain", tmp_path / "store")


def archive(pages) -> bytes:
    """The pages, a redirect and a missing page."""
    stream = io.BytesIO()
    writer = WARCWriter(stream, gzip=True)
    responses = [
        (path, "200 OK", [("Content-Type", "text/html"), *headers], f"<head>{head}</head><body><p>{text}</p></body>")
        for path, head, text, headers in pages
    ]
    first = pages[0][0]
    responses += [
        (f"{first}&ref=moved", "301 Moved", [("Location", "/story?ref=a")], ""),
        (f"/gone?ref={len(pages)}", "404 Not Found", [("Content-Type", "text/html")], "<p>gone</p>"),
    ]
    for path, status, headers, body in responses:
        http = StatusAndHeaders(status, headers, protocol="HTTP/1.1")
        known = {"WARC-Date": "2026-11-30T12:00:00Z", "WARC-Record-ID": f"<urn:{path}>"}
        writer.write_record(
            writer.create_warc_record(
                SITE + path, "response", io.BytesIO(body.encode()), warc_headers_dict=known, http_headers=http
            )
        )
    return stream.getvalue()


def scheme_of(*extra) -> str:
    return load_rules([default_rules_path(), *extra]).scheme


def stamps(root):
    return {stage: entry.url_scheme for stage, entry in version(root).stages.items()}


def of_extract(all_tables):
    return {name: all_tables[name] for name in ("documents", "fetches", "rejects", "archives", "identities")}


def test_the_two_sets_of_rules_differ_in_all_that_they_shape(case):
    plain, fresh = (all_rows(case.folder / name) for name in ("plain", "fresh"))
    for table in ("documents", "fetches", "identities", "signatures", "clusters", "representatives"):
        assert plain[table] != fresh[table], table
    declared = {row["url"].removeprefix(SITE): row for row in fresh["documents"]}
    links = {path: row["canonical_links"] for path, row in declared.items()}
    assert links["/other?ref=a"] == [f"{SITE}/other?ref=x", f"{SITE}/other?ref=y"]
    assert links["/late?ref=a"] == [f"{SITE}/other?ref=x", f"{SITE}/late?ref=y"]
    assert links["/story"] is None
    assert links["/many"] is None
    assert declared["/other?ref=a"]["declared_canonical"] == f"{SITE}/other"
    assert declared["/late?ref=a"]["declared_canonical"] is None
    assert [row["declared_canonical"] for row in plain["documents"]] == [None] * 6
    assert len(fresh["documents"]) == 6
    assert {row["verdict"] for row in fresh["archives"]} == {"complete"}
    assert [row["reason"] for row in fresh["rejects"]] == ["no_text"]
    assert len(fresh["fetches"]) == 4


@pytest.fixture(scope="module")
def changed(case):
    """The store by the product's rules after a run with other ones, and what that run said."""
    root = shutil.copytree(case.folder / "plain", case.folder / "changed")
    return root, case.run(root, *case.dropping)


def test_changed_rules_remake_what_rests_on_them_as_a_fresh_run_gives_it(case, changed):
    root, done = changed
    old, new = scheme_of(), scheme_of(case.folder / "dropping.yaml")
    assert f"extract: URL rules changed ({old} -> {new}): remaking URL columns of 6 documents" in done.err.splitlines()
    assert done.summary["made"] == list(STAGES)
    assert all_rows(root) == all_rows(case.folder / "fresh")
    assert stamps(root) == dict.fromkeys(STAGES, new)
    assert {row["url_scheme"] for name in ("documents", "signatures") for row in rows(root, name)} == {new}
    before, after = (version(where).stages["extract"] for where in (case.folder / "plain", root))
    run_file = json.loads((root / f"_runs/{done.summary['run']}.json").read_text())
    assert run_file["schemes"]["url_scheme"] == new
    assert run_file["counts"]["extract"] == dict(before.counts) == dict(after.counts)
    assert after.run == done.summary["run"] != before.run
    assert all(after.tables[name] == before.tables[name] for name in ("rejects", "archives"))
    assert strays(root) == []


def test_a_second_run_does_nothing_also_where_only_the_words_of_the_rules_changed(case, changed):
    root, _ = changed
    assert case.run(root, *case.dropping).summary["made"] == []
    reworded = case.folder / "reworded.yaml"
    reworded.write_text(f"# as agreed with the editors\n{DROPPING}")
    assert case.run(root, "--set", f"urls.rules=[url_rules.yaml, {reworded}]").summary["made"] == []


@pytest.mark.slow
def test_rules_are_changed_back_without_archives_and_later_stages_wait_for_resolve(case, changed, tmp_path):
    root = shutil.copytree(changed[0], tmp_path / "store")
    new, old = scheme_of(), scheme_of(case.folder / "dropping.yaml")
    with case.without_archives():
        for stage in ("sign", "cluster"):
            refused = call(stage, *KEY, "--output", root)
            assert refused.code == 2
            assert old in refused.complaint
            assert new in refused.complaint
            assert "run resolve first" in refused.complaint
        done = succeed("resolve", *KEY, "--output", root)
        assert done.summary["made"] == list(done.summary["counts"]) == ["extract", "resolve"]
        assert "remaking URL columns of 6 documents" in done.err
        assert stamps(root) == {"extract": new, "resolve": new, "sign": old, "cluster": old}
        assert succeed("status", root).out.count("was replaced") == 2
        assert call("cluster", *KEY, "--output", root).code == 3  # the signatures are stale
        assert call("sign", *KEY, "--output", root, *case.dropping).code == 2  # the rules before
        for stage in ("sign", "cluster"):
            assert succeed(stage, *KEY, "--output", root).summary["made"] == [stage]
    assert all_rows(root) == all_rows(case.folder / "plain")
    assert strays(root) == []


def test_extract_alone_leaves_what_was_made_by_other_rules_stale(case, root):
    arguments = ("--input", case.inputs, "--output", root, "--set", "store.retain_seconds=600")
    before = version(root).stages["extract"]
    assert succeed("extract", *KEY, *arguments, *case.dropping).summary["made"] == ["extract"]
    assert succeed("status", root).out.count("stale: extract was replaced") == 3
    for name in ("documents", "fetches", "rejects", "archives"):
        assert rows(root, name) == rows(case.folder / "fresh", name)
    # Readers of the version before still find its files.
    assert all((root / file.path).stat().st_size == file.bytes for file in before.files)


def interrupt(*_):
    raise KeyboardInterrupt


def test_a_run_that_is_stopped_while_it_remakes_leaves_nothing_and_one_stopped_later_is_taken_up(
    case, root, monkeypatch
):
    published = (root / "_published/source=sample/snapshot=snapshot-a.json").read_bytes()
    arguments = ("--input", case.inputs, "--output", root, *case.dropping)
    with monkeypatch.context() as patch:
        patch.setattr(Workspace, "finish_stage", interrupt)
        assert call("run", *KEY, *arguments).code == 130
        assert strays(root) == []
    with monkeypatch.context() as patch:
        patch.setitem(MAKERS, "resolve", interrupt)
        assert call("run", *KEY, *arguments).code == 130
    assert (root / "_published/source=sample/snapshot=snapshot-a.json").read_bytes() == published
    done = succeed("resolve", *KEY, "--output", root, *case.dropping)
    assert done.summary["made"] == ["resolve"]
    assert of_extract(all_rows(root)) == of_extract(all_rows(case.folder / "fresh"))
    assert strays(root) == []


def test_a_damaged_table_is_not_remade_in_part(case, root):
    (file, *_) = version(root).stages["extract"].tables["documents"].files
    (root / file.path).unlink()
    refused = call("resolve", *KEY, "--output", root, *case.dropping)
    assert refused.code == 3
    assert "run extract again" in refused.complaint
