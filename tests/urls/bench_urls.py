"""How fast URLs get their identities, beside what the parser alone and w3lib take. CPU time, best of five rounds.

    python tests/urls/bench_urls.py [FILE]

FILE holds URLs of a crawl: Parquet with a column `url`, a WARC (the WARC-Target-URI of its responses), or text, one URL
per line; a folder stands for all WARCs below it. Without FILE four columns are made, the same each time: URLs that are
canonical already, as most of a crawl are; a mixed column; one where all is in the query, each site with a few lists of
parameters of its own; and the worst of it, where hardly two URLs have the same parameters in the same order. The
methods take turns, so that a busy machine is busy for all of them. w3lib is only measured if it is there: pip install
w3lib
"""

import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import ada_url
import pyarrow as pa
import pyarrow.parquet as pq
from fastwarc.warc import ArchiveIterator, WarcRecordType

from dedup_lib.evaluation.text_table import text_table
from dedup_lib.urls import default_rules_path, identify_column, load_rules
from dedup_lib.urls.parser import PARSER, decode

try:
    from w3lib.url import canonicalize_url
except ImportError:
    canonicalize_url = None

ROWS, ROUNDS = 50_000, 5
Method = Callable[[list[str], pa.Array], object]

WORDS = (*("news", "article", "page", "archive", "world", "review", "guide", "product", "health", "travel"), "index")
ENDINGS = ("", "", "", ".html", ".php", "/")
TRACKERS = ("utm_source=feed&utm_medium=rss", "fbclid=IwAR{0:x}", "gclid=Cj0{0:x}", "utm_campaign=c{0}", "mc_cid={0:x}")
ESCAPES = ("%7Euser", "caf%c3%a9", "café", "a%20b", "50%", "[x]", "%e6%97%a5%e6%9c%ac")
NAMES = ("id", "page", "sort", "q", "cat", "lang", "view", "color", "size", "brand", "min", "max", "from", "to", "ref")


def canonical_column(rows: int, seed: int = 1) -> list[str]:
    """URLs as a crawl of clean sites has them: their own identities, one in five with a parameter."""
    dice = random.Random(seed)
    return [_plain(dice) + (f"?id={dice.randrange(10**6)}" if dice.random() < 0.2 else "") for _ in range(rows)]


def mixed_column(rows: int, seed: int = 2) -> list[str]:
    """A crawl column with its nuisances: two thirds clean, the rest with one thing or another to mend."""
    dice = random.Random(seed)
    return [_plain(dice) if dice.random() < 0.65 else _nuisance(dice) for _ in range(rows)]


def query_column(rows: int, seed: int = 3) -> list[str]:
    """Shop and forum URLs: two to seven parameters, in one of five lists that a site uses, some with a tracker."""
    dice = random.Random(seed)
    urls = [_plain(dice).rstrip("/") for _ in range(rows)]
    lists = (_names(random.Random(f"{url.split('/')[2]} {dice.randrange(5)}")) for url in urls)
    return [f"{url}?{'&'.join(_parameters(dice, names))}" for url, names in zip(urls, lists, strict=True)]


def any_order_column(rows: int, seed: int = 4) -> list[str]:
    """The same with the parameters of each URL drawn anew."""
    dice = random.Random(seed)
    return [f"{_plain(dice).rstrip('/')}?{'&'.join(_parameters(dice, _names(dice)))}" for _ in range(rows)]


def _plain(dice: random.Random) -> str:
    host = f"{dice.choice(('www.', '', 'blog.', 'shop.'))}site{int(dice.paretovariate(0.6)) % 5000}.example"
    slug = "-".join(dice.choices(WORDS, k=dice.randint(2, 5)))
    folders = "".join(f"{dice.choice(WORDS)}/" for _ in range(dice.randrange(3)))
    return f"http{dice.choice(('', 's', 's'))}://{host}/{folders}{dice.randrange(10**5)}/{slug}{dice.choice(ENDINGS)}"


def _nuisance(dice: random.Random) -> str:
    url, number = _plain(dice), dice.getrandbits(32)
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    return dice.choice(
        (
            f"{url}?{dice.choice(TRACKERS).format(number)}",
            f"{url}?id={number}&{dice.choice(TRACKERS).format(number)}",
            f"{url}?{'&'.join(_parameters(dice, _names(dice)))}",
            f"{url}?PHPSESSID={dice.getrandbits(128):032x}",
            f"{url.rstrip('/')};jsessionid={dice.getrandbits(128):032X}",
            f"{url}#section-{number % 9}",
            f"{scheme}://{host.upper()}/{path}",
            f"{scheme}://{host}:{443 if scheme == 'https' else 80}/{path}",
            f"{scheme}://{host}/{dice.choice(ESCAPES)}/{path}",
            f"{scheme}://{host}/x/../{path}",
        )
    )


def _names(dice: random.Random) -> list[str]:
    return dice.sample(NAMES, dice.randint(2, 7))


def _parameters(dice: random.Random, names: list[str]) -> list[str]:
    pieces = [f"{name}={dice.randrange(1000)}" for name in names]
    if dice.random() < 0.3:
        pieces.append(dice.choice(TRACKERS).format(dice.getrandbits(32)))
    if dice.random() < 0.1:
        pieces.append(f"sid={dice.getrandbits(128):032x}")
    return pieces


def columns_of(path: Path) -> dict[str, list[str]]:
    """The URLs of a file under its name."""
    urls = list(_urls_of(path))
    return {f"{path.name} ({len(urls):,} URLs)": urls}


def _urls_of(path: Path) -> Iterator[str]:
    if path.is_dir():
        for inner in sorted(path.rglob("*.warc.gz")):
            yield from _urls_of(inner)
    elif path.suffix == ".parquet":
        yield from pq.read_table(path, columns=["url"])["url"].drop_null().to_pylist()
    elif ".warc" in path.name:
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, WarcRecordType.response, parse_http=False):
                yield record.headers["WARC-Target-URI"].strip("<>")
    else:
        yield from map(decode, path.read_bytes().splitlines())


def methods() -> dict[str, Method]:
    """What is measured, by name."""
    rules = load_rules([default_rules_path()])

    found: dict[str, Method] = {
        "identify_column, all rules": lambda _, column: identify_column(column, rules),
        "ada_url.check_url": _by_row(ada_url.check_url),  # parses and says whether it could
        "ada_url.normalize_url": _by_row(ada_url.normalize_url),
    }
    return found | ({"w3lib.canonicalize_url": _by_row(canonicalize_url)} if canonicalize_url else {})


def _by_row(function: Callable[[str], object]) -> Method:
    def each(urls: list[str], _: pa.Array) -> None:
        for url in urls:
            try:
                function(url)
            except ValueError:
                continue

    return each


def speeds(urls: list[str], measured: dict[str, Method]) -> dict[str, float]:
    """URLs per second of CPU time by method: the best of five rounds, in each of which all methods have a turn."""
    column = pa.array(urls, pa.string())
    best = dict.fromkeys(measured, float("inf"))
    for _ in range(ROUNDS):
        for name, method in measured.items():
            started = time.process_time()
            method(urls, column)
            best[name] = min(best[name], time.process_time() - started)
    return {name: len(urls) / seconds for name, seconds in best.items()}


def main() -> None:
    """Writes a table: URLs per second and core, by column and method."""
    made = {
        "canonical": canonical_column(ROWS),
        "mixed": mixed_column(ROWS),
        "query-heavy": query_column(ROWS),
        "query in any order": any_order_column(ROWS),
    }
    columns = columns_of(Path(sys.argv[1])) if len(sys.argv) > 1 else made
    measured = methods()
    rows = [[name, *(f"{speed:,.0f}" for speed in speeds(urls, measured).values())] for name, urls in columns.items()]
    missing = "" if canonicalize_url else "\nw3lib is not there: pip install w3lib"
    sys.stdout.write(text_table([f"URLs/s and core, {PARSER}", *measured], rows) + missing + "\n")


if __name__ == "__main__":
    main()
