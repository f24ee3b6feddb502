"""What a shingle costs as documents grow: the same words as many short texts and as few long ones. One line of JSON.

    cd tests && python -m benchmarks.signature_growth [--words N] [--rounds N]

Nanoseconds of CPU time per shingle by words per document, 256 permutations. A document costs something itself (its
minima, its SimHash, its 32 keys), which the shortest show: `microseconds_per_document`, from the shortest and the
longest. `largest_over_smallest` is that of the shingles beyond it: 1 where the cost is flat.
"""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from benchmarks.texts import long_text
from benchmarks.timing import best_cpu_seconds
from dedup_lib.signatures import Scheme, sign_texts

SCHEME = Scheme()
SHORTEST = 100


def measure(words: int, rounds: int) -> dict[str, Any]:
    """Nanoseconds per shingle for texts of 100 words and ten times more each, up to one text of all the words."""
    found = long_text(words, seed=1).split(" ")
    lengths = [length for power in range(2, 12) if SHORTEST <= (length := 10**power) <= words]
    columns = {
        length: pa.array([" ".join(found[start : start + length]) for start in range(0, words, length)])
        for length in lengths
    }
    seconds = best_cpu_seconds({n: partial(sign_texts, column, SCHEME) for n, column in columns.items()}, rounds)
    shingles = {n: int(sign_texts(column, SCHEME).shingles.sum()) for n, column in columns.items()}
    per_document, beyond = split_cost({n: (len(columns[n]), shingles[n], seconds[n]) for n in lengths})
    return {
        "benchmark": "signature_growth",
        "words": words,
        "nanoseconds_per_shingle": {str(n): round(seconds[n] * 1e9 / shingles[n], 1) for n in lengths},
        "microseconds_per_document": round(per_document * 1e6, 2),
        "largest_over_smallest": round(max(beyond.values()) / min(beyond.values()), 3),
    }


def split_cost(measured: dict[int, tuple[int, int, float]]) -> tuple[float, dict[int, float]]:
    """Seconds per document, and per shingle beyond that, of (documents, shingles, seconds) by words per document.

    The former from the shortest and the longest documents, as the two unknowns of two equations.
    """
    (many, windows, spent), (few, long_windows, long_spent) = measured[min(measured)], measured[max(measured)]
    per_document = (spent * long_windows - long_spent * windows) / (many * long_windows - few * windows)
    return per_document, {n: (spent - count * per_document) / wins for n, (count, wins, spent) in measured.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the line."""
    parser = ArgumentParser(description="Signs the same words as short texts and as long ones.")
    parser.add_argument("--words", type=int, default=1_000_000, help="words in all, and in the longest text")
    parser.add_argument("--rounds", type=int, default=5, help="the best of so many is told")
    options = parser.parse_args(arguments)
    sys.stdout.write(json.dumps(measure(options.words, options.rounds)) + "\n")


if __name__ == "__main__":
    main()
