"""Registrable domains, from the Public Suffix List that ships with `publicsuffixlist` (no network).

The private section counts: `alice.github.io` and `bob.github.io` are two sites.
"""

from functools import cache, lru_cache
from pathlib import Path

from publicsuffixlist import PSLFILE, PublicSuffixList


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


@cache
def _entries() -> tuple[str, ...]:
    with Path(PSLFILE).open(encoding="utf-8") as lines:
        return tuple(line.split(" ")[0].strip().lower() for line in lines if not line.startswith("//"))


def is_address(host: str) -> bool:
    """Whether a host, as the parser writes it, is an IP address (which has no parent domain)."""
    return host.startswith("[") or host.rpartition(".")[2].isdigit()


@lru_cache(maxsize=65_536)
def registrable_domain(host: str) -> str | None:
    """The domain somebody registered to have this host, or None for an address, a bare name or a public suffix.

    >>> registrable_domain("www.example.co.uk")
    'example.co.uk'
    >>> registrable_domain("github.io") is None
    True
    """
    if is_address(host):
        return None
    domain = _suffixes().privatesuffix(host)
    return domain if domain is None or isinstance(domain, str) else None


def site(host: str) -> str:
    """What two hosts must share to be one site: the registrable domain, or the host itself where there is none."""
    return registrable_domain(host) or host


def public_suffixes_under(domain: str) -> tuple[str, ...]:
    """The public suffixes below a registrable domain, such as `s3.amazonaws.com`: hosts there are other sites."""
    ending = "." + domain
    return tuple(sorted(entry for entry in _entries() if entry.endswith(ending)))
