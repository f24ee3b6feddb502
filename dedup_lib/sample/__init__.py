"""A synthetic crawl with planted duplicates and the truth about them: to try the product on, and to measure it.

Two snapshots of some two thousand captures each, from fifty invented sites in ten languages. The sites, their texts,
the archives and the truth are the same on every run.
"""

from dedup_lib.sample.captures import SNAPSHOTS, SOURCE
from dedup_lib.sample.truth import TRUTH_FILE, TRUTH_SCHEMA, read_truth
from dedup_lib.sample.write import SampleSummary, write_sample

__all__ = ["SNAPSHOTS", "SOURCE", "TRUTH_FILE", "TRUTH_SCHEMA", "SampleSummary", "read_truth", "write_sample"]
