"""Documents with planted duplicates and hard negatives in several scripts, and the funnel in plain Python."""

import random
from datetime import timedelta
from itertools import count

from clustering.texts import words
from signatures.reference import jaccard, reference_shingles, reference_words

from .rows import START, document

SCRIPTS = {
    "latin": "abcdefghijklmnopqrstuvwxyzäöüß",
    "cyrillic": "абвгдежзийклмнопрстуфхцчшщыэюя",
    "greek": "αβγδεζηθικλμνξοπρτυφχψω",
    "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "devanagari": "कखगघचछजझटठडढतथदधनपफबभमयरलवशषसह",
    "hangul": "가나다라마바사아자차카타파하거너더러머버서어저처커터퍼허",
}
SPACELESS = {"han": range(0x4E00, 0x9000), "kana": range(0x3041, 0x3094), "thai": range(0x0E01, 0x0E2F)}


def text_of(script, number, seed):
    """A list of pieces (words, or characters that are words) and what joins them."""
    if script in SPACELESS:
        dice = random.Random(seed)
        letters = SPACELESS[script]
        return [chr(dice.choice(letters)) for _ in range(number)], ""
    return words(number, seed, SCRIPTS[script]), " "


def corpus(seed=5):
    """Rows of `documents`, and doc_id -> the capture that it lost its URL key to."""
    dice = random.Random(seed)
    numbers = count()
    rows, lost = [], {}

    def add(text, url_duplicates=0, **others):
        number = next(numbers)
        when = START + timedelta(minutes=dice.randrange(60), days=dice.randrange(3))
        doc_id = dice.randbytes(15) + bytes([number])
        url = f"http://site{number % 7}.org/{'x' * dice.randrange(4)}{number}"
        rows.append(document(doc_id, url, text, when) | others)
        for _ in range(url_duplicates):
            again = dice.randbytes(15) + bytes([next(numbers)])
            rows.append(document(again, url + "?s=1", text + " again", when) | {"url_key": rows[-1]["url_key"]})
            lost[again] = doc_id

    for place, script in enumerate((*SCRIPTS, *SPACELESS)):
        pieces, joint = text_of(script, 124, place)
        other, _ = text_of(script, 200, place + 100)
        whole = joint.join(pieces)
        add(whole, url_duplicates=1)
        add("  " + whole.upper() + "\n", url_duplicates=1)  # the same content
        add(joint.join(pieces[:-5] + other[:5]), url_duplicates=1)  # 115 of 125 shingles: 0.92
        add(joint.join(pieces[:-5] + other[:5]).replace(" ", "\u00a0\n"))  # a copy of a near one
        add(joint.join(other[:2] + pieces + other[5:8]))  # 120 of 125: 0.96
        add(joint.join(pieces[:70] + other[:54]))  # an excerpt and another end: 66 of 174, 0.38
        add(joint.join(other[100:154] + pieces[54:]))  # 66 of 174, and nothing in common with the one before
        add(joint.join(sorted(pieces)))  # the same words in another order
        add(joint.join(other[:124]))  # unrelated, of the same script
    for seed_of_chain in range(4):  # B is near A and C (0.85), C is not near A (0.72): where A is first, C stays
        pool = words(120, 300 + seed_of_chain)
        for start in (0, 8, 16):
            add(" ".join(pool[start : start + 104]))
    template = words(90, 400)
    for place in range(8):  # a template with contents of its own: 86 shingles of 174, 0.49 at most
        add(" ".join(template + words(44, 410 + place)))
    for text in ("Out of stock", "out of  STOCK", "In stock", "Contact", "contact", "...", "?!"):
        add(text)
    add("truncated " + rows[0]["text"], truncated=True)  # 0.99: never stands for the whole one
    add(rows[0]["text"], truncated=True, declared_canonical=rows[0]["policy_url"])
    return rows, lost


def identities_of(rows, lost):
    """Rows of `identities`."""
    urls = {row["doc_id"]: row["policy_url"] for row in rows}
    return [
        (
            row["doc_id"],
            urls[lost.get(row["doc_id"], row["doc_id"])],
            row["crawl_date"],
            row["doc_id"] not in lost,
            lost.get(row["doc_id"]),
            None,
        )
        for row in rows
    ]


def earliest_first(row):
    """The default priority order of one source."""
    declared = row.get("declared_canonical")
    canonical = 1 if declared is None else 0 if declared == row["policy_url"] else 2
    return (row["truncated"], canonical, row["fetched_at"], -row["text_chars"], len(row["url"]), row["doc_id"])


def latest_first(row):
    """keep: latest_crawl."""
    return (row["truncated"], -row["fetched_at"].timestamp(), row["doc_id"])


def reference_funnel(rows, lost, order, threshold=0.8):
    """doc_id -> (reason, duplicate_of, similarity, representative_id): every pair compared, nothing hashed."""
    fates, first_of, sets, kept = {}, {}, {}, []
    for row in sorted((row for row in rows if row["doc_id"] not in lost), key=order):
        name = row["doc_id"]
        first = first_of.setdefault(row["content_hash"], name)
        if first != name:
            fates[name] = ("exact", first, 1.0, fates[first][3])
            continue
        fates[name] = ("kept", None, None, name)
        if len(reference_words(row["text"])) < 5:
            continue
        sets[name] = reference_shingles(row["text"])
        for other in kept:
            similarity = jaccard(sets[other], sets[name])
            if similarity >= threshold:
                fates[name] = ("near", other, similarity, other)
                break
        else:
            kept.append(name)
    for name, winner in lost.items():
        fates[name] = ("url", winner, None, fates[winner][3])
    return fates
