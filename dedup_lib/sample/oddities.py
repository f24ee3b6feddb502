"""What a crawl holds besides documents, and the documents whose record is odd."""

from dataclasses import replace

from dedup_lib.sample.dice import Dice
from dedup_lib.sample.pages import Page
from dedup_lib.sample.plants import single
from dedup_lib.sample.sites import site_of

FILES = {"image": "png", "pdf": "pdf", "json": "json"}


def redirect(language: str, dice: Dice, index: int) -> tuple[Page, ...]:
    """A moved page, 301 or 302 by turns, with a relative Location every other time."""
    site = site_of(language, "news")
    path = f"/story/{dice.hexadecimal(8)}"
    url = f"https://{site.host}/moved/{dice.hexadecimal(8)}"
    target = path if index % 4 > 1 else f"https://{site.host}{path}"
    return (Page(url, site, "redirect", None, status=(301, 302)[index % 2], target=target),)


def error(language: str, dice: Dice, index: int) -> tuple[Page, ...]:
    """A page that is missing (404) or broken (500); all of a status have the same small body."""
    site = site_of(language, ("news", "shop")[index % 2])
    return (Page(f"https://{site.host}/gone/{dice.hexadecimal(8)}", site, "error", None, status=(404, 500)[index % 2]),)


def media(language: str, dice: Dice, index: int) -> tuple[Page, ...]:
    """An image, a PDF or a JSON document by turns."""
    site = site_of(language, "shop")
    kind = tuple(FILES)[index % len(FILES)]
    return (Page(f"https://{site.host}/files/{dice.hexadecimal(8)}.{FILES[kind]}", site, kind, None),)


def utf16(language: str, dice: Dice, index: int) -> tuple[Page, ...]:
    """An article in UTF-16 with a byte order mark, declared nowhere else."""
    return (replace(single(language, dice, 0)[0], charset="utf-16"),)


def chunked(language: str, dice: Dice, index: int) -> tuple[Page, ...]:
    """Articles stored as they came over the wire: one in gzip and chunks, one in chunks alone."""
    return (replace(single(language, dice, 0)[0], transfer=("gzip+chunked", "chunked")[index % 2]),)


def revisited(language: str, dice: Dice, index: int) -> tuple[Page, ...]:
    """An article that the second snapshot finds not modified: a revisit record with status 304."""
    return single(language, dice, 0)


def cut(language: str, dice: Dice, index: int) -> tuple[Page, ...]:
    """An article whose record is the last of its file and stops in mid gzip member: it cannot be read whole."""
    return (replace(single(language, dice, 0)[0], kind="cut"),)
