"""Rows of the table `archives` from what the splits of each file told; and the files that have to be read otherwise."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pyarrow as pa

from dedup_lib.archives import ArchiveVerdict, Reason, SplitEnds, Verdict, merge_verdicts, splits_meet
from dedup_lib.archives.verdicts import judge
from dedup_lib.tables.schemas import ARCHIVES

UNREADABLE = "unreadable"  # the verdict on a file that storage does not give
_COUNTS = ("documents", "fetches", "rejects", "faults")
_MAPS = ("fetches_by_kind", "rejects_by_reason")
_STORAGE = ("requests", "retries", "waited_seconds", "remote_bytes")


@dataclass(frozen=True)
class Settled:
    """What a batch of inputs came to.

    `archives` has the rows of the table. `unmet` are the files whose splits do not lie end to end, since one of them
    took something inside a record for a record; `failed` those that cannot be read, with the reason. Where there is
    either, the batch must be read again, the former undivided and the latter not at all. `unreachable` is why storage
    did not give a file though it may later. `storage` is what reading took of storage.
    """

    archives: pa.Table
    unmet: frozenset[str]
    failed: Mapping[str, str]
    unreachable: str | None
    storage: Mapping[str, float]


def settle_splits(splits: pa.Table, failed: Mapping[str, str], sizes: Mapping[str, int]) -> Settled:
    """Puts the rows of `splits` together file by file; `failed` files, known before, were not read.

    `sizes` has the bytes of the failed files. All is held by the driver: a row per split of one batch of inputs.
    """
    rows, unmet, failing, unreachable = [], set(), {}, None
    ordered = sorted(splits.to_pylist(), key=lambda row: (row["archive"], row["start"]))
    for path, group in groupby(ordered, key=lambda row: row["archive"]):
        parts = list(group)
        failures = [part for part in parts if part["failure"]]
        if failures:
            failing[path] = failures[0]["failure"]
            passing = (part["failure"] for part in failures if part["failure_may_pass"])
            unreachable = unreachable or next(passing, None)
        elif _meet(parts):
            rows.append(_archive(path, parts))
        else:
            unmet.add(path)
    rows += [_unreadable(path, sizes[path]) for path in failed]
    rows.sort(key=lambda row: row["archive"])
    storage = {name: sum(row[name] for row in ordered) for name in _STORAGE}
    archives = pa.Table.from_pylist(rows, schema=ARCHIVES.arrow)
    return Settled(archives, frozenset(unmet), failing, unreachable, storage)


def _meet(parts: Collection[Mapping[str, Any]]) -> bool:
    """Whether the splits of a file lie end to end; what was read whole always does."""
    if len(parts) == 1:
        return True
    ends = [SplitEnds(part["start"], part["first"], part["next"]) for part in parts]
    return splits_meet(ends, max(part["size"] for part in parts))


def _archive(path: str, parts: Collection[Mapping[str, Any]]) -> dict[str, Any]:
    found = Counter(_added(part["found"] for part in parts))
    whole = merge_verdicts(
        [
            ArchiveVerdict(
                judge(dict(part["records"]), dict(part["found"])),
                part["size"],
                part["bytes_read"],
                dict(part["records"]),
                dict(part["found"]),
            )
            for part in parts
        ]
    )
    counts = {name: sum(part[name] for part in parts) for name in _COUNTS}
    records = sum(whole.records_by_type.values())
    return {
        "archive": path,
        "verdict": (Verdict.DAMAGED if found[Reason.BAD_ROW.value] else whole.verdict).value,
        "bytes": whole.size,
        "bytes_read": whole.bytes_read,
        "records": sorted(whole.records_by_type.items()),
        "repeated": 0,
        "skipped": records - counts["documents"] - counts["fetches"] - counts["rejects"],
        **counts,
        **{name: sorted(_added(part[name] for part in parts).items()) for name in _MAPS},
    }


def _unreadable(path: str, size: int) -> dict[str, Any]:
    nothing = dict.fromkeys(("bytes_read", "repeated", "skipped", *_COUNTS), 0)
    return {
        "archive": path,
        "verdict": UNREADABLE,
        "bytes": max(size, 0),
        "records": [],
        "fetches_by_kind": [],
        "rejects_by_reason": [(Reason.UNREADABLE.value, 1)],
        **nothing,
        "faults": 1,
    }


def _added(maps: Iterable[Iterable[tuple[str, int]]]) -> dict[str, int]:
    """Maps, added up."""
    total: Counter[str] = Counter()
    for entries in maps:
        total.update(dict(entries))
    return dict(total)
