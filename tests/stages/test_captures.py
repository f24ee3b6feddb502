import io

import pytest

from dedup_lib.archives import ArchiveReader
from dedup_lib.config.settings import ExtractSettings
from dedup_lib.stages.captures import close_page, open_record
from dedup_lib.text import read_document


def captured(headers, body=b"<html><head></head><body><p>Some text of a page.</p></body></html>"):
    """The columns of a page that was answered with these headers."""
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + b"".join(line + b"\r\n" for line in headers) + b"\r\n"
    head = (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Date: 2026-11-30T10:00:00Z\r\n"
        b"WARC-Target-URI: http://site.example/a?x=1\r\nContent-Type: application/http; msgtype=response\r\n"
        b"Content-Length: %d\r\n\r\n" % len(http + body)
    )
    data = head + http + body + b"\r\n\r\n"
    (record,) = ArchiveReader(io.BytesIO(data), len(data))
    page = open_record(record, ExtractSettings())
    request = page.request
    return close_page(record, page, read_document(request.body, request.kind, request.http_charset))


@pytest.mark.parametrize(
    ("headers", "links"),
    [
        ([], None),
        ([b'Link: </wp-json/>; rel="https://api.w.org/"', b'Link: </a>; rel="canonical"'], ["http://site.example/a"]),
        ([b"Link: broken", b'Link: </a>; rel="canonical"'], ["http://site.example/a"]),
        (
            [b'Link: </a>; rel="canonical"', b'Link: </b>; rel="canonical"'],
            ["http://site.example/a", "http://site.example/b"],
        ),
    ],
)
def test_canonicals_of_all_link_headers_are_kept(headers, links):
    assert captured(headers)["canonical_links"] == links
