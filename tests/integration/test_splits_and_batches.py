"""Archives read in splits and in batches: the rows are those of a whole read, and a killed run goes on where it was."""

import gzip
from types import SimpleNamespace

import pytest

from dedup_lib.tables.parts import Parts

from .archives import stored_page, write_archives
from .command import KEY, call, succeed
from .stored import all_rows, rows, strays, table

LEAST = 1 << 16  # the least that a split or a batch may be
FINE = ("--set", f"extract.split_bytes={LEAST}", "--set", f"extract.commit_bytes={LEAST}")


def page(number, body):
    return stored_page(number, body, "text/plain")


def text(number, words=9000):
    return " ".join(f"word{number}x{place}" for place in range(words)).encode()


def extract(root, inputs, *more):
    return succeed("extract", *KEY, "--input", inputs, "--output", root, *more)


@pytest.fixture(scope="module")
def inputs(records, tmp_path_factory):
    """The small snapshot in three archives of several splits each: gzip, gzip in one member, and plain."""
    folder = tmp_path_factory.mktemp("splits") / "input"
    paths = write_archives(records, folder, 2)
    whole = gzip.decompress(paths[1].read_bytes())
    paths[1].write_bytes(gzip.compress(whole, 1, mtime=0))
    pages = b"".join(page(number, text(number)) for number in range(8))
    (folder / "plain.warc").write_bytes(pages)
    return folder


@pytest.fixture(scope="module")
def whole(inputs, spark, tmp_path_factory):
    """Read in one batch of whole files."""
    root = tmp_path_factory.mktemp("whole")
    return SimpleNamespace(root=root, done=extract(root, inputs))


def extracted(root):
    return {name: rows(root, name) for name in ("documents", "fetches", "rejects", "archives")}


def test_splits_and_batches_change_no_row(inputs, whole, tmp_path):
    done = extract(tmp_path, inputs, *FINE)
    counts = done.summary["counts"]["extract"]
    assert counts["batches"] == 3
    assert counts["documents"] > 8
    assert extracted(tmp_path) == extracted(whole.root)
    assert counts | {"batches": 1} == whole.done.summary["counts"]["extract"]
    assert strays(tmp_path) == []


def test_a_killed_run_goes_on_behind_the_last_batch_that_was_recorded(inputs, whole, tmp_path, monkeypatch):
    recorded, add = [], Parts.add

    def add_two(parts, entry):
        if len(recorded) == 2:
            raise KeyboardInterrupt
        recorded.append(entry)
        add(parts, entry)

    with monkeypatch.context() as patch:
        patch.setattr(Parts, "add", add_two)
        assert call("extract", *KEY, "--input", inputs, "--output", tmp_path, *FINE).code == 130
    files = {file.path: (tmp_path / file.path).stat().st_mtime_ns for entry in recorded for file in entry.files}

    done = extract(tmp_path, inputs, *FINE)
    assert done.err.count("was there already") == 2
    assert extracted(tmp_path) == extracted(whole.root)
    assert files.items() <= {path: (tmp_path / path).stat().st_mtime_ns for path in files}.items()
    assert strays(tmp_path) == []


def test_batches_that_other_settings_read_are_read_again(inputs, tmp_path, monkeypatch):
    def stop(parts, entry):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Parts, "clear", lambda parts: None)
        patch.setattr(Parts, "add", lambda parts, entry, add=Parts.add: add(parts, entry) or stop(parts, entry))
        assert call("extract", *KEY, "--input", inputs, "--output", tmp_path, *FINE).code == 130
    done = extract(tmp_path, inputs, *FINE, "--set", "extract.main_content=false")
    assert "was there already" not in done.err
    assert {row["extraction"] for row in rows(tmp_path, "documents")} == {"full", "plain"}
    assert strays(tmp_path) == []


def test_a_record_that_quotes_an_archive_makes_no_record_of_what_it_quotes(tmp_path):
    quoted = b"".join(page(100 + number, text(100 + number, 4000)) for number in range(8))
    (tmp_path / "quoting.warc").write_bytes(page(1, text(1)) + page(2, quoted) + page(3, text(3)))
    fine = extract(tmp_path / "fine", tmp_path / "quoting.warc", *FINE)
    assert "quoting.warc cannot be cut into splits that meet" in fine.err
    extract(tmp_path / "whole", tmp_path / "quoting.warc")
    assert extracted(tmp_path / "fine") == extracted(tmp_path / "whole")
    assert {row["url"].rpartition("/")[2] for row in rows(tmp_path / "fine", "documents")} == {"1", "2", "3"}
    assert strays(tmp_path / "fine") == []


def test_one_capture_in_two_batches_is_one_document(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.warc").write_bytes(page(1, text(1)) + page(2, text(2)))
    done = extract(tmp_path / "store", tmp_path, *FINE)
    assert done.summary["counts"]["extract"]["batches"] == 2
    assert done.summary["counts"]["extract"]["repeated"] == 2
    assert {row["archive"] for row in rows(tmp_path / "store", "documents")} == {"a.warc"}
    assert strays(tmp_path / "store") == []


@pytest.mark.slow
def test_later_stages_read_all_batches(inputs, tmp_path, whole):
    for root, settings in ((tmp_path, FINE), (whole.root, ())):
        succeed("run", *KEY, "--input", inputs, "--output", root, *settings)
    assert all_rows(tmp_path) == all_rows(whole.root)
    assert table(tmp_path, "clusters").num_rows == table(tmp_path, "documents").num_rows
