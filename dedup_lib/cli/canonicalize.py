"""`crawl-dedup canonicalize`: what URLs are called under the rules, and which rules made it so. Needs no Spark."""

import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from dedup_lib.cli.context import Request, rules_of
from dedup_lib.config import load_settings
from dedup_lib.errors import UsageError
from dedup_lib.evaluation.text_table import text_table
from dedup_lib.urls import Fired, UrlIdentity, UrlRules, explain, identify, identify_column
from dedup_lib.urls.parser import decode

BATCH_BYTES = 1 << 20  # of lines that are identified as one column
REASONS = {
    "encoding": "it is not Unicode",
    "length": "it is longer than 65,536 characters, or than 8,192 bytes once canonical",
    "parse": "it is not an absolute URL",
    "scheme": "it is neither http nor https",
    "host": "DNS cannot know its host: a label is empty or over 63 characters, or the name is over 253",
}
Named = tuple[bytes, UrlIdentity]


def canonicalize_command(
    urls: Sequence[str],
    config: Path | None,
    overrides: Sequence[str],
    show: Callable[[str], None],
    *,
    why: bool,
    as_json: bool,
) -> None:
    """Shows the identity of each URL, or of each line of standard input if none is given, in the order given.

    A reader that closes the pipe, as `head` does, ends it quietly.
    """
    rules = rules_of(Request("", load_settings(config, overrides), beside=config.resolve().parent if config else None))
    batches = [[os.fsencode(url) for url in urls]] if urls else _batches_of_lines(_standard_input())
    texts = _as_json_lines if as_json else _as_blocks
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may know fewer letters than URLs have
    try:
        for batch in batches:
            show("\n".join(texts(_identified(batch, rules, why), rules, why)))
    except BrokenPipeError:
        # What is still buffered has nowhere to go, and would be complained of at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _standard_input() -> BinaryIO:
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("no URL was given: name URLs, or send them on standard input, one per line")
    return sys.stdin.buffer


def _batches_of_lines(stream: BinaryIO) -> Iterator[list[bytes]]:
    """The lines without their ends, also those of Windows; blank ones are passed over."""
    while lines := stream.readlines(BATCH_BYTES):
        stripped = (line.removesuffix(b"\n").removesuffix(b"\r") for line in lines)
        if batch := [line for line in stripped if line.strip()]:
            yield batch


def _identified(urls: Sequence[bytes], rules: UrlRules, why: bool) -> Iterator[Named]:
    """Each URL with its identity: as a column, unless they are few enough to be explained one by one."""
    if why:
        return ((url, identify(url, rules)) for url in urls)
    found = identify_column(pa.array(urls, pa.binary()), rules)
    columns = (found.url_strict, found.policy_url, found.url_key, found.refused)
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    return zip(urls, map(UrlIdentity._make, rows), strict=True)


def _as_json_lines(named: Iterable[Named], rules: UrlRules, why: bool) -> Iterator[str]:
    """One JSON object per URL."""
    for url, identity in named:
        record = {"url": decode(url), **identity._asdict(), "url_scheme": rules.scheme}
        if why:
            record["rules"] = [
                {"rule": fired.rule, "scope": fired.scope, "before": fired.before, "after": fired.after}
                for fired in explain(url, rules)
            ]
        yield json.dumps(record, ensure_ascii=sys.stdout.encoding.lower() != "utf-8")


def _as_blocks(named: Iterable[Named], rules: UrlRules, why: bool) -> Iterator[str]:
    """A few aligned lines per URL, with an empty line after them."""
    for url, identity in named:
        rows = [(name, _visible(text)) for name, text in identity._asdict().items() if name != "refused"]
        if identity.refused:
            rows.append(("refused", REASONS[identity.refused]))
        lines = [_visible(decode(url)), text_table((), rows, left=2)]
        if why:
            lines += ["  rules", text_table((), [_told(fired) for fired in explain(url, rules)], left=2, indent=4)]
        yield "\n".join(lines) + "\n"


def _told(fired: Fired) -> tuple[str, str]:
    before, after = (_visible(text) or "(nothing)" for text in (fired.before, fired.after))
    return fired.name, f"{before} -> {after}"


def _visible(text: str) -> str:
    """The text with what a terminal would obey, or not show, as escapes.

    >>> _visible("http://h.example/\\x1b[31m é")
    'http://h.example/\\\\x1b[31m é'
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
