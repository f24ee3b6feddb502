"""Proposed bands and rows against hand-worked values; what is measured on a store against brute force."""

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_lib.errors import InputError, SchemeMismatchError, UsageError
from dedup_lib.evaluation.tuning import Banding, list_bandings, propose
from dedup_lib.evaluation.tuning_pairs import count_pairs
from dedup_lib.evaluation.tuning_sample import measure
from dedup_lib.signatures import Scheme, sign_texts
from tests.evaluation.signed_store import publish_signatures
from tests.signatures.reference import random_words

RANDOM = np.random.default_rng(5)


def test_recall_at_the_threshold_by_hand():
    # 0.8^8 = 0.16777216
    assert Banding(32, 8).recall(0.8) == pytest.approx(1 - (1 - 0.16777216) ** 32, rel=1e-12)
    assert Banding(32, 8).recall(0.8) == pytest.approx(0.9972, abs=1e-4)


def test_the_fewest_bands_for_a_recall_by_hand():
    # ln 0.05 / ln(1 - 0.8^r): r=1: 1.86, r=2: 2.93, r=8: 16.3, r=9: 20.8, r=10: 26.4, and 10 x 27 = 270 is too many
    found = {one.rows: one.bands for one in list_bandings(0.8, 0.95, 256)}
    assert (found[1], found[2], found[8], found[9]) == (2, 3, 17, 21)
    assert max(found) == 9
    assert {one.rows: one.bands for one in list_bandings(0.8, 0.95, 270)}[10] == 27


def test_a_recall_that_bands_reach_exactly_takes_no_band_more():
    # 1 - (1 - 0.5)^b: 0.5, 0.75, 0.875
    for bands, recall in enumerate((0.5, 0.75, 0.875), start=1):
        assert list_bandings(0.5, recall, 4)[0] == Banding(bands, 1)


def test_bytes_of_a_signature_by_hand():
    # 21 x 9 minima of 2 bytes, 21 keys of 8, a SimHash of 8, its 16 weakest bits, a count of 4
    assert Banding(21, 9).bytes_per_document(16) == 378 + 168 + 28
    assert Banding(21, 9).bytes_per_document(32) == 756 + 168 + 28


def test_bytes_of_a_signature_are_those_of_its_arrow_columns():
    scheme = Scheme(bands=5, rows=3, minhash_bits=32)
    columns = sign_texts(pa.array([" ".join(random_words(RANDOM, 30))]), scheme).to_arrow()
    minhash, weakest = (len(columns[name][0].as_py()) for name in ("minhash", "simhash_weakest"))
    assert minhash + weakest + 8 * len(columns["bands"][0]) + 8 + 4 == Banding(5, 3).bytes_per_document(32)


@pytest.mark.parametrize(
    ("banding", "threshold", "share"),
    [
        (Banding(1, 1), 0.8, 0.4),  # the integral of s is t^2 / 2
        (Banding(1, 3), 0.8, 0.8**3 / 4),  # of s^3: t^4 / 4
        (Banding(2, 1), 0.6, 0.6 - 0.6**2 / 3),  # of 2 s - s^2: t^2 - t^3 / 3
    ],
)
def test_the_share_below_the_threshold_is_the_integral(banding, threshold, share):
    assert banding.share_below(threshold) == pytest.approx(share, abs=1e-6)


def test_the_steepest_within_the_permutations_is_proposed():
    assert propose(list_bandings(0.8, 0.95, 256), 0.8) == Banding(21, 9)
    assert propose(list_bandings(0.8, 0.95, 2), 0.8) == Banding(2, 1)


@given(st.floats(0.05, 0.99), st.floats(0.05, 0.999), st.integers(1, 300))
def test_a_proposal_reaches_the_recall_and_with_a_band_less_it_would_not(threshold, recall, most):
    try:
        found = list_bandings(threshold, recall, most)
    except UsageError:
        assert (1 - threshold) ** most > 1 - recall - 1e-9  # not even with as many bands of one row
        return
    for one in found:
        assert one.permutations <= most
        assert one.recall(threshold) >= recall
        assert one.bands == 1 or Banding(one.bands - 1, one.rows).recall(threshold) < recall
    best = propose(found, threshold)
    assert all(best.share_below(threshold) <= one.share_below(threshold) for one in found)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((0.0, 0.95), "--threshold is 0: "),
        ((1.0, 0.95), "--threshold is 1: "),
        ((-0.1, 0.95), "--threshold is -0.1: "),
        ((math.nan, 0.95), "--threshold is nan: "),
        ((0.8, 0.0), "--recall is 0: "),
        ((0.8, 1.0), "--recall is 1: "),
        ((0.8, math.nan), "--recall is nan: "),
        ((0.8, 0.95, 0), "--permutations is 0: "),
        ((0.8, 0.95, 10**9), "--permutations is 1000000000: "),
        # ln 0.05 / ln 0.99 = 298.07
        (
            (0.01, 0.95),
            "no bands of at most 256 permutations find a share of 0.95 of the pairs at 0.01, which takes 299",
        ),
        ((1e-300, 0.95), "no bands of at most 256"),
    ],
)
def test_what_cannot_be_is_refused(arguments, sentence):
    with pytest.raises(UsageError) as caught:
        list_bandings(*arguments)
    assert sentence in str(caught.value)


@pytest.mark.parametrize("bits", [16, 32])
@pytest.mark.parametrize(("bands", "rows"), [(4, 3), (3, 4), (1, 12), (2, 5)])
def test_pairs_are_counted_as_by_brute_force(bits, bands, rows):
    minima = RANDOM.integers(0, 3, (40, 12)).astype(np.uint16 if bits == 16 else np.uint32)
    counts = count_pairs(minima, bits, bands, rows, 0.55)
    pairs, met, degrees = np.zeros(13, int), np.zeros(13, int), np.zeros((2, 40), int)
    for one, other in itertools.combinations(range(40), 2):
        same = minima[one] == minima[other]
        pairs[same.sum()] += 1
        if same[: bands * rows].reshape(bands, rows).all(axis=1).any():
            met[same.sum()] += 1
            for place in (one, other):
                degrees[0, place] += 1
                degrees[1, place] += same.sum() / 12 < 0.55
    assert counts.pairs.tolist() == pairs.tolist()
    assert counts.met.tolist() == met.tolist()
    assert counts.wedges == tuple(sum(math.comb(int(one), 2) for one in row) for row in degrees)


def test_bands_of_more_permutations_than_stored_are_not_simulated():
    counts = count_pairs(RANDOM.integers(0, 3, (10, 12)).astype(np.uint16), 16, 5, 3, 0.5)
    assert counts.met is None
    assert counts.pairs.sum() == 45


def family(size: int, kept: float) -> list[str]:
    """Texts of 100 shingles of one start, at Jaccard kept / (2 - kept) to each other."""
    shared = random_words(RANDOM, round(100 * kept) + 4)
    return [" ".join(shared + random_words(RANDOM, 100 - round(100 * kept))) for _ in range(size)]


@pytest.fixture(scope="module")
def texts():
    """30 pairs at each of several similarities."""
    return [text for kept in (0.3, 0.6, 0.8, 0.9, 0.95) for _ in range(30) for text in family(2, kept)]


@pytest.fixture(scope="module")
def root(texts, tmp_path_factory):
    repeated = [*texts, *texts[:20], "too short"]
    return publish_signatures(tmp_path_factory.mktemp("store"), repeated, Scheme())


def test_a_store_is_measured_as_its_own_band_keys_say(root, texts):
    scheme = Scheme()
    found = measure(root, Banding(scheme.bands, scheme.rows), 0.8)
    keys = sign_texts(pa.array(texts), scheme).bands
    sharing = sum(bool(np.any(keys[one] == keys[other])) for one, other in itertools.combinations(range(300), 2))
    assert (found.texts, found.rate, found.all_texts) == (300, 1.0, 300)  # repeats count once, the short one not
    assert found.load.pairs == sharing == sum(level.met for level in found.levels)
    assert found.load.error == 0
    assert sum(level.pairs for level in found.levels) == math.comb(300, 2)
    assert found.scheme == str(scheme)
    for level in found.levels:
        assert abs(level.recall - level.theory) <= 4 * level.error + 1e-6


def test_the_parts_of_a_store_are_added_and_never_paired(texts, tmp_path):
    publish_signatures(tmp_path, texts[::2], Scheme(), "first")
    publish_signatures(tmp_path, texts[1::2], Scheme(), "second", files=1)
    found = measure(tmp_path, Banding(32, 8), 0.8)
    assert sum(level.pairs for level in found.levels) == 2 * math.comb(150, 2)
    assert found.snapshots == 2
    assert found.load.pairs == 0  # each pair is torn apart


def test_a_sample_is_the_same_again_whatever_files_there_are_and_extrapolates_within_its_error(tmp_path):
    texts = [text for _ in range(400) for text in family(2, 0.95)]
    one = publish_signatures(tmp_path / "one", texts, Scheme(bands=8, rows=8))
    other = publish_signatures(tmp_path / "other", texts[::-1], Scheme(bands=8, rows=8), files=5)
    whole, half = measure(one, Banding(8, 8), 0.8), measure(one, Banding(8, 8), 0.8, most=400)
    again = measure(other, Banding(8, 8), 0.8, most=400)
    assert (half.texts, half.load, half.levels) == (again.texts, again.load, again.levels)
    assert half.rate == 0.5
    assert abs(half.texts - 400) <= 4 * math.sqrt(800 * 0.25)
    assert abs(half.load.pairs - whole.load.pairs) <= 4 * half.load.error
    # 400 pairs, no two of which share a text: each is sampled with chance 1/4 and counts four times
    assert half.load.error == pytest.approx(4 * math.sqrt(half.load.pairs / 4 * 0.75))


def test_pairs_that_share_a_text_make_an_extrapolation_less_sure(tmp_path):
    root = publish_signatures(tmp_path, family(60, 0.97), Scheme(bands=8, rows=8))
    found = measure(root, Banding(8, 8), 0.8, most=30)
    pairs = found.load.pairs * found.rate**2
    assert pairs == math.comb(found.texts, 2)  # all of them are alike
    wedges = found.texts * math.comb(found.texts - 1, 2)
    assert found.load.error == pytest.approx(4 * math.sqrt(pairs * 0.75 + wedges))
    assert abs(found.load.pairs - math.comb(60, 2)) <= 4 * found.load.error


def test_without_enough_permutations_the_load_is_what_theory_expects(tmp_path, texts):
    root = publish_signatures(tmp_path, texts, Scheme(bands=8, rows=8))
    found = measure(root, Banding(32, 8), 0.8)
    assert not found.simulated
    assert {level.met for level in found.levels} == {None}
    expected = sum(level.theory * level.pairs for level in found.levels)
    assert found.load.pairs == pytest.approx(expected)
    assert found.to_json()["load"]["error"] is None


def test_what_cannot_be_measured_is_refused(tmp_path):
    with pytest.raises(InputError, match="no signatures are published"):
        measure(tmp_path, Banding(32, 8), 0.8)
    publish_signatures(tmp_path, ["only four words here"], Scheme())
    with pytest.raises(InputError, match="fewer than two texts"):
        measure(tmp_path, Banding(32, 8), 0.8)
    publish_signatures(tmp_path, family(2, 0.9), Scheme(seed=2), "second")
    with pytest.raises(SchemeMismatchError, match=r"second has scheme .*-seed2-16bit, but .*-seed1-16bit is needed"):
        measure(tmp_path, Banding(32, 8), 0.8)


def test_a_file_that_was_removed_is_told_of(tmp_path):
    root = publish_signatures(tmp_path, family(4, 0.9), Scheme())
    next(root.glob("signatures/*/*/*/part-1.parquet")).unlink()
    with pytest.raises(InputError, match=r"part-1\.parquet is gone: if sign was replaced, start again"):
        measure(root, Banding(32, 8), 0.8)
