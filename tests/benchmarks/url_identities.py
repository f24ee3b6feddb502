"""How fast URLs get their identities, beside the parser alone and w3lib: `urls.bench_urls` as one line of JSON.

    cd tests && python -m benchmarks.url_identities [FILE] [--rows N]

URLs per second of CPU time by column and method; what FILE may be, and what the columns are, is said there.
"""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from urls import bench_urls


def measure(columns: Mapping[str, list[str]]) -> dict[str, Any]:
    """Speeds by column and method."""
    methods = bench_urls.methods()
    found = {
        name: {method: round(speed) for method, speed in bench_urls.speeds(urls, methods).items()}
        for name, urls in columns.items()
    }
    return {"benchmark": "url_identities", "urls_per_cpu_second": found}


def made_columns(rows: int) -> dict[str, list[str]]:
    """The four columns that are made."""
    return {
        "canonical": bench_urls.canonical_column(rows),
        "mixed": bench_urls.mixed_column(rows),
        "query-heavy": bench_urls.query_column(rows),
        "query in any order": bench_urls.any_order_column(rows),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the line."""
    parser = ArgumentParser(description="Gives URLs their identities, and lets the parser and w3lib do their part.")
    parser.add_argument("file", nargs="?", type=Path, help="URLs of a crawl; without it four columns are made")
    parser.add_argument("--rows", type=int, default=bench_urls.ROWS, help="of each column that is made")
    options = parser.parse_args(arguments)
    columns = bench_urls.columns_of(options.file) if options.file else made_columns(options.rows)
    sys.stdout.write(json.dumps(measure(columns)) + "\n")


if __name__ == "__main__":
    main()
