"""Inputs in storage: files of this machine, S3, https, HDFS and Google's, opened, listed and measured alike.

`open_object` gives a stream that survives broken connections, `measure` the sizes of many objects at once.
"""

from dedup_lib.archives.stores.addresses import Address, is_remote, parse_address, shown
from dedup_lib.archives.stores.errors import ObjectChanged, ObjectMissing, StorageError, StorageUnreachable
from dedup_lib.archives.stores.interface import Listed
from dedup_lib.archives.stores.opening import open_object
from dedup_lib.archives.stores.retries import ReadMeter

__all__ = [
    "Address",
    "Listed",
    "ObjectChanged",
    "ObjectMissing",
    "ReadMeter",
    "StorageError",
    "StorageUnreachable",
    "is_remote",
    "open_object",
    "parse_address",
    "shown",
]
