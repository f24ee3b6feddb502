"""The command that scores the extraction of text against public benchmarks; it needs no Spark."""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from dedup_lib.errors import UsageError
from dedup_lib.evaluation.extraction import Scores, SetScores, score_set
from dedup_lib.evaluation.extraction_sets import read_gold_sets
from dedup_lib.evaluation.text_table import text_table
from dedup_lib.text import ReadOptions, require_engine

MODES = {
    "resiliparse": ReadOptions(),
    "full": ReadOptions(main_content=False),
    "trafilatura": ReadOptions(engine="trafilatura"),
    "hybrid": ReadOptions(engine="hybrid"),
}


def evaluate_extraction_command(directory: Path, engines: Sequence[str]) -> list[SetScores]:
    """Scores each benchmark in the folder, in each mode; without `engines`, in all that are installed."""
    installed = list(MODES) if find_spec("trafilatura") else ["resiliparse", "full"]
    modes = list(dict.fromkeys(engines)) or installed
    unknown = [mode for mode in modes if mode not in MODES]
    if unknown:
        raise UsageError(f"there is no engine {', '.join(unknown)}: name some of {', '.join(MODES)} with --engine")
    for mode in modes:
        require_engine(MODES[mode].engine)
    return [score_set(gold, mode, MODES[mode]) for gold in read_gold_sets(directory) for mode in modes]


def render_extraction(found: Sequence[SetScores]) -> str:
    """The scores as a table: a row per set and mode, and below it one per page type or language."""
    header = ["set", "mode", "pages", "precision", "recall", "F1", "CPU ms a page"]
    return text_table(header, list(_rows(found)), left=2, indent=0)


def _rows(found: Sequence[SetScores]) -> Iterator[list[str]]:
    for one in found:
        milliseconds = f"{1000 * one.cpu_seconds / one.pages:.1f}"
        yield [one.name, one.mode, f"{one.pages:,}", *_cells(one.scores), milliseconds]
        for group, (pages, scores) in one.by_group.items():
            yield [f"  {group}", one.mode, f"{pages:,}", *_cells(scores)]


def _cells(scores: Scores) -> list[str]:
    return [f"{value:.3f}" for value in scores]
