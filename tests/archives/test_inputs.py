import gzip
import json

import pytest
from archive_builder import member, record

from dedup_lib.archives.inputs import expand_inputs
from dedup_lib.errors import InputError, UsageError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    deep = tmp_path / "crawl" / "deep"
    deep.mkdir(parents=True)
    (tmp_path / "crawl" / "b.warc.gz").write_bytes(member(record(0)))
    (deep / "a.warc").write_bytes(record(1))
    (deep / "c.warc.gz.open").write_bytes(member(record(2)))
    (deep / "picture.png").write_bytes(b"\x89PNG")
    (deep / "warc.paths.gz").write_bytes(gzip.compress(b"a.warc\n"))
    (deep / "_temporary.warc").write_bytes(b"")
    (deep / ".hidden.warc").write_bytes(b"")
    (tmp_path / "texts.jsonl").write_text(json.dumps({"url": "http://a.example/", "text": "a"}))
    return tmp_path


def names(files):
    return [file.path.rsplit("/", 1)[1] for file in files]


def test_folders_globs_and_files_give_each_file_once_in_order(folder):
    files = expand_inputs(["crawl", "crawl/*.warc.gz", str(folder / "crawl" / "b.warc.gz"), "crawl/**/*.open"])
    assert names(files) == ["b.warc.gz", "a.warc", "c.warc.gz.open"]
    assert [file.path for file in files] == sorted(file.path for file in files)
    assert {file.kind for file in files} == {"warc"}
    assert files[1].bytes == len(record(1))


def test_lists_are_relative_to_their_folder(folder):
    assert names(expand_inputs(["crawl/deep/warc.paths.gz"])) == ["a.warc"]
    (folder / "crawl" / "list").write_text(f"# two\n\nb.warc.gz\n{folder}/crawl/deep/a.warc\n")
    assert names(expand_inputs(["@crawl/list"])) == ["b.warc.gz", "a.warc"]


def test_a_list_below_the_first_folder_of_its_lines_is_relative_to_what_holds_that(folder):
    copied = folder / "mirror" / "crawl-data" / "CC-MAIN-2026-05"
    copied.mkdir(parents=True)
    (copied / "a.warc").write_bytes(b"")
    (copied / "warc.paths.gz").write_bytes(gzip.compress(b"crawl-data/CC-MAIN-2026-05/a.warc\r\n"))
    (found,) = expand_inputs([str(copied / "warc.paths.gz")])
    assert found.path == str(copied / "a.warc")
    (folder / "warc.paths").write_text("crawl-data/CC-MAIN-2026-05/a.warc\n")
    with pytest.raises(InputError, match=r"read where it lies, as s3://commoncrawl/"):
        expand_inputs([str(folder / "warc.paths")])


def test_file_uris_are_paths_and_versions_tell_changed_files(folder):
    file = folder / "crawl" / "ein Ordner.warc"
    file.write_bytes(b"1")
    (first,) = expand_inputs([f"file://{folder}/crawl/ein%20Ordner.warc"])
    assert first == expand_inputs([f"file:{folder}/crawl/ein%20Ordner.warc"])[0] == expand_inputs([str(file)])[0]
    file.write_bytes(b"12")
    (second,) = expand_inputs([str(file)])
    assert (first.path, first.bytes, second.bytes) == (str(file), 1, 2)
    assert first.version != second.version


def test_tables_of_text_and_unknown_files_that_are_named(folder):
    assert [file.kind for file in expand_inputs(["texts.jsonl"])] == ["texts"]
    assert [file.kind for file in expand_inputs(["crawl/deep/picture.png"])] == ["warc"]


@pytest.mark.parametrize(
    ("patterns", "error", "message"),
    [
        ([], UsageError, "no input was named"),
        (["nowhere"], InputError, "input nowhere does not exist"),
        (["crawl/*.arc"], InputError, "holds no files"),
        (["crawl/deep/*.png"], InputError, "holds 1 files, but no archive"),
        (["ftp://host/key.warc.gz"], UsageError, "addresses of this kind are not read"),
        (["crawl", "texts.jsonl"], UsageError, "mixes archives"),
        (["@missing"], InputError, "the list .*missing cannot be read"),
        (["empty.txt"], InputError, "names no file"),
        (["broken.txt"], InputError, "line 2: gone.warc does not exist"),
        (["images"], InputError, "folder .*images holds 2 files, but no archive"),
        (["void"], InputError, "holds no files"),
    ],
)
def test_errors_are_one_sentence(folder, patterns, error, message):
    (folder / "empty.txt").write_text("# nothing\n")
    (folder / "broken.txt").write_text("crawl/b.warc.gz\ngone.warc\n")
    (folder / "void").mkdir()
    (folder / "images").mkdir()
    (folder / "images" / "a.jpg").write_bytes(b"\xff\xd8\xff")
    (folder / "images" / "b.gz").write_bytes(b"\x1f\x8b\x08broken")
    with pytest.raises(error, match=message) as caught:
        expand_inputs(patterns)
    assert "\n" not in str(caught.value)
