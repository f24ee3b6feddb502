"""A response body to the text of a document: the whole way, for HTML and plain text."""

from dataclasses import dataclass

from dedup_lib.text.blocks import normalise_blocks
from dedup_lib.text.caps import PageLimits
from dedup_lib.text.charset import decode_html
from dedup_lib.text.content_type import Kind
from dedup_lib.text.language import detect_language
from dedup_lib.text.page import PageContent, PageRefused, Refusal, read_page

_DEFAULT_LIMITS = PageLimits()


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
    main_content: bool = True,
    limits: PageLimits = _DEFAULT_LIMITS,
) -> DocumentText | PageRefused:
    """Decodes a body (its HTTP codings taken off) of kind HTML or PLAIN, and reads text and language out of it."""
    if len(body) > 4 * limits.max_html_chars:
        return PageRefused(Refusal.TOO_LARGE, f"{len(body)} bytes of markup")
    text, charset = decode_html(body, http_charset)
    content = read_page(text, main_content, limits) if kind is Kind.HTML else read_plain(text, limits)
    if isinstance(content, PageRefused):
        return content
    return DocumentText(content, charset, detect_language(content.text))


def read_plain(text: str, limits: PageLimits = _DEFAULT_LIMITS) -> PageContent | PageRefused:
    """Plain text as a page without title: one block per line."""
    if len(text) > limits.max_text_chars:
        return PageRefused(Refusal.TOO_LARGE, f"{len(text)} characters of text")
    return PageContent(title="", text=normalise_blocks(text.replace("\0", "")))
