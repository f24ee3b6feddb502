"""Two snapshots by hand for `changes`, and its definition in plain Python."""

import random
from datetime import datetime, timedelta
from typing import NamedTuple

import pyarrow as pa
from signatures.reference import jaccard, reference_shingles

from dedup_lib.signatures import Scheme, sign_texts
from dedup_lib.stages.changes import SnapshotTables
from dedup_lib.tables.schemas import DOCUMENTS, FETCHES, IDENTITIES, REJECTS, SIGNATURES

from .rows import START, document

SCHEME = Scheme()
LATER = START + timedelta(days=30)


class Snapshot(NamedTuple):
    """Rows of the tables of one snapshot, `signatures` apart: these are the documents that win."""

    documents: list[dict]
    identities: list[dict]
    fetches: list[dict]
    rejects: list[dict]


def snapshot(documents=(), fetches=(), rejects=()):
    """`documents` are (row of documents, canonical URL or None for a page of its own, conflict or None)."""
    identities = [
        {
            "doc_id": row["doc_id"],
            "canonical_url": lost_to or (row["url_strict"] if conflict else row["policy_url"]),
            "crawl_date": row["crawl_date"],
            "wins": lost_to is None,
            "conflict": conflict,
        }
        for row, lost_to, conflict in documents
    ]
    return Snapshot([row for row, *_ in documents], identities, list(fetches), list(rejects))


def fetch(kind, url, fetched_at=LATER, **others):
    key = url.partition("://")[2].rstrip("/")
    return {"url": url, "url_key": key, "fetched_at": fetched_at, "kind": kind, "archive": "b"} | others


def reject(url, reason):
    return {"archive": "b", "archive_offset": 0, "url": url, "reason": reason}


def tables_of(spark, found, seed=0):
    """The tables as frames, their rows in an order of the seed."""
    dice = random.Random(seed)
    names = {row["doc_id"]: row["canonical_url"] for row in found.identities if row["wins"]}
    winners = [row for row in found.documents if row["doc_id"] in names]
    signed = pa.table(sign_texts(pa.array([row["text"] for row in winners], pa.string()), SCHEME).to_arrow())
    signatures = [
        {"canonical_url": names[row["doc_id"]], "scheme": str(SCHEME)} | row | signature
        for row, signature in zip(winners, signed.to_pylist(), strict=True)
    ]

    def frame(table, rows):
        rows = dice.sample(rows, len(rows))
        return spark.createDataFrame(pa.Table.from_pylist(rows, table.arrow))

    return SnapshotTables(
        frame(DOCUMENTS, found.documents).drop("text"),
        frame(FETCHES, found.fetches),
        frame(REJECTS, found.rejects),
        frame(IDENTITIES, found.identities),
        frame(SIGNATURES, signatures),
    )


def pages_of(found):
    """Name -> (document, canonical URL, whether it stands apart)."""
    pages = {}
    documents = {row["doc_id"]: row for row in found.documents}
    for identity in found.identities:
        if identity["wins"]:
            row = documents[identity["doc_id"]]
            name = identity["canonical_url"] if identity["conflict"] else row["url_key"]
            assert name not in pages
            pages[name] = (row, identity["canonical_url"], bool(identity["conflict"]))
    return pages


def definition(earlier, later):
    """canonical URL -> (kind, related URL, exact similarity or None), as the module's text says."""
    before, after = pages_of(earlier), pages_of(later)
    told, lost = {}, {}
    for name, (old, canonical, apart) in before.items():
        if name in after:
            new, new_canonical, _ = after[name]
            same = old["content_hash"] == new["content_hash"]
            told[new_canonical] = ("unchanged", None, None) if same else ("edited", None, similarity(old, new))
            continue
        told[canonical] = of_left(name, old, apart, earlier, later, before)
        if told[canonical][0] in ("redirected", "gone", "not_fetched"):
            lost.setdefault(old["content_hash"], []).append(canonical)
    for name, (new, canonical, _) in after.items():
        if name not in before:
            origins = lost.get(new["content_hash"])
            told[canonical] = ("moved", min(origins), None) if origins else ("new", None, None)
    return told


def of_left(name, old, apart, earlier, later, before):
    winners = {row["doc_id"]: row for row in later.identities}
    captures = [
        (row["crawl_date"], row["fetched_at"], row["doc_id"], winners[row["doc_id"]]["canonical_url"])
        for row in later.documents
        if name in (row["url_key"], row["url_strict"]) and not winners[row["doc_id"]]["wins"]
    ]
    if captures:
        return "redirected", max(captures)[-1], None
    others = {row["url"] for row, _, stands_apart in before.values() if stands_apart and row is not old}
    answers = [
        one
        for one in later.fetches
        if (one["url"] == old["url"] if apart else one["url_key"] == name and one["url"] not in others)
    ]
    if not answers:
        reasons = {one["reason"] for one in later.rejects if one["url"] == old["url"]}
        return ("gone" if "no_text" in reasons else "not_fetched"), None, None
    elsewhere = [one for one in answers if one["kind"] != "redirect" or bare(one["target"]) != bare(one["url"])]
    last = max(elsewhere or answers, key=lambda one: one["fetched_at"])
    kind, status = last["kind"], last.get("http_status")
    if kind == "revisit":
        referred = [row for row in earlier.documents + later.documents if row["record_id"] == last.get("refers_to")]
        if referred and referred[0]["content_hash"] != old["content_hash"]:
            return "edited", None, similarity(old, referred[0])
    if kind in ("revisit", "not_modified"):
        return "unchanged", None, None
    if kind == "redirect":
        return "redirected", last["target"], None
    return ("gone" if kind == "other_content_type" or status in (404, 410) else "not_fetched"), None, None


def bare(url):
    return url.partition("://")[2].rstrip("/")


def similarity(old, new):
    """None where a text is too short for shingles."""
    sides = [reference_shingles(row["text"]) for row in (old, new)]
    return jaccard(*sides) if min(len(row["text"].split()) for row in (old, new)) >= SCHEME.shingle_words else None


def random_snapshots(seed, names=120):
    """Two snapshots with every kind of answer for every kind of page."""
    dice = random.Random(seed)
    contents = [" ".join(f"w{dice.randrange(40)}" for _ in range(dice.choice((3, 30, 30)))) for _ in range(25)]
    earlier, later, fetches, rejects = [], [], [], []

    def row(side, url, when: datetime):
        text = dice.choice(contents)
        return document(dice.randbytes(16), url, text, when, record_id=f"<{side}{url}>")

    for number in range(names):
        url = f"http://h{number % 5}.org/p{number}"
        forms = [(url, None)]
        if dice.random() < 0.3:
            forms.append((url + "?id=1", "h: id"))
        for one, conflict in forms:
            strict = {"url_key": bare(url), "policy_url": url}
            if dice.random() < 0.7:
                earlier.append((row("a", one, START) | strict, None, conflict))
            at = LATER + timedelta(seconds=dice.randrange(9))
            fate = dice.choice(("page", "page", "lost", "fetch", "fetches", "reject", "nothing"))
            if fate == "page":
                later.append((row("b", one, at) | strict, None, conflict))
            elif fate == "lost":
                later.append((row("b", one, at) | strict, f"http://h.org/into{number}", None))
            elif fate == "reject":
                rejects += [reject(one, reason) for reason in dice.sample(("no_text", "bad_page", "too_large"), 2)]
            elif fate.startswith("fetch"):
                seconds = dice.sample(range(9), 1 if fate == "fetch" else 3)
                fetches += [random_fetch(dice, one, bare(url), LATER + timedelta(seconds=one_of)) for one_of in seconds]
    return snapshot(earlier), snapshot(later, fetches, rejects)


def random_fetch(dice, url, key, when):
    kind = dice.choice(("redirect", "error", "not_modified", "revisit", "other_content_type"))
    others = {"url_key": key}
    if kind == "redirect":
        others["target"] = dice.choice((url.replace("http", "https") + "/", f"http://new.org/{dice.randrange(9)}"))
    elif kind == "error":
        others["http_status"] = dice.choice((404, 410, 403, 500))
    elif kind == "revisit":
        others["refers_to"] = dice.choice((f"<a{url}>", f"<ahttp://h0.org/p{5 * dice.randrange(20)}>", "<elsewhere>"))
    return fetch(kind, url, when, **others)
