"""The texts: unrelated ones do not resemble each other, and the truth's similarities are exact.

The rule of words is written here anew, from Unicode's categories, to check that of `dedup_lib.sample.similarity`.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from itertools import combinations

import pytest

from dedup_lib.sample.lexicon import LANGUAGES, lexicon_of
from dedup_lib.sample.prose import main_text

SPACELESS = (
    (0x0E00, 0x0E7F), (0x3005, 0x3007), (0x3040, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF),
)  # fmt: skip


@pytest.fixture(scope="module")
def texts(sample):
    """Each distinct text as (language, families, set of shingles), by its written form."""
    found = {}
    for capture in sample.planned.values():
        text = capture.page.text
        if text is not None and capture.page.kind != "short":
            found.setdefault(main_text(text), (text.language, set()))[1].add(capture.family)
    pattern = word_pattern(set().union(*found))
    return {
        written: (language, families, shingles(written, pattern)) for written, (language, families) in found.items()
    }


def word_pattern(characters):
    spaceless, start, rest = "", "_", "_"
    for character in sorted(characters | {lower for c in characters for lower in c.lower()}):
        category = unicodedata.category(character)[0]
        if any(low <= ord(character) <= high for low, high in SPACELESS):
            spaceless += character if category in "LNM" else ""
        else:
            start += character if category in "LN" else ""
            rest += character if category in "LNM" else ""
    return re.compile(f"[{spaceless}]|[{start}][{rest}]*")


def shingles(written, pattern):
    words = pattern.findall(unicodedata.normalize("NFC", written).lower())
    return {tuple(words[start : start + 5]) for start in range(len(words) - 4)}


def jaccard(left, right):
    return len(left & right) / len(left | right)


def most_alike(entries):
    """The highest Jaccard of any two texts without a common family, over all pairs, by an inverted index."""
    holders = defaultdict(list)
    for number, (_, _, found) in enumerate(entries):
        for shingle in found:
            holders[shingle].append(number)
    common = Counter(pair for numbers in holders.values() for pair in combinations(numbers, 2))
    sizes = [len(found) for _, _, found in entries]
    return max(
        (
            shared / (sizes[left] + sizes[right] - shared)
            for (left, right), shared in common.items()
            if not entries[left][1] & entries[right][1]
        ),
        default=0.0,
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_unrelated_texts_do_not_resemble_each_other(texts, language):
    entries = [entry for entry in texts.values() if entry[0] == language]
    highest = most_alike(entries)
    assert len(entries) > 150
    assert highest < 0.06


def test_no_text_is_in_two_families(texts):
    assert all(len(families) == 1 for _, families, _ in texts.values())


def test_similarities_of_the_truth_are_exact(sample, texts):
    compared = 0
    for capture in sample.planned.values():
        if capture.jaccard is None or capture.page.kind == "short":
            continue
        own, original = (
            texts[main_text(page.content)][2]
            for page in (capture.page, sample.planned[capture.original_record_id].page)
        )
        assert capture.jaccard == jaccard(own, original)
        compared += 1
    assert compared > 2000


def test_templated_pages_stay_apart_pair_by_pair(sample, texts):
    groups = defaultdict(set)
    templated = {row["family"] for row in sample.truth if row["relation"] == "template_negative"}
    for capture in sample.planned.values():
        if capture.family in templated:
            groups[capture.family].add(main_text(capture.page.content))
    levels = [
        jaccard(texts[left][2], texts[right][2])
        for group in groups.values()
        for left, right in combinations(sorted(group), 2)
    ]
    assert len(groups) >= 60
    assert max(levels) <= 0.6
    assert sum(level > 0.45 for level in levels) > 100


def test_short_texts_have_one_to_four_words_and_differ(sample):
    short = {c.family: main_text(c.page.content) for c in sample.planned.values() if c.page.kind == "short"}
    assert len(set(short.values())) == len(short)
    lengths = Counter(len(c.page.content.title) for c in sample.planned.values() if c.page.kind == "short")
    assert set(lengths) == {1, 2, 3, 4}


def test_main_texts_are_long_enough(texts):
    for language, _, found in texts.values():
        assert len(found) > (200 if language in {"zh", "ja", "th"} else 60)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_lexicon_has_variety(language):
    words = lexicon_of(language).words
    assert len(words) == len(set(words)) >= 1500
    assert all(unicodedata.is_normalized("NFC", word) for word in words)
