"""Where configuration files are looked for."""

import pytest

from dedup_lib.config import locate_conf
from dedup_lib.config.places import own_conf
from dedup_lib.errors import UsageError


def test_an_absolute_path_is_taken_as_it_is(tmp_path):
    (tmp_path / "a.yaml").touch()
    assert locate_conf(str(tmp_path / "a.yaml")) == tmp_path / "a.yaml"


def test_a_file_beside_the_profile_comes_before_the_projects_own(tmp_path):
    assert locate_conf("spark-local.conf", beside=tmp_path) == own_conf() / "spark-local.conf"
    (tmp_path / "spark-local.conf").touch()
    assert locate_conf("spark-local.conf", beside=tmp_path) == tmp_path / "spark-local.conf"


def test_a_path_is_relative_to_the_working_directory_and_conf_is_the_projects(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").touch()
    assert locate_conf("mine.yaml") == tmp_path / "mine.yaml"
    assert locate_conf("conf/local.yaml") == own_conf() / "local.yaml"


def test_a_missing_file_is_wrong_usage_that_names_the_places(tmp_path):
    with pytest.raises(UsageError) as caught:
        locate_conf("nowhere.yaml", beside=tmp_path)
    assert str(tmp_path / "nowhere.yaml") in str(caught.value)
    assert str(own_conf() / "nowhere.yaml") in str(caught.value)
