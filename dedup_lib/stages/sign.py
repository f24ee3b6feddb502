"""The stage `sign`: texts to the feature store."""

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from dedup_lib.signatures import Scheme, sign_texts
from dedup_lib.stages import Scan
from dedup_lib.tables.schemas import SIGNATURES

_CARRIED = ("doc_id", "url", "url_key", "crawl_date", "fetched_at", "content_hash", "url_scheme")


def sign(documents: Scan, identities: DataFrame, scheme: Scheme) -> DataFrame:
    """One row per winning capture, in the columns of the table `signatures`.

    Texts are signed where they lie and only signatures are shuffled, since a signature is smaller than its text;
    the few captures that lost their key are signed for nothing.
    """
    made = [name for name in SIGNATURES.names if name != "canonical_url"]
    schema = StructType([SIGNATURES.spark[name] for name in made])
    arrow = pa.schema([SIGNATURES.arrow.field(name) for name in made])
    name = str(scheme)

    def sign_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            columns = {carried: batch.column(carried) for carried in _CARRIED}
            columns |= sign_texts(batch.column("text"), scheme).to_arrow()
            columns["scheme"] = pa.array([name] * batch.num_rows, pa.string())
            yield pa.RecordBatch.from_arrays([columns[field.name] for field in arrow], schema=arrow)

    signed = documents([*_CARRIED, "text"], sign_batches, schema)
    winners = identities.where("wins").select("doc_id", "canonical_url")
    return signed.join(winners, "doc_id", "inner").select(*SIGNATURES.names)
