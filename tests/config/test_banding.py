"""A threshold that the bands cannot find is refused, with the S-curve and what to do."""

import re

import pytest

from dedup_lib.config import load_settings
from dedup_lib.config.banding import LEAST_RECALL, recall_at, require_threshold_in_reach
from dedup_lib.errors import ConfigurationError, UsageError


def problem(*overrides: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(None, overrides)
    (only,) = caught.value.problems
    return only


def test_the_refusal_names_the_settings_prints_the_curve_and_says_what_to_do():
    found = problem("sign.bands=3")
    # By hand: 0.8^8 = 0.16777216, 1 - (1 - 0.16777216)^3 = 0.4236; 0.5^8 = 1/256, 1 - (255/256)^3 = 0.0117
    assert "3 bands of 8 rows (sign.bands, sign.rows) find a share of 0.424 of the pairs" in found
    assert "cluster.threshold 0.8" in found
    curve = dict(re.findall(r"(0\.\d+): (\d\.\d{3})", found))
    assert (curve["0.5"], curve["0.8"]) == ("0.012", "0.424")
    assert [float(share) for share in curve.values()] == sorted(map(float, curve.values()))
    assert "`crawl-dedup tune --threshold 0.8`" in found


@pytest.mark.parametrize(
    "overrides",
    [
        ["sign.bands=3"],
        ["sign.rows=40"],
        ["cluster.threshold=0.5"],  # 32 bands of 8 rows: 1 - (255/256)^32 = 0.118
        ["cluster.threshold=0"],
        ["sign.bands=1", "sign.rows=256", "cluster.threshold=0.99", "cluster.verify=estimate"],  # 0.99^256 = 0.076
    ],
)
def test_a_threshold_that_bands_mostly_miss_is_refused(overrides):
    assert "crawl-dedup tune" in problem(*overrides)


@pytest.mark.parametrize(
    "overrides",
    [
        ["sign.bands=4"],  # 1 - (1 - 0.8^8)^4 = 0.520
        ["cluster.threshold=1", "sign.bands=1", "sign.rows=256"],  # equal sets always meet
        ["cluster.threshold=0.65"],  # 1 - (1 - 0.65^8)^32 = 0.645
        ["sign.bands=1", "cluster.verify=none"],  # the bands alone decide, there is no threshold
    ],
)
def test_a_threshold_that_bands_mostly_find_is_taken(overrides):
    assert load_settings(None, overrides)


def test_the_line_is_drawn_at_one_half():
    # One band of one row finds a share of s.
    require_threshold_in_reach(LEAST_RECALL, 1, 1)
    with pytest.raises(UsageError):
        require_threshold_in_reach(LEAST_RECALL - 0.001, 1, 1)


def test_values_of_the_curve_by_hand():
    assert recall_at(0.8, 32, 8) == pytest.approx(1 - (1 - 0.16777216) ** 32, rel=1e-12)
    assert recall_at(0.5, 2, 1) == 0.75


def test_it_is_said_beside_what_a_profile_says(tmp_path):
    profile = tmp_path / "mine.yaml"
    profile.write_text("sign: {bands: 3}\n")
    with pytest.raises(ConfigurationError, match=r"mine\.yaml: 3 bands of 8 rows"):
        load_settings(profile)
