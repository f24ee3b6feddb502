"""The HTML of the synthetic sites: boilerplate around the main text, in six layouts.

A main-content extractor should give back exactly the title, paragraphs, headings, items and rows of the text; cookie
notice, navigation, advertisements and footer should not get in. The tests hold the layouts to that with resiliparse.
"""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from dedup_lib.sample.dice import Dice
from dedup_lib.sample.prose import Block, Text, block_lines, write_phrase
from dedup_lib.sample.sites import Boilerplate, Site, boilerplate_of

Layout = Callable[[str, str, "Frame"], str]


@dataclass(frozen=True)
class Frame:
    """What surrounds the main text on one capture of a page."""

    boilerplate: Boilerplate
    navigation: str
    advertisements: tuple[str, str]


def render(
    site: Site, template: str, text: Text, dice: Dice, *, canonical: str | None = None, declares_charset: bool = True
) -> str:
    """The HTML of a page. `dice` turn the rotating advertisements, so that no two captures have the same bytes."""
    boilerplate = boilerplate_of(site)
    first, second = dice.shuffled(boilerplate.advertisements)[:2]
    frame = Frame(boilerplate, _navigation(boilerplate), (_advertisement(first, dice), _advertisement(second, dice)))
    title = escape(write_phrase(text.language, text.title))
    blocks = [_block(text.language, block) for block in text.blocks]
    if template == "article" and len(blocks) > 2:
        blocks.insert(len(blocks) // 2, frame.advertisements[1])
    head = _head(site, title, boilerplate.name, canonical, declares_charset)
    body = LAYOUTS[template](title, "\n".join(blocks), frame)
    return f'<!DOCTYPE html>\n<html lang="{site.language}">\n{head}\n<body>\n{body}\n</body>\n</html>\n'


def render_empty(site: Site, declares_charset: bool) -> str:
    """A page whose text a browser would have to fetch: there is none in the HTML."""
    head = _head(site, "", "", None, declares_charset)
    script = '<div id="app"></div>\n<script src="/static/application.js"></script>'
    return f'<!DOCTYPE html>\n<html lang="{site.language}">\n{head}\n<body>\n{script}\n</body>\n</html>\n'


def _head(site: Site, title: str, name: str, canonical: str | None, declares_charset: bool) -> str:
    parts = []
    if declares_charset:
        parts.append(f'<meta http-equiv="Content-Type" content="text/html; charset={site.charset}">')
    if title:
        parts.append(f"<title>{title} - {name}</title>")
    if canonical:
        parts.append(f'<link rel="canonical" href="{escape(canonical)}">')
    parts.append('<link rel="stylesheet" href="/static/site.css">')
    parts.append("<script>window.dataLayer = window.dataLayer || []; track('view');</script>")
    return "<head>\n" + "\n".join(parts) + "\n</head>"


def _navigation(boilerplate: Boilerplate) -> str:
    links = "".join(
        f'<li><a href="/section/{index}">{escape(label)}</a></li>' for index, label in enumerate(boilerplate.navigation)
    )
    return f'<nav class="navigation"><ul>{links}</ul></nav>'


def _advertisement(sentence: str, dice: Dice) -> str:
    return (
        f'<div class="advertisement" data-slot="{dice.hexadecimal(12)}">'
        f'<a href="https://ads.example/click?c={dice.hexadecimal(8)}">{escape(sentence)}</a></div>'
    )


def _block(language: str, block: Block) -> str:
    written = [escape(line) for line in block_lines(language, block)]
    if block.kind == "heading":
        return f"<h2>{written[0]}</h2>"
    if block.kind == "items":
        return "<dl>" + "".join(f"<dt>{line}</dt>" for line in written) + "</dl>"  # a <ul> may be taken for a menu
    if block.kind == "rows":
        cells = (line.split(" ", 1) for line in written)
        return "<table>" + "".join(f"<tr><th>{label}</th><td>{rest}</td></tr>\n" for label, rest in cells) + "</table>"
    return f"<p>{written[0]}</p>"


def _cookie_banner(frame: Frame) -> str:
    notice, accept = escape(frame.boilerplate.cookie_notice), escape(frame.boilerplate.accept)
    return f'<div class="cookie-banner" id="cookie-consent"><p>{notice}</p><button>{accept}</button></div>'


def _header(frame: Frame) -> str:
    name = escape(frame.boilerplate.name)
    return f'<header class="site-header"><a class="logo" href="/">{name}</a>{frame.navigation}</header>'


def _footer(frame: Frame) -> str:
    return f'<footer class="site-footer"><p>{escape(frame.boilerplate.footer)}</p><a href="/legal">2025</a></footer>'


def _article(title: str, blocks: str, frame: Frame) -> str:
    """A news site of today: semantic elements, an advertisement in the text."""
    return f"""{_cookie_banner(frame)}
{_header(frame)}
<main><article><h1>{title}</h1>
{blocks}
</article></main>
<aside class="sidebar">{frame.advertisements[0]}</aside>
{_footer(frame)}"""


def _classic(title: str, blocks: str, frame: Frame) -> str:
    """A weblog of ten years ago: nothing but div elements with telling classes."""
    return f"""{_cookie_banner(frame)}
<div id="header" class="header"><a href="/">{escape(frame.boilerplate.name)}</a></div>
<div id="menu" class="menu">{frame.navigation}</div>
<div id="content" class="content"><div class="post"><h1 class="post-title">{title}</h1>
<div class="post-body">{blocks}</div></div></div>
<div id="sidebar" class="sidebar">{frame.advertisements[0]}{frame.advertisements[1]}</div>
<div id="footer" class="footer">{escape(frame.boilerplate.footer)}</div>"""


def _legacy(title: str, blocks: str, frame: Frame) -> str:
    """A page of the nineties: a table for the layout."""
    return f"""{frame.advertisements[0]}
<table width="100%"><tr><td class="sidebar" width="160">{frame.navigation}</td>
<td class="content"><h1>{title}</h1>
{blocks}</td></tr></table>
<div class="footer"><hr>{escape(frame.boilerplate.footer)}</div>"""


def _product(title: str, blocks: str, frame: Frame) -> str:
    """A product page of a shop."""
    return f"""{_cookie_banner(frame)}
{_header(frame)}
<main><div class="product" itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">{title}</h1>
<div class="product-description" itemprop="description">{blocks}</div></div></main>
<aside class="sidebar">{frame.advertisements[0]}{frame.advertisements[1]}</aside>
{_footer(frame)}"""


def _manual(title: str, blocks: str, frame: Frame) -> str:
    """A page of a manual: contents at the side."""
    return f"""{_header(frame)}
<div class="layout"><aside class="sidebar">{frame.advertisements[0]}</aside>
<main class="content"><article class="guide"><h1>{title}</h1>
{blocks}
</article></main></div>
{_footer(frame)}"""


def _calendar(title: str, blocks: str, frame: Frame) -> str:
    """A month of events."""
    return f"""{_cookie_banner(frame)}
{_header(frame)}
<main class="events"><h1>{title}</h1>
{blocks}
</main>
<aside class="sidebar">{frame.advertisements[0]}</aside>
{_footer(frame)}"""


LAYOUTS: dict[str, Layout] = {
    "article": _article,
    "classic": _classic,
    "legacy": _legacy,
    "product": _product,
    "manual": _manual,
    "calendar": _calendar,
}
