"""The schemas of tables that a store has once, across its snapshots."""

import pyarrow as pa

from dedup_lib.tables.columns import DIGEST, Column, Table
from dedup_lib.tables.keys import GLOBAL
from dedup_lib.tables.schemas import ALIAS, CANONICAL_URL, CONTENT_HASH, CRAWL_DATE, DOC_ID, DOCUMENT_COLUMNS

SOURCE = Column("source", pa.string(), "the source of the snapshot that the document is of", True)
SNAPSHOT = Column("snapshot", pa.string(), "the snapshot that the document is of", True)
CLUSTER_ID = Column("cluster_id", DIGEST, "doc_id of the cluster's first anchor, or a hash of it; never changes", True)
CLUSTER_SIZE = Column("cluster_size", pa.int64(), "representatives of snapshots in the cluster", True)
CAPTURES = Column("captures", pa.int64(), "captures in the cluster: those that these representatives stand for", True)

GLOBAL_CLUSTERS = Table(
    "global_clusters",
    "global",
    "one row per representative of a snapshot: kept, or a duplicate of what and why",
    (
        DOC_ID,
        SOURCE,
        SNAPSHOT,
        CANONICAL_URL,
        CRAWL_DATE,
        CONTENT_HASH,
        CLUSTER_ID,
        Column("reason", pa.string(), "kept, exact, near; url: the same capture is in another snapshot too", True),
        Column("duplicate_of", DIGEST, "doc_id of the document it lost to, which its layer kept; null for kept"),
        Column(
            "similarity",
            pa.float64(),
            "Jaccard to duplicate_of, estimated where that decides; null for `url`, kept",
        ),
        Column("representative_id", DIGEST, "doc_id of the finally kept document", True),
        CLUSTER_SIZE,
        CAPTURES,
        Column("merged_into", DIGEST, "the cluster that this one became part of; null: stars are never merged"),
    ),
    ("doc_id", "source", "snapshot"),
    ("cluster_id", "doc_id"),
)

COUNT = pa.struct(
    [
        pa.field("source", pa.string()),
        pa.field("snapshot", pa.string()),
        pa.field("documents", pa.int64()),
        pa.field("captures", pa.int64()),
    ]
)

GLOBAL_REPRESENTATIVES = Table(
    "global_representatives",
    "global",
    "one row per document kept across snapshots, with what it stands for and where that comes from",
    (
        *DOCUMENT_COLUMNS,
        CANONICAL_URL,
        CLUSTER_ID,
        CLUSTER_SIZE,
        Column("alias_count", pa.int64(), "other representatives of snapshots in the cluster", True),
        Column("aliases", pa.list_(ALIAS), "these, at most cluster.aliases_per_row", True),
        SOURCE,
        SNAPSHOT,
        CAPTURES,
        Column(
            "counts", pa.list_(COUNT), "representatives and captures in the cluster by snapshot, to weight by", True
        ),
    ),
    ("doc_id",),
    ("archive", "archive_offset"),
)

STORE_TABLES = {table.name: table for table in (GLOBAL_CLUSTERS, GLOBAL_REPRESENTATIVES)}
KEY_OF_TABLE = dict.fromkeys(STORE_TABLES, GLOBAL)
