"""Pages and families: what is planted, before it is captured in a snapshot."""

from dataclasses import dataclass
from urllib.parse import quote

from dedup_lib.sample.dice import Dice
from dedup_lib.sample.prose import Text
from dedup_lib.sample.sites import TEMPLATE_OF_ROLE, Site, site_of

PATH_OF_ROLE = {"news": "story", "shop": "product", "docs": "guide", "events": "month", "mirror": "copy"}
KIND_OF_ROLE = {
    "news": "article",
    "shop": "product",
    "docs": "documentation",
    "events": "calendar",
    "mirror": "article",
}


@dataclass(frozen=True)
class Page:
    """A page at a URL. The first page of a family is its original; `relation` is how the others stand to it."""

    url: str
    site: Site
    kind: str
    text: Text | None
    relation: str = "original"
    template: str = "article"
    rule: str | None = None  # of a URL variant: which rule of canonicalisation undoes it
    edit: str | None = None  # of a near duplicate: which kind of edit made it
    canonical: str | None = None  # what the page declares as its rel=canonical
    charset: str | None = None  # where it is not the site's
    transfer: str = ""  # Transfer-Encoding and Content-Encoding left on the stored body: chunked, gzip+chunked
    status: int = 200
    target: str | None = None  # where a redirect leads
    again: bool = False  # a second capture of the same URL in one snapshot: comes after all first ones

    @property
    def content(self) -> Text:
        """The text of a page that has one; ValueError for others."""
        if self.text is None:
            raise ValueError(f"{self.url} has no text")
        return self.text


@dataclass(frozen=True)
class Family:
    """Pages around one text. Pages of different families are never duplicates."""

    number: int
    pages: tuple[Page, ...]
    plant: str

    @property
    def original(self) -> Page:
        """The page that the others were made from."""
        return self.pages[0]


def address(site: Site, text: Text, dice: Dice, suffix: str = "") -> str:
    """A URL on the site: a path with the first words of the title, percent-encoded where they are not ASCII."""
    slug = "-".join((*text.title[:3], dice.hexadecimal(8))).lower()
    return f"https://{site.host}/{PATH_OF_ROLE[site.role]}/{quote(slug)}{suffix}"


def page_of(language: str, role: str, text: Text, dice: Dice, suffix: str = "") -> Page:
    """An original page with that text on the site of the language for the role."""
    site = site_of(language, role)
    return Page(address(site, text, dice, suffix), site, KIND_OF_ROLE[role], text, template=TEMPLATE_OF_ROLE[role])
