"""Texts: a title and blocks of sentences, composed from a lexicon and written out by the rules of the script."""

from dataclasses import dataclass

from dedup_lib.sample.dice import Dice
from dedup_lib.sample.lexicon import SPACELESS, Lexicon, lexicon_of

Sentence = tuple[str, ...]  # words, some with a comma attached


@dataclass(frozen=True)
class Block:
    """A part of a text. `kind`: paragraph; heading (one sentence); items (one each); rows (first word is the label)."""

    kind: str
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class Text:
    """The main text of a page."""

    language: str
    title: Sentence
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Style:
    """How a language is written, and how many words its sentences and articles have."""

    space: str = " "  # between words
    comma: str = ","
    stop: str = "."
    pause: str = " "  # between sentences
    sentence_words: tuple[int, int] = (7, 18)
    article_words: tuple[int, int] = (150, 520)


STYLES = {
    "zh": Style("", "，", "。", "", (8, 20), (190, 560)),
    "ja": Style("", "、", "。", "", (8, 18), (220, 640)),
    "th": Style("", " ", "", " ", (7, 16), (130, 380)),
    "ar": Style(comma="،"),
    "hi": Style(stop="।"),
}
PLAIN_STYLE = Style()


def style_of(language: str) -> Style:
    """The style of a language."""
    return STYLES.get(language, PLAIN_STYLE)


def phrase(lexicon: Lexicon, dice: Dice, words: int) -> Sentence:
    """Words without punctuation that are seldom the most frequent ones: a title, a label."""
    return tuple(lexicon.rare_word(dice) for _ in range(words))


def sentence(lexicon: Lexicon, dice: Dice) -> Sentence:
    """A sentence: words by frequency, a comma or number now and then, particles and a verb where it has them."""
    style = style_of(lexicon.code)
    words = []
    for position in range(dice.between(*style.sentence_words)):
        if lexicon.particles and position % 2:
            word = dice.pick(lexicon.particles)
        elif dice.chance(0.03) and lexicon.code not in SPACELESS:
            word = str(dice.between(2, 2024))
        else:
            word = lexicon.word(dice)
        comma = position > 1 and dice.chance(0.1)
        words.append(word + style.comma if comma else word)
    words.append(dice.pick(lexicon.verbs) if lexicon.verbs else lexicon.word(dice))
    return tuple(words)


def sentences(lexicon: Lexicon, dice: Dice, words: int) -> tuple[Sentence, ...]:
    """Sentences with about that many words in all, at least one."""
    made: list[Sentence] = []
    count = 0
    while count < words:
        made.append(sentence(lexicon, dice))
        count += len(made[-1])
    return tuple(made)


def paragraphs(lexicon: Lexicon, dice: Dice, words: int) -> tuple[Block, ...]:
    """Paragraphs of about 60 words each with about that many words in all."""
    count = max(1, round(words / 60))
    return tuple(Block("paragraph", sentences(lexicon, dice, words // count)) for _ in range(count))


def article(language: str, dice: Dice, words: int | None = None) -> Text:
    """An article: a title, paragraphs, and a heading before the last third of a longer one."""
    lexicon = lexicon_of(language)
    words = words or dice.between(*style_of(language).article_words)
    blocks = list(paragraphs(lexicon, dice, words))
    if len(blocks) > 4:
        blocks.insert(2 * len(blocks) // 3, Block("heading", (phrase(lexicon, dice, 3),)))
    return Text(language, phrase(lexicon, dice, dice.between(4, 7)), tuple(blocks))


def lines(text: Text) -> list[str]:
    """The text as a perfect extractor gives it: the title, then one line per paragraph, heading, item and row."""
    written = [write_phrase(text.language, text.title)]
    for block in text.blocks:
        written.extend(block_lines(text.language, block))
    return written


def main_text(text: Text) -> str:
    """The lines of the text, one per line."""
    return "\n".join(lines(text))


def block_lines(language: str, block: Block) -> list[str]:
    """The lines of one block. The label of a row is followed by a space in every script."""
    if block.kind == "paragraph":
        style = style_of(language)
        return [style.pause.join(write_sentence(language, words) for words in block.sentences)]
    if block.kind == "rows":
        return [f"{words[0]} {write_phrase(language, words[1:])}" for words in block.sentences]
    return [write_phrase(language, words) for words in block.sentences]


def write_sentence(language: str, words: Sentence) -> str:
    """The sentence with its stop."""
    style = style_of(language)
    return write_phrase(language, words).rstrip(style.comma + " ") + style.stop


def write_phrase(language: str, words: Sentence) -> str:
    """The words with a capital letter in front where the script has them."""
    written = style_of(language).space.join(words)
    return written[:1].upper() + written[1:]
