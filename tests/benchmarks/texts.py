"""The texts that are measured: of a Parquet file, or of the sample's generator, the same each time."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dedup_lib.sample.dice import Dice
from dedup_lib.sample.lexicon import LANGUAGES
from dedup_lib.sample.prose import article, main_text


def read_options(description: str, arguments: Sequence[str] | None) -> Namespace:
    """The options of a benchmark of texts: a file or generated texts, how many, how many rounds."""
    parser = ArgumentParser(description=description)
    parser.add_argument("file", nargs="?", type=Path, help="Parquet with a column `text`; without it texts are made")
    parser.add_argument("--documents", type=int, default=1000, help="texts at most")
    parser.add_argument("--languages", default=",".join(LANGUAGES), help="of the texts that are made, in turn")
    parser.add_argument("--rounds", type=int, default=5, help="the best of so many is told")
    return parser.parse_args(arguments)


def texts_of(options: Namespace) -> list[str]:
    """The texts to measure."""
    if options.file is None:
        languages = islice(cycle(options.languages.split(",")), options.documents)
        return [main_text(article(code, Dice("benchmark", number))) for number, code in enumerate(languages)]
    batches = pq.ParquetFile(options.file).iter_batches(options.documents, columns=["text"])
    found = next(batches, pa.record_batch({"text": pa.array([], pa.string())}))
    return [str(text) for text in found["text"].drop_null().to_pylist()]


def long_text(words: int, seed: int) -> str:
    """A text of so many words of the hundred thousand that are drawn from."""
    random = np.random.default_rng(seed)
    letters = random.integers(ord("a"), ord("z") + 1, (100_000, 6), np.uint8)
    return " ".join(np.char.decode(letters.view("S6").ravel())[random.integers(0, len(letters), words)])
