"""Exact groups, candidates, verification, stars, representatives.

Generic over what is clustered: an item is a 64-bit integer whose order is the priority order (`ranks`), with a content
digest, band keys and a sketch. Documents of a snapshot, chunks and representatives of snapshots all fit.
"""

from collections.abc import Callable

from pyspark.sql import DataFrame

Cut = Callable[[DataFrame, str], DataFrame]  # stores a round's state and hands it back with its lineage cut
