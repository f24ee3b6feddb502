"""A page in HTML to its text, title and what it declares of its address; parsed once."""

from dataclasses import dataclass, field
from enum import StrEnum

from resiliparse.parse.html import HTMLTree

from dedup_lib.errors import UsageError
from dedup_lib.text.blocks import normalise_blocks
from dedup_lib.text.caps import too_complex
from dedup_lib.text.main_content import Extraction, full_text, main_text
from dedup_lib.text.options import DEFAULT_OPTIONS, ReadOptions
from dedup_lib.text.trafilatura_engine import trafilatura_text

MAX_TITLE_CHARS = 1_000
MOST_CANONICAL_WORDS = 200  # in a head
HYBRID_SHARE = 0.5  # trafilatura's text counts if it has this share of the length of resiliparse's


class Refusal(StrEnum):
    """Why a page gives no text: values of `rejects.reason`."""

    TOO_LARGE = "too_large"
    TOO_DEEP = "too_deep"
    BAD_PAGE = "bad_page"


@dataclass(frozen=True, slots=True)
class PageContent:
    """What a page says.

    `text` has one block per line, without blank lines or outer white space; it may be empty. `extraction` tells where
    it comes from. `base_href` and `canonical_links` are as written, unresolved.
    """

    title: str
    text: str
    base_href: str | None = None
    canonical_links: list[str] = field(default_factory=list)
    extraction: Extraction = Extraction.MAIN


@dataclass(frozen=True, slots=True)
class PageRefused:
    """A page that was not read, and why."""

    reason: Refusal
    detail: str


def read_page(html: str, options: ReadOptions = DEFAULT_OPTIONS) -> PageContent | PageRefused:
    """Reads a page.

    Pages that would keep the native parser busy for long are refused by `caps.too_complex` before it sees them.
    """
    limits = options.limits
    complexity = too_complex(html, limits)
    if complexity is not None:
        large = len(html) > limits.max_html_chars
        return PageRefused(Refusal.TOO_LARGE if large else Refusal.TOO_DEEP, complexity)
    try:
        tree = HTMLTree.parse(html)
        title, base_href, canonical_links = _head_of(tree, html)
        raw, extraction = _text_of(tree, html, options)
    except UsageError:  # an engine that is not installed is no fault of the page
        raise
    except (TypeError, ValueError, RuntimeError, AttributeError) as error:
        return PageRefused(Refusal.BAD_PAGE, f"the extractor failed: {error}")
    if len(raw) > limits.max_text_chars:
        return PageRefused(Refusal.TOO_LARGE, f"{len(raw)} characters of text")
    return PageContent(title, normalise_blocks(raw), base_href, canonical_links, extraction)


def _text_of(tree: HTMLTree, html: str, options: ReadOptions) -> tuple[str, Extraction]:
    if not options.main_content:
        return full_text(tree), Extraction.FULL
    if options.engine == "resiliparse":
        return main_text(tree, html)
    hybrid = options.engine == "hybrid"
    found = trafilatura_text(html, precise=hybrid)
    if found and not hybrid:
        return found, Extraction.TRAFILATURA
    text, extraction = main_text(tree, html)
    return (found, Extraction.TRAFILATURA) if len(found) > HYBRID_SHARE * len(text) else (text, extraction)


def _head_of(tree: HTMLTree, html: str) -> tuple[str, str | None, list[str]]:
    title = " ".join((tree.title or "").split())[:MAX_TITLE_CHARS]
    # The look at the markup spares most pages the walk through the tree.
    markup = html[: html.find("</head")].lower()
    head = tree.head if "<base" in markup or "canonical" in markup else None
    if head is None:
        return title, None, []
    base = head.query_selector("base[href]") if "<base" in markup else None
    base_href = None if base is None else str(base.getattr("href")).strip()
    # Going through a collection is quadratic, so a page with very many canonical links is taken to have none.
    if not 0 < markup.count("canonical") <= MOST_CANONICAL_WORDS:
        return title, base_href, []
    links = (link.getattr("href") for link in head.query_selector_all('link[rel~="canonical" i][href]'))
    return title, base_href, list(dict.fromkeys(str(href).strip() for href in links if href))
