"""What is planted: each function makes the pages of one family, the original first.

All take the language, dice of their own and the family's index among those of its plant, by which they go round
their variants: near levels, rules, sites.
"""

from collections.abc import Callable
from dataclasses import replace

from dedup_lib.sample.dice import Dice
from dedup_lib.sample.edits import EDITS, cut_short, near_copy
from dedup_lib.sample.lexicon import lexicon_of
from dedup_lib.sample.pages import Page, address, page_of
from dedup_lib.sample.prose import Block, Text, article, paragraphs, phrase, sentence, style_of
from dedup_lib.sample.sites import site_of
from dedup_lib.sample.variants import RULES, variant_urls

Plant = Callable[[str, Dice, int], tuple[Page, ...]]

# Jaccard levels that near duplicates aim at: dense where thresholds are set.
NEAR_TARGETS = (0.52, 0.58, 0.64, 0.70, 0.72, 0.75, 0.78, 0.80, 0.82, 0.85, 0.88, 0.90, 0.93, 0.95, 0.98)
TEMPLATE_PAGES = 5  # in each family of templated pages
TEMPLATE_SHARES = (0.45, 0.68)  # of the text is the same on all pages of the family: Jaccard of about 0.3 and 0.5


def single(language: str, dice: Dice, index: int) -> tuple[Page, ...]:
    """A page like no other: of five, three articles, a product and a page of documentation."""
    role = ("news", "news", "shop", "news", "docs")[index % 5]
    return (_original(language, role, dice),)


def near(language: str, dice: Dice, index: int) -> tuple[Page, ...]:
    """Two pages with similar texts. Families of two, so that recall by level is free of chains."""
    target = NEAR_TARGETS[index % len(NEAR_TARGETS)]
    kind = tuple(EDITS)[index % len(EDITS)]
    longest = style_of(language).article_words[1]
    original = _original(language, "news", dice, longest if target > 0.9 else None)
    return original, near_page(original, kind, target, dice)


def near_page(original: Page, edit: str, target: float, dice: Dice) -> Page:
    """A page on the same site or the mirror whose text is a near copy of the original's."""
    text = near_copy(original.content, edit, target, dice)
    page = page_of(original.site.language, dice.pick(("news", "mirror")), text, dice)
    return replace(page, relation="near", edit=edit)


def url_variants(language: str, dice: Dice, index: int) -> tuple[Page, ...]:
    """One page under several URLs that a rule of canonicalisation makes equal; half declare a canonical."""
    rule = RULES[index % len(RULES)]
    page = _original(language, "news", dice)
    base, others = variant_urls(page.url, rule, dice)
    original = replace(page, url=base, canonical=base if dice.chance(0.5) else None)
    return original, *(replace(original, url=url, relation="url_variant", rule=rule) for url in others)


def mirror(language: str, dice: Dice, index: int) -> tuple[Page, ...]:
    """The same HTML on another host, which puts its own name on top."""
    original = _original(language, ("news", "shop", "docs")[index % 3], dice)
    return original, mirror_page(original, dice)


def mirror_page(original: Page, dice: Dice) -> Page:
    """The copy of a page on the mirror of its language."""
    site = site_of(original.site.language, "mirror")
    url = address(site, original.content, dice)
    return replace(original, url=url, site=site, relation="mirror", canonical=None, charset=None, transfer="")


def other_html(language: str, dice: Dice, index: int) -> tuple[Page, ...]:
    """The same main text in another layout on the same site: a print view, an old design."""
    original = _original(language, "news", dice)
    layout = ("classic", "legacy", "manual")[index % 3]
    url = original.url.replace("/story/", "/print/")
    canonical = original.url if dice.chance(0.5) else None
    return original, replace(original, url=url, relation="other_html", template=layout, canonical=canonical)


def templated(language: str, dice: Dice, index: int) -> tuple[Page, ...]:
    """Documentation, products or months that share a preamble and are NOT duplicates of each other."""
    role = ("docs", "shop", "events")[index % 3]
    share = TEMPLATE_SHARES[index // 3 % len(TEMPLATE_SHARES)]
    lexicon = lexicon_of(language)
    length = sum(style_of(language).article_words) / 2
    preamble = paragraphs(lexicon, dice, round(length * share))
    own = round(length * (1 - share))
    pages = []
    for number in range(TEMPLATE_PAGES):
        if role == "events":
            blocks = (*preamble, _rows(language, dice, own))
        else:
            items = Block("items", tuple(phrase(lexicon, dice, dice.between(2, 5)) for _ in range(4)))
            blocks = (*preamble, *paragraphs(lexicon, dice, max(20, own - 14)), items)
        text = Text(language, phrase(lexicon, dice, dice.between(3, 5)), blocks)
        page = page_of(language, role, text, dice)
        pages.append(replace(page, relation="template_negative" if number else "original"))
    return tuple(pages)


def short(language: str, dice: Dice, index: int) -> tuple[Page, ...]:
    """A page of one to four words; every third one has an exact copy on the mirror."""
    lexicon = lexicon_of(language)
    text = Text(language, phrase(lexicon, dice, 1 + index % 4), ())
    original = replace(page_of(language, "news", text, dice), kind="short", relation="short")
    return (original, mirror_page(original, dice)) if index % 3 == 0 else (original,)


def empty(language: str, dice: Dice, index: int) -> tuple[Page, ...]:
    """A page without any text."""
    site = site_of(language, ("news", "shop")[index % 2])
    return (Page(f"https://{site.host}/app/{dice.hexadecimal(8)}", site, "empty", None),)


def pk_conflict(language: str, dice: Dice, index: int) -> tuple[Page, ...]:
    """An article that differs from its neighbour (indexes 2k and 2k+1) in the parameter pk_id alone.

    Rules that strip everything with the prefix pk_ take the two for one page, wrongly.
    """
    page = _original(language, "news", dice)
    path = Dice("pk_conflict", language, index // 2).hexadecimal(8)
    return (replace(page, url=f"https://{page.site.host}/archive/{path}?pk_id={index + 1}", relation="pk_conflict"),)


def recapture_same(language: str, dice: Dice, index: int) -> tuple[Page, ...]:
    """The same URL captured twice in one snapshot, with the same text."""
    original = _original(language, "news", dice)
    return original, replace(original, relation="recapture_same", again=True)


def recapture_changed(language: str, dice: Dice, index: int) -> tuple[Page, ...]:
    """The same URL captured twice in one snapshot, with a text that was edited in between."""
    original = _original(language, "news", dice)
    edit = tuple(EDITS)[index % len(EDITS)]
    text = near_copy(original.content, edit, 0.6 + 0.3 * dice.unit(), dice)
    return original, replace(original, text=text, relation="recapture_changed", edit=edit, again=True)


def truncated(language: str, dice: Dice, index: int) -> tuple[Page, ...]:
    """A URL captured twice, the second time cut by the crawler in mid page (WARC-Truncated: length)."""
    original = _original(language, "news", dice)
    text = cut_short(original.content)
    return original, replace(original, text=text, kind="truncated", relation="recapture_changed", again=True)


def _original(language: str, role: str, dice: Dice, words: int | None = None) -> Page:
    """A page with an article's text. Products list their features, documentation has steps."""
    text = article(language, dice, words)
    if role in {"shop", "docs"}:
        lexicon = lexicon_of(language)
        items = Block("items", tuple(phrase(lexicon, dice, dice.between(2, 6)) for _ in range(5)))
        text = Text(language, text.title, (*text.blocks, items))
    return page_of(language, role, text, dice, ".html" if role == "news" and dice.chance(0.3) else "")


def _rows(language: str, dice: Dice, words: int) -> Block:
    """The events of a month: a day and a sentence each."""
    lexicon = lexicon_of(language)
    rows: list[tuple[str, ...]] = []
    count = 0
    while count < words:
        row = sentence(lexicon, dice)
        rows.append((str(len(rows) + 1), *row))
        count += len(row) + 1
    return Block("rows", tuple(rows))
