"""Reads YAML profiles as plain values, and remembers from which line each value came."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from dedup_lib.errors import ConfigurationError, UsageError

Key = tuple[str, ...]


class CoreSchemaLoader(yaml.SafeLoader):
    """YAML with the core schema of YAML 1.2 (section 10.3.2): `no` and `2026-01-01` are text, `1e-3` is a number."""


CoreSchemaLoader.yaml_implicit_resolvers = {}

for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9_]*)|0x[0-9a-fA-F]+", list("-+0123456789")),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
):
    CoreSchemaLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), _first)


@dataclass
class Layer:
    """One source of settings, laid over those before it: its values, and where each of them stands."""

    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[Key, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def lay(self, upper: "Layer") -> None:
        """Lay another layer on top: sections are merged, anything else is replaced."""
        _merge(self.values, upper.values)
        self.origins.update(upper.origins)
        self.problems.extend(upper.problems)


def parse_value(text: str) -> object:
    """Parse the value of an override as YAML: `3`, `[a, b]`, `{bands: 14, rows: 8}`, `text`.

    >>> parse_value("[1e-2, no]")
    [0.01, 'no']
    """
    value: object = yaml.load(text, Loader=CoreSchemaLoader)
    return value


def read_profile(path: Path) -> Layer:
    """Read one profile.

    Gives the values as the file has them, under origins such as `local.yaml line 7`. Keys that stand twice and values
    that no JSON can hold are among the layer's `problems`.

    Raises:
        UsageError: the file cannot be read.
        ConfigurationError: it is no YAML, or no mapping.
    """
    try:
        loader = CoreSchemaLoader(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the profile {path} cannot be read ({error}): check the path and its permissions") from error
    try:
        node = loader.get_single_node()
        layer = Layer()
        if node is None:
            return layer
        if not isinstance(node, yaml.MappingNode):
            raise ConfigurationError(["a profile is a mapping of sections, such as `sign: {bands: 32}`"], str(path))
        layer.values = _plain_mapping(loader, node, (), path.name, layer)
    except RecursionError:
        raise ConfigurationError(["an alias (*name) contains itself"], str(path)) from None
    except yaml.YAMLError as error:
        raise ConfigurationError([f"this is not YAML: {_yaml_fault(error)}"], str(path)) from error
    return layer


def _plain_mapping(
    loader: CoreSchemaLoader, node: yaml.MappingNode, above: Key, file_name: str, layer: Layer
) -> dict[str, Any]:
    """Turn a mapping node into a dict, note the line of every key, and report keys that stand twice."""
    values: dict[str, Any] = {}
    for key_node, value_node in node.value:
        where = f"{file_name} line {key_node.start_mark.line + 1}"
        name = str(key_node.value) if isinstance(key_node, yaml.ScalarNode) else "?"
        key = (*above, name)
        if name in values:
            layer.problems.append(f"{'.'.join(key)} stands twice, again at {where}: remove one of them")
        layer.origins[key] = where
        if isinstance(value_node, yaml.MappingNode):
            values[name] = _plain_mapping(loader, value_node, key, file_name, layer)
        else:
            values[name] = loader.construct_object(value_node, deep=True)
    return values


def _merge(lower: dict[str, Any], upper: dict[str, Any]) -> None:
    for name, value in upper.items():
        below = lower.get(name)
        if isinstance(below, dict) and isinstance(value, dict):
            _merge(below, value)
        elif value is None and isinstance(below, dict):
            continue  # a section with nothing in it, all its lines commented out, changes nothing
        else:
            lower[name] = value


def _yaml_fault(error: yaml.YAMLError) -> str:
    parts: Iterator[str] = (line.strip() for line in str(error).splitlines())
    return ", ".join(part for part in parts if part and not part.startswith(("^", "in ")))
