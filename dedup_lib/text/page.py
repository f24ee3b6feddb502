"""A page in HTML to its text, title and what it declares of its address; parsed once."""

from dataclasses import dataclass, field
from enum import StrEnum

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree

from dedup_lib.text.blocks import normalise_blocks
from dedup_lib.text.caps import PageLimits, too_complex

MAX_TITLE_CHARS = 1_000

_DEFAULT_LIMITS = PageLimits()


class Refusal(StrEnum):
    """Why a page gives no text: values of `rejects.reason`."""

    TOO_LARGE = "too_large"
    TOO_DEEP = "too_deep"
    BAD_PAGE = "bad_page"


@dataclass(frozen=True, slots=True)
class PageContent:
    """What a page says.

    `text` has one block per line, without blank lines or outer white space; it may be empty. `fallback` tells that
    the main content was empty, and `text` is that of the whole page. `base_href` and `canonical_links` are as
    written, unresolved.
    """

    title: str
    text: str
    base_href: str | None = None
    canonical_links: list[str] = field(default_factory=list)
    fallback: bool = False


@dataclass(frozen=True, slots=True)
class PageRefused:
    """A page that was not read, and why."""

    reason: Refusal
    detail: str


def read_page(html: str, main_content: bool = True, limits: PageLimits = _DEFAULT_LIMITS) -> PageContent | PageRefused:
    """Reads a page; `main_content` leaves out navigation, footers and the like where they can be told.

    Pages that would keep the native parser busy for long are refused by `caps.too_complex` before it sees them.
    """
    complexity = too_complex(html, limits)
    if complexity is not None:
        large = len(html) > limits.max_html_chars
        return PageRefused(Refusal.TOO_LARGE if large else Refusal.TOO_DEEP, complexity)
    try:
        tree = HTMLTree.parse(html)
        title, base_href, canonical_links = _head_of(tree, html)
        raw = _text_of(tree, main_content)
        fallback = main_content and not raw.strip()
        if fallback:
            raw = _text_of(tree, False)
    except (TypeError, ValueError, RuntimeError, AttributeError) as error:
        return PageRefused(Refusal.BAD_PAGE, f"the extractor failed: {error}")
    if len(raw) > limits.max_text_chars:
        return PageRefused(Refusal.TOO_LARGE, f"{len(raw)} characters of text")
    text = normalise_blocks(raw)
    return PageContent(title, text, base_href, canonical_links, fallback and bool(text))


def _text_of(tree: HTMLTree, main_content: bool) -> str:
    # alternative texts of images repeat across a site and are not its text
    text: str = extract_plain_text(tree, main_content=main_content, alt_texts=False)
    return text


def _head_of(tree: HTMLTree, html: str) -> tuple[str, str | None, list[str]]:
    title = " ".join((tree.title or "").split())[:MAX_TITLE_CHARS]
    head = tree.head
    if head is None:
        return title, None, []
    # The look at the markup spares most pages the walk through the tree.
    markup = html[: html.find("</head")].lower()
    bases = head.query_selector_all("base[href]") if "<base" in markup else []
    links = head.query_selector_all("link[rel][href]") if "canonical" in markup else []
    canonical = [link.getattr("href") for link in links if "canonical" in (link.getattr("rel") or "").lower().split()]
    base_href = next((str(base.getattr("href")).strip() for base in bases), None)
    return title, base_href, list(dict.fromkeys(str(href).strip() for href in canonical if href))
