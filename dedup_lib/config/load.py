"""Builds the settings from defaults, profiles and overrides, and checks them once, as a whole."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from dedup_lib.config.explain import explain
from dedup_lib.config.places import locate_conf
from dedup_lib.config.profiles import Layer, parse_value, read_profile
from dedup_lib.config.settings import Settings
from dedup_lib.errors import ConfigurationError, UsageError

_CREDENTIALS = re.compile(r"//[^/@\s]*@")  # of an address
EXTENDS = "extends"  # the one key of a profile that is no setting: the profile or profiles it is laid over


def load_settings(profile: Path | Sequence[Path] | None = None, overrides: Sequence[str] = ()) -> Settings:
    """Build the settings: the defaults, the profiles from left to right, then each `section.key=value`.

    A profile may say `extends: base.yaml`, found beside it or in the project's conf. Sections are merged, lists and
    values replaced. The value of an override is YAML.

    Raises:
        UsageError: a profile does not exist or cannot be read.
        ConfigurationError: unknown settings (with the nearest known one), wrong types, values out of range, malformed
            overrides; all of them at once, each with its line or its override.
    """
    profiles = [profile] if isinstance(profile, Path) else list(profile or ())
    merged = Layer()
    for path in profiles:
        merged.lay(_with_bases(locate_conf(path), ()))
    for override in overrides:
        merged.lay(_override(override))
    _drop_empty_sections(merged.values)
    where = ", ".join(str(path) for path in profiles) or "settings"
    try:
        settings = Settings.model_validate_json(json.dumps(merged.values, default=str))
    except ValidationError as error:
        problems = [*merged.problems, *explain(error, merged.origins)]
        raise ConfigurationError(problems, where) from None
    if merged.problems:
        raise ConfigurationError(merged.problems, where)
    return settings


def _with_bases(path: Path, seen: tuple[Path, ...]) -> Layer:
    """Read a profile on top of those it extends."""
    if path in seen:
        circle = " -> ".join(step.name for step in (*seen, path))
        raise ConfigurationError([f"profiles extend each other in a circle: {circle}"], str(seen[0]))
    own = read_profile(path)
    bases = own.values.pop(EXTENDS, [])
    names = [bases] if isinstance(bases, str) else bases
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ConfigurationError([f"{EXTENDS}: expected the name of a profile, or a list of names"], str(path))
    merged = Layer()
    for name in names:
        try:
            base = locate_conf(name, beside=path.parent)
        except UsageError as error:
            raise UsageError(f"{path} extends {name}, but {error}") from None
        merged.lay(_with_bases(base, (*seen, path)))
    merged.lay(own)
    return merged


def _override(text: str) -> Layer:
    """Make a layer of one `section.key=value`."""
    layer = Layer()
    name, equals, value_text = text.partition("=")
    names = name.strip().split(".")
    text = _CREDENTIALS.sub("//...@", text)  # it is shown in complaints
    if not equals or not all(names):
        layer.problems.append(f"--set {text}: expected section.key=value, such as sign.bands=14")
        return layer
    try:
        value = parse_value(value_text)
    except yaml.YAMLError:
        layer.problems.append(f"--set {text}: the value is not YAML: put it in quotes")
        return layer
    for depth, step in reversed(list(enumerate(names, start=1))):
        layer.origins[tuple(names[:depth])] = f"--set {text}"
        layer.values = {step: value}
        value = layer.values
    return layer


def _drop_empty_sections(values: dict[str, Any]) -> None:
    """Let `sign:` with nothing under it mean the defaults."""
    for attribute, section in Settings.model_fields.items():
        name = section.alias or attribute
        is_section = isinstance(section.annotation, type) and issubclass(section.annotation, BaseModel)
        if is_section and name in values and values[name] is None:
            del values[name]
