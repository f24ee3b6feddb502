"""Turns what pydantic found wrong into sentences: which setting, what was expected, what was found, and where."""

import json
import re
from collections.abc import Mapping
from difflib import get_close_matches

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from dedup_lib.config.profiles import Key
from dedup_lib.config.settings import Settings

SHOWN_CHARS = 60  # of a wrong value: enough to find it again

EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a smaller whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "bool_type": "true or false",
    "tuple_type": "a list, such as [a, b]",
    "model_type": "a section of settings, such as {{key: value}}",
    "model_attributes_type": "a section of settings, such as {{key: value}}",
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "less than {lt}",
    "literal_error": "one of {expected}",
}


def explain(error: ValidationError, origins: Mapping[Key, str]) -> list[str]:
    """Give one sentence per problem, in the order of the settings; `origins` tells where each key was set."""
    return [_sentence(details, origins) for details in error.errors(include_url=False)]


def nearest(unknown: Key) -> str:
    """Say what an unknown key may have been meant to be.

    >>> nearest(("cluster", "treshold"))
    'did you mean cluster.threshold?'
    >>> nearest(("bands",))
    'did you mean sign.bands?'
    """
    paths = setting_keys()
    section, name = unknown[:-1], unknown[-1]
    here = list(dict.fromkeys(path[len(section)] for path in paths if path[: len(section)] == section != path))
    elsewhere = {path[-1]: [other for other in paths if other[-1] == path[-1]] for path in paths}
    close = get_close_matches(name.lower(), here, n=1, cutoff=0.6)
    if close and name not in elsewhere:
        return f"did you mean {'.'.join((*section, close[0]))}?"
    far = get_close_matches(name.lower(), list(elsewhere), n=1, cutoff=0.8)
    if far:
        return f"did you mean {' or '.join('.'.join(path) for path in elsewhere[far[0]])}?"
    return f"known {'in ' + '.'.join(section) if section else 'sections'}: {', '.join(here)}"


def setting_keys(model: type[BaseModel] = Settings) -> list[Key]:
    """List every setting as a tuple of names, in the order of the models."""
    keys: list[Key] = []
    for attribute, info in model.model_fields.items():
        inner, name = info.annotation, info.alias or attribute
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            keys.extend((name, *key) for key in setting_keys(inner))
        else:
            keys.append((name,))
    return keys


def _sentence(details: ErrorDetails, origins: Mapping[Key, str]) -> str:
    key = tuple(str(part) for part in details["loc"])
    origin = next((origins[key[:depth]] for depth in range(len(key), 0, -1) if key[:depth] in origins), "")
    where = f" ({origin})" if origin else ""
    kind = details["type"]
    if kind == "value_error":  # of a section or of the whole, whose key is empty
        return f"{details['msg'].removeprefix('Value error, ')}{where}"
    name = ".".join(key) if not key[-1].isdigit() else f"{'.'.join(key[:-1])}[{key[-1]}]"
    if kind == "extra_forbidden":
        return f"there is no setting {name}{where}, {nearest(key)}"
    if kind not in EXPECTED:
        return f"{name}: {details['msg']}, found {_shown(details['input'])}{where}"
    expected = EXPECTED[kind].format_map(details.get("ctx", {}))
    close = get_close_matches(str(details["input"]), re.findall(r"'(\w+)'", expected), n=1)
    meant = f", did you mean {close[0]}?" if close else ""
    return f"{name}: expected {expected}, found {_shown(details['input'])}{where}{meant}"


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "..."
