"""Variants of URLs as the shared corpus plants them: those that must be one page are, and no two pages become one."""

import importlib
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pyarrow as pa
import pytest

from dedup_lib.urls import identify_column

from .rules_for_tests import product_rules

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
pytestmark = pytest.mark.skipif(not (CORPUS / "perturb.py").exists(), reason="the shared corpus is not here")
PAGES, VARIANTS = 3000, 12
MUST_MERGE = ("base", "rfc", "tracking", "session")


@pytest.fixture(scope="module")
def planted():
    """Rows (page, rule, url) of pages with variants, and of templated pages that differ in `?id=` alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(CORPUS))
        perturb = importlib.import_module("perturb")
    for name in ("perturb", "words"):  # not to be met by other tests
        sys.modules.pop(name, None)
    dice = random.Random(3)
    rows = []
    for page in range(PAGES):
        url, host = perturb.base_url(page, dice)
        rows.append((page, "base", url))
        for number in range(1, VARIANTS + 1):
            variant, rule = perturb.url_variant(url, dice, number)
            rows.append((page, rule, variant))
        rows.append((PAGES + page, "distinct", f"https://{host}/item.php?id={page}&lang=en"))
    return rows


@pytest.fixture(scope="module")
def keys(planted):
    return identify_column(pa.array([url for _, _, url in planted]), product_rules()).url_key.to_pylist()


def test_variants_of_a_page_that_must_merge_have_its_key(planted, keys):
    base = {page: key for (page, rule, _), key in zip(planted, keys, strict=True) if rule == "base"}
    assert Counter(rule for _, rule, _ in planted).keys() == {*MUST_MERGE, "site", "distinct"}
    wrong = [
        (rule, url, key)
        for (page, rule, url), key in zip(planted, keys, strict=True)
        if rule in MUST_MERGE and key != base[page]
    ]
    assert wrong == []


def test_no_two_pages_have_one_key(planted, keys):
    pages = defaultdict(set)
    for (page, _, _), key in zip(planted, keys, strict=True):
        pages[key].add(page)
    assert [key for key, found in pages.items() if len(found) > 1] == []
