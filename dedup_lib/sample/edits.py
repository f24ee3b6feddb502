"""Near duplicates: copies of a text with edits of a chosen kind and weight.

Each kind aims at a Jaccard similarity by the arithmetic of shingles: of n shingles, changing k of them in place gives
(n - k) / (n + k), adding m gives n / (n + m), removing m gives (n - m) / n. The aim is approximate; what is stored as
the truth is the exact Jaccard, computed afterwards.
"""

from collections.abc import Callable

from dedup_lib.sample.dice import Dice
from dedup_lib.sample.lexicon import SPACELESS, lexicon_of
from dedup_lib.sample.prose import Block, Sentence, Text, main_text, sentence, style_of
from dedup_lib.sample.similarity import SHINGLE_WORDS, words

Edit = Callable[[Text, float, Dice], Text]
Place = tuple[int, int, int]  # block, sentence, word


def near_copy(text: Text, kind: str, target: float, dice: Dice) -> Text:
    """A copy of the text whose Jaccard to it is about `target`, by one kind of edit in `EDITS`."""
    return EDITS[kind](text, target, dice)


def _replace_scattered(text: Text, target: float, dice: Dice) -> Text:
    """Single words replaced here and there. A word of w letters in a spaceless script is in w + 4 shingles."""
    places = _places(text)
    width = SHINGLE_WORDS - 1 + _word_width(text)
    count = max(1, round(_length(text) * (1 - target) / (1 + target) / width))
    return _replace(text, dice.shuffled(places)[:count], dice)


def _replace_block(text: Text, target: float, dice: Dice) -> Text:
    """A run of consecutive words replaced."""
    places = _places(text)
    changed = max(1.0, _length(text) * (1 - target) / (1 + target) - (SHINGLE_WORDS - 1))
    count = min(len(places), max(1, round(changed / _word_width(text))))
    start = dice.below(len(places) - count + 1)
    return _replace(text, places[start : start + count], dice)


def _insert_sentences(text: Text, target: float, dice: Dice) -> Text:
    """New sentences put between the old ones. Each breaks four old shingles besides bringing its own."""
    lexicon = lexicon_of(text.language)
    length, width = _length(text), _word_width(text)
    blocks = [list(block.sentences) for block in text.blocks]
    paragraphs = [index for index, block in enumerate(text.blocks) if block.kind == "paragraph"]
    added, broken = 0.0, 0
    while not broken or (length - broken) / (length + added + broken) > target + 0.01:
        chosen = blocks[dice.pick(paragraphs)]
        new = sentence(lexicon, dice)
        chosen.insert(dice.below(len(chosen) + 1), new)
        added += len(new) * width
        broken += SHINGLE_WORDS - 1
    return _with_sentences(text, blocks)


def _remove_passage(text: Text, target: float, dice: Dice) -> Text:
    """Consecutive sentences removed, whole paragraphs for heavy edits."""
    length, width = _length(text), _word_width(text)
    slots = [
        (block, position)
        for block, content in enumerate(text.blocks)
        if content.kind == "paragraph"
        for position in range(len(content.sentences))
    ]
    start = dice.below(len(slots) // 3)
    doomed: set[tuple[int, int]] = set()
    removed = 0.0
    for block, position in slots[start:-1]:
        if doomed and (length - removed - SHINGLE_WORDS + 1) / (length + SHINGLE_WORDS - 1) <= target + 0.01:
            break
        doomed.add((block, position))
        removed += len(text.blocks[block].sentences[position]) * width
    blocks = [
        [kept for position, kept in enumerate(content.sentences) if (block, position) not in doomed]
        for block, content in enumerate(text.blocks)
    ]
    return _with_sentences(text, blocks)


EDITS: dict[str, Edit] = {
    "words": _replace_scattered,
    "block": _replace_block,
    "insert": _insert_sentences,
    "remove": _remove_passage,
}


def cut_short(text: Text) -> Text:
    """The text as far as the middle of its last paragraph but one: what is left of a page cut by the crawler."""
    paragraphs = [index for index, block in enumerate(text.blocks) if block.kind == "paragraph"]
    last = paragraphs[-2]
    remaining = text.blocks[last].sentences
    half = Block("paragraph", remaining[: max(1, len(remaining) // 2)])
    return Text(text.language, text.title, (*text.blocks[:last], half))


def _places(text: Text) -> list[Place]:
    """Where each word of the paragraphs is, in reading order."""
    return [
        (block, position, word)
        for block, content in enumerate(text.blocks)
        if content.kind == "paragraph"
        for position, words_there in enumerate(content.sentences)
        for word in range(len(words_there))
    ]


def _replace(text: Text, places: list[Place], dice: Dice) -> Text:
    """Another word at each of the places; a comma there stays."""
    lexicon = lexicon_of(text.language)
    comma = style_of(text.language).comma
    blocks = [[list(words_there) for words_there in content.sentences] for content in text.blocks]
    for block, position, word in places:
        old = blocks[block][position][word]
        bare = old.removesuffix(comma)
        new = lexicon.rare_word(dice)
        while new.lower() == bare.lower():
            new = lexicon.rare_word(dice)
        blocks[block][position][word] = new + old[len(bare) :]
    return _with_sentences(text, [[tuple(words_there) for words_there in content] for content in blocks])


def _with_sentences(text: Text, blocks: list[list[Sentence]]) -> Text:
    """The text with other sentences in its blocks; empty blocks vanish."""
    kinds = [block.kind for block in text.blocks]
    made = (Block(kind, tuple(content)) for kind, content in zip(kinds, blocks, strict=True) if content)
    return Text(text.language, text.title, tuple(made))


def _length(text: Text) -> int:
    """Words of the text by the rule of shingles."""
    return len(words(main_text(text)))


def _word_width(text: Text) -> float:
    """How many words of the shingle rule one lexicon word makes: its letters in a spaceless script, else one."""
    if text.language not in SPACELESS:
        return 1.0
    return _length(text) / (len(text.title) + sum(len(content) for block in text.blocks for content in block.sentences))
