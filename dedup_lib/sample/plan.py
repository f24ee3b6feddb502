"""The plan of the sample: how many families of each plant, and which pages return in the second snapshot."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dedup_lib.sample import oddities, plants
from dedup_lib.sample.dice import Dice
from dedup_lib.sample.edits import EDITS, near_copy
from dedup_lib.sample.lexicon import LANGUAGES
from dedup_lib.sample.pages import Family, Page
from dedup_lib.sample.plants import Plant

# name: (plant, families per language that start in the first snapshot, and in the second)
PER_LANGUAGE: dict[str, tuple[Plant, int, int]] = {
    "single": (plants.single, 35, 10),
    "near": (plants.near, 30, 5),
    "url_variants": (plants.url_variants, 14, 7),
    "mirror": (plants.mirror, 9, 3),
    "other_html": (plants.other_html, 9, 3),
    "templated": (plants.templated, 6, 1),
    "short": (plants.short, 6, 2),
    "empty": (plants.empty, 2, 1),
    "pk_conflict": (plants.pk_conflict, 2, 0),
    "recapture_same": (plants.recapture_same, 2, 1),
    "recapture_changed": (plants.recapture_changed, 2, 0),
    "redirect": (oddities.redirect, 4, 2),
    "error": (oddities.error, 4, 2),
    "media": (oddities.media, 3, 1),
}
# The same for plants that exist in one language only.
IN_ONE_LANGUAGE: dict[str, tuple[Plant, int, int, str]] = {
    "utf16": (oddities.utf16, 1, 0, "ja"),
    "chunked": (oddities.chunked, 2, 0, "de"),
    "truncated": (plants.truncated, 1, 1, "fr"),
    "revisited": (oddities.revisited, 2, 0, "en"),
    "cut": (oddities.cut, 0, 1, "ru"),
}
ALWAYS_BACK = ("pk_conflict", "utf16", "chunked")
NEVER_BACK = ("recapture_same", "recapture_changed", "truncated", "redirect")
UNCHANGED, CHANGED = 0.55, 0.2  # of the families with one page; the rest are gone
UNCHANGED_TOGETHER = 0.6  # of the families with several pages, which never change
JOINED = 0.15  # of the single pages get a near duplicate or a mirror in the second snapshot


@dataclass(frozen=True)
class Appearance:
    """A page in one snapshot. `recurrence` is gone or present in the first, unchanged, changed or new in the second."""

    family: Family
    page: Page
    recurrence: str


def families(snapshot: int) -> list[Family]:
    """The families that start in the snapshot (0 or 1), numbered through both."""
    made = []
    number = 100_000 * snapshot
    for language in LANGUAGES:
        for name, plant, count in _plants_of(language, snapshot):
            for index in range(count):
                dice = Dice("family", snapshot, language, name, index)
                made.append(Family(number, plant(language, dice, index), name))
                number += 1
    return made


def appearances() -> tuple[list[Appearance], list[Appearance]]:
    """What each of the two snapshots holds, family by family."""
    first: list[Appearance] = []
    second: list[Appearance] = []
    for family in families(0):
        back = list(_back(family))
        recurrence = "present" if back else "gone"
        first.extend(Appearance(family, page, recurrence) for page in family.pages)
        second.extend(back)
        second.extend(_joined(family, back))
    for family in families(1):
        second.extend(Appearance(family, page, "new") for page in family.pages)
    return first, second


def _plants_of(language: str, snapshot: int) -> Iterator[tuple[str, Plant, int]]:
    for name, (plant, *counts) in PER_LANGUAGE.items():
        yield name, plant, counts[snapshot]
    for name, (plant, count_first, count_second, only) in IN_ONE_LANGUAGE.items():
        if only == language:
            yield name, plant, (count_first, count_second)[snapshot]


def _back(family: Family) -> Iterator[Appearance]:
    """The family's pages in the second snapshot: all, one changed, or none."""
    dice = Dice("back", family.number)
    draw = dice.unit()
    if family.plant in NEVER_BACK:
        return
    original = family.original
    if family.plant == "revisited":
        yield Appearance(family, replace(original, kind="revisit", text=None, status=304), "unchanged")
    elif family.plant in ALWAYS_BACK or draw < (UNCHANGED if len(family.pages) == 1 else UNCHANGED_TOGETHER):
        for page in family.pages:
            yield Appearance(family, page, "unchanged")
    elif family.plant == "single" and draw < UNCHANGED + CHANGED:
        edit = dice.pick(tuple(EDITS))
        text = near_copy(original.content, edit, 0.55 + 0.43 * dice.unit(), dice)
        yield Appearance(family, replace(original, text=text, edit=edit), "changed")


def _joined(family: Family, back: list[Appearance]) -> Iterator[Appearance]:
    """Now and then a page that is new in the second snapshot and goes with a page of the first."""
    dice = Dice("joined", family.number)
    if family.plant != "single" or any(appearance.recurrence == "changed" for appearance in back):
        return
    if dice.chance(JOINED):
        if dice.chance(0.6):
            target = dice.pick(plants.NEAR_TARGETS)
            page = plants.near_page(family.original, dice.pick(tuple(EDITS)), target, dice)
        else:
            page = plants.mirror_page(family.original, dice)
        yield Appearance(family, page, "new")
