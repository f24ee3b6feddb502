"""Prose in ten scripts: pairs that differ by a known edit and pairs that have nothing to do with each other.

Eight scripts are those of the sample's languages; Greek and Hebrew have lexicons of seeded words here. The table of
similarities by script, beside what words between white space would have given:

    cd tests && python -m signatures.script_texts
"""

import sys
from functools import cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dedup_lib.evaluation.text_table import text_table
from dedup_lib.sample.dice import Dice
from dedup_lib.sample.lexicon import LEXICON_WORDS, SPACELESS, ZIPF_EXPONENT, Lexicon, lexicon_of
from dedup_lib.sample.prose import Sentence, sentences, write_sentence
from dedup_lib.signatures import Scheme, estimate_jaccard, sign_texts
from signatures.reference import jaccard, reference_shingles, reference_words

LANGUAGES = {  # by script; Japanese is Kana with Han between
    "Latin": "fr",
    "Cyrillic": "ru",
    "Greek": "el",
    "Arabic": "ar",
    "Hebrew": "he",
    "Devanagari": "hi",
    "Hangul": "ko",
    "Han": "zh",
    "Kana": "ja",
    "Thai": "th",
}
WITHOUT_SPACES = tuple(script for script, code in LANGUAGES.items() if code in SPACELESS)
SYLLABLES = {  # beginnings, middles and endings of words
    "el": ("κα θά λό πο μέ τρα φί χρό ψυ δέ γρα ξε", "λα ρι μο νε σι του πα κό", "ς ν σα μα τα ρος λη ξις"),
    "he": ("של מק דב את בי כת לו נה פר צו קר שמ", "ר לי מו ני בת דו פא גש", "ים ות ה ן ל ם ית ך"),
}
PAIRS = 10
TEXT_WORDS = 400
SHINGLE_WORDS = 5


class Similarities(NamedTuple):
    """Of the pairs of one script: exact by the definition, estimated from signatures, exact by words of white space."""

    exact: NDArray[np.float64]
    estimated: NDArray[np.float64]
    by_white_space: NDArray[np.float64]


def lexicon_of_script(script: str) -> Lexicon:
    """The sample's lexicon of the script's language, or one composed of syllables with the same frequencies."""
    code = LANGUAGES[script]
    return _composed(code) if code in SYLLABLES else lexicon_of(code)


@cache
def _composed(code: str) -> Lexicon:
    dice = Dice("lexicon", code)
    parts = [choices.split() for choices in SYLLABLES[code]]
    words: dict[str, None] = {}
    while len(words) < LEXICON_WORDS:
        middle = "".join(dice.pick(parts[1]) for _ in range(dice.between(1, 2)))
        words.setdefault(dice.pick(parts[0]) + middle + dice.pick(parts[2]))
    weights = accumulate(rank**-ZIPF_EXPONENT for rank in range(1, len(words) + 1))
    return Lexicon(code, tuple(words), tuple(weights), (), ())


def prose(script: str, number: int) -> list[Sentence]:
    """The sentences of a text; another number is another text."""
    return list(sentences(lexicon_of_script(script), Dice("prose", script, number), TEXT_WORDS))


def written(script: str, text: list[Sentence]) -> str:
    """The text as its script is written, five sentences to a line."""
    code = LANGUAGES[script]
    pause = "" if code in ("zh", "ja") else " "
    lines = [text[start : start + 5] for start in range(0, len(text), 5)]
    return "\n".join(pause.join(write_sentence(code, words) for words in line) for line in lines)


def edited(script: str, text: list[Sentence], number: int) -> list[Sentence]:
    """The text with a word replaced by one that it does not have in every fourth sentence, at its middle."""
    lexicon, dice = lexicon_of_script(script), Dice("edit", script, number)
    known = {word.strip("،、，,") for words in text for word in words}
    result = list(text)
    for place in range(1, len(text), 4):
        middle = len(text[place]) // 2
        new = lexicon.rare_word(dice)
        while new in known:
            new = lexicon.rare_word(dice)
        result[place] = (*text[place][:middle], new, *text[place][middle + 1 :])
    return result


def planned_similarity(script: str, text: list[Sentence], other: list[Sentence]) -> float:
    """The Jaccard of an edited pair by arithmetic: a word of w units stands in w + 4 shingles, all of them changed.

    It takes the shingles of a text to be distinct, and edits to be more than a shingle apart.
    """
    units = [len(reference_words(written(script, side))) for side in (text, other)]
    removed = added = 0
    for old, new in zip(text, other, strict=True):
        for before, after in zip(old, new, strict=True):
            if before != after:
                removed += len(reference_words(before)) + SHINGLE_WORDS - 1
                added += len(reference_words(after)) + SHINGLE_WORDS - 1
    return (units[0] - SHINGLE_WORDS + 1 - removed) / (units[0] - SHINGLE_WORDS + 1 + added)


def edited_pairs(script: str) -> list[tuple[str, str]]:
    """Texts and their edited copies."""
    texts = [prose(script, number) for number in range(PAIRS)]
    return [(written(script, text), written(script, edited(script, text, n))) for n, text in enumerate(texts)]


def unrelated_pairs(script: str) -> list[tuple[str, str]]:
    """Each text with each other one."""
    texts = [written(script, prose(script, number)) for number in range(PAIRS)]
    return [(one, other) for place, one in enumerate(texts) for other in texts[place + 1 :]]


def similarities(pairs: list[tuple[str, str]], scheme: Scheme) -> Similarities:
    """How alike the two texts of each pair are, in three ways."""
    minhashes = [sign_texts(pa.array(side), scheme).to_arrow()["minhash"] for side in zip(*pairs, strict=True)]
    return Similarities(
        np.array([jaccard(*map(_shingles, pair)) for pair in pairs]),
        estimate_jaccard(*minhashes, scheme.minhash_bits),
        np.array([jaccard(*map(white_space_shingles, pair)) for pair in pairs]),
    )


@cache
def _shingles(text: str) -> set[tuple[str, ...]]:
    return reference_shingles(text, SHINGLE_WORDS)


def white_space_shingles(text: str) -> set[tuple[str, ...]]:
    """Shingles of what stands between white space in lower case; a text of fewer words is one shingle."""
    words = text.lower().split()
    return {tuple(words[start : start + SHINGLE_WORDS]) for start in range(max(len(words) - SHINGLE_WORDS + 1, 1))}


def script_table(scheme: Scheme) -> str:
    """By script: the mean similarity of edited pairs, exact and estimated and by words of white space; the largest of
    unrelated pairs.
    """
    rows = []
    for script in LANGUAGES:
        near, far = (similarities(pairs(script), scheme) for pairs in (edited_pairs, unrelated_pairs))
        means = (f"{values.mean():.3f}" for values in near)
        rows.append([script, *means, *(f"{values.max():.3f}" for values in far)])
    header = ["script", "edited: exact", "estimated", "by white space"]
    return text_table([*header, "unrelated, at most: exact", "estimated", "by white space"], rows)


if __name__ == "__main__":
    sys.stdout.write(script_table(Scheme()) + "\n")
