"""What URL rules make of stored URLs: the columns that change with them, at extraction and whenever rules change.

Everything here follows from `url`, `canonical_links` and the rules alone, so that no archive is needed.
"""

import pyarrow as pa

from dedup_lib.tables.schemas import DOCUMENTS, FETCHES
from dedup_lib.urls import UrlRules, declared_canonicals, identify_column


def document_names(urls: pa.Array, canonical_links: pa.Array, rules: UrlRules) -> dict[str, pa.Array]:
    """The columns of `documents` that rules shape, by name, for the URLs as captured and what the pages declare."""
    pages = identify_column(urls, rules)
    return {
        "url_strict": pages.url_strict,
        "policy_url": pages.policy_url,
        "url_key": pages.url_key,
        "declared_canonical": declared_canonicals(pages, canonical_links, rules),
        "url_scheme": pa.array([rules.scheme] * len(urls), pa.string()),
    }


def renamed_documents(batch: pa.RecordBatch, rules: UrlRules) -> pa.RecordBatch:
    """Rows of `documents` as extraction under these rules would have made them."""
    names = document_names(batch.column("url"), batch.column("canonical_links"), rules)
    return _with_columns(batch, names, DOCUMENTS.arrow)


def renamed_fetches(batch: pa.RecordBatch, rules: UrlRules) -> pa.RecordBatch:
    """Rows of `fetches` as extraction under these rules would have made them."""
    return _with_columns(batch, {"url_key": identify_column(batch.column("url"), rules).url_key}, FETCHES.arrow)


def _with_columns(batch: pa.RecordBatch, columns: dict[str, pa.Array], schema: pa.Schema) -> pa.RecordBatch:
    """The batch in the columns of a schema, some of them replaced."""
    arrays = [columns.get(field.name, batch.column(field.name)).cast(field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
