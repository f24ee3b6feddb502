"""Tells archives from tables of text, by the ending of a name, or else by the first bytes."""

import zlib
from typing import Literal

from dedup_lib.archives.sources import GZIP_MAGIC
from dedup_lib.archives.zstd_frames import DICTIONARY_MAGIC, ZSTD_MAGIC

Kind = Literal["warc", "texts"]

ARCHIVE_ENDINGS = (
    *(".warc", ".warc.gz", ".warc.zst", ".warc.lz4", ".arc", ".arc.gz"),
    *(".wet", ".wet.gz", ".wet.zst", ".wat", ".wat.gz"),
)
TEXT_ENDINGS = (".parquet", ".jsonl", ".jsonl.gz", ".json", ".ndjson", ".ndjson.gz")
LIST_ENDINGS = (".txt", ".paths", ".paths.gz")
SNIFF_BYTES = 4096


def kind_by_name(name: str) -> Kind | None:
    """What the ending of a name says; None if it says nothing.

    >>> kind_by_name("CC-MAIN-1.warc.wet.GZ"), kind_by_name("part-0.gz")
    ('warc', None)
    """
    name = name.lower()
    if name.endswith(ARCHIVE_ENDINGS):
        return "warc"
    return "texts" if name.endswith(TEXT_ENDINGS) else None


def kind_by_bytes(first: bytes) -> Kind | None:
    """What the first `SNIFF_BYTES` of a file say, inflated if they are gzip; None if it is neither."""
    if first.startswith(GZIP_MAGIC):
        try:
            first = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(first, 16)
        except zlib.error:
            return None
    if first.startswith((b"WARC/", b"filedesc:", ZSTD_MAGIC, DICTIONARY_MAGIC)):  # what zstd holds is seen later
        return "warc"
    return "texts" if first.startswith(b"PAR1") else None
