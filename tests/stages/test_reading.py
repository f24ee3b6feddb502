from dedup_lib.archives import ArchiveReader, expand_inputs
from dedup_lib.config.settings import ExtractSettings, StorageSettings
from dedup_lib.stages.plan import Split
from dedup_lib.stages.reading import ReadingContext, SplitReading
from dedup_lib.urls import UrlRules

REDIRECT = b"HTTP/1.1 301 Moved\r\nLocation: http://a.example/%s\r\n\r\n"


def stored(number, content):
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{number}>\r\nWARC-Date: 2026-11-30T10:00:00Z\r\n"
        f"WARC-Target-URI: http://a.example/{number}\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content + b"\r\n\r\n"


def reading(path, **settings):
    (file,) = expand_inputs([str(path)])
    context = ReadingContext("web", ExtractSettings(guard="none", **settings), StorageSettings(), UrlRules())
    return SplitReading(Split(file), context)


def test_records_that_wait_behind_a_page_hold_no_payload(tmp_path):
    video = b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n" + b"v" * 100_000
    page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>some text</p>"
    (tmp_path / "a.warc").write_bytes(stored(1, page) + stored(2, video))
    found = reading(tmp_path / "a.warc")
    with (tmp_path / "a.warc").open("rb") as stream:
        reader = ArchiveReader(stream, found.split.file.bytes)
        items = [item for (item, _), _ in found._open(reader)]
    assert [item.payload for item in items] == [b"", b""]
    assert [item.target_uri for item in items] == ["http://a.example/1", "http://a.example/2"]


def test_rows_of_fetches_are_given_before_they_fill_the_memory(tmp_path):
    pages = b"".join(stored(number, REDIRECT % (b"x" * 20_000)) for number in range(30))
    (tmp_path / "a.warc").write_bytes(pages)
    tables = [table for table, _ in reading(tmp_path / "a.warc", batch_bytes=1 << 16).archive()]
    assert tables.count("fetches") == 8  # each after four targets of 20,000 characters: 65,536 are reached
    assert tables[-1] == "splits"
