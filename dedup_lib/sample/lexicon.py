"""The lexicon of each language: real words and composed ones, with frequencies that fall as in natural text."""

import unicodedata
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from dedup_lib.sample.dice import Dice
from dedup_lib.sample.wordlist import WordList
from dedup_lib.sample.words_eastern import EASTERN
from dedup_lib.sample.words_western import WESTERN

LANGUAGES = tuple(words.code for words in WESTERN + EASTERN)
SPACELESS = ("zh", "ja", "th")  # written without spaces: a shingle there is five characters, not five words

# Zipf's exponent. Natural text has about 1; 0.9 is near enough for language detection, and unrelated pages stay below
# Jaccard 0.04 (Thai, the worst) with a lexicon of this size.
ZIPF_EXPONENT = 0.9
LEXICON_WORDS = 1600
THAI_WORD_LETTERS = 4  # a longer word would hold whole shingles of its own

# A composed word must be writable in the narrowest charset of its language.
NARROWEST_CHARSET = {
    "en": "latin-1",
    "de": "latin-1",
    "fr": "latin-1",
    "ru": "koi8-r",
    "zh": "gb2312",
    "ja": "euc-jp",
    "ko": "euc-kr",
    "th": "tis-620",
    "ar": "cp1256",
    "hi": "utf-8",
}


@dataclass(frozen=True)
class Lexicon:
    """The words of one language, most frequent first, with the cumulative weights to draw them by."""

    code: str
    words: tuple[str, ...]
    cumulative: tuple[float, ...]
    particles: tuple[str, ...]
    verbs: tuple[str, ...]

    def word(self, dice: Dice) -> str:
        """One word by its frequency."""
        return dice.weighted(self.words, self.cumulative)

    def rare_word(self, dice: Dice) -> str:
        """One word from beyond the hundred most frequent, each equally likely: for names, labels and titles."""
        return self.words[dice.between(100, len(self.words) - 1)]


@cache
def lexicon_of(code: str) -> Lexicon:
    """The lexicon of a language in `LANGUAGES`."""
    source = next(words for words in WESTERN + EASTERN if words.code == code)
    words = tuple(_words_of(source))
    weights = accumulate(rank**-ZIPF_EXPONENT for rank in range(1, len(words) + 1))
    return Lexicon(code, words, tuple(weights), tuple(source.particles.split()), tuple(source.verbs.split()))


def _words_of(source: WordList) -> list[str]:
    """The real words in their order, then composed ones up to the lexicon's size, all different and in NFC."""
    dice = Dice("lexicon", source.code)
    words = dict.fromkeys(word for word in map(_nfc, source.common.split()) if _fits(source.code, word))
    parts = [field.split() for field in (source.beginnings, source.middles, source.endings) if field.strip()]
    while len(words) < LEXICON_WORDS:
        word = _nfc("".join(dice.pick(choices) for choices in parts))
        if _fits(source.code, word):
            words.setdefault(word)
    return list(words)


def _nfc(word: str) -> str:
    return unicodedata.normalize("NFC", word)


def _fits(code: str, word: str) -> bool:
    """Whether the word can be written in every charset of its language, and is short enough for its script."""
    if code == "th" and len(word) > THAI_WORD_LETTERS:
        return False
    try:
        word.encode(NARROWEST_CHARSET[code])
    except UnicodeEncodeError:
        return False
    return True
