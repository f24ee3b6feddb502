"""Captures: each page of a snapshot with its fetch time, its record id and its standing in the truth."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from dedup_lib.sample.dice import Dice
from dedup_lib.sample.pages import Page
from dedup_lib.sample.plan import Appearance, appearances
from dedup_lib.sample.prose import Text, main_text
from dedup_lib.sample.similarity import jaccard

SOURCE = "sample"
SNAPSHOTS = ("snapshot-a", "snapshot-b")
STARTS = {"snapshot-a": datetime(2025, 3, 10, tzinfo=UTC), "snapshot-b": datetime(2025, 9, 15, tzinfo=UTC)}
SECONDS_BETWEEN_FETCHES = 41  # a snapshot takes about a day

# Within one snapshot these are the same document as their family's original: same text or same URL.
MERGING_RELATIONS = ("url_variant", "mirror", "other_html", "recapture_same", "recapture_changed")
WITHOUT_FAMILY = ("redirect", "error", "image", "pdf", "json")


@dataclass(frozen=True)
class Capture:
    """One fetch of a page. `jaccard` compares with the text of the capture `original_record_id`.

    `must_merge`: it is the same document as its family's original, and both are in this snapshot.
    """

    snapshot: str
    page: Page
    record_id: str
    fetched_at: datetime
    recurrence: str
    family: int | None = None
    relation: str | None = None
    jaccard: float | None = None
    original_record_id: str | None = None
    original_fetched_at: datetime | None = None
    must_merge: bool = False


@dataclass(frozen=True)
class _Fetch:
    """An appearance that got its place in the order of a snapshot."""

    snapshot: str
    appearance: Appearance
    record_id: str
    fetched_at: datetime

    @property
    def leads(self) -> bool:
        """Whether this is the family's original page, first capture: what the others are compared with."""
        page, original = self.appearance.page, self.appearance.family.original
        return page.url == original.url and not page.again


def captures() -> dict[str, list[Capture]]:
    """The captures of each snapshot, in the order of their fetch times."""
    fetches = {snapshot: _fetch(snapshot, found) for snapshot, found in zip(SNAPSHOTS, appearances(), strict=True)}
    originals: dict[tuple[str, int], _Fetch] = {}
    for snapshot in SNAPSHOTS:
        originals.update(
            {(snapshot, fetch.appearance.family.number): fetch for fetch in fetches[snapshot] if fetch.leads}
        )
    return {
        snapshot: [_judge(fetch, _original_for(fetch, originals)) for fetch in fetches[snapshot]]
        for snapshot in SNAPSHOTS
    }


def record_id(*names: object) -> str:
    """A WARC-Record-ID made from names, in angle brackets as the header has it."""
    return f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, '|'.join(str(name) for name in names))}>"


def _fetch(snapshot: str, found: Sequence[Appearance]) -> list[_Fetch]:
    """Gives every appearance a time: in random order, but second captures of a URL after all first ones."""
    shuffled = Dice("order", snapshot).shuffled(found)
    ordered = sorted(shuffled, key=lambda appearance: appearance.page.again)
    return [
        _Fetch(
            snapshot,
            appearance,
            record_id(snapshot, "response", appearance.page.url, appearance.page.again),
            STARTS[snapshot] + timedelta(seconds=SECONDS_BETWEEN_FETCHES * place),
        )
        for place, appearance in enumerate(ordered)
    ]


def _original_for(fetch: _Fetch, originals: dict[tuple[str, int], _Fetch]) -> _Fetch | None:
    """The capture to compare with: the original's in the same snapshot, else in the first; None for itself."""
    family = fetch.appearance.family.number
    if fetch.leads:
        earlier = originals.get((SNAPSHOTS[0], family))
        return earlier if fetch.snapshot != SNAPSHOTS[0] else None
    return originals.get((fetch.snapshot, family)) or originals[(SNAPSHOTS[0], family)]


def _judge(fetch: _Fetch, original: _Fetch | None) -> Capture:
    """The capture with its relation to the original."""
    page, recurrence = fetch.appearance.page, fetch.appearance.recurrence
    bare = Capture(fetch.snapshot, page, fetch.record_id, fetch.fetched_at, recurrence)
    if page.kind in WITHOUT_FAMILY:
        return bare
    relation = page.relation
    if original is not None and fetch.leads and relation not in {"pk_conflict", "short"}:
        relation = "recrawl_changed" if recurrence == "changed" else "recrawl_same"
    found = replace(bare, family=fetch.appearance.family.number, relation=relation)
    if original is None:
        return found
    return replace(
        found,
        jaccard=_similarity(page.text, original.appearance.page.text),
        original_record_id=original.record_id,
        original_fetched_at=original.fetched_at,
        must_merge=relation in MERGING_RELATIONS and original.snapshot == fetch.snapshot,
    )


def _similarity(text: Text | None, original: Text | None) -> float | None:
    if text is None or original is None:
        return None
    return 1.0 if text == original else jaccard(main_text(text), main_text(original))
