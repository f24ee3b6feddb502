"""Rule files: read, checked as a whole, and merged, later files on top of earlier ones."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from dedup_lib.errors import ConfigurationError
from dedup_lib.urls.hosts import settle_host
from dedup_lib.urls.rule_fields import (
    HOST_RULE,
    PAGINATION,
    TRACKER,
    Group,
    read_domain,
    read_groups,
    read_host,
    read_sessions,
)
from dedup_lib.urls.rules import HostRule, Pagination, SessionParameter, UrlRules
from dedup_lib.urls.sites import public_suffixes_under
from dedup_lib.urls.yaml_nodes import Problems, fields, is_null, items, known_items, read_tree, text

FORMAT = "1"  # of the rule files; a file says which one it was written for
_SECTIONS = ("version", "defaults", "trackers", "sessions", "pagination", "hosts", "domains", "aliases")


def default_rules_path() -> Path:
    """The rule file that comes with the product: within the package when installed, in `conf/` in a checkout."""
    package = Path(__file__).parents[1]
    installed = package / "_conf" / "url_rules.yaml"
    return installed if installed.exists() else package.parent / "conf" / "url_rules.yaml"


def load_rules(paths: Sequence[Path]) -> UrlRules:
    """The rules of all files, each merged on top of those before it.

    In `defaults` and `pagination`, and in each host and domain, a field replaces the field of an earlier file. A group
    of trackers or sessions replaces the group of that name. Null takes away what an earlier file said. Without files
    there are no rules, only the parser and the steps that hold for every URL.

    Raises:
        ConfigurationError: with every problem of every file, each with file and line.
    """
    draft = _Draft()
    found: list[str] = []
    for path in paths:
        problems = Problems(Path(path))
        root = read_tree(problems.path, problems)
        if root is not None:
            draft.add(root, problems)
        found += problems.found
    if not found:
        rules = draft.rules()
        found = draft.cross_check(rules)
    if found:
        raise ConfigurationError(found, "URL rules")
    return rules


@dataclass
class _Draft:
    """What the files said so far."""

    defaults: Group = field(default_factory=dict)
    pagination: Group = field(default_factory=dict)
    hosts: dict[str, Group] = field(default_factory=dict)
    domains: dict[str, Group] = field(default_factory=dict)
    trackers: dict[str, Group | None] = field(default_factory=dict)
    sessions: dict[str, dict[str, Group | None]] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    where: dict[str, str] = field(default_factory=dict)  # file and line of each alias

    def add(self, root: yaml.Node, problems: Problems) -> None:
        """Merge one file."""
        sections = {key: value for key, _, value in known_items(root, _SECTIONS, problems, "a rule file")}
        self._check_version(root, sections.pop("version", None), problems)
        for key, node in sections.items():
            if key in {"defaults", "pagination"}:
                readers = HOST_RULE if key == "defaults" else PAGINATION
                getattr(self, key).update(fields(node, readers, problems, key))
            elif key == "trackers":
                self.trackers.update(read_groups(node, TRACKER, problems, key))
            elif key == "sessions":
                for kind, groups in read_sessions(node, problems).items():
                    self.sessions.setdefault(kind, {}).update(groups)
            elif key == "aliases":
                self._add_aliases(node, problems)
            else:
                self._add_hosts(key, node, problems)

    def _check_version(self, root: yaml.Node, node: yaml.Node | None, problems: Problems) -> None:
        if node is None:
            problems.add(root, f"version is missing: add `version: {FORMAT}`")
        elif node.value != FORMAT:
            problems.add(node, f"version is {node.value}: this release reads version {FORMAT}")

    def _add_hosts(self, section: str, node: yaml.Node, problems: Problems) -> None:
        read: Callable[[str, yaml.Node, Problems], str | None] = read_host if section == "hosts" else read_domain
        table: dict[str, Group] = getattr(self, section)
        for name, key_node, value in items(node, problems, section):
            host = read(name, key_node, problems)
            if host is not None and is_null(value):
                table.pop(host, None)
            else:
                table.setdefault(host or name, {}).update(fields(value, HOST_RULE, problems, f"{section} {name}"))

    def _add_aliases(self, node: yaml.Node, problems: Problems) -> None:
        for name, key_node, value in items(node, problems, "aliases"):
            host = read_host(name, key_node, problems)
            if host is not None and is_null(value):
                self.aliases.pop(host, None)
                continue
            target_name = text(value, problems, f"the alias {name}")
            target = None if target_name is None else read_host(target_name, value, problems)
            if host is not None and target is not None:
                self.aliases[host] = target
                self.where[host] = f"{problems.path}:{key_node.start_mark.line + 1}"

    def cross_check(self, rules: UrlRules) -> list[str]:
        """Problems between files: aliases that lead back to themselves, and rules of hosts that are aliases."""
        found = []
        for host in self.aliases:
            if settle_host(host, rules) is None:
                found.append(
                    f"{self.where[host]}: the alias {host} leads back to itself: aliases and strip_www must agree"
                )
            elif host in self.hosts:
                found.append(
                    f"{self.where[host]}: {host} is an alias and has rules under hosts: give them to its target"
                )
        return found

    def rules(self) -> UrlRules:
        """The finished rules."""
        trackers = [group for group in self.trackers.values() if group]
        sessions = self.sessions
        return UrlRules(
            defaults=HostRule(**self.defaults),  # type: ignore[arg-type]
            hosts={host: HostRule(**group) for host, group in self.hosts.items()},  # type: ignore[arg-type]
            domains={domain: HostRule(**group) for domain, group in self.domains.items()},  # type: ignore[arg-type]
            public_suffixes={domain: under for domain in self.domains if (under := public_suffixes_under(domain))},
            aliases=dict(self.aliases),
            tracker_names=_lower(_names(trackers, "names")),
            tracker_prefixes=_lower(_names(trackers, "prefixes")),
            session_parameters=tuple(
                _session_parameter(label, group) for label, group in sessions.get("parameters", {}).items() if group
            ),
            session_path_parameters=tuple(
                _names((group for group in sessions.get("path_parameters", {}).values() if group), "names")
            ),
            session_path_segments=tuple(
                (label, str(group["pattern"])) for label, group in sessions.get("path_segments", {}).items() if group
            ),
            pagination=Pagination(**{key: tuple(value or ()) for key, value in self.pagination.items()}),  # type: ignore[arg-type]
        )


def _session_parameter(label: str, group: Group) -> SessionParameter:
    said = {key: value for key, value in group.items() if key != "vendor" and value is not None}
    return SessionParameter(label=label, **said)  # type: ignore[arg-type]


def _names(groups: Iterable[Group], key: str) -> list[str]:
    names: list[str] = []
    for group in groups:
        value = group.get(key)
        names += value if isinstance(value, tuple) else ()
    return names


def _lower(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({name.lower() for name in names}))
