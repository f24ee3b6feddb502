"""The synthetic sites: five per language, on hosts under the reserved top-level domain .example (RFC 2606)."""

from dataclasses import dataclass
from functools import cache

from dedup_lib.sample.dice import Dice
from dedup_lib.sample.lexicon import lexicon_of
from dedup_lib.sample.prose import phrase, sentence, write_phrase, write_sentence

ADVERTISEMENTS = 12  # in rotation on each site; a capture shows two of them
ROLES = ("news", "shop", "docs", "events", "mirror")
TEMPLATE_OF_ROLE = {"news": "article", "shop": "product", "docs": "manual", "events": "calendar", "mirror": "article"}


@dataclass(frozen=True)
class Site:
    """A site. `declared` says where it names its charset: header, meta, both or nowhere."""

    host: str
    language: str
    role: str
    charset: str  # as the site labels it, which Python knows too
    declared: str


@dataclass(frozen=True)
class Boilerplate:
    """What stands on every page of a site around the main text."""

    name: str
    navigation: tuple[str, ...]
    cookie_notice: str
    accept: str
    footer: str
    advertisements: tuple[str, ...]


# language: (host, charset, where it is declared) for each of ROLES
_SITES = {
    "en": (
        ("news.example", "utf-8", "header"),
        ("shop.example", "windows-1252", "header"),
        ("docs.example", "utf-8", "meta"),
        ("events.example", "iso-8859-1", "header"),
        ("mirror.example", "utf-8", "both"),
    ),
    "de": (
        ("zeitung.example", "utf-8", "header"),
        ("laden.example", "iso-8859-1", "meta"),
        ("handbuch.example", "windows-1252", "header"),
        ("termine.example", "utf-8", "nowhere"),
        ("nachlese.example", "utf-8", "both"),
    ),
    "fr": (
        ("journal.example", "iso-8859-1", "header"),
        ("boutique.example", "utf-8", "meta"),
        ("manuel.example", "utf-8", "header"),
        ("agenda.example", "windows-1252", "meta"),
        ("miroir.example", "utf-8", "both"),
    ),
    "ru": (
        ("novosti.example", "windows-1251", "header"),
        ("magazin.example", "utf-8", "header"),
        ("spravka.example", "windows-1251", "meta"),
        ("afisha.example", "koi8-r", "header"),
        ("zerkalo.example", "utf-8", "meta"),
    ),
    "zh": (
        ("xinwen.example", "gbk", "header"),
        ("shangdian.example", "utf-8", "meta"),
        ("wendang.example", "gb2312", "meta"),
        ("rili.example", "gb18030", "header"),
        ("jingxiang.example", "utf-8", "both"),
    ),
    "ja": (
        ("shimbun.example", "shift_jis", "header"),
        ("mise.example", "euc-jp", "meta"),
        ("tebiki.example", "utf-8", "header"),
        ("koyomi.example", "shift_jis", "meta"),
        ("kagami.example", "utf-8", "both"),
    ),
    "ko": (
        ("sinmun.example", "euc-kr", "header"),
        ("gage.example", "utf-8", "header"),
        ("munseo.example", "euc-kr", "meta"),
        ("dallyeok.example", "utf-8", "meta"),
        ("geoul.example", "utf-8", "both"),
    ),
    "th": (
        ("khao.example", "tis-620", "header"),
        ("ran.example", "utf-8", "header"),
        ("khumue.example", "windows-874", "meta"),
        ("patithin.example", "utf-8", "meta"),
        ("krachok.example", "utf-8", "both"),
    ),
    "ar": (
        ("akhbar.example", "windows-1256", "header"),
        ("matjar.example", "utf-8", "header"),
        ("dalil.example", "windows-1256", "meta"),
        ("taqwim.example", "utf-8", "meta"),
        ("miraat.example", "utf-8", "both"),
    ),
    "hi": (
        ("samachar.example", "utf-8", "header"),
        ("dukan.example", "utf-8", "meta"),
        ("pustika.example", "utf-8", "both"),
        ("panchang.example", "utf-8", "nowhere"),
        ("darpan.example", "utf-8", "header"),
    ),
}


@cache
def site_of(language: str, role: str) -> Site:
    """The site of a language for a role in `ROLES`."""
    host, charset, declared = _SITES[language][ROLES.index(role)]
    return Site(host, language, role, charset, declared)


@cache
def boilerplate_of(site: Site) -> Boilerplate:
    """The site's own boilerplate; the mirror has that of the news site under another name and other advertisements."""
    lexicon = lexicon_of(site.language)
    own = Dice("site", site.host)
    shared = Dice("boilerplate", site.language, "news" if site.role == "mirror" else site.role)
    return Boilerplate(
        name=write_phrase(site.language, phrase(lexicon, own, 2)),
        navigation=tuple(write_phrase(site.language, phrase(lexicon, shared, shared.between(1, 2))) for _ in range(9)),
        cookie_notice=" ".join(write_sentence(site.language, sentence(lexicon, shared)) for _ in range(2)),
        accept=write_phrase(site.language, phrase(lexicon, shared, 1)),
        footer=write_sentence(site.language, sentence(lexicon, shared)),
        advertisements=tuple(write_sentence(site.language, sentence(lexicon, own)) for _ in range(ADVERTISEMENTS)),
    )
