"""How settings are written down."""

import json

from dedup_lib.config import Settings, SignSettings, fingerprint, load_settings, settings_record, settings_reference
from dedup_lib.config.explain import setting_keys


def test_the_record_can_be_read_back():
    settings = load_settings(None, ["sign.bands=5", "cluster.keep=[longest_text]"])
    assert Settings.model_validate_json(json.dumps(settings_record(settings))) == settings


def test_a_fingerprint_is_of_values_not_of_how_they_were_given():
    assert fingerprint(load_settings().sign) == fingerprint(load_settings(None, ["sign.bands=32"]).sign)
    assert fingerprint(SignSettings()) != fingerprint(SignSettings(bands=31))
    assert fingerprint(SignSettings(), ["a"]) != fingerprint(SignSettings(), ["b"])
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})


def test_a_whole_number_for_a_number_has_the_same_fingerprint():
    assert fingerprint(load_settings(None, ["cluster.threshold=1"]).cluster) == fingerprint(
        load_settings(None, ["cluster.threshold=1.0"]).cluster
    )


def test_the_reference_has_a_row_with_a_meaning_for_every_setting():
    rows = [line.split(" | ") for line in settings_reference().splitlines()[2:]]
    assert [row[0].strip("| `") for row in rows] == [".".join(key) for key in setting_keys()]
    for name, _default, meaning in rows:
        assert len(meaning.strip("| ")) > 3, name


def test_the_reference_lists_choices():
    assert "(of `exact`, `estimate`, `none`)" in settings_reference()
