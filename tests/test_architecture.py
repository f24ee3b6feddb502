"""The rules of the house that a machine can check: imports run one way, and what Spark code must not do."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = (  # a room imports only rooms before it, and itself
    *("errors", "config", "urls", "archives", "text", "signatures", "tables", "clustering", "stages"),
    *("evaluation", "reports", "sample", "cli", "jobs"),
)
WITHOUT_SPARK = ("errors", "config", "urls", "archives", "text", "signatures", "evaluation", "reports", "sample")
MODULES = sorted([*(ROOT / "dedup_lib").rglob("*.py"), *(ROOT / "jobs").rglob("*.py")])
MOST_LINES = 300

# Each collects a number of rows that the corpus does not set: one row, one per file or kind, or a stated limit.
MAY_COLLECT = {
    "dedup_lib/clustering/stars.py": {"_removed_on_driver", "find_stars"},  # at most cluster.driver_edges
    "dedup_lib/clustering/near.py": {"go_on_at_driver"},  # the pairs of these rows
    "dedup_lib/clustering/on_driver.py": {"gather"},  # at most cluster.driver_edges rows, and 512 MB
    "dedup_lib/clustering/components.py": {"_on_driver", "component_heads"},  # the same; one row
    "dedup_lib/clustering/shapes.py": {"compare_shapes"},  # one row
    "dedup_lib/cli/reading.py": {"_without_repeats"},  # one row
    "dedup_lib/cli/makers.py": {"make_resolve", "make_sign", "make_cluster", "_near_counts", "_by"},
    "dedup_lib/cli/global_maker.py": {"_first_days", "_counts"},  # a row per snapshot and reason
    "dedup_lib/cli/changes.py": {"_counts", "_examples"},  # one row per kind; at most MOST_EXAMPLES
    "dedup_lib/stages/checks.py": {"check_references", "check_similarities"},
    "dedup_lib/tables/validate.py": {"check_table"},
    "dedup_lib/tables/write.py": {"write_tagged"},  # one row per file written
}
COLLECTING = {"collect", "toArrow", "toLocalIterator"}
FORBIDDEN_ATTRIBUTES = {"rdd", "sparkContext", "_jvm", "_jdf", "_sc", "monotonically_increasing_id", "toPandas"}
FORBIDDEN_CALLS = {"print", "rand", "randn", "hash", "monotonically_increasing_id"}


def room_of(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    if parts[0] == "jobs":
        return "jobs"
    return parts[1] if len(parts) > 2 else path.stem


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports_of(path: Path) -> Iterator[tuple[int, str]]:
    """(line, module) of every import, also those within functions; relative ones made absolute."""
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (start, node.module) if part)
            if module in ("dedup_lib", "jobs"):
                yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, module


def room_of_import(module: str) -> str | None:
    head, _, rest = module.partition(".")
    if head == "jobs":
        return "jobs"
    room = rest.partition(".")[0]
    return room if head == "dedup_lib" and (ROOT / "dedup_lib" / room).is_dir() and room else None


def calls_with_owners(path: Path) -> Iterator[tuple[str, ast.AST]]:
    """Every node with the name of the outermost function that it stands in; `` outside of functions."""

    def walk(node: ast.AST, owner: str) -> Iterator[tuple[str, ast.AST]]:
        for child in ast.iter_child_nodes(node):
            here = owner
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and not owner:
                here = child.name
            yield here, child
            yield from walk(child, here)

    yield from walk(ast.parse(path.read_text()), "")


def test_every_folder_is_a_room_with_its_place():
    folders = {path.parent.name for path in (ROOT / "dedup_lib").glob("*/__init__.py")}
    assert folders <= set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_rooms_before_it(room):
    allowed = set(ROOMS[: ROOMS.index(room) + 1])
    wrong = [
        f"{name_of(path)}:{line} imports {module}"
        for path in MODULES
        if room_of(path) == room
        for line, module in imports_of(path)
        if (target := room_of_import(module)) is not None and target not in allowed
    ]
    assert wrong == []


@pytest.mark.parametrize("room", WITHOUT_SPARK)
def test_rooms_of_plain_python_do_not_import_spark(room):
    wrong = [
        f"{name_of(path)}:{line} imports {module}"
        for path in MODULES
        if room_of(path) == room
        for line, module in imports_of(path)
        if module.split(".")[0] == "pyspark"
    ]
    assert wrong == []


def test_nothing_reaches_below_the_frames_or_depends_on_where_rows_lie():
    wrong = [
        f"{name_of(path)}:{node.lineno} uses {node.attr}"
        for path in MODULES
        for _, node in calls_with_owners(path)
        if isinstance(node, ast.Attribute) and node.attr in FORBIDDEN_ATTRIBUTES
    ]
    assert wrong == []


def test_nothing_is_printed_drawn_at_random_or_hashed_with_a_seed_of_the_process():
    wrong = []
    for path in MODULES:
        for owner, node in calls_with_owners(path):
            if not isinstance(node, ast.Call) or owner == "__hash__":
                continue
            called = node.func
            name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
            module = called.value.id if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) else ""
            if name in FORBIDDEN_CALLS and module in ("", "F", "sf", "functions"):
                wrong.append(f"{name_of(path)}:{node.lineno} calls {name} in {owner or 'the module'}")
    assert wrong == []


def test_rows_come_to_the_driver_only_where_their_number_is_bounded():
    found: dict[str, set[str]] = {}
    for path in MODULES:
        for owner, node in calls_with_owners(path):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in COLLECTING:
                found.setdefault(name_of(path), set()).add(owner)
    wrong = {name: owners - MAY_COLLECT.get(name, set()) for name, owners in found.items()}
    assert {name: owners for name, owners in wrong.items() if owners} == {}
    assert {name: owners - found.get(name, set()) for name, owners in MAY_COLLECT.items()} == {
        name: set() for name in MAY_COLLECT
    }, "the list allows what is no longer there"


def test_modules_are_short():
    lengths = {name_of(path): len(path.read_text().splitlines()) for path in MODULES}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}
