"""How alike two documents are: by their signatures, by their texts, by the bands in which they meet."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dedup_lib.clustering.verify import standard_error
from dedup_lib.config.banding import recall_at
from dedup_lib.reports.explain.passages import Passages, passages_of
from dedup_lib.reports.explain.rows import SnapshotRows
from dedup_lib.signatures import Scheme, estimate_jaccard, exact_jaccard, shingle_sets, sign_texts
from dedup_lib.tables.schemas import DOCUMENTS, SIGNATURES


@dataclass(frozen=True)
class Signed:
    """A document's text and signature; `stored` is false where the signature was computed anew.

    Only captures that are the document of their URL have one in the store. `shingles` is 0 for a text of fewer words
    than a shingle has; then there is no minhash and there are no bands.
    """

    doc_id: bytes
    url: str
    text: str
    content_hash: bytes
    minhash: bytes | None
    bands: tuple[int, ...]
    shingles: int
    stored: bool


@dataclass(frozen=True)
class Comparison:
    """Two documents beside each other; similarities are Jaccard of their shingle sets.

    `estimated`, its standard `error` and `chance` (that documents so similar meet in a band, at the exact similarity)
    are None where a text is too short for shingles. `bands_met` are the numbers of the bands, from 0, whose keys agree.
    """

    left: Signed
    right: Signed
    estimated: float | None
    error: float | None
    exact: float
    bands_met: tuple[int, ...]
    bands: int
    chance: float | None
    passages: Passages

    @property
    def same_content(self) -> bool:
        """Whether the normalised texts are equal."""
        return self.left.content_hash == self.right.content_hash

    @property
    def too_short(self) -> bool:
        """Whether a text has fewer words than a shingle, so that only the exact lane compares it."""
        return self.estimated is None

    def to_json(self) -> dict[str, Any]:
        """As a mapping that JSON can hold."""
        return {
            "left": _name(self.left),
            "right": _name(self.right),
            "estimated": self.estimated,
            "standard_error": self.error,
            "exact": self.exact,
            "same_content": self.same_content,
            "bands_met": list(self.bands_met),
            "bands": self.bands,
            "chance_to_meet": self.chance,
            **self.passages.to_json(),
        }


def signed_documents(rows: SnapshotRows, doc_ids: Sequence[bytes], scheme: Scheme) -> dict[bytes, Signed]:
    """Texts and signatures of some documents of a snapshot, by doc_id; none of those that are no longer there."""
    names = ["doc_id", "url", "text", "content_hash"]
    texts = {row["doc_id"]: row for row in rows.where(DOCUMENTS, "doc_id", doc_ids, names)}
    names = ["doc_id", "minhash", "bands", "shingles", "scheme"]
    stored = {row["doc_id"]: row for row in rows.where(SIGNATURES, "doc_id", doc_ids, names)}
    found = {}
    for doc_id, row in texts.items():
        is_stored = doc_id in stored and stored[doc_id]["scheme"] == str(scheme)
        signature = stored[doc_id] if is_stored else _signature(row["text"], scheme)
        found[doc_id] = Signed(
            **row,
            minhash=signature["minhash"],
            bands=tuple(signature["bands"]),
            shingles=signature["shingles"],
            stored=is_stored,
        )
    return found


def compare(left: Signed, right: Signed, scheme: Scheme) -> Comparison:
    """Compares two documents that were signed by the same scheme."""
    exact = exact_similarity(left, right, scheme)
    if left.minhash is None or right.minhash is None:
        estimated = error = chance = None
    else:
        first, second = (pa.array([one.minhash], pa.binary()) for one in (left, right))
        estimated = float(estimate_jaccard(first, second, scheme.minhash_bits)[0])
        error = standard_error(estimated, scheme.permutations)
        chance = float(recall_at(exact, scheme.bands, scheme.rows))
    met = tuple(number for number, (a, b) in enumerate(zip(left.bands, right.bands, strict=False)) if a == b)
    passages = passages_of(left.text, right.text)
    return Comparison(left, right, estimated, error, exact, met, scheme.bands, chance, passages)


def exact_similarity(left: Signed, right: Signed, scheme: Scheme) -> float:
    """The Jaccard of the shingle sets of two texts, normalised as the scheme has it."""
    first, second = (
        shingle_sets(pa.array([one.text], pa.string()), scheme.shingle_words, scheme.normalisation)
        for one in (left, right)
    )
    return float(exact_jaccard(first, second)[0])


def _signature(text: str, scheme: Scheme) -> dict[str, Any]:
    signed = pa.table(sign_texts(pa.array([text], pa.string()), scheme).to_arrow())
    row: dict[str, Any] = signed.to_pylist()[0]
    return row


def _name(one: Signed) -> dict[str, Any]:
    return {"doc_id": one.doc_id.hex(), "url": one.url, "shingles": one.shingles, "signature_stored": one.stored}
