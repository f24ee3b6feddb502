"""How fast texts are signed, beside datasketch 2 and plain NumPy, with 112 and 256 permutations. One line of JSON.

    cd tests && python -m benchmarks.signature_kernel [FILE.parquet] [--documents N] [--languages en,zh] [--rounds N]

Documents, characters and shingles per second of CPU time; the best of the rounds, in which the methods take turns. The
product makes SimHash and band keys besides, the others MinHash alone.
"""

import json
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from benchmarks.peers import datasketch_minima, numpy_minima
from benchmarks.texts import read_options, texts_of
from benchmarks.timing import best_cpu_seconds
from dedup_lib.signatures import Scheme, sign_texts

SCHEMES = {112: Scheme(bands=14, rows=8), 256: Scheme(bands=32, rows=8)}


def measure(texts: list[str], rounds: int) -> dict[str, Any]:
    """Speeds by permutations and method, and how often the product is as fast as each peer."""
    column = pa.array(texts, pa.string())
    amounts = {
        "documents": len(texts),
        "characters": sum(map(len, texts)),
        "shingles": int(sign_texts(column, SCHEMES[112]).shingles.sum()),
    }
    methods = {
        (permutations, name): partial(method, data, scheme)
        for permutations, scheme in SCHEMES.items()
        for name, method, data in (
            ("kernel", sign_texts, column),
            ("datasketch", datasketch_minima, texts),
            ("numpy", numpy_minima, texts),
        )
    }
    seconds = best_cpu_seconds(methods, rounds)
    found = {}
    for permutations in SCHEMES:
        of = {name: spent for (width, name), spent in seconds.items() if width == permutations}
        found[str(permutations)] = {
            "per_cpu_second": {
                name: {what: round(amount / spent) for what, amount in amounts.items()} for name, spent in of.items()
            },
            "times_as_fast_as": {name: round(of[name] / of["kernel"], 1) for name in of if name != "kernel"},
        }
    return {"benchmark": "signature_kernel", **amounts, "permutations": found}


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the line."""
    options = read_options("Signs texts, and lets datasketch and NumPy do it.", arguments)
    sys.stdout.write(json.dumps(measure(texts_of(options), options.rounds)) + "\n")


if __name__ == "__main__":
    main()
