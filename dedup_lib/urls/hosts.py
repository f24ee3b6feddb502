"""Which rules hold for a host, and under which name the host goes."""

from dedup_lib.urls.rules import HostRule, UrlRules
from dedup_lib.urls.sites import registrable_domain

Scoped = list[tuple[str, HostRule]]  # most specific first; the texts name the owner for people


def rules_of_host(host: str, rules: UrlRules) -> Scoped:
    """The rules that hold for a host, most specific first: its own, its registrable domain's, everybody's."""
    found: Scoped = []
    if host in rules.hosts:
        found.append((f"host {host}", rules.hosts[host]))
    if rules.domains:
        domain = _ruled_domain(host, rules)
        if domain is not None:
            found.append((f"domain {domain}", rules.domains[domain]))
    found.append(("all hosts", rules.defaults))
    return found


def _ruled_domain(host: str, rules: UrlRules) -> str | None:
    """The registrable domain of a host, if it has rules.

    The suffix list is asked only where a public suffix lies below the domain: in all other cases having the domain as
    a suffix is the same thing, and results do not change with each release of the list.
    """
    name = host
    while name:
        if name in rules.domains:
            return name if name not in rules.public_suffixes or registrable_domain(host) == name else None
        name = name.partition(".")[2]
    return None


def settle_host(host: str, rules: UrlRules) -> tuple[str, list[tuple[str, str]]] | None:
    """The name a host goes under, and the steps to it (`alias` or `strip_www` with owner, and the name it gave).

    None if aliases and strip_www lead in a circle, which `load_rules` refuses.
    """
    steps: list[tuple[str, str]] = []
    seen = {host}
    while True:
        if host in rules.aliases:
            host = rules.aliases[host]
            steps.append(("alias", host))
        else:
            owner = _strips_www(host, rules)
            if owner is None:
                return host, steps
            host = host[len("www.") :]
            steps.append((f"{owner}: strip_www", host))
        if host in seen:
            return None
        seen.add(host)


def _strips_www(host: str, rules: UrlRules) -> str | None:
    """Whose rule takes the label www off, if it is a whole label and leaves a name with a dot (surt issue 28)."""
    if not host.startswith("www.") or "." not in host[len("www.") :]:
        return None
    for owner, rule in rules_of_host(host, rules):
        if rule.strip_www is not None:
            return owner if rule.strip_www else None
    return None
