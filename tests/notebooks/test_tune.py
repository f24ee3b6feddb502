"""The notebook runs as a script, without a display, and tells of a store what was planted in it."""

import importlib.util
import os
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest

from dedup_lib.evaluation import recall_at
from dedup_lib.sample.dice import Dice
from dedup_lib.sample.edits import near_copy
from dedup_lib.sample.prose import article, main_text
from dedup_lib.sample.similarity import jaccard
from dedup_lib.signatures import Scheme

from .store import publish_texts

PROJECT = Path(__file__).parents[2]
SCHEME = Scheme()
LEVELS = (0.95, 0.9, 0.86, 0.7)  # of the copies of a text; at 0.7 the bands find 85 of 100


def run(root, *options):
    """What the script writes, as a process without display."""
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "MPLBACKEND")}
    environment["PYTHONPATH"] = str(PROJECT)
    command = [sys.executable, str(PROJECT / "notebooks" / "tune.py"), str(root), *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def texts():
    made = []
    for number, language in enumerate(("en", "ru", "zh", "th")):
        original = article(language, Dice("tune", number), 300)
        made.append(main_text(original))
        made += [main_text(near_copy(original, "words", level, Dice("copy", number, level))) for level in LEVELS]
    return [*made, made[0], "too short"]  # an exact copy, and a text without a signature


@pytest.fixture(scope="module")
def store(tmp_path_factory, texts):
    root = tmp_path_factory.mktemp("store")
    publish_texts(root, texts, SCHEME, near={1: 0.95, 2: 0.91})
    return root


@pytest.fixture(scope="module")
def page(store, tmp_path_factory):
    plot = tmp_path_factory.mktemp("plot") / "tune.png"
    done = run(store, "--examples", "2", "--plot", str(plot))
    assert done.returncode == 0, done.stderr
    return done.stdout, plot


def histogram(page):
    """Candidate pairs and removed documents by the lower edge of similarity."""
    rows = re.findall(r"^  (?:below )?(\d\.\d\d)(?: to \d\.\d\d)? +([\d,]+) +\S+ +\S+ +([\d,]+)$", page, re.MULTILINE)
    return {float(low): (int(pairs), int(near)) for low, pairs, near in rows}


def test_the_sample_is_the_different_texts_with_a_signature(page, texts):
    assert f"{len(texts) - 2} different texts of source web, snapshot snapshot-a" in page[0]


def test_the_histogram_has_the_planted_pairs_at_their_similarity(page, texts):
    found = histogram(page[0])
    planted = [jaccard(*pair) for pair in combinations(texts[:-2], 2)]
    sure = [value for value in planted if value > 0.8]  # of which the bands miss one in 300
    assert len(sure) >= 12
    counted = sum(pairs for low, (pairs, _) in found.items() if low >= 0.75)
    assert len(sure) <= counted <= sum(value > 0.65 for value in planted)
    assert sum(pairs for pairs, _ in found.values()) <= sum(value > 0.3 for value in planted)
    assert {low: near for low, (_, near) in found.items() if near} == {0.9: 1, 0.95: 1}


def test_the_proposal_reaches_the_recall_with_the_fewest_bands(page):
    bands, rows = (int(re.search(rf"sign\.{name}: (\d+)", page[0])[1]) for name in ("bands", "rows"))
    assert bands * rows <= SCHEME.permutations
    assert recall_at(0.8, bands, rows) >= 0.95 > recall_at(0.8, bands - 1, rows)
    least = next(b for b in range(1, 300) if recall_at(0.8, b, rows + 1) >= 0.95)
    assert least * (rows + 1) > SCHEME.permutations  # more rows would be steeper


def test_bands_that_are_those_of_the_store_bring_the_pairs_that_were_found(page):
    counted = re.search(r"32 x 8 \(store\) +256 +([\d,]+) ", page[0])[1]
    assert int(counted) == sum(pairs for pairs, _ in histogram(page[0]).values())
    expected = [re.search(rf"^  {low:.2f} to \S+ +(\d+) +(\d+) +(\S+)", page[0], re.MULTILINE) for low in (0.65, 0.9)]
    for pairs, about, share in ((int(row[1]), int(row[2]), float(row[3])) for row in expected):
        assert about == pytest.approx(pairs / share, rel=0.15, abs=1)


def test_pairs_on_both_sides_of_the_threshold_are_shown_with_their_texts(page):
    above, below = page[0].split("at or above the threshold")[1].split("below the threshold: kept")
    for side, within in ((above, lambda value: value >= 0.8), (below, lambda value: value < 0.8)):
        similarities = [float(value) for value in re.findall(r"^similarity (\d\.\d+)", side, re.MULTILINE)]
        assert len(similarities) == 2
        assert all(map(within, similarities))
        assert len(re.findall(r"https://x\.example/\d+", side)) == 4
        assert side.count(" | ") >= 4


def test_a_plot_is_written_where_matplotlib_is_there(page):
    text, plot = page
    if importlib.util.find_spec("matplotlib"):
        assert plot.read_bytes().startswith(b"\x89PNG")
    else:
        assert "matplotlib is not there" in text


def test_a_folder_without_a_store_is_told_in_a_sentence(tmp_path):
    done = run(tmp_path)
    assert done.returncode != 0
    assert f"nothing is published under {tmp_path}: run the pipeline on a sample first" in done.stderr


def test_a_store_without_candidates_is_shown_too(tmp_path):
    alone = [main_text(article("en", Dice("alone", number), 200)) for number in range(3)]
    publish_texts(tmp_path, alone, SCHEME, near={})
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "at or above the threshold: near duplicates (pairs: 0)" in done.stdout
