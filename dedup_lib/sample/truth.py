"""The truth about the sample: what each capture is and how it stands to the others.

One row per response or revisit record, snapshot by snapshot, in the order of the fetches. Near duplicates (relation
`near`) are in families of two pages, an original and one copy, so that recall by level is free of chains. Pages that
share a template form families of five with relation `template_negative`: no two of them are duplicates.
"""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dedup_lib.sample.captures import Capture
from dedup_lib.sample.responses import codec_of

TRUTH_FILE = "truth.parquet"

# name, type, meaning
_COLUMNS = (
    ("snapshot", pa.string(), "snapshot-a or snapshot-b"),
    ("url", pa.string(), "WARC-Target-URI"),
    ("record_id", pa.string(), "WARC-Record-ID of the response, with its angle brackets"),
    (
        "kind",
        pa.string(),
        "article, product, documentation, calendar, short, empty (no text), truncated (by the crawler: "
        "WARC-Truncated); no document: redirect, error, image, pdf, json, revisit, cut (the file ends in the record)",
    ),
    ("language", pa.string(), "ISO 639-1 code of the site"),
    (
        "family",
        pa.int64(),
        "pages of different families are never duplicates; null for redirect, error, image, pdf, json",
    ),
    (
        "relation",
        pa.string(),
        "to the family's original: original, url_variant, mirror, other_html, near, template_negative, short, "
        "pk_conflict (an original whose URL a rule confuses with another's), recapture_same and recapture_changed "
        "(same URL, same snapshot), recrawl_same and recrawl_changed (the original in the second snapshot); null as "
        "`family` is",
    ),
    ("rule", pa.string(), "of a URL variant: tracking, session, order, port, slash, scheme, fragment"),
    ("edit", pa.string(), "of a text that was edited: words, block, insert, remove"),
    (
        "jaccard",
        pa.float64(),
        "exact Jaccard of the 5-word shingles of the generated main text and that of `original_record_id`; for texts "
        "too short for a shingle 1.0 if equal; null for originals and where there is no text",
    ),
    (
        "original_record_id",
        pa.string(),
        "the capture of the family's original in the same snapshot, else in the first; null for itself",
    ),
    (
        "must_merge",
        pa.bool_(),
        "the same document as the family's original, by text or by URL, and the original is in this snapshot too. "
        "False for near duplicates, which are judged by `jaccard` and the S-curve, and for a page's return in the "
        "second snapshot",
    ),
    ("recurrence", pa.string(), "snapshot-a: gone or present (in snapshot-b); snapshot-b: unchanged, changed or new"),
    ("charset", pa.string(), "the Python codec the page is written in; null where it is no HTML"),
)
TRUTH_SCHEMA = pa.schema([pa.field(name, kind, metadata={"meaning": meaning}) for name, kind, meaning in _COLUMNS])

_NOT_HTML = ("image", "pdf", "json", "revisit")


def write_truth(directory: Path, captures: Sequence[Capture]) -> pa.Table:
    """Writes truth.parquet for the captures of all snapshots and gives back its table."""
    table = pa.Table.from_pylist([_row(capture) for capture in captures], schema=TRUTH_SCHEMA)
    pq.write_table(table, directory / TRUTH_FILE, compression="zstd")
    return table


def read_truth(directory: Path) -> pa.Table:
    """The truth of a sample that `write_sample` wrote to the directory, with the columns of `TRUTH_SCHEMA`."""
    return pq.read_table(directory / TRUTH_FILE)


def _row(capture: Capture) -> dict[str, object]:
    page = capture.page
    return {
        "snapshot": capture.snapshot,
        "url": page.url,
        "record_id": capture.record_id,
        "kind": page.kind,
        "language": page.site.language,
        "family": capture.family,
        "relation": capture.relation,
        "rule": page.rule,
        "edit": page.edit,
        "jaccard": capture.jaccard,
        "original_record_id": capture.original_record_id,
        "must_merge": capture.must_merge,
        "recurrence": capture.recurrence,
        "charset": None if page.kind in _NOT_HTML else codec_of(page),
    }
