"""The URL policy as data: what `load_rules` makes of the rule files, and the digest that names it.

`UrlRules` is small, frozen and picklable. What is built from it for speed lives in `policy` and is built where it is
used, so that only these plain values travel to Spark workers.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib.metadata import version

from dedup_lib.urls.parser import PARSER

POLICY = "u1"  # version of the steps themselves; raise it when the same rules and parser give other results


@dataclass(frozen=True)
class HostRule:
    """The policy of one host, one registrable domain, or (as `defaults`) of every host. None is: not said here."""

    trailing_slash: str | None = None  # keep (in the key too), strip or add
    scheme: str | None = None  # keep, http or https; only where no port is given
    strip_www: bool | None = None
    collapse_slashes: bool | None = None
    keep_hashbang: bool | None = None
    allow_params: tuple[str, ...] | None = None  # only these remain; names compared exactly
    drop_params: tuple[str, ...] | None = None
    keep_params: tuple[str, ...] | None = None  # these remain, whatever any other rule says


@dataclass(frozen=True)
class SessionParameter:
    """A query parameter that names a session: by its name, and where `values` are given by the shape of its value."""

    label: str
    names: tuple[str, ...] = ()  # compared without case
    name_patterns: tuple[str, ...] = ()  # RE2, of the whole name, without case
    values: tuple[str, ...] = ()  # RE2, of the whole value; none: any value
    together: bool = False  # only where all the names are there


@dataclass(frozen=True)
class Pagination:
    """How a page number is written in a URL; `declared_canonical` refuses a canonical that names another page."""

    parameters: tuple[str, ...] = ()
    path_segments: tuple[str, ...] = ()


@dataclass(frozen=True)
class UrlRules:
    """All effective rules. `scheme` is the `url_scheme` of the tables: equal schemes give equal results."""

    defaults: HostRule = HostRule()
    hosts: Mapping[str, HostRule] = field(default_factory=dict)
    domains: Mapping[str, HostRule] = field(default_factory=dict)
    public_suffixes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # below each of `domains`, if any
    aliases: Mapping[str, str] = field(default_factory=dict)
    tracker_names: tuple[str, ...] = ()  # lower case
    tracker_prefixes: tuple[str, ...] = ()  # lower case
    session_parameters: tuple[SessionParameter, ...] = ()
    session_path_parameters: tuple[str, ...] = ()  # `;name=value` in a path segment; compared without case
    session_path_segments: tuple[tuple[str, str], ...] = ()  # label and RE2 pattern of the whole segment
    pagination: Pagination = Pagination()
    parser: str = PARSER

    @cached_property
    def scheme(self) -> str:
        """The digest of what the rules do: the same whatever the files, their comments and their order."""
        effective = asdict(self)
        del effective["parser"]
        effective["suffixes"] = version("publicsuffixlist")  # it decides what is one site
        effective["session_path_segments"] = [pattern for _, pattern in self.session_path_segments]
        for parameter in effective["session_parameters"]:
            del parameter["label"]
        canonical = json.dumps(_sorted_lists(effective), sort_keys=True)
        digest = hashlib.sha256(canonical.encode()).hexdigest()[:8]
        return f"{POLICY}-{self.parser}-{digest}"

    def __hash__(self) -> int:
        return hash(self.scheme)


def _sorted_lists(value: object) -> object:
    """Lists become sorted: no rule depends on the order of a list. What is not said is left out."""
    if isinstance(value, dict):
        return {key: _sorted_lists(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return sorted((_sorted_lists(inner) for inner in value), key=json.dumps)
    return value
