import random
import time

from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.reports.explain.passages import Passage, passages_of, shorten

PIECES = st.lists(
    st.sampled_from(["one ", "two ", "three ", "four ", "\n", "。", "漢", "字", "x\r\n", " "]), max_size=60
)


def sides(found):
    return "".join(one.left for one in found.passages), "".join(one.right for one in found.passages)


def test_a_word_that_differs_stands_between_what_is_shared():
    left, right = "the quick brown fox jumps over the dog", "the quick brown cat jumps over the dog"
    assert passages_of(left, right).passages == (
        Passage(True, "the quick brown ", "the quick brown "),
        Passage(False, "fox", "cat"),
        Passage(True, " jumps over the dog", " jumps over the dog"),
    )


def test_lines_that_one_text_has_more_are_a_passage_of_their_own():
    left, right = "first line here\nlast line here", "first line here\nand one more\nlast line here"
    assert passages_of(left, right).passages == (
        Passage(True, "first line here\n", "first line here\n"),
        Passage(False, "", "and one more\n"),
        Passage(True, "last line here", "last line here"),
    )


def test_scripts_without_spaces_are_compared_by_characters():
    found = passages_of("私は昨日東京に行きました", "私は昨日京都に行きました")
    assert found.shared_chars == 4 + 6
    assert found.differing_chars == (2, 2)


def test_two_shared_words_among_others_are_no_passage():
    (only,) = passages_of("a b in the c d", "e f in the g h").passages
    assert not only.shared


def test_equal_texts_are_one_passage_and_empty_ones_none():
    assert passages_of("x", "x").passages == (Passage(True, "x", "x"),)
    assert passages_of("", "").passages == ()
    assert passages_of("", "x").passages == (Passage(False, "", "x"),)


@given(PIECES, PIECES)
def test_the_passages_are_both_texts_and_the_shared_ones_are_equal(left, right):
    found = passages_of("".join(left), "".join(right))
    assert sides(found) == ("".join(left), "".join(right))
    assert all((one.left == one.right) for one in found.passages if one.shared)
    assert all(one.shared != other.shared for one, other in zip(found.passages, found.passages[1:], strict=False))
    assert (found.left_beyond, found.right_beyond) == (0, 0)


def test_texts_of_ten_megabytes_take_little_time_and_what_was_not_compared_is_counted():
    dice = random.Random(1)
    start = time.process_time()
    for vocabulary, joint in ((200, " "), (10**6, " "), (200, "\n"), (10**6, "\n")):
        texts = [joint.join(f"w{dice.randrange(vocabulary)}" for _ in range(600_000)) for _ in range(2)]
        found = passages_of(*texts)
        for text, told, beyond in zip(texts, sides(found), (found.left_beyond, found.right_beyond), strict=True):
            assert len(told) + beyond == len(text)
            assert beyond > 2_000_000
    long = "\n".join(f"line {number} {'x' * 80}" for number in range(110_000))
    edited = passages_of(long, long.replace("line 55000 ", "other 55000 "))
    assert edited.differing_chars == (4, 5)
    assert time.process_time() - start < 30  # 4 s; a quadratic comparison would take days


def test_long_passages_are_cut_in_the_middle():
    assert shorten("a" * 50 + "b" * 50, 15) == "aaaaa [...] bbbbb"
    assert shorten("short", 5) == "short"
    found = passages_of("a" * 5000, "b" * 5000).to_json()
    assert len(found["passages"][0]["left"]) <= 2002
