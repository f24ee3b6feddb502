"""Rules for the tests: those of the product, alone or with more on top."""

import tempfile
from functools import cache
from pathlib import Path

import yaml

from dedup_lib.urls import UrlRules, default_rules_path, load_rules


@cache
def product_rules() -> UrlRules:
    return load_rules([default_rules_path()])


def rules_with(**sections) -> UrlRules:
    """The product's rules with sections of a rule file merged on top."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.yaml"
        path.write_text(yaml.safe_dump({"version": 1, **sections}, allow_unicode=True), encoding="utf-8")
        return load_rules([default_rules_path(), path])


NO_RULES = load_rules([])
