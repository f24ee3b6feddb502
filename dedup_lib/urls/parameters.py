"""Which query parameters stay: the verdict on a name, from trackers, sessions and the lists of a host."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from dedup_lib.urls.escapes import respell
from dedup_lib.urls.parser import parse
from dedup_lib.urls.patterns import Matcher, compile_whole
from dedup_lib.urls.rules import SessionParameter, UrlRules

REMEMBERED = 20_000  # names, and lists of names, per policy; crawls hold endless invented ones
REMEMBERED_CHARS = 500  # longer names and lists are rare, and would fill the memory of a worker

_AMPERSANDS = re.compile(r"\A(?:amp;)+")
Order = tuple[int, ...]  # which parameters of a query stay, by their index, in the order they take


@dataclass(frozen=True, slots=True)
class Verdict:
    """What happens to a parameter of some name. `rule` names it for people."""

    rule: str = ""
    scope: str = ""
    value_matches: Matcher | None = None  # dropped only if its value has this shape
    partners: frozenset[str] = frozenset()  # dropped only if these names are there too

    by_name_alone: bool = field(init=False)  # neither the value nor other parameters play a part

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name_alone", self.value_matches is None and not self.partners)


KEEP = Verdict()


def bare_name(name: str) -> str:
    """A parameter's name as rules see it: lower case, without the `amp;` that a doubly escaped link left on it.

    >>> bare_name("amp;UTM_Source")
    'utm_source'
    """
    bare = name.lower()
    return _AMPERSANDS.sub("", bare) if bare.startswith("amp;") else bare


class SharedParameters:
    """The trackers and sessions of all hosts, ready to be asked."""

    def __init__(self, rules: UrlRules) -> None:
        self._names = {_as_in_urls(name).lower(): f"tracking {name}" for name in rules.tracker_names}
        self._prefixes = tuple(_as_in_urls(prefix).lower() for prefix in rules.tracker_prefixes)
        self._sessions: dict[str, Verdict] = {}
        self._session_patterns: list[tuple[Matcher, Verdict]] = []
        for parameter in rules.session_parameters:
            self._add_session(parameter)

    def _add_session(self, parameter: SessionParameter) -> None:
        value_matches = compile_whole(parameter.values) if parameter.values else None
        names = {_as_in_urls(name).lower(): name for name in parameter.names}
        partners = frozenset(names) if parameter.together else frozenset()
        for lower, name in names.items():
            self._sessions.setdefault(lower, Verdict(f"session {name}", "", value_matches, partners - {lower}))
        if parameter.name_patterns:
            matches = compile_whole(parameter.name_patterns, ignore_case=True)
            self._session_patterns.append((matches, Verdict(f"session {parameter.label}", "", value_matches)))

    def judge(self, name: str) -> Verdict:
        """The verdict on a name, as it stands in a URL."""
        bare = bare_name(name)
        tracker = self._names.get(bare)
        if tracker:
            return Verdict(tracker)
        if bare.startswith(self._prefixes):
            return Verdict(f"tracking {bare}")
        session = self._sessions.get(bare)
        if session:
            return session
        for matches, verdict in self._session_patterns:
            if matches(bare):
                return verdict
        return KEEP


class HostParameters:
    """The verdicts for one host: its own lists first, then what all hosts share. Verdicts are remembered by name."""

    def __init__(
        self,
        shared: SharedParameters,
        keep: Iterable[str],
        drop: Iterable[tuple[str, str]],
        allow: Iterable[str] | None,
        allow_scope: str,
    ) -> None:
        self._shared = shared
        self._keep = frozenset(map(_as_in_urls, keep))
        self._drop = {_as_in_urls(name): Verdict(f"drop_params {name}", scope) for name, scope in drop}
        self._allow = None if allow is None else frozenset(map(_as_in_urls, allow))
        self._not_allowed = Verdict("allow_params", allow_scope)
        self.verdicts: dict[str, Verdict] = {}  # those remembered, for callers that cannot afford a call per name
        self.unchanged: Order = (-1,)  # stands for: all of them, as they are; compared by identity
        self.orders: dict[tuple[str, ...], Order] = {}

    def judge(self, name: str) -> Verdict:
        """The verdict on a name, as it stands in a URL."""
        verdict = self.verdicts.get(name)
        if verdict is None:
            if len(self.verdicts) >= REMEMBERED:
                self.verdicts.clear()
            verdict = self._judge(name)
            if len(name) <= REMEMBERED_CHARS:
                self.verdicts[name] = verdict
        return verdict

    def remember(self, names: tuple[str, ...], order: Order) -> None:
        """Remember the order that a list of names takes."""
        if sum(map(len, names)) + len(names) <= REMEMBERED_CHARS:
            if len(self.orders) >= REMEMBERED:
                self.orders.clear()
            self.orders[names] = order

    def _judge(self, name: str) -> Verdict:
        if name in self._keep:
            return KEEP
        verdict = self._drop.get(name) or self._shared.judge(name)
        if self._allow is not None and name not in self._allow and (verdict is KEEP or not verdict.by_name_alone):
            return self._not_allowed
        return verdict


def _as_in_urls(name: str) -> str:
    """A name from a rule file in the spelling it has in a canonical URL, so that `x[]` and `größe` can be written."""
    href = parse("http://h/?" + name.replace("#", "%23").replace("&", "%26").replace("=", "%3D"))
    return name if href is None else respell(href[len("http://h/?") :])
