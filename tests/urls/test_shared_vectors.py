"""The development vectors, where the folder they live in is beside the checkout."""

import json
from pathlib import Path

import pytest

from dedup_lib.urls import canonical_links, declared_canonical, identify, resolve_link

from .rules_for_tests import product_rules, rules_with

VECTORS = Path(__file__).parents[3] / "shared" / "url_vectors.tsv"


def _built(value):
    if isinstance(value, dict) and "concat" in value:
        return "".join(text * times for text, times in value["concat"])
    return value


def _canonical(url, rules):
    identity = identify(url, rules)
    return None if identity.refused else identity.policy_url


def _result(given):
    rules = product_rules()
    if isinstance(given, str) or "concat" in given:
        return _canonical(_built(given), rules)
    if "bytes" in given:
        return _canonical(bytes.fromhex(given["bytes"]), rules)
    if "doc" in given:
        link = resolve_link(given["doc"], given.get("base"), given["href"])
        return None if link is None else _canonical(link, rules)
    if "policy" in given:
        policy = dict(given["policy"])
        aliases = policy.pop("aliases", {})
        return _canonical(given["url"], rules_with(defaults=policy, aliases=aliases))
    if "canonical" in given:
        links = canonical_links(given["url"], given["canonical"], None) or []
        return declared_canonical(given["url"], links, rules) or _canonical(given["url"], rules)
    return identify(given["key"], rules).url_key


def test_every_vector_holds():
    if not VECTORS.exists():
        pytest.skip(f"{VECTORS} is not there")
    lines = [line for line in VECTORS.read_text(encoding="utf-8").split("\n") if line and not line.startswith("#")]
    rows = [line.split("\t") for line in lines[1:]]
    assert len(rows) > 200
    wrong = []
    for given, expected, rule, _ in rows:
        result, wanted = _result(json.loads(given)), _built(json.loads(expected))
        if result != wanted:
            wrong.append((rule, given, wanted, result))
    assert wrong == []
