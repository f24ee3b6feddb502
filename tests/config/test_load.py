"""Profiles, overrides, and everything that can be wrong with them."""

from pathlib import Path

import pytest

from dedup_lib.config import Settings, load_settings
from dedup_lib.config.places import own_conf
from dedup_lib.errors import ConfigurationError, UsageError


def write(folder: Path, text: str, name: str = "profile.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def problems(profile: Path | None = None, *overrides: str) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(profile, overrides)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    return caught.value.problems


def test_without_profile_or_override_the_settings_are_the_defaults():
    assert load_settings() == Settings()


def test_the_layers_are_defaults_then_profiles_then_overrides(tmp_path):
    first = write(tmp_path, "sign: {bands: 10, rows: 4}\ncluster: {threshold: 0.7}\n", "first.yaml")
    second = write(tmp_path, "sign: {rows: 5}\n", "second.yaml")
    settings = load_settings([first, second], ["sign.seed=9", "cluster.threshold=0.9"])
    assert (settings.sign.bands, settings.sign.rows, settings.sign.seed) == (10, 5, 9)
    assert settings.cluster.threshold == 0.9


def test_a_later_override_wins():
    assert load_settings(None, ["sign.bands=3", "sign.bands=4"]).sign.bands == 4


def test_an_override_may_be_a_section_and_a_list_replaces_a_list():
    settings = load_settings(None, ["sign={bands: 14, rows: 8}", "cluster.keep=[longest_text]"])
    assert settings.sign.permutations == 112
    assert settings.cluster.keep == ("longest_text",)


def test_a_whole_number_is_a_number():
    assert load_settings(None, ["cluster.threshold=1"]).cluster.threshold == 1.0


@pytest.mark.parametrize(
    ("text", "value"),
    [("source_priority: [no, on, 2026-01-01]", ("no", "on", "2026-01-01")), ("source_priority: []", ())],
)
def test_words_and_dates_of_old_yaml_are_text(tmp_path, text, value):
    assert load_settings(write(tmp_path, text)).source_priority == value


def test_a_number_with_exponent_is_a_number(tmp_path):
    assert load_settings(write(tmp_path, "run: {max_reject_fraction: 1e-3}")).run.max_reject_fraction == 0.001


def test_an_empty_profile_and_an_empty_section_change_nothing(tmp_path):
    assert load_settings(write(tmp_path, "")) == Settings()
    empty = write(tmp_path, "sign:\n  # bands: 3\n", "empty.yaml")
    assert load_settings(empty) == Settings()
    assert load_settings([write(tmp_path, "sign: {bands: 5}"), empty]).sign.bands == 5


def test_a_profile_extends_another_beside_it(tmp_path):
    write(tmp_path, "sign: {bands: 3, rows: 2}", "base.yaml")
    settings = load_settings(write(tmp_path, "extends: base.yaml\nsign: {rows: 4}"))
    assert (settings.sign.bands, settings.sign.rows) == (3, 4)


def test_a_profile_extends_one_of_the_project(tmp_path):
    assert load_settings(write(tmp_path, "extends: fineweb.yaml")).sign.bands == 14


def test_profiles_in_a_circle_are_refused(tmp_path):
    write(tmp_path, "extends: b.yaml", "a.yaml")
    write(tmp_path, "extends: a.yaml", "b.yaml")
    assert problems(tmp_path / "a.yaml") == ["profiles extend each other in a circle: a.yaml -> b.yaml -> a.yaml"]


@pytest.mark.parametrize(
    ("override", "meant"),
    [
        ("sign.band=3", "sign.bands"),
        ("sing.bands=3", "sign"),
        ("bands=3", "sign.bands"),
        ("threshold=0.5", "resolve.threshold or cluster.threshold"),
        ("cluster.bands=3", "sign.bands"),
        ("source_priorities=[a]", "source_priority"),
    ],
)
def test_an_unknown_setting_is_refused_with_the_nearest_known_one(override, meant):
    (problem,) = problems(None, override)
    assert problem.startswith("there is no setting ")
    assert f"--set {override}" in problem
    assert problem.endswith(f"did you mean {meant}?")


def test_an_unknown_setting_near_nothing_lists_what_is_known():
    (problem,) = problems(None, "run.qqq=1")
    assert problem.endswith("known in run: max_reject_fraction")


@pytest.mark.parametrize(
    ("override", "problem"),
    [
        ("sign.bands=x", 'sign.bands: expected a whole number, found "x"'),
        ("sign.bands=1.5", "sign.bands: expected a whole number, found 1.5"),
        ("sign.bands=", "sign.bands: expected a whole number, found null"),
        ("sign.bands.x=1", 'sign.bands: expected a whole number, found {"x": 1}'),
        ("sign.bands=0", "sign.bands: expected at least 1, found 0"),
        ("sign.minhash_bits=8", "sign.minhash_bits: expected one of 16 or 32, found 8"),
        ("cluster.threshold=high", 'cluster.threshold: expected a number, found "high"'),
        ("cluster.threshold=80", "cluster.threshold: expected at most 1.0, found 80"),
        ("cluster.threshold=.nan", "cluster.threshold: expected at most 1.0, found NaN"),
        ("extract.main_content=1", "extract.main_content: expected true or false, found 1"),
        ("urls.rules=a.yaml", 'urls.rules: expected a list, such as [a, b], found "a.yaml"'),
        ("urls.rules=[1]", "urls.rules[0]: expected text, found 1"),
        ("spark.properties=3", "spark.properties: expected text, found 3"),
        ("sign=3", "sign: expected a section of settings, such as {key: value}, found 3"),
    ],
)
def test_a_wrong_value_is_refused_with_what_was_expected(override, problem):
    (found,) = problems(None, override)
    assert found.startswith(problem)
    assert f"(--set {override})" in found


def test_a_wrong_word_is_refused_with_the_nearest_right_one():
    (problem,) = problems(None, "cluster.verify=exat")
    assert problem.endswith("did you mean exact?")


def test_a_contradiction_in_a_section_is_refused():
    (problem,) = problems(None, "cluster.keep=[earliest_crawl, latest_crawl]")
    assert "name one of them" in problem


@pytest.mark.parametrize("override", ["x", "=3", "sign.=3", ".bands=3", "sign.bands=[3", ""])
def test_a_malformed_override_is_refused(override):
    (problem,) = problems(None, override)
    assert problem.startswith(f"--set {override}")


def test_a_problem_in_a_profile_names_file_and_line(tmp_path):
    profile = write(tmp_path, "# a comment\nsign:\n  bands: 32\n  rows: many\n")
    assert problems(profile) == ['sign.rows: expected a whole number, found "many" (profile.yaml line 4)']


def test_a_key_that_stands_twice_is_refused(tmp_path):
    (problem,) = problems(write(tmp_path, "sign:\n  rows: 3\n  rows: 4\n"))
    assert "sign.rows stands twice, again at profile.yaml line 3" in problem


def test_all_problems_are_reported_at_once(tmp_path):
    profile = write(tmp_path, "sign:\n  band: 3\n  rows: x\n  seed: 1\n  seed: 2\ncluster: {threshold: 2}\nzzz: 1\n")
    found = problems(profile, "x", "sing.bands=3", "cluster.verify=no")
    for part in (
        "seed stands twice",
        "sign.band ",
        "sign.rows",
        "cluster.threshold",
        "zzz",
        "--set x",
        "sing",
        "verify",
    ):
        assert any(part in problem for problem in found), part
    assert len(found) == 8


@pytest.mark.parametrize(
    "text", ["a: [", "- 1\n- 2\n", "just text", "a: !!python/object:os.system {}", "\tx: 1", "a: &a {b: *a}"]
)
def test_a_file_that_is_no_profile_is_refused(tmp_path, text):
    assert len(problems(write(tmp_path, text))) == 1


def test_a_missing_profile_is_wrong_usage(tmp_path):
    with pytest.raises(UsageError, match=r"no configuration file .*nowhere\.yaml") as caught:
        load_settings(tmp_path / "nowhere.yaml")
    assert caught.value.exit_code == 2
    with pytest.raises(UsageError, match=r"extends nowhere\.yaml"):
        load_settings(write(tmp_path, "extends: nowhere.yaml"))


def test_a_profile_that_is_not_utf8_or_a_folder_is_wrong_usage(tmp_path):
    (tmp_path / "latin.yaml").write_bytes(b"# caf\xe9\n")
    for path in (tmp_path / "latin.yaml", tmp_path):
        with pytest.raises(UsageError):
            load_settings(path)


@pytest.mark.parametrize("name", ["local.yaml", "sample.yaml", "fineweb.yaml"])
def test_the_profiles_of_the_project_are_valid(name):
    assert load_settings(own_conf() / name)


def test_the_local_profile_says_what_the_defaults_are():
    assert load_settings(own_conf() / "local.yaml") == Settings()


def test_the_section_whose_name_is_a_word_of_python_is_named_as_it_is_written(tmp_path):
    profile = tmp_path / "p.yaml"
    profile.write_text("global:\n")
    assert load_settings(profile).global_.keep == "oldest"
    assert load_settings(None, ["global.keep=newest"]).global_.keep == "newest"
    with pytest.raises(ConfigurationError, match=r"global\.keep: expected one of 'oldest' or 'newest', found \"new\""):
        load_settings(None, ["global.keep=new"])
    with pytest.raises(ConfigurationError, match=r"there is no setting global\.kep .*did you mean global\.keep"):
        load_settings(None, ["global.kep=newest"])
    with pytest.raises(ConfigurationError, match="there is no setting global_"):
        load_settings(None, ["global_.keep=newest"])
