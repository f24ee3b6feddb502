"""`crawl-dedup tune`: what it proposes and prints, and what it refuses."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from dedup_lib.cli.main import main
from dedup_lib.cli.tune import Tuning
from dedup_lib.config import load_settings
from dedup_lib.evaluation.tuning import list_bandings, propose
from dedup_lib.evaluation.tuning_sample import Load, measure
from dedup_lib.signatures import Scheme
from tests.evaluation.signed_store import publish_signatures
from tests.signatures.reference import random_words


@pytest.fixture
def call(capsys):
    def run(*arguments: object) -> tuple[int, str, str]:
        code = main(["tune", *(str(argument) for argument in arguments)])
        return code, *capsys.readouterr()

    return run


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    random = np.random.default_rng(3)
    start = random_words(random, 100)
    texts = [" ".join(start + random_words(random, 5)) for _ in range(6)]
    return publish_signatures(tmp_path_factory.mktemp("store"), texts, Scheme())


def test_the_proposal_can_be_taken_as_it_is_printed(call):
    code, out, err = call("--threshold", 0.9, "--recall", 0.99)
    assert (code, err) == (0, "")
    overrides = re.findall(r"--set (\S+)", out.splitlines()[0])
    settings = load_settings(None, overrides)
    assert settings.cluster.threshold == 0.9
    assert 1 - (1 - 0.9**settings.sign.rows) ** settings.sign.bands >= 0.99


def test_the_table_has_every_number_of_rows_and_the_s_curve(call):
    _, out, _ = call("--threshold", 0.8)
    # ln 0.05 / ln(1 - 0.8^9) = 20.8; 378 + 168 + 28 bytes; 1 - (1 - 0.5^9)^21 = 0.0402
    assert re.search(r"^  9 \*\s+21\s+189\s+95\.15 %\s+0\.71\s+16\.0 %\s+574$", out, re.MULTILINE)
    assert re.search(r"^  1\s+2\s+2\s+96\.00 %", out, re.MULTILINE)
    assert re.search(r"^  0\.5\s+4\.022 %$", out, re.MULTILINE)
    assert re.search(r"^  0\.8\s+95\.15 %$", out, re.MULTILINE)
    assert max(map(len, out.splitlines())) <= 120


def test_a_store_is_measured(call, root):
    code, out, err = call("--threshold", 0.8, "--sample", root)
    assert (code, err) == (0, "")
    assert "Measured on all 6 different texts of 1 snapshot, signed by" in out
    assert str(Scheme()) in out
    # 101 shingles each, of which 96 are in all: Jaccard 96 / 106 = 0.906, within 4 standard errors 0.83 to 0.98
    assert "candidate pairs in the whole store: 15, 2.5 per text" in out
    assert "of them below the threshold: 0, 0 per text" in out
    assert max(map(len, out.splitlines())) <= 120


def test_a_store_of_too_few_permutations_is_said_to_be_one(call, root):
    _, out, _ = call("--threshold", 0.8, "--permutations", 512, "--sample", root)
    # ln 0.05 / ln(1 - 0.8^11) = 33.4, and 12 rows would take 43 bands: 516
    assert out.startswith("34 bands of 11 rows")
    assert "the store has fewer than 374 permutations" in out
    assert re.search(r"^  0\.90 to 0\.95 .* -  +-  ", out, re.MULTILINE)


def test_the_json_is_one_line_with_all_of_it(call, root):
    code, out, _ = call("--threshold", 0.8, "--sample", root, "--json")
    assert code == 0
    (line,) = out.splitlines()
    found = json.loads(line)
    assert (found["proposed"]["bands"], found["proposed"]["rows"]) == (21, 9)
    assert found["measured"]["load"] == {"pairs": 15.0, "error": 0.0}
    assert sum(level["pairs"] for level in found["measured"]["levels"]) == 15
    assert {one["similarity"]: one["recall"] for one in found["s_curve"]}[0.8] == found["proposed"]["recall"]


def test_without_a_sample_the_json_says_so(call):
    assert json.loads(call("--threshold", 0.7, "--json")[1])["measured"] is None


@pytest.mark.parametrize(
    ("code", "arguments", "sentence"),
    [
        (2, [], "missing option '--threshold'"),
        (2, ["--threshold", 1.2], "--threshold is 1.2: a threshold of near duplicates is above 0 and below 1"),
        (2, ["--threshold", "high"], "valid"),
        (2, ["--threshold", 0.8, "--recall", 1], "--recall is 1: it must be above 0 and below 1"),
        (2, ["--threshold", 0.01], "give more --permutations, raise --threshold or lower --recall"),
        (3, ["--threshold", 0.8, "--sample", "/nowhere/at/all"], "no signatures are published under /nowhere/at/all"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(call, code, arguments, sentence):
    found, out, err = call(*arguments)
    assert (found, out) == (code, "")
    assert re.fullmatch(r"crawl-dedup: [^\n]+\n", err)
    assert sentence.lower() in err.lower()


def test_a_sample_of_a_part_gives_errors_and_says_what_not_seen_means(root):
    bandings = list_bandings(0.8, 0.95)
    proposed = propose(bandings, 0.8)
    measured = replace(measure(root, proposed, 0.8), rate=0.1, load=Load(1500.0, 300.0), load_below=Load(0.0, 0.0))
    text = Tuning(0.8, 0.95, 256, 16, tuple(bandings), proposed, measured).render()
    assert "Measured on 6 of 60 different texts" in text
    assert "in the whole store: 1,500 (standard error 300), 25 per text" in text
    assert "below the threshold: none in the sample, so likely fewer than 300" in text  # 3 / 0.1^2
