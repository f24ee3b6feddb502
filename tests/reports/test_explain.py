"""`crawl-dedup explain` on snapshots by hand: what is found under a name, and each reason why two were not merged."""

import json
from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import pyarrow as pa
import pytest
from clustering.texts import pair_of_texts, words
from signatures.reference import jaccard, reference_shingles

from dedup_lib.cli.main import main
from dedup_lib.config import Settings
from dedup_lib.config.settings import ClusterSettings, SignSettings
from dedup_lib.reports.explain.recorded import recorded
from dedup_lib.reports.explain.verdicts import VERDICTS
from dedup_lib.signatures import Normalisation, Scheme, similarity_to_store
from dedup_lib.signatures.sign import sign_texts
from dedup_lib.tables.keys import SnapshotKey
from dedup_lib.tables.published import published_path, read_version

from .explained import KEY, SCHEME, doc_id, forget, page, publish, publish_global

FIRST, NEAR = pair_of_texts(90, 5, seed=1)  # 90 of 100
LINES = "\n".join(" ".join(words(12, seed)) for seed in range(10))
EDITED = LINES.replace(LINES.splitlines()[4], " ".join([*words(12, 4)[:6], "and", "new", "words"]))


@pytest.fixture
def call(capsys):
    def run(*arguments):
        capsys.readouterr()
        code = main(["explain", *map(str, arguments)])
        found = capsys.readouterr()
        return SimpleNamespace(code=code, out=found.out, err=found.err)

    return run


@pytest.fixture
def told(call):
    """The one JSON object of a command that must succeed."""

    def run(*arguments):
        done = call(*arguments, "--json")
        assert (done.code, done.err) == (0, "")
        (line,) = done.out.splitlines()
        return json.loads(line)

    return run


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Two snapshots: every reason in the first; a later capture of one page in the second."""
    root = tmp_path_factory.mktemp("store")
    pages = {
        "first": page("first", FIRST, "http://www.x.example/first?b=2&a=1"),
        "again": page("again", FIRST + " again", "https://www.x.example/first?a=1&b=2&utm_source=s", hours=1),
        "near": page("near", NEAR, hours=2),
        "copy": page("copy", NEAR.upper(), hours=3),
        "lines": page("lines", LINES),
        "edited": page("edited", EDITED, hours=1),
        "apart": page("apart", "other words than all of these here", hours=4),
    }
    lost = {
        "again": ("url", "first", None),
        "near": ("near", "first", 0.9),
        "copy": ("exact", "near", 1.0),
        "edited": ("near", "lines", 0.85),
    }
    place = {"archive": "b.warc.gz", "archive_offset": 17}
    fetches = [
        {"url": "http://x.example/old", "url_key": "x.example/old", "kind": "redirect", "http_status": 301} | place,
        {"url": "https://x.example/near", "url_key": "x.example/near", "kind": "error", "http_status": 404} | place,
    ]
    fetches[0]["target"] = "http://x.example/first"
    rejects = [{"url": "http://x.example/app", "record_id": "<urn:uuid:app>", "reason": "no_text"} | place]
    publish(root, pages, lost, fetches=fetches, rejects=rejects, conflicts={"apart": "x.example: tracking id"})
    later = {"near": page("later", "a text of the second snapshot", "https://x.example/near", hours=900)}
    return publish(root, later, {}, key=SnapshotKey("web", "snapshot-b"))


def test_a_near_duplicate_is_told_with_what_it_lost_to_and_how_alike_they_are(told, root):
    found = told(root, doc_id("near").hex())
    one = found["explained"]
    assert (one["fate"], one["similarity"], one["cluster_size"]) == ("near", 0.9, 4)
    assert one["representative"]["doc_id"] == doc_id("first").hex()
    assert one["because"][-1] == "that one comes before it in the priority order by earliest_crawl"
    assert {row["doc_id"] for row in one["aliases"]} == {doc_id(name).hex() for name in ("first", "again", "copy")}
    (beside,) = found["comparisons"]
    assert beside["exact"] == pytest.approx(0.9)
    signatures = sign_texts(pa.array([FIRST, NEAR]), SCHEME)
    assert beside["bands_met"] == [n for n, (a, b) in enumerate(zip(*signatures.bands, strict=True)) if a == b]
    assert beside["estimated"] == similarity_to_store(NEAR, signatures.to_arrow()["minhash"], SCHEME)[0].as_py()
    assert beside["standard_error"] == pytest.approx((beside["estimated"] * (1 - beside["estimated"]) / 256) ** 0.5)
    assert beside["chance_to_meet"] == pytest.approx(1 - (1 - 0.9**8) ** 32)
    assert (beside["shared_chars"], beside["left_chars"], beside["right_chars"]) == (94 * 10, 5 * 10 - 1, 5 * 10 - 1)


def test_the_way_to_the_kept_document_is_told_step_by_step(told, root):
    found = told(root, doc_id("copy").hex())
    steps = [(step["doc_id"], step["reason"]) for step in found["explained"]["steps"]]
    assert steps == [
        (doc_id(n).hex(), reason) for n, reason in (("copy", "exact"), ("near", "near"), ("first", "kept"))
    ]
    assert [one["right"]["doc_id"] for one in found["comparisons"]] == [doc_id("near").hex(), doc_id("first").hex()]
    assert [one["same_content"] for one in found["comparisons"]] == [True, False]


def test_shared_and_differing_passages_are_shown(call, root):
    done = call(root, doc_id("edited").hex())
    assert done.code == 0
    assert "removed: near duplicate" in done.out
    assert "  - and new words" in done.out
    assert f"  + {' '.join(words(12, 4)[6:])}" in done.out
    assert max(map(len, done.out.splitlines())) < 200


def test_a_duplicate_by_url_says_which_test_held_and_is_signed_anew(told, root):
    found = told(root, doc_id("again").hex())
    assert found["explained"]["fate"] == "url"
    assert "similar at resolve.threshold 0.8" in found["explained"]["because"][0]
    (beside,) = found["comparisons"]
    assert (beside["left"]["signature_stored"], beside["right"]["signature_stored"]) == (False, True)
    assert beside["exact"] == pytest.approx(95 / 96)


def test_duplicates_by_url_name_the_test_that_made_them_one_page(told, tmp_path):
    pages = {
        "main": page("main", FIRST, "https://x.example/main", hours=9),
        "recaptured": page("recaptured", "an older text", "https://x.example/main"),
        "same": page("same", FIRST, "https://x.example/main/?utm_source=s"),
        "print": page("print", FIRST, "https://x.example/print", declared_canonical="https://x.example/main"),
    }
    publish(tmp_path, pages, dict.fromkeys(("recaptured", "same", "print"), ("url", "main", None)))
    because = {name: told(tmp_path, doc_id(name).hex())["explained"]["because"] for name in pages}
    assert because["recaptured"] == ["it is another capture of the same URL; the latest complete one is the page"]
    assert because["same"] == ["its URL has the same url_key, and its content is the same"]
    assert because["print"] == [
        "it, or the page of its URL, declares https://x.example/main as canonical, and the texts agree"
    ]
    assert because["main"] == ["within its snapshot, it stands for a cluster of 4 captures"]


def test_a_kept_document_with_an_undone_rule_says_so(told, root):
    found = told(root, doc_id("apart").hex())
    assert found["explained"]["fate"] == "kept"
    assert "x.example: tracking id" in found["explained"]["because"][0]
    assert found["comparisons"] == []


@pytest.mark.parametrize(
    "name",
    [
        doc_id("lines").hex().upper(),
        f"0x{doc_id('lines').hex()}",
        "<urn:uuid:lines>",
        "urn:uuid:lines",
        "https://x.example/lines",
        "HTTP://x.example:80/lines/?utm_source=mail#top",
        "x.example/lines",
        "x.example/lines/?utm_source=mail",
    ],
)
def test_a_document_is_found_by_any_of_its_names(told, root, name):
    assert told(root, name)["explained"]["doc_id"] == doc_id("lines").hex()


def test_of_several_captures_the_latest_is_explained_and_all_are_listed(told, call, root):
    found = told(root, "https://x.example/near")
    assert [(one["snapshot"], one["doc_id"]) for one in found["captures"]] == [
        ("snapshot-b", doc_id("later").hex()),
        ("snapshot-a", doc_id("near").hex()),
    ]
    assert found["explained"]["doc_id"] == doc_id("later").hex()
    assert found["fetches"][0]["http_status"] == 404
    assert told(root, "https://x.example/near", "--snapshot", "snapshot-a")["explained"]["fate"] == "near"
    assert call(root, "https://x.example/near").out.startswith("2 captures; the one explained is named below")


def test_what_is_only_a_fetch_or_a_reject_is_told_with_its_place(call, told, root):
    redirect = call(root, "https://x.example/old/").out
    assert "no document was made of it" in redirect
    assert "redirect  301  b.warc.gz at 17  http://x.example/old  -> http://x.example/first" in redirect
    for name in ("http://x.example/app", "urn:uuid:app"):
        (reject,) = told(root, name)["rejects"]
        assert (reject["reason"], reject["archive"], reject["archive_offset"]) == ("no_text", "b.warc.gz", 17)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("https://x.example/linez", "is it one of https://x.example/lines"),
        (doc_id("lines").hex()[:9], f"is it one of {doc_id('lines').hex()}"),
        ("nothing at all", "check the name"),
        ("f" * 32, "check the name"),
    ],
)
def test_what_is_not_there_is_told_with_the_nearest_names(call, root, name, hint):
    done = call(root, name)
    assert (done.code, done.out) == (3, "")
    assert hint in done.err
    assert done.err.count("\n") == 1


def test_a_store_or_snapshot_that_is_not_there_is_told(call, root, tmp_path):
    assert "nothing is published" in call(tmp_path, "x").err
    done = call(root, "x", "--snapshot", "snapshot-z")
    assert (done.code, "web/snapshot-a, web/snapshot-b" in done.err) == (3, True)


def test_without_the_rules_of_the_store_urls_are_found_as_they_are(told, call, tmp_path):
    pages = {"one": page("one", FIRST, "https://x.example/one?b=1")}
    publish(tmp_path, pages, {}, url_scheme="of-other-rules")
    found = told(tmp_path, "https://x.example/one?b=1")
    assert "the URL rules it was named by are not there any more" in found["explained"]["notes"][0]
    assert call(tmp_path, "https://x.example/one?b=1&utm_source=x").code == 3


def test_what_a_terminal_would_obey_is_not_shown_and_what_is_stale_is_said(call, tmp_path):
    publish(tmp_path, {"one": page("one", FIRST, title="a \x1b[31m title \u202e of it")}, {})
    path = tmp_path / published_path(KEY)
    version = read_version(tmp_path, KEY)
    sign = replace(version.stages["sign"], made_from={"resolve": "r0"})
    path.write_bytes(replace(version, stages={**version.stages, "sign": sign}).to_bytes())
    out = call(tmp_path, doc_id("one").hex()).out
    assert "a \ufffd[31m title \ufffd of it" in out
    assert "sign is stale, since resolve was replaced after it was made: run sign again" in out


def test_a_snapshot_that_is_not_clustered_yet_is_told(told, tmp_path):
    publish(tmp_path, {"one": page("one", FIRST), "two": page("two", NEAR)}, {}, clustered=False)
    one, two = (doc_id(name).hex() for name in ("one", "two"))
    assert told(tmp_path, one)["explained"]["because"] == ["the snapshot is not clustered yet: run cluster"]
    assert told(tmp_path, one, two)["pair"]["verdict"] == "not_clustered"


def pair(told, root, one, other):
    found = told(root, doc_id(one).hex(), doc_id(other).hex())["pair"]
    assert found["meaning"] == VERDICTS[found["verdict"]]
    return found


def test_two_of_one_cluster_were_merged(told, root):
    found = pair(told, root, "copy", "first")
    assert found["verdict"] == "merged"
    assert found["because"][-1] == f"{doc_id('first').hex()} comes first in the priority order by earliest_crawl"


def test_two_captures_of_different_snapshots_are_for_global(told, root):
    found = pair(told, root, "lines", "later")
    assert found["verdict"] == "other_snapshot"
    assert found["exact"] == 0


def test_two_urls_are_compared_within_one_snapshot_where_both_are(told, root):
    found = told(root, "https://x.example/near", "https://x.example/lines")
    assert (found["explained"]["snapshot"], found["other"]["snapshot"]) == ("snapshot-a", "snapshot-a")
    assert found["pair"]["verdict"] == "no_band_met"


def test_a_document_and_itself_are_one_capture(told, root):
    assert pair(told, root, "lines", "lines")["verdict"] == "same_capture"


def test_what_is_no_document_cannot_be_compared(call, root):
    done = call(root, doc_id("lines").hex(), "http://x.example/app")
    assert (done.code, "http://x.example/app is no document" in done.err) == (3, True)


def test_texts_without_a_shingle_are_compared_by_content_alone(told, tmp_path):
    publish(tmp_path, {"one": page("one", "three short words"), "two": page("two", FIRST)}, {})
    found = pair(told, tmp_path, "one", "two")
    assert (found["verdict"], found["estimated"], found["chance_to_meet"]) == ("too_short", None, None)


def test_a_pair_that_met_no_band_is_told_with_the_chance_of_that(told, tmp_path):
    left, right = pair_of_texts(40, 30, seed=2)  # 40 of 100: meets with 1 - (1 - 0.4^8)^32 = 0.021
    publish(tmp_path, {"one": page("one", left), "two": page("two", right)}, {})
    found = pair(told, tmp_path, "one", "two")
    assert (found["verdict"], found["bands_met"]) == ("no_band_met", [])
    assert found["because"] == ["documents of similarity 0.4000 meet with probability 0.0208"]


def test_a_pair_that_met_below_the_threshold_is_told(told, tmp_path):
    left, right = pair_of_texts(70, 15, seed=3)  # 70 of 100: meets with 0.85
    publish(tmp_path, {"one": page("one", left), "two": page("two", right)}, {})
    found = pair(told, tmp_path, "one", "two")
    assert found["verdict"] == "below_threshold"
    assert "exact 0.7000, cluster.threshold 0.8" in found["because"][0]


def test_a_pair_that_the_estimate_rejected_is_told(told, tmp_path):
    for seed in count():  # one whose estimate is too low
        left, right = pair_of_texts(90, 5, seed)
        estimate = similarity_to_store(left, sign_texts(pa.array([right]), SCHEME).to_arrow()["minhash"], SCHEME)[
            0
        ].as_py()
        if estimate < 0.88:
            break
    settings = Settings(cluster=ClusterSettings(threshold=0.89, verify="estimate"))
    publish(tmp_path, {"one": page("one", left), "two": page("two", right)}, {}, settings=settings)
    found = pair(told, tmp_path, "one", "two")
    assert found["verdict"] == "rejected_by_estimate"
    assert found["because"] == [f"estimated {estimate:.4f}, exact 0.9000, cluster.threshold 0.89"]


def test_a_similar_pair_of_which_both_are_kept_was_never_paired(told, tmp_path):
    publish(tmp_path, {"one": page("one", FIRST), "two": page("two", NEAR)}, {})
    found = pair(told, tmp_path, "one", "two")
    assert found["verdict"] == "never_paired"
    assert found["because"] == ["cluster.anchors_per_key is 8"]


def test_what_the_table_of_pairs_has_of_two_documents_is_told(told, tmp_path):
    left, right = pair_of_texts(70, 15, seed=3)
    pages = {"one": page("one", left), "two": page("two", right), "three": page("three", LINES)}
    tried = {"anchor_id": doc_id("two"), "doc_id": doc_id("one"), "estimate": 0.75, "exact": 0.7, "pass": 2}
    other = {"anchor_id": doc_id("two"), "doc_id": doc_id("four"), "estimate": 0.9, "pass": 1, "accepted": True}
    publish(tmp_path, pages, {}, pairs=[other, tried | {"accepted": False}])
    assert pair(told, tmp_path, "one", "two")["because"][0] == (
        "pass 2 rejected them as a candidate pair: estimated 0.7500, exact 0.7000"
    )
    assert pair(told, tmp_path, "one", "three")["because"][0] == "they were no candidate pair"


def test_a_similar_pair_of_which_one_went_to_an_earlier_anchor_is_told(told, tmp_path):
    pool = words(124, 5)
    texts = {"anchor": pool[:104], "between": pool[10:114], "kept": pool[20:124]}  # 90 of 110, and 80 of 120
    shingles = {name: reference_shingles(" ".join(text)) for name, text in texts.items()}
    assert (
        jaccard(shingles["anchor"], shingles["between"]) == jaccard(shingles["between"], shingles["kept"]) == 90 / 110
    )
    pages = {name: page(name, " ".join(text), hours=number) for number, (name, text) in enumerate(texts.items())}
    pages["copy"] = page("copy", pages["between"]["text"], hours=9)
    publish(tmp_path, pages, {"between": ("near", "anchor", 90 / 110), "copy": ("exact", "between", 1.0)})
    found = pair(told, tmp_path, "between", "kept")
    assert found["verdict"] == "other_anchor"
    assert found["because"] == [
        f"{doc_id('between').hex()} was removed for {doc_id('anchor').hex()} (near, similarity 0.8182), which comes "
        f"before {doc_id('kept').hex()} in the priority order by earliest_crawl; to that, {doc_id('kept').hex()} has "
        f"similarity {80 / 120:.4f}",
        f"{doc_id('kept').hex()} is kept",
    ]
    by_copy = pair(told, tmp_path, "copy", "kept")
    assert by_copy["verdict"] == "other_anchor"
    assert by_copy["because"][0].startswith(
        f"{doc_id('copy').hex()} lost to {doc_id('between').hex()} by equal content"
    )
    assert by_copy["contents"]["left"]["doc_id"] == doc_id("between").hex()


DIGITS = Normalisation(digits="zero")


def test_the_exact_similarity_is_that_of_texts_normalised_as_the_snapshot_was(told, tmp_path):
    one = " ".join(f"{word} {number}" for number, word in enumerate(words(40, 7)))
    two = " ".join(f"{word} {number + 50}" for number, word in enumerate(words(40, 7)))
    two = " ".join(word.zfill(2) if word.isdigit() else word for word in two.split())
    one = " ".join(word.zfill(2) if word.isdigit() else word for word in one.split())
    for folder, scheme, exact in (("plain", SCHEME, 0.0), ("zero", Scheme(normalisation=DIGITS), 1.0)):
        root = tmp_path / folder
        publish(root, {"one": page("one", one), "two": page("two", two)}, {}, scheme=scheme)
        assert pair(told, root, "one", "two")["exact"] == exact


def test_a_snapshot_that_is_not_signed_has_the_normalisation_of_its_settings(tmp_path):
    settings = Settings(sign=SignSettings(unicode_form="nfkc", digits="zero"))
    publish(tmp_path, {"one": page("one", FIRST)}, {}, settings=settings)
    version = read_version(tmp_path, KEY)
    unsigned = replace(version, stages={"extract": version.stages["extract"]})
    assert recorded(tmp_path, unsigned).scheme == Scheme(normalisation=Normalisation("nfkc", "zero"))


@pytest.fixture
def stale(tmp_path):
    """A clustered snapshot whose kept document `first` is no longer in `documents`."""
    pages = {
        "first": page("first", FIRST),
        "again": page("again", FIRST, "https://x.example/first?utm_source=s"),
        "near": page("near", NEAR, hours=2),
        "copy": page("copy", FIRST.upper(), hours=3),
        "alone": page("alone", NEAR + " end", hours=4),
    }
    lost = {"again": ("url", "first", None), "near": ("near", "first", 0.9), "copy": ("exact", "first", 1.0)}
    publish(tmp_path, pages, lost)
    forget(tmp_path, "first")
    return tmp_path


@pytest.mark.parametrize("name", ["again", "near", "copy"])
def test_a_document_that_a_stale_cluster_names_and_is_gone_is_said_to_be(told, call, stale, name):
    gone = f"{doc_id('first').hex()}, is no longer there: the snapshot is stale, run cluster again"
    found = told(stale, doc_id(name).hex())
    assert found["explained"]["because"][-1] == f"the document it lost to, {gone}"
    assert found["comparisons"] == []
    assert gone in call(stale, doc_id(name).hex()).out


def test_two_documents_of_a_stale_cluster_are_compared_as_far_as_they_are_there(told, stale):
    gone = f"{doc_id('first').hex()} is no longer there: the snapshot is stale, run cluster again"
    assert pair(told, stale, "near", "copy")["verdict"] == "merged"
    beside = pair(told, stale, "near", "alone")
    assert beside["verdict"] == "other_anchor"
    assert beside["because"][0].endswith(gone)
    beside = pair(told, stale, "copy", "alone")
    assert beside["because"][:2] == [f"{doc_id('copy').hex()} lost to {doc_id('first').hex()} by equal content", gone]
    assert beside["contents"] is None


A, B = "snapshot-a", "snapshot-b"


@pytest.fixture
def both(tmp_path):
    """Two snapshots, and `global` over them: in the second, `edited` is near `first` and `same` equals `lines`."""
    publish(
        tmp_path,
        {"first": page("first", FIRST), "lines": page("lines", LINES), "copy": page("copy", FIRST, hours=1)},
        {"copy": ("exact", "first", 1.0)},
    )
    later = {"edited": page("edited", NEAR, hours=900), "same": page("same", LINES), "new": page("new", "new words")}
    later["print"] = page("print", NEAR, hours=901)
    publish(tmp_path, later, {"print": ("exact", "edited", 1.0)}, key=SnapshotKey("web", B))
    rows = [
        across("first", A, "first", 2),
        across("lines", A, "lines", 2),
        across("edited", B, "first", 2, reason="near", duplicate_of=doc_id("first"), similarity=0.9),
        across("same", B, "lines", 2, reason="exact", duplicate_of=doc_id("lines"), similarity=1.0),
        across("new", B, "new", 1),
    ]
    publish_global(tmp_path, {f"web/{A}": "r1", f"web/{B}": "r1"}, rows)
    return tmp_path


def across(name, snapshot, kept, size, **others):
    ids = {"doc_id": doc_id(name), "cluster_id": doc_id(kept), "representative_id": doc_id(kept)}
    place = {"source": "web", "snapshot": snapshot, "canonical_url": f"https://x.example/{name}"}
    return {**ids, **place, "reason": "kept", "cluster_size": size, **others}


def test_what_global_removed_is_told_with_what_it_lost_to(told, call, both):
    found = told(both, doc_id("edited").hex())["explained"]
    assert found["fate"] == "kept"
    found = found["across_snapshots"]
    assert (found["fate"], found["similarity"], found["notes"]) == ("near", 0.9, [])
    assert found["duplicate_of"] == {
        "doc_id": doc_id("first").hex(),
        "source": "web",
        "snapshot": A,
        "canonical_url": "https://x.example/first",
    }
    sentence = (
        "it was removed across snapshots: it is a near duplicate of "
        f"{doc_id('first').hex()} of web/{A}, https://x.example/first (near, similarity 0.9000)"
    )
    assert found["because"] == [sentence]
    text = call(both, doc_id("edited").hex()).out
    assert "kept\n  within its snapshot, it stands for a cluster of 2 captures\n" in text
    assert f"across snapshots\n  {sentence}" in text


def test_what_global_kept_is_told(told, both):
    found = {name: told(both, doc_id(name).hex())["explained"]["across_snapshots"] for name in ("lines", "new")}
    assert found["lines"]["because"] == [
        "it is kept across snapshots too: it stands for 1 of what other snapshots kept"
    ]
    assert found["new"]["because"] == [
        "it is kept across snapshots too: nothing else in the store is a duplicate of it"
    ]


def test_of_a_capture_that_its_snapshot_removed_global_has_what_stands_for_it(told, both):
    found = told(both, doc_id("print").hex())["explained"]["across_snapshots"]
    assert (found["fate"], found["doc_id"]) == ("near", doc_id("edited").hex())
    assert found["because"][0].startswith(f"{doc_id('edited').hex()}, which stands for it in its snapshot, was removed")


def test_a_capture_that_two_snapshots_have_is_merged_by_global(told, both):
    publish(both, {"first": page("first", FIRST)}, {}, key=SnapshotKey("web", B))
    rows = [across("first", A, "first", 2), across("first", B, "first", 2, reason="url", duplicate_of=doc_id("first"))]
    publish_global(both, {f"web/{A}": "r1", f"web/{B}": "r1"}, rows)
    found = told(both, doc_id("first").hex(), "--snapshot", B)["explained"]["across_snapshots"]
    assert (found["fate"], found["duplicate_of"]["snapshot"]) == ("url", A)


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [
        ("first", "edited", "merged_across"),
        ("copy", "print", "merged_across"),
        ("lines", "edited", "apart_across"),
        ("first", "new", "apart_across"),
    ],
)
def test_two_of_different_snapshots_were_merged_or_not_by_global(told, call, both, one, other, verdict):
    assert pair(told, both, one, other)["verdict"] == verdict
    text = call(both, doc_id(one).hex(), doc_id(other).hex()).out
    assert ("\nmerged: " in text, "\nnot merged: " in text) == (verdict == "merged_across", verdict != "merged_across")


def test_a_global_version_that_is_stale_or_has_not_the_snapshot_is_said_to_be(told, both):
    publish(both, {"third": page("third", FIRST)}, {}, key=SnapshotKey("web", "snapshot-c"))
    found = told(both, doc_id("third").hex())["explained"]["across_snapshots"]
    assert found == {"fate": None, "because": ["web/snapshot-c is not in the global version: run global again"]} | {
        "notes": []
    }
    assert pair(told, both, "third", "first")["verdict"] == "not_in_global"
    publish_global(both, {f"web/{A}": "r0", f"web/{B}": "r1", "web/gone": "r1"}, [across("first", A, "first", 1)])
    found = told(both, doc_id("lines").hex())["explained"]["across_snapshots"]
    assert "before its snapshot was clustered anew" in found["because"][0]
    assert found["notes"] == [
        f"the global version is stale, since web/{A} changed: run global again",
        "the global version is stale, since web/gone left the store: run global again",
    ]


def test_without_a_global_version_nothing_is_said_of_other_snapshots(told, call, root):
    found = told(root, doc_id("apart").hex())["explained"]
    assert found["across_snapshots"] is None
    assert found["because"][-1].startswith("within its snapshot, nothing else has its URL")
    assert "across snapshots" not in call(root, doc_id("apart").hex()).out
