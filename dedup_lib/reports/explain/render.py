"""An explanation as text to read in a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dedup_lib.evaluation.text_table import text_table
from dedup_lib.reports.explain.passages import shorten

SHOWN = 10  # captures, records, aliases
SHOWN_PASSAGES, PASSAGE_CHARS = 12, 160
_FATES = {
    "kept": "kept",
    "url": "removed: another capture is the document of its page",
    "exact": "removed: exact duplicate",
    "near": "removed: near duplicate",
    None: "not decided yet",
}
# Control characters, and those that turn the direction of what follows.
_OBEYED = dict.fromkeys(
    {*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)} - {ord("\n")}, "\ufffd"
)
Told = Mapping[str, Any]


def render_explanation(told: Told) -> str:
    """What `explain` told, without a final newline."""
    return printable("\n".join(_lines(told)))


def printable(text: str) -> str:
    """The text with a mark for each character that a terminal would obey, but for the ends of lines.

    >>> printable("a\\x1b[31m")
    'a\ufffd[31m'
    """
    return text.translate(_OBEYED)


def _lines(told: Told) -> Iterator[str]:
    captures = told["captures"]
    if len(captures) > 1:
        yield f"{len(captures)} captures; the one explained is named below, others by --snapshot or their doc_id"
        rows = [
            [one["doc_id"], one["snapshot"], one["fetched_at"] or one["crawl_date"], one["url"]] for one in captures
        ]
        yield from _listed(rows, 4)
        yield ""
    if "explained" in told:
        yield from _document(told["explained"])
    else:
        yield "no document was made of it"
    yield from _records(told)
    for comparison in told.get("comparisons", ()):
        yield from _comparison("beside", comparison)
    if "other" in told:
        yield from ("", "the other")
        yield from _document(told["other"])
    if "pair" in told:
        yield from _pair(told["pair"])


def _document(one: Told) -> Iterator[str]:
    yield one["url"]
    facts = [
        ("doc_id", one["doc_id"]),
        ("record_id", one["record_id"]),
        ("snapshot", f"{one['source']} / {one['snapshot']}"),
        ("captured", one["fetched_at"] or one["crawl_date"]),
        ("canonical", one["canonical_url"]),
        ("title", one["title"] and shorten(one["title"], 80)),
        ("text", f"{one['text_chars']:,} characters, {one['language']}{', truncated' if one['truncated'] else ''}"),
        ("record", f"{one['archive']} at {one['archive_offset']}"),
    ]
    yield text_table((), [(name, str(fact)) for name, fact in facts if fact], left=2)
    yield _FATES.get(one["fate"], f"removed: {one['fate']}")
    yield from (f"  {because}" for because in one["because"])
    steps = one["steps"]
    for number, step in enumerate(steps[1:], 1):
        name = "stands for it" if number == len(steps) - 1 else "lost to"
        similarity = steps[number - 1]["similarity"]
        detail = "" if similarity is None else f", similarity {similarity:.4f}"
        yield f"  {name} ({steps[number - 1]['reason']}{detail}): {step['doc_id']}  {step['url']}"
    if one["aliases"]:
        yield f"others in its cluster of {one['cluster_size']:,} captures"
        yield from _listed([[row["doc_id"], row["reason"], row["url"]] for row in one["aliases"]], 3)
    if across := one["across_snapshots"]:
        yield "across snapshots"
        yield from (f"  {because}" for because in across["because"])
        yield from (f"note: {note}" for note in across["notes"])
    yield from (f"note: {note}" for note in one["notes"])


def _records(told: Told) -> Iterator[str]:
    if fetches := told["fetches"]:
        yield "fetches that are no document"
        rows = [
            [one["snapshot"], one["kind"], str(one["http_status"] or ""), _place(one), one["url"] or "", _target(one)]
            for one in fetches
        ]
        yield from _listed(rows, 6)
    if rejects := told["rejects"]:
        yield "rejects"
        yield from _listed(
            [[one["snapshot"], one["reason"], _place(one), one["url"] or "", one["detail"] or ""] for one in rejects], 5
        )


def _target(one: Told) -> str:
    target = one["target"] or one["refers_to"]
    return f"-> {target}" if target else ""


def _place(one: Told) -> str:
    return f"{one['archive']} at {one['archive_offset']}"


def _listed(rows: Sequence[Sequence[str]], left: int) -> Iterator[str]:
    yield text_table((), [list(map(str, row)) for row in rows[:SHOWN]], left=left)
    if len(rows) > SHOWN:
        yield f"  and {len(rows) - SHOWN} more"


def _comparison(title: str, one: Told) -> Iterator[str]:
    yield ""
    yield f"{title} {one['right']['doc_id']}  {one['right']['url']}"
    yield text_table((), list(_measures(one)), left=2)
    yield from _passages(one)


def _measures(one: Told) -> Iterator[tuple[str, str]]:
    yield "exact similarity", f"{one['exact']:.4f}" + (", the same content" if one["same_content"] else "")
    if one["estimated"] is None:
        yield "estimated", "not at all: a text has fewer words than a shingle"
        return
    computed = [side for side in ("left", "right") if not one[side]["signature_stored"]]
    anew = " (not from the store: a signature is kept of the document of a page only)" if computed else ""
    yield "estimated", f"{one['estimated']:.4f}, standard error {one['standard_error']:.4f}{anew}"
    met, bands = one["bands_met"], one["bands"]
    numbers = f": {', '.join(map(str, met[:40]))}" if 0 < len(met) < bands else ""
    yield "bands met", f"{len(met)} of {bands}{numbers}"
    yield "chance to meet", f"{one['chance_to_meet']:.6f}, at the exact similarity"


def _passages(one: Told) -> Iterator[str]:
    yield (
        f"  {one['shared_chars']:,} characters are shared; {one['left_chars']:,} differ here (-), "
        f"{one['right_chars']:,} there (+)"
    )
    for passage in one["passages"][:SHOWN_PASSAGES]:
        for mark, side in (("=", "shared"), ("-", "left"), ("+", "right")):
            if passage.get(side, "").strip():
                yield f"  {mark} {shorten(' '.join(passage[side].split()), PASSAGE_CHARS)}"
    if one["count"] > SHOWN_PASSAGES:
        yield f"  and {one['count'] - SHOWN_PASSAGES} more passages"
    if any(one["not_compared_chars"]):
        here, there = one["not_compared_chars"]
        yield f"  {here:,} further characters here and {there:,} there were not compared"


def _pair(pair: Told) -> Iterator[str]:
    yield ""
    yield f"{'merged' if pair['verdict'] in ('merged', 'merged_across') else 'not merged'}: {pair['meaning']}"
    yield from (f"  {because}" for because in pair["because"])
    if "exact" in pair:
        yield from _comparison("the first beside", pair)
    if pair.get("contents"):
        yield from _comparison(f"in the bands {pair['contents']['left']['doc_id']} beside", pair["contents"])
