"""The settings that shape a result, typed and validated as a whole. Spark properties are not among them."""

import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from dedup_lib.config.banding import require_threshold_in_reach

Fraction = Annotated[float, Field(ge=0, le=1)]
Priority = Literal[
    "declared_canonical", "source_priority", "earliest_crawl", "latest_crawl", "longest_text", "shortest_url"
]


class Section(BaseModel):
    """A part of the configuration: frozen, no unknown keys, no silent coercion of types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ExtractSettings(Section):
    """What is read from archives and how a page becomes text."""

    main_content: bool = Field(default=True, description="extract the main content; false takes all visible text")
    engine: Literal["resiliparse", "trafilatura", "hybrid"] = Field(
        default="resiliparse", description="finds the main content; the other two need the extra `trafilatura`"
    )
    guard: Literal["child", "none"] = Field(
        default="child",
        description="child: pages are read in a process that a page may hang or crash; none: in the task itself",
    )
    page_seconds: float = Field(
        default=10.0, gt=0, description="CPU time for the text of one page; more is the reject `timed_out`"
    )
    page_memory_bytes: int = Field(
        default=1 << 30, ge=16 << 20, description="memory for the text of one page; more is the reject `out_of_memory`"
    )
    max_record_bytes: int = Field(default=64 << 20, ge=1 << 10, description="a larger record is the reject `too_large`")
    max_body_bytes: int = Field(default=32 << 20, ge=1 << 10, description="cap on a decoded body")
    batch_bytes: int = Field(
        default=32 << 20, ge=1 << 16, description="documents held by a task before they are written"
    )
    split_bytes: int = Field(
        default=128 << 20,
        ge=1 << 16,
        description="input per task: large archives are cut, small files packed together",
    )
    commit_bytes: int = Field(
        default=64 << 30, ge=1 << 16, description="input after which what was read is recorded, and outlives a kill"
    )
    verify_digests: bool = Field(
        default=False,
        description="a record whose content has not the block digest it states is the reject `bad_digest`",
    )


class StorageSettings(Section):
    """How inputs are read from object storage. Never part of a fingerprint: it shapes no result.

    Credentials have no place here: they come from the usual AWS environment (variables, profile, instance role).
    """

    endpoint: str | None = Field(default=None, description="S3 endpoint, as http://127.0.0.1:9000; null is Amazon's")
    region: str | None = Field(default=None, description="S3 region; null is that of the AWS environment")
    profile: str | None = Field(default=None, description="AWS profile; null is that of the AWS environment")
    anonymous: bool = Field(default=False, description="read public buckets of S3 and Google without credentials")
    requester_pays: bool = Field(default=False, description="agree to pay for reading requester-pays buckets of S3")
    connect_seconds: float = Field(default=10.0, gt=0, description="longest wait for a connection")
    read_seconds: float = Field(default=60.0, gt=0, description="longest wait for the next bytes of an answer")
    attempts: int = Field(default=20, ge=1, description="attempts in a row that bring no byte before reading fails")
    max_wait_seconds: float = Field(
        default=60.0, ge=0, description="longest wait between two attempts, also where the server asks for more"
    )
    listing_threads: int = Field(default=16, ge=1, le=256, description="requests at once to learn sizes of inputs")
    https_sizes: int = Field(
        default=2000, ge=0, description="https inputs whose size is asked before the run; in a longer list none is"
    )

    @field_validator("endpoint")
    @classmethod
    def _bare_address(cls, value: str | None) -> str | None:
        """Settings are written to run files, so an endpoint may hold no credentials."""
        if value is not None and not re.fullmatch(r"https?://[^/?#@\s]+/?", value):
            raise ValueError("storage.endpoint must be http:// or https://, a host and a port, without credentials")
        return value


class UrlSettings(Section):
    """Which URL rules apply."""

    rules: tuple[str, ...] = Field(
        default=("url_rules.yaml",), description="rule files, later ones on top of earlier ones"
    )


class ResolveSettings(Section):
    """When captures under one key are one page."""

    threshold: Fraction = Field(default=0.8, description="Jaccard at which two texts under one key are the same page")
    canonical_fan_in: int = Field(
        default=100, ge=0, description="pages of a host that may declare one canonical; of more, none is followed"
    )


class SignSettings(Section):
    """The signature scheme."""

    shingle_words: int = Field(default=5, ge=1, le=64, description="consecutive words in a shingle")
    bands: int = Field(default=32, ge=1, description="band keys per document")
    rows: int = Field(default=8, ge=1, description="permutations per band")
    seed: int = Field(default=1, ge=0, lt=1 << 32, description="of the permutations")
    unicode_form: Literal["nfc", "nfkc"] = Field(
        default="nfc", description="nfkc: full-width letters, ligatures and the like are as their plain forms"
    )
    digits: Literal["keep", "zero"] = Field(
        default="keep", description="zero: all decimal digits are alike, so that dates and numbers make no difference"
    )
    minhash_bits: Literal[16, 32] = Field(default=16, description="bits kept of each permutation's minimum")

    @property
    def permutations(self) -> int:
        """How many permutations the bands need."""
        return self.bands * self.rows


class ClusterSettings(Section):
    """Which documents are near duplicates, and which one of a cluster stays."""

    threshold: Fraction = Field(
        default=0.8, description="least Jaccard of a near duplicate to the document kept for it"
    )
    verify: Literal["exact", "estimate", "none"] = Field(
        default="exact", description="exact: texts are compared where the estimate cannot decide"
    )
    keep: tuple[Priority, ...] = Field(
        default=("declared_canonical", "source_priority", "earliest_crawl", "longest_text", "shortest_url"),
        description="the priority order; doc_id breaks the last ties",
    )
    shape: Literal["star", "components"] = Field(
        default="star",
        description="star: each near duplicate is similar to the document kept for it; components: transitive closure",
    )
    anchors_per_key: int = Field(
        default=8, ge=1, le=64, description="kept documents of a band key that the second pass tries"
    )
    driver_edges: int = Field(
        default=2_000_000,
        ge=0,
        description="at most this many edges, or rows of shared band keys, are worked on by the driver alone",
    )
    max_rounds: int = Field(
        default=16,
        ge=1,
        description="rounds of the greedy in priority order; what is open then is decided in the order of a hash",
    )
    write_pairs: bool = Field(
        default=False, description="write the table `pairs`: every candidate pair, estimate, exact similarity"
    )
    aliases_per_row: int = Field(default=100, ge=0, le=1000, description="aliases listed on a representative")
    check_sample: int = Field(
        default=1000, ge=0, description="near duplicates whose similarity the end check recomputes"
    )

    @model_validator(mode="after")
    def _one_crawl_order(self) -> "ClusterSettings":
        if {"earliest_crawl", "latest_crawl"} <= set(self.keep):
            raise ValueError("keep has both earliest_crawl and latest_crawl: name one of them")
        if len(set(self.keep)) != len(self.keep):
            raise ValueError("keep names a priority twice")
        return self


class GlobalSettings(Section):
    """Deduplication across the snapshots of a store."""

    keep: Literal["oldest", "newest"] = Field(
        default="oldest", description="whose document stays; newest takes effect in what is built anew (`--rebuild`)"
    )


class StoreSettings(Section):
    """How tables are stored."""

    retain_seconds: int = Field(
        default=0, ge=0, description="how long the version before stays for readers in mid-scan"
    )
    rows_per_file: int = Field(
        default=1_000_000, ge=1000, description="rows at which a file of a small table is closed"
    )


class RunSettings(Section):
    """What makes a run meaningless."""

    max_reject_fraction: Fraction = Field(
        default=0.5, description="rejected records / page records above which a run fails"
    )


class SparkSettings(Section):
    """How the local command line starts Spark. spark-submit has its own --properties-file."""

    properties: str = Field(default="spark-local.conf", description="Spark properties of the local session")


class Settings(Section):
    """The whole configuration: one section per subject."""

    extract: ExtractSettings = ExtractSettings()
    storage: StorageSettings = StorageSettings()
    urls: UrlSettings = UrlSettings()
    resolve: ResolveSettings = ResolveSettings()
    sign: SignSettings = SignSettings()
    cluster: ClusterSettings = ClusterSettings()
    global_: GlobalSettings = Field(default=GlobalSettings(), alias="global")
    store: StoreSettings = StoreSettings()
    run: RunSettings = RunSettings()
    spark: SparkSettings = SparkSettings()
    source_priority: tuple[str, ...] = Field(
        default=(), description="sources, the preferred first: decides across snapshots, within one there is one source"
    )

    @model_validator(mode="after")
    def _bands_find_the_threshold(self) -> "Settings":
        """Without verification the bands decide alone, and the threshold plays no part."""
        if self.cluster.verify != "none":
            require_threshold_in_reach(self.cluster.threshold, self.sign.bands, self.sign.rows)
        return self
