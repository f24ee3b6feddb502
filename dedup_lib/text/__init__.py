"""Bytes of a page to its text: charset, main text, title, declared addresses, language."""

from dedup_lib.text.blocks import normalise_blocks
from dedup_lib.text.caps import PageLimits
from dedup_lib.text.charset import charset_of, decode_html
from dedup_lib.text.content_type import Kind, document_kind, media_type
from dedup_lib.text.document import DocumentText, read_document, read_plain
from dedup_lib.text.language import detect_language
from dedup_lib.text.main_content import Extraction
from dedup_lib.text.options import Engine, ReadOptions
from dedup_lib.text.page import PageContent, PageRefused, Refusal, read_page
from dedup_lib.text.trafilatura_engine import require_engine

__all__ = [
    "DocumentText",
    "Engine",
    "Extraction",
    "Kind",
    "PageContent",
    "PageLimits",
    "PageRefused",
    "ReadOptions",
    "Refusal",
    "charset_of",
    "decode_html",
    "detect_language",
    "document_kind",
    "media_type",
    "normalise_blocks",
    "read_document",
    "read_page",
    "read_plain",
    "require_engine",
]
