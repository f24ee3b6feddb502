"""How good extracted text is: words and segments of it against the text that people say is the page's.

Two measures, as in the benchmarks: words (multisets of lower-cased `\\w+`; Chinese by character), averaged over pages;
and segments that must and must not appear, summed over pages, as few a page says little about.
"""

import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dedup_lib.evaluation.extraction_sets import GoldPage, GoldSet, Segments
from dedup_lib.text import DocumentText, Kind, ReadOptions, read_document

_WORD = re.compile(r"\w+")
_CHARACTER = re.compile(r"\w")


class Overlap(NamedTuple):
    """What the text of a page has in common with its gold: words, or segments."""

    shared: int
    extracted: int
    wanted: int

    @property
    def precision(self) -> float:
        """The share of what was extracted that is wanted; 1 where nothing was extracted and nothing is wanted."""
        return self.shared / self.extracted if self.extracted else float(not self.wanted)

    @property
    def recall(self) -> float:
        """The share of what is wanted that was extracted; 1 where nothing was extracted and nothing is wanted."""
        return self.shared / self.wanted if self.wanted else float(not self.extracted)

    @property
    def f1(self) -> float:
        """The harmonic mean of the two."""
        both = self.extracted + self.wanted
        return 2 * self.shared / both if both else 1.0


class Scores(NamedTuple):
    """Precision, recall and F1 of many pages."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class SetScores:
    """One set in one mode; `by_group` splits it by page type or language."""

    name: str
    mode: str
    pages: int
    scores: Scores
    by_group: dict[str, tuple[int, Scores]]
    cpu_seconds: float

    def to_json(self) -> dict[str, object]:
        """As a JSON object."""
        groups = {group: {"pages": pages, **found._asdict()} for group, (pages, found) in self.by_group.items()}
        return {
            "set": self.name,
            "mode": self.mode,
            "pages": self.pages,
            **self.scores._asdict(),
            "cpu_seconds_per_page": self.cpu_seconds / self.pages,
            "groups": groups,
        }


def score_set(gold: GoldSet, mode: str, options: ReadOptions) -> SetScores:
    """Reads each page of a set and compares; a page that is refused counts as one without text."""
    read_document(gold.pages[0].html, Kind.HTML, None, options)  # imports and caches are not the first page's cost
    overlaps: list[Overlap] = []
    cpu_seconds = 0.0
    for page in gold.pages:
        start = time.process_time()
        document = read_document(page.html, Kind.HTML, None, options)
        cpu_seconds += time.process_time() - start
        overlaps.append(overlap(document.content.text if isinstance(document, DocumentText) else "", page))
    combine = pooled_scores if isinstance(gold.pages[0].gold, Segments) else mean_scores
    by_group: dict[str, tuple[int, Scores]] = {}
    for group in sorted({page.group for page in gold.pages} - {""}):
        members = [found for found, page in zip(overlaps, gold.pages, strict=True) if page.group == group]
        by_group[group] = (len(members), combine(members))
    return SetScores(gold.name, mode, len(gold.pages), combine(overlaps), by_group, cpu_seconds)


def overlap(text: str, page: GoldPage) -> Overlap:
    """A text against the gold of its page."""
    if isinstance(page.gold, Segments):
        return segment_overlap(text, page.gold)
    return word_overlap(text, page.gold, page.by_character)


def word_overlap(text: str, gold: str, by_character: bool = False) -> Overlap:
    """Words in common, each as often as both have it.

    >>> word_overlap("A cat, a dog", "a Cat a cat")
    Overlap(shared=3, extracted=4, wanted=4)
    """
    token = _CHARACTER if by_character else _WORD
    extracted, wanted = Counter(token.findall(text.lower())), Counter(token.findall(gold.lower()))
    return Overlap((extracted & wanted).total(), extracted.total(), wanted.total())


def segment_overlap(text: str, segments: Segments) -> Overlap:
    """Segments that appear, whatever the white space between their words."""
    spaced = " ".join(text.split())
    found = sum(" ".join(segment.split()) in spaced for segment in segments.wanted)
    wrong = sum(" ".join(segment.split()) in spaced for segment in segments.unwanted)
    return Overlap(found, found + wrong, len(segments.wanted))


def mean_scores(overlaps: Sequence[Overlap]) -> Scores:
    """Each measure averaged over pages."""
    count = len(overlaps)
    return Scores(
        sum(one.precision for one in overlaps) / count,
        sum(one.recall for one in overlaps) / count,
        sum(one.f1 for one in overlaps) / count,
    )


def pooled_scores(overlaps: Sequence[Overlap]) -> Scores:
    """The measures of all pages taken as one."""
    total = Overlap(*(sum(column) for column in zip(*overlaps, strict=True)))
    return Scores(total.precision, total.recall, total.f1)
