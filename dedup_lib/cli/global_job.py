"""What `global` works with: the tables of all snapshots that take part, as one."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.cli.context import Job
from dedup_lib.signatures import Scheme
from dedup_lib.stages.global_items import PLACE
from dedup_lib.tables.across import entry_across, read_across
from dedup_lib.tables.keys import StoreKey
from dedup_lib.tables.published import TableEntry, Version
from dedup_lib.tables.scan import with_columns
from dedup_lib.tables.schemas import REPRESENTATIVES, SIGNATURES
from dedup_lib.tables.store_schemas import GLOBAL_REPRESENTATIVES


@dataclass
class GlobalJob(Job[StoreKey]):
    """A request at work on the global version of a store, over these versions of its snapshots."""

    versions: Sequence[Version] = ()

    @cached_property
    def scheme(self) -> Scheme:
        """The scheme by which the snapshots were signed, whatever the configuration says."""
        return Scheme.parse(str(self.versions[0].stages["cluster"].scheme))

    def representatives(self) -> DataFrame:
        """The representatives of all snapshots, with source and snapshot, without texts."""
        return read_across(self.spark, self.request.root, self.versions, REPRESENTATIVES).drop("text")

    def sketches_of(self, needed: DataFrame) -> DataFrame:
        """The rows of documents that have shingles, with their minhash and bands."""
        signatures = read_across(self.spark, self.request.root, self.versions, SIGNATURES)
        return needed.join(
            signatures.where(F.col("shingles") > 0).select(*PLACE, "minhash", "bands"), PLACE, "inner"
        ).select(*needed.columns, "minhash", "bands")

    def texts_of(self, needed: DataFrame) -> DataFrame:
        """Rows with doc_id, source and snapshot with the text of that document after them."""
        entry = entry_across(self.versions, REPRESENTATIVES)
        return with_columns(self.spark, self.request.root, entry, REPRESENTATIVES, needed, ["text"])

    def write_global_representatives(self, kept: DataFrame) -> TableEntry:
        """Writes the kept documents with what they stand for; each goes from its snapshot's file to the new one."""
        entry = entry_across(self.versions, REPRESENTATIVES)
        return self.write_attached(kept, entry, REPRESENTATIVES, GLOBAL_REPRESENTATIVES)
