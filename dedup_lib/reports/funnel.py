"""The funnel of a snapshot: what came in, what each step left, and where the rest went."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dedup_lib.evaluation.text_table import text_table
from dedup_lib.reports.quantities import ABSENT, bytes_text, count_text, share_text

Counts = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Step:
    """One line: the count `key` of a stage under a label, in percent of another count ("stage.key").

    `parts` is the key of a mapping that splits the count, by kind or reason; its lines are in percent of this one.
    """

    key: str
    label: str
    of: str = ""
    parts: str = ""
    depth: int = 1


FUNNEL: Mapping[str, tuple[Step, ...]] = {
    "extract": (
        Step("inputs", "input files", parts="verdicts"),
        Step("bytes", "size"),
        Step("records", "records", parts="records_by_type"),
        Step("skipped", "hold no page", "extract.records"),
        Step("page_records", "page records", "extract.records"),
        Step("documents", "documents", "extract.page_records", depth=2),
        Step("repeated", "read before", "extract.page_records", depth=2),
        Step("fetches", "fetches", "extract.page_records", "fetches_by_kind", depth=2),
        Step("rejects", "rejects", "extract.page_records", depth=2),
        Step("faults", "faults that are no record"),
        Step("rejected", "rejects and faults", parts="rejects_by_reason"),
    ),
    "resolve": (
        Step("captures", "captures", "extract.documents"),
        Step("url_duplicates", "duplicates by URL", "resolve.captures", depth=2),
        Step("pages", "pages", "resolve.captures", depth=2),
        Step("conflicts", "URL rules undone", "resolve.captures", "conflicts_by_rule", depth=2),
    ),
    "sign": (
        Step("signatures", "signatures", "resolve.pages"),
        Step("short", "short: exact lane only", "sign.signatures", depth=2),
    ),
    "cluster": (
        Step("captures", "captures", "extract.documents"),
        Step("kept", "kept", "cluster.captures", depth=2),
        Step("url", "duplicates by URL", "cluster.captures", depth=2),
        Step("exact", "exact duplicates", "cluster.captures", depth=2),
        Step("near", "near duplicates", "cluster.captures", depth=2),
        Step("largest_cluster", "largest cluster"),
        Step("candidate_pairs", "candidate pairs"),
        Step("edges", "similar pairs", "cluster.candidate_pairs", depth=2),
        Step("compared_exactly", "told by their texts", "cluster.edges", depth=3),
        Step("passes", "passes"),
        Step("checked", "near duplicates checked", "cluster.near"),
        Step("lowest_checked", "lowest similarity"),
    ),
}

# (stage, count) == sum of (stage, count): principle 2 of the design, nothing is removed silently.
CLOSES = (
    ("extract.records", ("extract.page_records", "extract.skipped")),
    ("extract.page_records", ("extract.documents", "extract.repeated", "extract.fetches", "extract.rejects")),
    ("resolve.captures", ("extract.documents",)),
    ("resolve.captures", ("resolve.pages", "resolve.url_duplicates")),
    ("sign.signatures", ("resolve.pages",)),
    ("cluster.captures", ("cluster.kept", "cluster.url", "cluster.exact", "cluster.near")),
    ("cluster.captures", ("resolve.captures",)),
)


def render_funnel(snapshot: str, counts: Counts, seconds: Mapping[str, float]) -> str:
    """The funnel as an aligned table: each step's count, its share of the step it is part of, seconds per stage.

    `counts` are the counts of each stage, `seconds` how long each took. What is missing is shown as absent; counts that
    no line asks for are not shown. Ends in a newline.
    """
    lines = [line for stage in FUNNEL for line in _stage(stage, counts, seconds)]
    return f"{snapshot}\n" + text_table(["", "count", "share", "seconds"], lines) + "\n"


def funnel_closes(counts: Counts) -> list[str]:
    """A sentence for each sum that does not close; empty when all do. Sums with absent counts are not judged."""
    failures = []
    for whole, parts in CLOSES:
        found, values = _value(counts, whole), [_value(counts, part) for part in parts]
        if found is None or None in values:
            continue
        total = sum(value for value in values if value is not None)
        if found != total:
            names = " + ".join(parts)
            failures.append(f"{whole} is {count_text(found)}, but {names} is {count_text(total)}")
    return failures


def _stage(stage: str, counts: Counts, seconds: Mapping[str, float]) -> Iterator[list[str]]:
    took = f"{seconds[stage]:,.1f}" if stage in seconds else ""
    if stage not in counts:
        yield [stage, ABSENT, "", took]
        return
    yield [stage, "", "", took]
    for step in FUNNEL[stage]:
        value = counts[stage].get(step.key, ABSENT)
        text = bytes_text(value) if step.key == "bytes" and isinstance(value, int) else count_text(value)
        yield ["  " * step.depth + step.label, text, share_text(value, _value(counts, step.of))]
        if step.parts:
            yield from _parts(counts[stage].get(step.parts), value, step.depth + 1)


def _parts(parts: object, whole: object, depth: int) -> Iterator[list[str]]:
    """The parts of a count, the largest first; equal ones by name."""
    if not isinstance(parts, Mapping):
        yield ["  " * depth + "by kind", ABSENT]
        return
    for name, count in sorted(parts.items(), key=lambda part: (-part[1], part[0])):
        yield ["  " * depth + str(name), count_text(count), share_text(count, whole)]


def _value(counts: Counts, name: str) -> int | None:
    stage, _, key = name.partition(".")
    value = counts.get(stage, {}).get(key)
    return value if isinstance(value, int) else None
