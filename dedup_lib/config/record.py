"""Writes settings down: in the run file, as a fingerprint, and as the table of settings in the README."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from dedup_lib.config.settings import Settings

FINGERPRINT_CHARS = 16  # 64 bits: tells configurations of one store apart


def settings_record(settings: BaseModel) -> dict[str, Any]:
    """Give the settings, defaults included, as values that JSON can hold; `Settings.model_validate_json` reads them."""
    return settings.model_dump(mode="json", by_alias=True)


def fingerprint(*parts: object) -> str:
    """Give a short SHA-256 (16 hex digits) of sections of settings and of other values that JSON can hold.

    Equal settings have equal fingerprints on every machine and however they were given; the name of a section is part
    of it. Canonical JSON as in RFC 8785 for the types that settings have: keys sorted, no spaces, UTF-8.

    >>> from dedup_lib.config.settings import SignSettings
    >>> fingerprint(SignSettings()) == fingerprint(SignSettings(bands=32))
    True
    >>> fingerprint(SignSettings(), "rules") == fingerprint(SignSettings())
    False
    """
    plain = [[type(part).__name__, settings_record(part)] if isinstance(part, BaseModel) else part for part in parts]
    canonical = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:FINGERPRINT_CHARS]


def settings_reference() -> str:
    """Give the reference of all settings as a Markdown table: key, default, meaning."""
    rows = ["| Setting | Default | Meaning |", "|---|---|---|"]
    for name, info, default in _fields(Settings(), ""):
        meaning = info.description or ""
        values = choices(info.annotation)
        if values:
            meaning += f" (of {', '.join(f'`{value}`' for value in values)})"
        rows.append(f"| `{name}` | `{_shown(default)}` | {meaning.replace('|', chr(92) + '|')} |")
    return "\n".join(rows) + "\n"


def choices(annotation: object) -> list[object]:
    """List the values a setting may take, if its type is a closed list or a list of such."""
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [value for inner in get_args(annotation) if inner is not Ellipsis for value in choices(inner)]


def _fields(model: BaseModel, above: str) -> Iterator[tuple[str, FieldInfo, Any]]:
    for attribute, info in type(model).model_fields.items():
        value, name = getattr(model, attribute), info.alias or attribute
        if isinstance(value, BaseModel):
            yield from _fields(value, f"{above}{name}.")
        else:
            yield above + name, info, value


def _shown(value: object) -> str:
    return f"[{', '.join(value)}]" if isinstance(value, tuple) else json.dumps(value)
