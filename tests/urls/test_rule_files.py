"""Rule files: what a wrong one is told, how several merge, and what the stamp depends on."""

import re
from pathlib import Path

import pytest

from dedup_lib.errors import ConfigurationError
from dedup_lib.urls import default_rules_path, identify, load_rules
from dedup_lib.urls.parser import PARSER

from .rules_for_tests import NO_RULES, product_rules, rules_with


def _write(folder: Path, text: str, name: str = "mine.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def _problems(folder: Path, text: str) -> list[str]:
    path = _write(folder, text)
    with pytest.raises(ConfigurationError) as caught:
        load_rules([default_rules_path(), path])
    assert caught.value.exit_code == 2
    return [problem.removeprefix(f"{path}:") for problem in caught.value.problems]


WRONG = [
    ("defaults: {trailing_slahs: keep}", "2: unknown key trailing_slahs: did you mean trailing_slash?"),
    ("defaults: {zzz: 1}", "2: unknown key zzz: known here: trailing_slash, scheme,"),
    ("trakers: {}", "2: unknown key trakers: did you mean trackers?"),
    ("defaults:\n  trailing_slash: maybe", "3: trailing_slash of defaults is maybe: use one of keep, strip, add"),
    ("defaults: {strip_www: 1}", "2: strip_www of defaults must be true or false"),
    ("defaults: {drop_params: color}", "2: drop_params of defaults must be a list of strings"),
    ("defaults: {drop_params: [a, a]}", "2: drop_params of defaults has a twice: keep one"),
    ("hosts:\n  a.example: {}\n  a.example: {}", "4: a.example is given twice in hosts: keep one"),
    ("hosts: {'http://a.example/': {}}", "2: http://a.example/ is not a host"),
    ("hosts: {'a.example:80': {}}", "2: a.example:80 is not a host"),
    ("hosts: [a.example]", "2: hosts must be a mapping"),
    ("domains: {www.a.co.uk: {}}", "2: www.a.co.uk is not a registrable domain: its registrable domain is a.co.uk"),
    ("domains: {github.io: {}}", "2: github.io is not a registrable domain: name it under hosts"),
    ("trackers: {mine: {names: []}}", "2: names of trackers mine is empty"),
    ("trackers: {mine: {vendor: me}}", "2: trackers mine names nothing: give it one of names, prefixes"),
    (
        "sessions:\n  parameters:\n    x:\n      names: [s]\n      values:\n      - '('",
        "7: ( in values of sessions.parameters x is not an RE2 pattern",
    ),
    ("sessions: {path_segments: {x: {pattern: '^s-'}}}", "2: pattern of sessions.path_segments x has an anchor (^)"),
    (
        "sessions: {path_segments: {x: {pattern: '(a)\\1'}}}",
        "2: pattern of sessions.path_segments x is not an RE2 pattern",
    ),
    ("aliases: {a.example: 'b c'}", "2: b c is not a host"),
    ("aliases:\n  a.example: b.example\n  b.example: a.example", "3: the alias a.example leads back to itself"),
    ("defaults: {strip_www: true}\naliases: {a.example: www.a.example}", "3: the alias a.example leads back to itself"),
    ("hosts: {a.example: {}}\naliases: {a.example: b.example}", "3: a.example is an alias and has rules under hosts"),
    ("defaults: [", "3: is not YAML"),
]


@pytest.mark.parametrize(("text", "problem"), WRONG)
def test_a_wrong_rule_is_told_with_file_line_and_remedy(tmp_path, text, problem):
    found = _problems(tmp_path, "version: 1\n" + text + "\n")
    assert any(told.startswith(problem) for told in found), found


def test_all_problems_of_all_files_are_told_at_once(tmp_path):
    first = _write(tmp_path, "version: 1\ndefaults:\n  schema: http\n  strip_www: maybe\n", "first.yaml")
    second = _write(tmp_path, "hosts: {a.example: {drop_parms: [x]}}\n", "second.yaml")
    with pytest.raises(ConfigurationError) as caught:
        load_rules([first, second, tmp_path / "none.yaml"])
    assert caught.value.problems == [
        f"{first}:3: unknown key schema: did you mean scheme?",
        f"{first}:4: strip_www of defaults must be true or false",
        f"{second}:1: version is missing: add `version: 1`",
        f"{second}:1: unknown key drop_parms: did you mean drop_params?",
        f"{tmp_path / 'none.yaml'}: cannot be read (No such file or directory): give the path of a rule file",
    ]


@pytest.mark.parametrize("text", ["", "version: 2\n", "- a\n", "a\n"])
def test_a_file_must_say_its_version(tmp_path, text):
    if text:
        assert _problems(tmp_path, text)
    else:
        assert load_rules([default_rules_path(), _write(tmp_path, text)]) == product_rules()


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        ({"drop_params": ["a"]}, {"drop_params": ["b"]}, "http://h.example/?a"),
        ({"drop_params": ["a"]}, {"collapse_slashes": True}, "http://h.example/?b"),
        ({"drop_params": ["a"]}, {"drop_params": None}, "http://h.example/?a&b"),
        ({"drop_params": ["a"]}, None, "http://h.example/?a&b"),
    ],
)
def test_a_later_file_replaces_fields_and_null_takes_away(tmp_path, first, second, result):
    paths = [
        _write(tmp_path, f"version: 1\nhosts: {{h.example: {_yaml(rule)}}}\n", f"{number}.yaml")
        for number, rule in enumerate([first, second])
    ]
    assert identify("http://h.example/?a&b", load_rules(paths)).policy_url == result


def _yaml(rule):
    return re.sub("None", "null", str(rule)).replace("True", "true")


def test_groups_are_replaced_by_name_or_taken_away():
    rules = rules_with(trackers={"matomo": {"names": ["pk_campaign"]}, "meta": None})
    assert identify("http://h.example/?pk_campaign&pk_id&fbclid", rules).policy_url == "http://h.example/?fbclid&pk_id"


def test_patterns_of_users_match_whole_segments_and_values():
    rules = rules_with(
        sessions={
            "path_segments": {"mine": {"pattern": "s-[0-9]+|t-[0-9]+"}},
            "parameters": {"mine": {"name_patterns": ["tok[0-9]"], "values": ["[a-f]{4}"]}},
        }
    )
    url = "http://h.example/s-12/s-12x/t-9?TOK1=abcd&tok1=abcde&tok12=abcd"
    assert identify(url, rules).policy_url == "http://h.example/s-12x?tok1=abcde&tok12=abcd"


def test_without_files_there_are_no_rules_but_the_steps_for_every_url():
    assert identify("http://h.example/%7e?utm_id=2&b&a", NO_RULES).policy_url == "http://h.example/~?a&b&utm_id=2"


def test_the_stamp_names_the_parser_and_the_effect_of_the_rules(tmp_path):
    text = default_rules_path().read_text(encoding="utf-8")
    bare = _write(tmp_path, "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#")))
    assert re.fullmatch(rf"u1-{re.escape(PARSER)}-[0-9a-f]{{8}}", product_rules().scheme)
    assert load_rules([bare]).scheme == product_rules().scheme
    assert load_rules([bare, bare]).scheme == product_rules().scheme
    assert rules_with(
        trackers={"matomo": {"vendor": "other", "prefixes": ["piwik_", "pk_", "matomo_", "mtm_"]}}
    ).scheme == (product_rules().scheme)
    assert rules_with(defaults={"keep_params": ["x"]}).scheme != product_rules().scheme
    assert rules_with(defaults={"allow_params": []}).scheme != product_rules().scheme
