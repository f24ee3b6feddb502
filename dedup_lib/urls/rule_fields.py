"""How each section of a rule file is read: names, hosts, patterns, groups. Problems are collected, not raised."""

from collections.abc import Mapping
from functools import partial

import yaml

from dedup_lib.urls.parser import parse
from dedup_lib.urls.patterns import pattern_problem
from dedup_lib.urls.sites import registrable_domain
from dedup_lib.urls.yaml_nodes import (
    Problems,
    Read,
    choice,
    fields,
    flag,
    is_null,
    items,
    known_items,
    strings,
    text,
)

Group = dict[str, object]

HOST_RULE: Mapping[str, Read] = {
    "trailing_slash": lambda node, problems, what: choice(node, ("keep", "strip", "add"), problems, what),
    "scheme": lambda node, problems, what: choice(node, ("keep", "http", "https"), problems, what),
    "strip_www": flag,
    "collapse_slashes": flag,
    "keep_hashbang": flag,
    "allow_params": partial(strings, empty=True),
    "drop_params": partial(strings, empty=True),
    "keep_params": partial(strings, empty=True),
}


def _patterns(node: yaml.Node, problems: Problems, what: str) -> tuple[str, ...] | None:
    found = strings(node, problems, what)
    if found is None or not isinstance(node, yaml.SequenceNode):
        return None
    sound = True
    for pattern, item in zip(found, node.value, strict=False):
        problem = pattern_problem(pattern)
        if problem:
            sound = False
            problems.add(item, f"{pattern} in {what} {problem}")
    return found if sound else None


def _pattern(node: yaml.Node, problems: Problems, what: str) -> str | None:
    pattern = text(node, problems, what)
    problem = pattern_problem(pattern) if pattern else None
    if problem:
        problems.add(node, f"{what} {problem}")
        return None
    return pattern


TRACKER: Mapping[str, Read] = {"vendor": text, "names": strings, "prefixes": strings}
SESSION_PARAMETER: Mapping[str, Read] = {
    "vendor": text,
    "names": strings,
    "name_patterns": _patterns,
    "values": _patterns,
    "together": flag,
}
SESSION_PATH_PARAMETER: Mapping[str, Read] = {"vendor": text, "names": strings}
SESSION_PATH_SEGMENT: Mapping[str, Read] = {"vendor": text, "pattern": _pattern}
PAGINATION: Mapping[str, Read] = {
    "parameters": partial(strings, empty=True),
    "path_segments": partial(strings, empty=True),
}


def parse_host(name: str) -> str | None:
    """A host as the parser writes it, or None if `name` is not just a host."""
    try:
        href = parse(f"http://{name}/")
    except UnicodeEncodeError:
        return None
    host = "" if href is None else href[len("http://") : -1].removesuffix(".")
    has_port = ":" in name and not name.endswith("]")
    return None if has_port or not host or set(host) & set("/?#@") else host


def read_host(name: str, node: yaml.Node, problems: Problems) -> str | None:
    """The host named by a key or value; anything else is reported."""
    host = parse_host(name)
    if host is None:
        problems.add(node, f"{name} is not a host: write a name such as www.example.com, without scheme, port or path")
    return host


def read_domain(name: str, node: yaml.Node, problems: Problems) -> str | None:
    """The registrable domain named by a key; a subdomain or a public suffix is reported."""
    host = read_host(name, node, problems)
    if host is None or registrable_domain(host) == host:
        return host
    domain = registrable_domain(host)
    hint = f"its registrable domain is {domain}, or name it under hosts" if domain else "name it under hosts"
    problems.add(node, f"{name} is not a registrable domain: {hint}")
    return None


def read_groups(node: yaml.Node, readers: Mapping[str, Read], problems: Problems, what: str) -> dict[str, Group | None]:
    """Named groups of one section, each with its fields; null takes a group of an earlier file away."""
    groups: dict[str, Group | None] = {}
    for name, key_node, value in items(node, problems, what):
        if is_null(value):
            groups[name] = None
            continue
        before = len(problems.found)
        group = fields(value, readers, problems, f"{what} {name}")
        if len(problems.found) == before and not set(group) - {"vendor", "values", "together"}:
            problems.add(key_node, f"{what} {name} names nothing: give it one of " + ", ".join(list(readers)[1:]))
        groups[name] = group
    return groups


def read_sessions(node: yaml.Node, problems: Problems) -> dict[str, dict[str, Group | None]]:
    """The three kinds of session rules."""
    kinds = {
        "parameters": SESSION_PARAMETER,
        "path_parameters": SESSION_PATH_PARAMETER,
        "path_segments": SESSION_PATH_SEGMENT,
    }
    return {
        kind: read_groups(value, kinds[kind], problems, f"sessions.{kind}")
        for kind, _, value in known_items(node, list(kinds), problems, "sessions")
    }
