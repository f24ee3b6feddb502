"""The passes after the first on the driver, where a snapshot has few rows of shared band keys.

The same steps as over Spark (`near`), by the same kernels, and the same result. Over Spark a pass is some twenty jobs,
whatever its size, and these are most of the time that a small snapshot takes. Only pairs that are decided by their
texts go back to Spark, which reads those.

Items are numbered densely here, in their order; `Found` has the true ones.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dedup_lib.clustering.candidates import pairing
from dedup_lib.clustering.components import join_components
from dedup_lib.clustering.frames import frame_of
from dedup_lib.clustering.hot import groups_of, spread_keys
from dedup_lib.clustering.stars import sweep_stars
from dedup_lib.clustering.verify import Bounds
from dedup_lib.config.settings import ClusterSettings
from dedup_lib.signatures import Scheme
from dedup_lib.signatures.similarity import estimate_rows, minhash_rows

MOST_SKETCH_BYTES = 512 << 20  # of minhashes that the driver takes
ROWS_AT_ONCE = 1 << 16  # that are paired in one call, since each may give several pairs
Ints = NDArray[np.int64]
Compare = Callable[[pa.Table], pa.Table]  # rows (anchor, item, estimate) -> rows (anchor, item, similarity)
VERIFIED = ("anchor", "item", "estimate", "exact", "accepted", "pass")


@dataclass(frozen=True)
class Gathered:
    """What the passes work on, with dense items: rows (key, item) sorted by both, and the minima of each item."""

    items: Ints
    keys: Ints
    members: Ints
    minima: NDArray[Any]  # unsigned, of 16 or 32 bits


@dataclass(frozen=True)
class Found:
    """Rows as `near.NearClusters` has them."""

    assigned: pa.Table
    pairs: pa.Table
    verified: pa.Table
    passes: int


def gather(members: DataFrame, contents: DataFrame, settings: ClusterSettings, scheme: Scheme) -> Gathered | None:
    """The rows (key, item) of `members` and the minima of their items; None where that is more than the driver takes:
    `cluster.driver_edges` rows, or 512 MB of minima."""
    if members.count() > settings.driver_edges:
        return None
    rows = members.select("key", "item").toArrow()
    keys, members_of = (rows.column(name).to_numpy() for name in ("key", "item"))
    items = np.unique(members_of)
    if len(items) * scheme.permutations * scheme.minhash_bits // 8 > MOST_SKETCH_BYTES:
        return None
    wanted = frame_of(members.sparkSession, pa.table({"item": items}))
    sketches = contents.join(F.broadcast(wanted), "item", "left_semi").select("item", "minhash").toArrow()
    sketches = sketches.sort_by("item").combine_chunks()
    minima = minhash_rows(sketches.column("minhash").combine_chunks(), scheme.minhash_bits)
    dense = np.searchsorted(items, members_of)
    order = np.lexsort((dense, keys))
    return Gathered(items, keys[order], dense[order], minima)


@dataclass
class DriverPasses:
    """The passes from the second on; `run` goes through them.

    `tested` has a code for each pair that was a candidate, sorted; `verified` the columns VERIFIED of those that were
    looked at more closely, a null `exact` being NaN. `fixed` as in `near.cluster_near`.
    """

    gathered: Gathered
    settings: ClusterSettings
    scheme: Scheme
    compare: Compare
    most_passes: int
    fixed: int
    tested: Ints = field(init=False)
    verified: dict[str, NDArray[Any]] = field(init=False)

    def run(self, pairs: pa.Table, verified: pa.Table) -> Found:
        """Goes on from the first pass: its candidate pairs (anchor, item), and its rows of VERIFIED."""
        self.tested = np.sort(self._codes(*(self._dense(pairs.column(name)) for name in ("anchor", "item"))))
        columns = {name: verified.column(name) for name in VERIFIED}
        self.verified = {name: self._dense(columns[name]) for name in ("anchor", "item")}
        self.verified |= {name: columns[name].to_numpy() for name in VERIFIED[2:]}
        assigned, passes, freed = self._group(), 1, True
        while freed:
            while passes < self.most_passes:
                fresh = self._fresh_pairs(assigned)
                passes += 1
                if not len(fresh):
                    break
                self.tested = np.sort(np.concatenate([self.tested, fresh]))
                if not self._verify(fresh, passes):
                    break
                assigned = self._group()
            assigned, freed = self._confirm(assigned)
            freed = freed and passes < self.most_passes
        return Found(self._named(assigned), self._named(self._pair_table(self.tested)), self._told(), passes)

    def _codes(self, anchors: Ints, items: Ints) -> Ints:
        return anchors * len(self.gathered.items) + items

    def _pair_table(self, codes: Ints) -> pa.Table:
        anchors, items = np.divmod(codes, len(self.gathered.items))
        return pa.table({"anchor": anchors, "item": items})

    def _dense(self, column: pa.ChunkedArray) -> Ints:
        dense: Ints = np.searchsorted(self.gathered.items, column.to_numpy())
        return dense

    def _named(self, table: pa.Table) -> pa.Table:
        """The table with the true items in place of the dense ones."""
        for place, name in enumerate(table.column_names):
            if name in {"anchor", "item", "star"}:
                table = table.set_column(place, name, pa.array(self.gathered.items[table.column(name).to_numpy()]))
        return table

    def _told(self) -> pa.Table:
        columns: dict[str, pa.Array] = {name: pa.array(self.verified[name]) for name in VERIFIED}
        columns["exact"] = pa.array(self.verified["exact"], from_pandas=True)
        return self._named(pa.table(columns))

    def _edges(self) -> pa.Table:
        """The accepted pairs: anchor, item, similarity, exact, and `place`, the order of the items."""
        chosen = np.flatnonzero(self.verified["accepted"])
        anchor, item, estimate, exact = (self.verified[name][chosen] for name in VERIFIED[:4])
        known = ~np.isnan(exact)
        similarity = np.where(known, exact, estimate)
        return pa.table({"anchor": anchor, "item": item, "similarity": similarity, "exact": known, "place": item})

    def _group(self) -> pa.Table:
        """Rows (item, star, similarity, exact) of the items that are not kept, by what is known so far."""
        edges = self._edges()
        if self.settings.shape == "star":
            stars = sweep_stars(edges)
            return stars.select(["item", "anchor", "similarity", "exact"]).rename_columns(
                ["item", "star", "similarity", "exact"]
            )
        heads = join_components(edges).rename_columns(["item", "anchor"])
        known = heads.join(edges.select(["anchor", "item", "similarity", "exact"]), ["anchor", "item"])
        exact = pc.fill_null(known.column("exact"), False)
        return pa.table(
            {
                "item": known.column("item"),
                "star": known.column("anchor"),
                "similarity": known.column("similarity"),
                "exact": exact,
            }
        )

    def _open_rows(self, assigned: pa.Table) -> tuple[Ints, Ints, Ints]:
        """The rows (key, item, label) that may still hide a pair, sorted by key and item."""
        keys, members = self.gathered.keys, self.gathered.members
        labels = np.arange(len(self.gathered.items))
        stars = self.settings.shape == "star"
        labels[assigned.column("item").to_numpy()] = -1 if stars else assigned.column("star").to_numpy()
        still = labels[members] >= 0
        return keys[still], members[still], labels[members[still]]

    def _hot(self, keys: Ints, labels: Ints) -> NDArray[np.bool_]:
        """Which rows are of a key of more than `anchors_per_key` labels."""
        order = np.lexsort((labels, keys))
        starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
        new = np.r_[True, (keys[1:] != keys[:-1]) | (labels[order][1:] != labels[order][:-1])]
        of_key = np.add.reduceat(new.astype(np.int64), starts)
        return np.repeat(of_key > self.settings.anchors_per_key, np.diff(np.append(starts, len(keys))))

    def _pairs_in(self, keys: Ints, items: Ints, labels: Ints) -> Ints:
        """The codes of the pairs of rows with the first ones of their key, sorted."""
        order = np.lexsort((items, keys))
        columns = [pa.array(column[order]) for column in (keys, items, labels)]
        rows = pa.RecordBatch.from_arrays(columns, names=["key", "item", "label"])
        parts = (rows.slice(start, ROWS_AT_ONCE) for start in range(0, rows.num_rows, ROWS_AT_ONCE))
        fixed = int(np.searchsorted(self.gathered.items, self.fixed))
        paired = pairing(self.settings.anchors_per_key, fixed)(parts)
        codes = [self._codes(*(pairs.column(name).to_numpy() for name in ("anchor", "item"))) for pairs in paired]
        return np.unique(np.concatenate([np.empty(0, np.int64), *codes]))

    def _fresh_pairs(self, assigned: pa.Table) -> Ints:
        """The codes of the candidate pairs that were not tested yet, sorted.

        Those of hot keys meet under further keys too (`hot`), one group of these after the other.
        """
        keys, items, labels = self._open_rows(assigned)
        if not len(keys):
            return keys
        found = [self._pairs_in(keys, items, labels)]
        hot = self._hot(keys, labels)
        further = spread_keys(keys[hot], self.gathered.minima[items[hot]], groups_of(self.scheme))
        found += [self._pairs_in(group, items[hot], labels[hot]) for group in further.T]
        return np.setdiff1d(np.concatenate(found), self.tested)

    def _verify(self, codes: Ints, number: int) -> bool:
        """Judges pairs as `verify.judge_pairs` does; gives whether one was accepted."""
        bounds = Bounds.of(self.settings, self.scheme.permutations)
        least = bounds.sure if self.settings.shape == "components" else bounds.accept
        anchors, items = np.divmod(codes, len(self.gathered.items))
        estimates = estimate_rows(self.gathered.minima, anchors, items, self.scheme.minhash_bits)
        looked = estimates >= (0.0 if self.settings.write_pairs else bounds.reject)
        anchors, items, estimates = anchors[looked], items[looked], estimates[looked]
        exact, accepted = np.full(len(items), np.nan), estimates >= least
        if self.settings.verify == "exact":
            between = np.flatnonzero((estimates >= bounds.reject) & ~accepted)
            exact[between] = self._exactly(anchors[between], items[between], estimates[between])
            accepted[between] = exact[between] >= self.settings.threshold
        numbers = np.full(len(items), number, np.int32)
        columns = zip(VERIFIED, (anchors, items, estimates, exact, accepted, numbers), strict=True)
        self.verified = {name: np.concatenate([self.verified[name], column]) for name, column in columns}
        return bool(accepted.any())

    def _exactly(self, anchors: Ints, items: Ints, estimates: NDArray[np.float64]) -> NDArray[np.float64]:
        """The exact similarities of pairs, from their texts."""
        if not len(items):
            return np.empty(0, np.float64)
        asked = self._named(pa.table({"anchor": anchors, "item": items, "estimate": estimates}))
        told = self.compare(asked)
        if len(told) < len(items):
            raise RuntimeError(f"texts are missing for {len(items) - len(told)} of {len(items)} pairs")
        codes = self._codes(self._dense(told.column("anchor")), self._dense(told.column("item")))
        order = np.argsort(codes)
        place = order[np.searchsorted(codes[order], self._codes(anchors, items))]
        found: NDArray[np.float64] = told.column("similarity").to_numpy()[place]
        return found

    def _confirm(self, assigned: pa.Table) -> tuple[pa.Table, bool]:
        """As `near` confirms: no star by an estimate that is not sure; and whether there was one that does not hold."""
        freed = False
        if self.settings.verify != "exact" or self.settings.shape != "star":
            return assigned, freed
        sure = Bounds.of(self.settings, self.scheme.permutations).sure
        while True:
            exact, similarity = (assigned.column(name).to_numpy() for name in ("exact", "similarity"))
            unsure = np.flatnonzero(~exact & (similarity < sure))
            if not len(unsure):
                return assigned, freed
            stars, items = (assigned.column(name).to_numpy()[unsure] for name in ("star", "item"))
            codes = self._codes(stars, items)
            found = self._exactly(stars, items, similarity[unsure])
            all_codes = self._codes(self.verified["anchor"], self.verified["item"])
            order = np.argsort(all_codes)
            place = order[np.searchsorted(all_codes[order], codes)]
            self.verified["exact"][place] = found
            self.verified["accepted"][place] = holds = found >= self.settings.threshold
            freed = freed or not holds.all()
            assigned = self._group()
