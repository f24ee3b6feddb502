"""Readers of public benchmarks of text extraction: real pages and the text that people say is theirs.

Each is a folder as its publishers lay it out, sliced, with files compressed by gzip:

- `wcxb` (Murrough-Foley/web-content-extraction-benchmark): `html/ID.html.gz`, `gold/ID.json.gz`, by page type
- `scrapinghub` (scrapinghub/article-extraction-benchmark): `html/ID.html.gz`, `gold.json.gz`
- `trafilatura-eval` (adbar/trafilatura): the same two, with segments that must and must not appear
- `daniel` (rundimeco/waddle, DAnIEL): `html/LL-NN.html.gz`, `gold/LL-NN.txt.gz` with `<p>` lines, by language
"""

import gzip
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dedup_lib.errors import InputError

_PARAGRAPH_TAGS = re.compile(r"</?p>")
_WITHOUT_SPACES = frozenset(("ch",))  # languages of DAnIEL whose words are not told apart by spaces


class Segments(NamedTuple):
    """Pieces of text of which some must and some must not be extracted."""

    wanted: tuple[str, ...]
    unwanted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GoldPage:
    """A page with its gold; `group` is its type or language, or empty."""

    name: str
    group: str
    html: bytes
    gold: str | Segments
    by_character: bool = False


@dataclass(frozen=True, slots=True)
class GoldSet:
    """A benchmark; never empty."""

    name: str
    pages: tuple[GoldPage, ...]


def read_gold_sets(directory: Path) -> list[GoldSet]:
    """The benchmarks that are in a folder. InputError if there are none, or one cannot be read."""
    sets = []
    for name, reader in _READERS.items():
        folder = directory / name
        if not folder.is_dir():
            continue
        try:
            pages = tuple(reader(folder))
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{folder} is no readable copy of {name} ({error}): copy it again") from error
        if pages:
            sets.append(GoldSet(name, pages))
    if not sets:
        raise InputError(f"there is no benchmark under {directory}: it must hold one of {', '.join(_READERS)}")
    return sets


def _wcxb(folder: Path) -> list[GoldPage]:
    pages = []
    for path in sorted((folder / "html").glob("*.html.gz")):
        name = _name(path)
        gold = _json(folder / "gold" / f"{name}.json.gz")
        pages.append(GoldPage(name, gold["page_type"], _bytes(path), gold["ground_truth"]["main_content"]))
    return pages


def _scrapinghub(folder: Path) -> list[GoldPage]:
    gold = _json(folder / "gold.json.gz")
    return [GoldPage(name, "", _html(folder, name), gold[name]["articleBody"]) for name in sorted(gold)]


def _trafilatura_eval(folder: Path) -> list[GoldPage]:
    gold = _json(folder / "gold.json.gz")
    pages = []
    for name in sorted(gold):
        segments = Segments(tuple(gold[name]["must_contain"]), tuple(gold[name]["must_not_contain"]))
        pages.append(GoldPage(name, "", _html(folder, name), segments))
    return pages


def _daniel(folder: Path) -> list[GoldPage]:
    pages = []
    for path in sorted((folder / "html").glob("*.html.gz")):
        name = _name(path)
        language = name.partition("-")[0]
        gold = _PARAGRAPH_TAGS.sub("\n", _bytes(folder / "gold" / f"{name}.txt.gz").decode())
        pages.append(GoldPage(name, language, _bytes(path), gold, by_character=language in _WITHOUT_SPACES))
    return pages


_READERS: dict[str, Callable[[Path], list[GoldPage]]] = {
    "wcxb": _wcxb,
    "scrapinghub": _scrapinghub,
    "trafilatura-eval": _trafilatura_eval,
    "daniel": _daniel,
}


def _name(path: Path) -> str:
    return path.name.partition(".")[0]


def _html(folder: Path, name: str) -> bytes:
    return _bytes(folder / "html" / f"{name}.html.gz")


def _bytes(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())


def _json(path: Path) -> Any:  # noqa: ANN401 (JSON)
    return json.loads(_bytes(path))
