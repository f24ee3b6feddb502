"""Finds objects: those in a folder, those that match a glob, and the sizes of many that are named one by one."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from functools import partial
from itertools import islice, takewhile
from typing import TypeVar

from dedup_lib.archives.stores.addresses import Address
from dedup_lib.archives.stores.errors import ObjectMissing, StorageError
from dedup_lib.archives.stores.interface import Listed
from dedup_lib.archives.stores.opening import store_of
from dedup_lib.archives.stores.retries import ReadMeter, persist
from dedup_lib.config.settings import StorageSettings

Tell = Callable[[str], None]

LIST_FROM = 8  # objects named in a folder from which it is listed, 1000 names a request
SPARE_PAGES = 10  # and given up if it holds that many pages more than what is wanted
TELL_SECONDS = 5.0
BATCH = 2000  # requests that wait for a thread
MAGIC = frozenset("*?[")

_One = TypeVar("_One")
_Result = TypeVar("_Result")


def find_object(address: Address, storage: StorageSettings, meter: ReadMeter) -> Listed | None:
    """One object, or None if there is none of that key."""
    if address.key.endswith("/") or not address.key:
        return None
    store = store_of(address, storage)
    try:
        return persist(str(address), lambda: store.stat(address), storage, meter)
    except ObjectMissing:
        return None


def list_objects(prefix: Address, storage: StorageSettings, meter: ReadMeter, after: str = "") -> Iterator[Listed]:
    """All objects whose keys begin with the prefix's, in order of their keys. Markers of folders are left out."""
    store = store_of(prefix, storage)
    token = ""
    while True:
        listed, token = persist(str(prefix), partial(store.page, prefix, after, token), storage, meter)
        yield from (one for one in listed if not one.address.key.endswith("/"))
        if not token:
            return


def glob_objects(pattern: Address, storage: StorageSettings, meter: ReadMeter) -> Iterator[Listed]:
    """Objects that match a glob: `*`, `?` and `[...]` within a folder's name, `**` for any folders."""
    fixed = pattern.key[: next((at for at, char in enumerate(pattern.key) if char in MAGIC), None)]
    wanted = pattern.key.split("/")
    for one in list_objects(pattern.at(fixed), storage, meter):
        if matches(one.address.key.split("/"), wanted):
            yield one


def matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether a path matches a glob, part by part; as in a shell, only a dot in the glob matches a leading dot.

    >>> matches("a/b/c.gz".split("/"), "a/**/*.gz".split("/")), matches(["a", "b"], ["*"])
    (True, False)
    """
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return matches(parts, pattern[1:]) or (bool(parts) and matches(parts[1:], pattern))
    if not parts or not fnmatchcase(parts[0], pattern[0]) or (parts[0].startswith(".") and pattern[0][:1] != "."):
        return False
    return matches(parts[1:], pattern[1:])


def measure(
    addresses: Sequence[Address], storage: StorageSettings, meter: ReadMeter, tell: Tell | None = None
) -> dict[str, Listed | None]:
    """Sizes and versions of objects that are named one by one, by address; None for those that do not exist.

    Where storage can list, folders with many of them are listed (the 90,000 archives of a crawl lie in 100 folders:
    some 200 requests), and the rest asked for one by one, `storage.listing_threads` at a time. Over https more than
    `storage.https_sizes` are not asked for at all (size -1, no version): as many requests before the first byte would
    get a machine blocked, so that tasks learn sizes when they open the files.
    """
    found: dict[str, Listed | None] = {}
    single: list[Address] = []
    folders: dict[tuple[str, str, str], list[Address]] = defaultdict(list)
    web = [one for one in addresses if one.scheme in ("https", "http")]
    if len(web) > storage.https_sizes:
        found = {str(one): Listed(one, -1, "") for one in web}
        if tell:
            tell(f"sizes of {len(web)} https inputs are not asked for (storage.https_sizes is {storage.https_sizes})")
    for one in addresses:
        if str(one) not in found:
            folders[one.scheme, one.place, one.key.rpartition("/")[0]].append(one)
    listable = []
    for wanted in folders.values():
        if len(wanted) >= LIST_FROM and store_of(wanted[0], storage).lists:
            listable.append(wanted)
        else:
            single.extend(wanted)
    told = _Progress(len(addresses), tell)
    for listed, left in in_threads(partial(_measure_folder, storage=storage), listable, storage, meter):
        found.update({str(one.address): one for one in listed})
        single.extend(left)
        told.count(len(listed))
    asked = in_threads(partial(_measure_one, storage=storage), single, storage, meter)
    for address, known in zip(single, asked, strict=True):
        found[str(address)] = known
        told.count(1)
    return found


def in_threads(
    work: Callable[[_One, ReadMeter], _Result], items: Iterable[_One], storage: StorageSettings, meter: ReadMeter
) -> Iterator[_Result]:
    """The results of work that waits for storage, in the order of the items; what it took is added to the meter."""

    def metered(item: _One) -> tuple[_Result, ReadMeter]:
        own = ReadMeter()
        return work(item, own), own

    with ThreadPoolExecutor(storage.listing_threads, thread_name_prefix="storage") as pool:
        try:
            left = iter(items)
            while some := list(islice(left, BATCH)):
                for result, own in pool.map(metered, some):
                    meter.add(own)
                    yield result
        finally:
            pool.shutdown(cancel_futures=True)


def _measure_one(address: Address, meter: ReadMeter, storage: StorageSettings) -> Listed | None:
    return find_object(address, storage, meter)


def _measure_folder(
    wanted: Sequence[Address], meter: ReadMeter, storage: StorageSettings
) -> tuple[list[Listed], list[Address]]:
    """Those that a listing finds, and those to be asked for one by one: all, if the folder may not be listed."""
    keys = {one.key for one in wanted}
    first, last = min(keys), max(keys)
    prefix = wanted[0].at(first.rpartition("/")[0] + "/" if "/" in first else "")
    listed: dict[str, Listed] = {}
    most = 1000 * SPARE_PAGES + 2 * len(keys)
    try:
        # The listing begins after a key, so at the longest prefix of the first one.
        objects = list_objects(prefix, storage, meter, after=first[:-1] if len(first) - 1 > len(prefix.key) else "")
        for seen, one in enumerate(takewhile(lambda one: one.address.key <= last, objects)):
            if one.address.key in keys:
                listed[one.address.key] = one
            if seen >= most or len(listed) == len(keys):
                break
    except StorageError:
        listed = {}
    return list(listed.values()), [one for one in wanted if one.key not in listed]


class _Progress:
    """Tells how far it has come, every few seconds."""

    def __init__(self, total: int, tell: Tell | None) -> None:
        self._total, self._tell = total, tell
        self._done = 0
        self._next = time.monotonic() + TELL_SECONDS

    def count(self, done: int) -> None:
        self._done += done
        if self._tell and time.monotonic() >= self._next:
            self._next = time.monotonic() + TELL_SECONDS
            self._tell(f"sizes of {self._done} of {self._total} input files are known")
