"""The README says what is: its generated sections are current, and its commands, files and targets exist.

`python tests/test_readme.py` writes the generated sections anew.
"""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from dedup_lib.archives import Reason
from dedup_lib.cli.main import app
from dedup_lib.config import load_settings, locate_conf, settings_reference
from dedup_lib.evaluation import recall_at
from dedup_lib.reports.tables_reference import tables_reference
from dedup_lib.signatures import Scheme
from dedup_lib.tables.keys import SnapshotKey
from dedup_lib.tables.schemas import TABLES
from dedup_lib.tables.store_schemas import STORE_TABLES

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
IN_AIRFLOW = ("airflow.sdk", "crawl_dedup_dag")  # in an environment of its own; tests/scheduling imports them there
FILES_NAMED = re.compile(r"(?:conf|jobs|dedup_lib)/[\w./-]*\w\.\w+")


def s_curve_table() -> str:
    """The chance to become a candidate pair, of the default bands and of FineWeb's."""
    ours = Scheme()
    others = load_settings(ROOT / "conf" / "fineweb.yaml").sign
    lines = [
        f"| Jaccard | {ours.bands} x {ours.rows}, the default | {others.bands} x {others.rows}, FineWeb's |",
        "|---|---|---|",
    ]
    for similarity in (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9):
        found = (recall_at(similarity, scheme.bands, scheme.rows) for scheme in (ours, others))
        lines.append(f"| {similarity} | {' | '.join(f'{100 * share:.2f} %' for share in found)} |")
    return "\n".join(lines) + "\n"


GENERATED = {"settings": settings_reference, "tables": tables_reference, "s-curve": s_curve_table}


def section_of(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)


def blocks_of(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README.read_text(), re.DOTALL | re.MULTILINE)


def commands() -> Iterator[list[str]]:
    """Every command of the shell blocks as words, without the variables set before it."""
    for block in blocks_of("sh"):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            while words and re.fullmatch(r"\w+=.*", words[0]):
                words.pop(0)
            if words:
                yield words


def product_commands() -> list[list[str]]:
    """Arguments of crawl-dedup, as such or behind a job."""
    found = []
    for words in commands():
        if Path(words[0]).name == "crawl-dedup":
            found.append(words[1:])
        for place, word in enumerate(words):
            if word.startswith("jobs/"):
                found.append([Path(word).stem, *words[place + 1 :]])
    return found


@pytest.mark.parametrize("name", GENERATED)
def test_generated_sections_are_current(name):
    found = section_of(name).search(README.read_text())
    assert found, f"README.md has no section between <!-- {name} --> and <!-- /{name} -->"
    assert found[0] == GENERATED[name](), "run `python tests/test_readme.py`"


@pytest.mark.parametrize("arguments", product_commands(), ids=" ".join)
def test_commands_parse_and_name_what_exists(arguments):
    group = typer.main.get_command(app)
    name, *options = arguments
    assert name in group.commands, f"there is no command {name}"

    context = group.commands[name].make_context(name, options)  # parses and checks, and does not run

    given = context.params
    if given.get("source") and given.get("snapshot"):
        SnapshotKey(given["source"], given["snapshot"])
    if given.get("table"):
        assert given["table"] in {**TABLES, **STORE_TABLES}
    profile = locate_conf(given["config"]) if given.get("config") else None
    load_settings(profile, given.get("overrides") or ())


def test_there_are_commands_of_each_kind():
    heads = {Path(words[0]).name for words in commands()}
    assert heads == {"crawl-dedup", "spark-submit", "make", "export"}
    assert {arguments[0] for arguments in product_commands()} >= {"run", "extract", "resolve", "sign", "cluster"}


def test_files_and_make_targets_named_exist():
    text = README.read_text()
    assert [name for name in sorted(set(FILES_NAMED.findall(text))) if not (ROOT / name).is_file()] == []
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {words[1] for words in commands() if words[0] == "make"} | set(re.findall(r"`make ([a-z-]+)`", text))
    assert {"run", "test"} <= named <= targets


def test_settings_named_in_the_text_exist():
    reference = settings_reference()
    sections = "|".join(sorted(set(re.findall(r"`(\w+)\.\w+`", reference))))
    named = set(re.findall(rf"`((?:{sections})\.\w+)`", README.read_text()))
    assert [name for name in sorted(named) if f"`{name}`" not in reference] == []


def test_every_reason_of_a_reject_is_listed():
    sentence = re.search(r"^Reasons in `rejects`:.*?\n\n", README.read_text(), re.DOTALL | re.MULTILINE)
    assert sentence
    assert set(re.findall(r"`(\w+)`", sentence[0])) - {"rejects"} == {reason.value for reason in Reason}


def test_rooms_are_listed_in_the_order_of_their_imports():
    declared = next(
        node.value
        for node in ast.walk(ast.parse((ROOT / "tests" / "test_architecture.py").read_text()))
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "ROOMS"
    )
    rooms = [word for word in re.findall(r"'(\w+)'", ast.unparse(declared)) if word != "jobs"]
    layout = README.read_text().partition("## Layout of the code")[2]
    assert re.findall(r"^\| `(\w+)` \|", layout, re.MULTILINE) == rooms


@pytest.mark.parametrize("block", blocks_of("python"))
def test_python_lines_compile_and_their_imports_are_there(block):
    tree = ast.parse(block)
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    imports = [node for node in imports if getattr(node, "module", None) not in IN_AIRFLOW]
    exec(compile(ast.Module(imports, []), str(README), "exec"), {})


def write_generated_sections() -> None:
    text = README.read_text()
    for name, make in GENERATED.items():
        before, marker, rest = text.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition(f"<!-- /{name} -->")
        text = before + marker + make() + end + after
    README.write_text(text)


if __name__ == "__main__":
    write_generated_sections()
