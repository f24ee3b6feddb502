"""YAML with its line numbers: reads typed values off the node tree and collects every problem with file and line."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

import yaml

_TAG = "tag:yaml.org,2002:"


class Problems:
    """The problems of one file, in the order found, each as `file:line: what`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: list[str] = []

    def add(self, node: yaml.Node | None, what: str) -> None:
        """Report a problem at the line of `node`."""
        line = 1 if node is None else node.start_mark.line + 1
        self.found.append(f"{self.path}:{line}: {what}")

    def unknown_key(self, node: yaml.Node, key: str, known: Sequence[str]) -> None:
        """Report a key that is none of `known`, with the nearest one that is."""
        near = get_close_matches(key, known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else "known here: " + ", ".join(known)
        self.add(node, f"unknown key {key}: {hint}")


def read_tree(path: Path, problems: Problems) -> yaml.Node | None:
    """The root node of a YAML file, or None if it is empty or unreadable (which is reported)."""
    try:
        with path.open(encoding="utf-8") as stream:
            root = yaml.compose(stream, Loader=yaml.SafeLoader)
    except OSError as error:
        problems.found.append(f"{path}: cannot be read ({error.strerror}): give the path of a rule file")
        return None
    except UnicodeDecodeError:
        problems.found.append(f"{path}: is not UTF-8: save it as UTF-8 text")
        return None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = 1 if mark is None else mark.line + 1
        problems.found.append(f"{path}:{line}: is not YAML: {getattr(error, 'problem', None) or error}")
        return None
    return root if isinstance(root, yaml.Node) else None


def is_null(node: yaml.Node) -> bool:
    """Whether the value is null or left empty."""
    return node.tag == _TAG + "null"


def items(node: yaml.Node, problems: Problems, what: str) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
    """Key, key node and value node of a mapping; anything else, and a key given twice, is reported."""
    if is_null(node):
        return
    if not isinstance(node, yaml.MappingNode):
        problems.add(node, f"{what} must be a mapping of keys to values")
        return
    seen: set[str] = set()
    for key_node, value in node.value:
        key = str(key_node.value)
        if key in seen:
            problems.add(key_node, f"{key} is given twice in {what}: keep one")
            continue
        seen.add(key)
        yield key, key_node, value


def known_items(
    node: yaml.Node, known: Sequence[str], problems: Problems, what: str
) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
    """As `items`, for a mapping whose keys are fixed."""
    for key, key_node, value in items(node, problems, what):
        if key in known:
            yield key, key_node, value
        else:
            problems.unknown_key(key_node, key, known)


def strings(node: yaml.Node, problems: Problems, what: str, *, empty: bool = False) -> tuple[str, ...] | None:
    """A list of strings, or None (reported). `empty` permits the list `[]`."""
    if not isinstance(node, yaml.SequenceNode):
        problems.add(node, f"{what} must be a list of strings")
        return None
    values = []
    for item in node.value:
        if not isinstance(item, yaml.ScalarNode) or is_null(item) or not item.value:
            problems.add(item, f"{what} must be a list of strings")
        elif item.value in values:
            problems.add(item, f"{what} has {item.value} twice: keep one")
        else:
            values.append(item.value)
    if not node.value and not empty:
        problems.add(node, f"{what} is empty: name something or leave it out")
    return tuple(values)


def text(node: yaml.Node, problems: Problems, what: str) -> str | None:
    """A string, or None (reported)."""
    if not isinstance(node, yaml.ScalarNode) or is_null(node) or not node.value:
        problems.add(node, f"{what} must be a string")
        return None
    return str(node.value)


def flag(node: yaml.Node, problems: Problems, what: str) -> bool | None:
    """True or false, or None (reported)."""
    if node.tag != _TAG + "bool":
        problems.add(node, f"{what} must be true or false")
        return None
    return str(node.value).lower() in {"true", "yes", "on"}


def choice(node: yaml.Node, options: Iterable[str], problems: Problems, what: str) -> str | None:
    """One of `options`, or None (reported)."""
    value = str(node.value) if isinstance(node, yaml.ScalarNode) else "this"
    if value in options:
        return value
    problems.add(node, f"{what} is {value}: use one of " + ", ".join(options))
    return None


Read = Callable[[yaml.Node, Problems, str], object]


def fields(node: yaml.Node, readers: Mapping[str, Read], problems: Problems, what: str) -> dict[str, object]:
    """The keys of a fixed mapping, each read by its reader. Null stays None; what is wrong is reported and left out."""
    values: dict[str, object] = {}
    for key, _, value in known_items(node, list(readers), problems, what):
        if is_null(value):
            values[key] = None
            continue
        read = readers[key](value, problems, f"{key} of {what}")
        if read is not None:
            values[key] = read
    return values
