"""A response body to the text of a document: the whole way, for HTML and plain text."""

from dataclasses import dataclass

from dedup_lib.text.blocks import normalise_blocks
from dedup_lib.text.charset import decode_html
from dedup_lib.text.content_type import Kind
from dedup_lib.text.language import detect_language
from dedup_lib.text.main_content import Extraction
from dedup_lib.text.options import DEFAULT_OPTIONS, ReadOptions
from dedup_lib.text.page import PageContent, PageRefused, Refusal, read_page


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The text of a document with the charset it was read in and its language."""

    content: PageContent
    charset: str
    language: str


def read_document(
    body: bytes,
    kind: Kind,
    http_charset: str | None,
    options: ReadOptions = DEFAULT_OPTIONS,
) -> DocumentText | PageRefused:
    """Decodes a body (its HTTP codings taken off) of kind HTML or PLAIN, and reads text and language out of it."""
    if len(body) > 4 * options.limits.max_html_chars:
        return PageRefused(Refusal.TOO_LARGE, f"{len(body)} bytes of markup")
    text, charset = decode_html(body, http_charset)
    content = read_page(text, options) if kind is Kind.HTML else read_plain(text, options)
    if isinstance(content, PageRefused):
        return content
    return DocumentText(content, charset, detect_language(content.text))


def read_plain(text: str, options: ReadOptions = DEFAULT_OPTIONS) -> PageContent | PageRefused:
    """Plain text as a page without title: one block per line."""
    if len(text) > options.limits.max_text_chars:
        return PageRefused(Refusal.TOO_LARGE, f"{len(text)} characters of text")
    return PageContent("", normalise_blocks(text.replace("\0", "")), extraction=Extraction.PLAIN)
