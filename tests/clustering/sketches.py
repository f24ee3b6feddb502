"""Items with minima of planned agreement, as the store has them after signing, and near clusters by definition."""

import numpy as np
import pyarrow as pa

from dedup_lib.signatures import Scheme
from dedup_lib.signatures.kernels import band_keys

SCHEME = Scheme()


def drawn(number, seed):
    """Minima of `number` items that have nothing in common."""
    return np.random.default_rng(seed).integers(0, 1 << 64, (number, SCHEME.permutations), np.uint64)


def variants(minima, number, agreement, seed):
    """`number` variants of one row of minima, each of which keeps every minimum with probability `agreement`."""
    dice = np.random.default_rng(seed)
    keeps = dice.random((number, len(minima))) < agreement
    return np.where(keeps, minima, drawn(number, seed + 1))


def keys_of(minima):
    keys = np.empty((len(minima), SCHEME.bands), np.int64)
    for row, out in zip(minima, keys, strict=True):
        band_keys(row, SCHEME.rows, out)
    return keys


def contents_table(minima, keys=None):
    """Rows (item, minhash, bands); item is the row's number."""
    lists = (keys_of(minima) if keys is None else keys).tolist()
    return pa.table(
        {
            "item": pa.array(range(len(minima)), pa.int64()),
            "minhash": pa.array([row.tobytes() for row in minima.astype(np.uint16)], pa.binary()),
            "bands": pa.array([sorted(set(row)) for row in lists], pa.list_(pa.int64())),
        }
    )


def agreements(minima):
    """The share of minima in which each two items agree."""
    return np.array([(minima == row).mean(axis=1) for row in minima])


def stars_by_definition(minima, keys, threshold, fixed=0):
    """item -> star. An item stays if none of those that stay before it shares a key with it and is similar to it."""
    alike = agreements(minima) >= threshold
    stars, kept = {}, []
    for item in range(len(minima)):
        near = (one for one in kept if item >= fixed and alike[one, item] and not set(keys[one]).isdisjoint(keys[item]))
        star = next(near, None)
        if star is None:
            kept.append(item)
        else:
            stars[item] = star
    return stars
