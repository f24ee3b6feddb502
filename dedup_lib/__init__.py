"""crawl-dedup: deduplicates web-crawl corpora on Apache Spark."""

__version__ = "0.1.0"
