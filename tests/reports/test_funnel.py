"""The funnel as text, and whether it closes."""

import copy

from dedup_lib.reports import funnel_closes, render_funnel

COUNTS = {
    "extract": {
        "inputs": 2,
        "bytes": 1_234_567,
        "records": 5000,
        "skipped": 2600,
        "page_records": 2400,
        "documents": 2000,
        "repeated": 10,
        "fetches": 300,
        "rejects": 90,
        "faults": 1,
        "records_by_type": {"response": 2400, "request": 2400, "warcinfo": 200},
        "fetches_by_kind": {"redirect": 100, "error": 200},
        "rejected": 91,
        "rejects_by_reason": {"damaged_member": 1, "no_text": 90},
        "verdicts": {"complete": 2},
    },
    "resolve": {"captures": 2000, "pages": 1900, "url_duplicates": 100, "conflicts": 4, "conflicts_by_rule": {"pk": 4}},
    "sign": {"signatures": 1900, "short": 19},
    "cluster": {
        "captures": 2000,
        "kept": 1500,
        "url": 100,
        "exact": 150,
        "near": 250,
        "largest_cluster": 12,
        "candidate_pairs": 800,
        "edges": 400,
        "compared_exactly": 200,
        "passes": 2,
        "checked": 250,
        "lowest_checked": 0.8012,
    },
}


def cells(text):
    return [" ".join(line.split()) for line in text.splitlines()]


def test_each_step_has_its_count_and_share():
    text = render_funnel("snapshot-a", COUNTS, {"extract": 12.34, "sign": 3.0})
    lines = cells(text)
    for expected in (
        "extract 12.3",
        "size 1.23 MB",
        "records 5,000",
        "page records 2,400 48.0 %",
        "documents 2,000 83.3 %",
        "fetches 300 12.5 %",
        "rejects 90 3.8 %",
        "faults that are no record 1",
        "rejects and faults 91",
        "no_text 90 98.9 %",
        "damaged_member 1 1.1 %",
        "captures 2,000 100.0 %",
        "pages 1,900 95.0 %",
        "short: exact lane only 19 1.0 %",
        "kept 1,500 75.0 %",
        "near duplicates 250 12.5 %",
        "similar pairs 400 50.0 %",
        "told by their texts 200 50.0 %",
        "near duplicates checked 250 100.0 %",
        "lowest similarity 0.8012",
        "sign 3.0",
    ):
        assert expected in lines
    assert lines[0] == "snapshot-a"
    assert lines.index("error 200 66.7 %") < lines.index("redirect 100 33.3 %")
    assert max(map(len, text.splitlines())) < 80


def test_what_is_missing_is_absent():
    lines = cells(
        render_funnel("b", {"extract": {"records": 10, "documents": 3}, "cluster": {"lowest_checked": None}}, {})
    )
    assert "records 10" in lines
    assert "documents 3" in lines  # no share: page_records is absent
    assert "rejects absent" in lines
    assert "by kind absent" in lines
    assert "resolve absent" in lines
    assert "lowest similarity none" in lines


def test_a_funnel_closes():
    assert funnel_closes(COUNTS) == []
    assert funnel_closes({}) == []


def test_each_sum_that_does_not_close_is_a_sentence():
    faults = {
        ("extract", "skipped"): ["extract.records is 5,000, but extract.page_records + extract.skipped is 5,001"],
        ("extract", "rejects"): [
            "extract.page_records is 2,400, but "
            "extract.documents + extract.repeated + extract.fetches + extract.rejects is 2,401"
        ],
        ("resolve", "url_duplicates"): [
            "resolve.captures is 2,000, but resolve.pages + resolve.url_duplicates is 2,001"
        ],
        ("sign", "signatures"): ["sign.signatures is 1,901, but resolve.pages is 1,900"],
        ("cluster", "near"): [
            "cluster.captures is 2,000, but cluster.kept + cluster.url + cluster.exact + cluster.near is 2,001"
        ],
    }
    for (stage, key), sentences in faults.items():
        counts = copy.deepcopy(COUNTS)
        counts[stage][key] += 1
        assert funnel_closes(counts) == sentences
    counts = copy.deepcopy(COUNTS)
    counts["cluster"]["captures"] += 1
    assert len(funnel_closes(counts)) == 2
