"""The schema of every table: the only place where a column is named, typed and described."""

import pyarrow as pa

from dedup_lib.tables.columns import DIGEST, TIMESTAMP, Column, Table

DOC_ID = Column(
    "doc_id", DIGEST, "16 bytes that identify a capture: a hash of what it is, never of where it lies", True
)
URL = Column("url", pa.string(), "the URL as captured", True, distinct=True)
URL_KEY = Column(
    "url_key", pa.string(), "what resolve groups by: policy_url without scheme and trailing slash", True, distinct=True
)
CANONICAL_URL = Column("canonical_url", pa.string(), "the settled name of the page", True, distinct=True)
CRAWL_DATE = Column("crawl_date", pa.date32(), "the day of the capture, UTC", True)
FETCHED_AT = Column("fetched_at", TIMESTAMP, "the moment of the capture, UTC; midnight where only the day is known")
HTTP_STATUS = Column("http_status", pa.int32(), "the HTTP status; null for tables of text")
CONTENT_HASH = Column("content_hash", DIGEST, "SHA-256 of the normalised text, 32 bytes", True)
ARCHIVE = Column("archive", pa.string(), "the input file", True)
OFFSET = Column("archive_offset", pa.int64(), "where the record starts in the file, bytes (rows for tables of text)")
URL_SCHEME = Column("url_scheme", pa.string(), "digest of the URL rules and the parser's version", True)
REASONS = "kept, url, exact, near (a versioned list: 1)"

DOCUMENT_COLUMNS = (
    DOC_ID,
    Column("record_id", pa.string(), "the WARC-Record-ID, or the id of a table of text", distinct=True),
    URL,
    Column("url_strict", pa.string(), "the URL as the parser writes it, no policy", True, distinct=True),
    Column(
        "policy_url",
        pa.string(),
        "the URL under the rules: an identity, never an address to fetch",
        True,
        distinct=True,
    ),
    URL_KEY,
    Column(
        "canonical_links",
        pa.list_(pa.string()),
        "absolute URLs of the page's rel=canonical elements and Link headers, before any rule; null: none, or over 8",
        distinct=True,
    ),
    Column("declared_canonical", pa.string(), "policy_url of the page's one canonical link where its structure holds"),
    CRAWL_DATE,
    FETCHED_AT,
    HTTP_STATUS,
    Column("content_type", pa.string(), "the media type as served, without parameters"),
    Column("charset", pa.string(), "the encoding the text was read in"),
    Column("language", pa.string(), "ISO 639 code, or `unknown`", True),
    Column("title", pa.string(), "the page's title", distinct=True),
    Column("extraction", pa.string(), "where the text is from: main, lenient, fallback, trafilatura, full, plain"),
    Column(
        "text",
        pa.string(),
        "the main text, one block per line; immutable, offsets into it are UTF-8 bytes",
        True,
        distinct=True,
    ),
    Column("text_chars", pa.int32(), "length of text in code points", True),
    Column("truncated", pa.bool_(), "the crawler or the archive cut the page", True),
    CONTENT_HASH,
    ARCHIVE,
    OFFSET,
    Column("archive_length", pa.int64(), "stored length of the record, bytes"),
    URL_SCHEME,
)

DOCUMENTS = Table(
    "documents",
    "extract",
    "one row per capture with text",
    DOCUMENT_COLUMNS,
    ("doc_id",),
    ("archive", "archive_offset"),
)

FETCHES = Table(
    "fetches",
    "extract",
    "records that tell of a fetch but are no document",
    (
        Column("url", pa.string(), "the URL as captured", distinct=True),
        Column("url_key", pa.string(), "its key under the URL rules", distinct=True),
        FETCHED_AT,
        Column("kind", pa.string(), "redirect, error, not_modified, revisit, other_content_type", True),
        HTTP_STATUS,
        Column("target", pa.string(), "where a redirect leads, or the URL that a revisit refers to"),
        Column("refers_to", pa.string(), "the WARC-Record-ID that a revisit refers to", distinct=True),
        Column("refers_to_date", TIMESTAMP, "when the capture was made that a revisit refers to"),
        ARCHIVE,
        OFFSET,
    ),
    (),
    ("archive", "archive_offset"),
)

REJECTS = Table(
    "rejects",
    "extract",
    "faults: a record or a place in a file that gave no document and tells of no fetch",
    (
        ARCHIVE,
        OFFSET,
        Column("url", pa.string(), "the URL, where known", distinct=True),
        Column("record_id", pa.string(), "the WARC-Record-ID, where known", distinct=True),
        Column("reason", pa.string(), "one of a closed list (dedup_lib.archives)", True),
        Column("detail", pa.string(), "what was found"),
    ),
    (),
    ("archive", "archive_offset"),
)

ARCHIVES = Table(
    "archives",
    "extract",
    "one row per input file: its verdict and what its records became",
    (
        ARCHIVE,
        Column("verdict", pa.string(), "complete, truncated, damaged, empty, not an archive, unreadable", True),
        Column("bytes", pa.int64(), "size of the file", True),
        Column("bytes_read", pa.int64(), "how far it could be read", True),
        Column("records", pa.map_(pa.string(), pa.int64()), "records by type", True),
        Column("documents", pa.int64(), "records that became documents", True),
        Column("repeated", pa.int64(), "records that were read before (same doc_id) and collapsed", True),
        Column("fetches", pa.int64(), "records that tell of a fetch only", True),
        Column("rejects", pa.int64(), "records that were rejected", True),
        Column("skipped", pa.int64(), "records of types that hold no page (request, metadata, warcinfo)", True),
        Column("faults", pa.int64(), "rejects that are no record: damage, garbage", True),
        Column("fetches_by_kind", pa.map_(pa.string(), pa.int64()), "fetches by kind", True),
        Column("rejects_by_reason", pa.map_(pa.string(), pa.int64()), "rejects and faults by reason", True),
    ),
    ("archive",),
    ("archive",),
)

IDENTITIES = Table(
    "identities",
    "resolve",
    "one row per capture: the page it is a capture of, settled before anything is signed",
    (
        DOC_ID,
        CANONICAL_URL,
        CRAWL_DATE,
        Column("wins", pa.bool_(), "true for the capture that is the document of its key", True),
        Column("duplicate_of", DIGEST, "doc_id of the capture it lost to, which wins"),
        Column("conflict", pa.string(), "host and rule that was undone because the texts differ"),
    ),
    ("doc_id",),
    ("doc_id",),
)

SIGNATURES = Table(
    "signatures",
    "sign",
    "the feature store: one row per winning capture; key source, canonical_url, crawl_date",
    (
        DOC_ID,
        URL,
        URL_KEY,
        CANONICAL_URL,
        CRAWL_DATE,
        FETCHED_AT,
        CONTENT_HASH,
        Column("simhash", pa.int64(), "64-bit SimHash of the frequency-weighted shingles; null below one shingle"),
        Column("simhash_weakest", pa.binary(), "the 16 bit positions most likely to flip, weakest first"),
        Column("minhash", pa.binary(), "the low 16 (or 32) bits of each permutation's minimum, little-endian"),
        Column("bands", pa.list_(pa.int64()), "one key per band; empty below one shingle", True),
        Column("shingles", pa.int32(), "windows of consecutive words, repetitions counted; 0: exact lane only", True),
        Column("scheme", pa.string(), "what shaped the signature: words, shingles, hash, permutations, bands", True),
        URL_SCHEME,
    ),
    ("canonical_url", "crawl_date"),
    ("canonical_url", "crawl_date"),
)

CLUSTERS = Table(
    "clusters",
    "cluster",
    "one row per capture: kept, or a duplicate of what and why",
    (
        DOC_ID,
        Column("record_id", pa.string(), "the WARC-Record-ID, or the id of a table of text", distinct=True),
        URL,
        CANONICAL_URL,
        CRAWL_DATE,
        Column("cluster_id", DIGEST, "doc_id of the cluster's first anchor", True),
        Column("reason", pa.string(), REASONS, True),
        Column("duplicate_of", DIGEST, "doc_id of the document it lost to, which its layer kept; null for kept"),
        Column(
            "similarity",
            pa.float64(),
            "Jaccard to duplicate_of, estimated where that decides; null for `url`, kept, and where "
            "`cluster.shape: components` joined two that were not found similar to each other",
        ),
        Column("representative_id", DIGEST, "doc_id of the finally kept document", True),
        Column("cluster_size", pa.int64(), "captures in the cluster", True),
    ),
    ("doc_id",),
    ("cluster_id", "doc_id"),
)

PAIRS = Table(
    "pairs",
    "cluster",
    "one row per candidate pair of distinct contents, where `cluster.write_pairs` asks for it",
    (
        Column("anchor_id", DIGEST, "doc_id of the one that comes first in priority order", True),
        Column("doc_id", DIGEST, "doc_id of the other one", True),
        Column("estimate", pa.float64(), "Jaccard as the signatures estimate it", True),
        Column("exact", pa.float64(), "Jaccard of the shingle sets of the texts; null where it was not computed"),
        Column("accepted", pa.bool_(), "whether the two are near duplicates", True),
        Column("pass", pa.int32(), "the pass of clustering that found the pair, from 1", True),
    ),
    ("anchor_id", "doc_id"),
    ("anchor_id", "doc_id"),
)

ALIAS = pa.struct(
    [
        pa.field("url", pa.string()),
        pa.field("canonical_url", pa.string()),
        pa.field("crawl_date", pa.date32()),
        pa.field("reason", pa.string()),
    ]
)

REPRESENTATIVES = Table(
    "representatives",
    "cluster",
    "one row per kept document, with what it stands for",
    (
        *DOCUMENT_COLUMNS,
        CANONICAL_URL,
        Column("cluster_id", DIGEST, "doc_id of the cluster's first anchor", True),
        Column("cluster_size", pa.int64(), "captures in the cluster", True),
        Column("alias_count", pa.int64(), "other captures in the cluster, and revisits of any", True),
        Column("aliases", pa.list_(ALIAS), "these captures and revisits, at most cluster.aliases_per_row", True),
    ),
    ("doc_id",),
    ("archive", "archive_offset"),
)

# Not published: what each task tells of the stretch of a file that it read, from which a row of `archives` is made.
SPLITS = Table(
    "splits",
    "extract",
    "one row per split of an input file that was read",
    (
        ARCHIVE,
        Column("start", pa.int64(), "where the split begins", True),
        Column("first", pa.int64(), "where its first record begins; null if none does"),
        Column("next", pa.int64(), "where the record after its last one begins; null if none begins in it"),
        Column("size", pa.int64(), "size of the file", True),
        Column("bytes_read", pa.int64(), "how far it was read", True),
        Column("records", pa.map_(pa.string(), pa.int64()), "intact records by type", True),
        Column("found", pa.map_(pa.string(), pa.int64()), "faults of the archive by reason", True),
        Column("documents", pa.int64(), "records that became documents", True),
        Column("fetches", pa.int64(), "records that tell of a fetch only", True),
        Column("rejects", pa.int64(), "records that were rejected", True),
        Column("faults", pa.int64(), "rejects that are no record", True),
        Column("fetches_by_kind", pa.map_(pa.string(), pa.int64()), "fetches by kind", True),
        Column("rejects_by_reason", pa.map_(pa.string(), pa.int64()), "rejects and faults by reason", True),
        Column("failure", pa.string(), "why storage does not give the file"),
        Column("failure_may_pass", pa.bool_(), "whether that may be otherwise later", True),
        Column("requests", pa.int64(), "requests to storage", True),
        Column("retries", pa.int64(), "requests that were repeated", True),
        Column("waited_seconds", pa.float64(), "time spent waiting for storage", True),
        Column("remote_bytes", pa.int64(), "bytes that storage sent", True),
    ),
    ("archive", "start"),
    ("archive", "start"),
)

TABLES = {
    table.name: table
    for table in (DOCUMENTS, FETCHES, REJECTS, ARCHIVES, IDENTITIES, SIGNATURES, CLUSTERS, REPRESENTATIVES)
}
OPTIONAL_TABLES = {PAIRS.name: PAIRS}  # made only if asked for
STAGES = ("extract", "resolve", "sign", "cluster")
STAGE_TABLES = {stage: tuple(table for table in TABLES.values() if table.stage == stage) for stage in STAGES}
STAGE_INPUTS = {
    "extract": (),
    "resolve": ("documents",),
    "sign": ("documents", "identities"),
    "cluster": ("documents", "fetches", "identities", "signatures"),
}
