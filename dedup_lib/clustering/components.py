"""Connected components of an edge graph, each named by its first item: the transitive closure, for who wants that.

Over Spark by alternating large-star and small-star (Kiveris et al., "Connected Components in MapReduce and Beyond",
SoCC 2014); by union-find where the edges fit on the driver. Both give the same rows.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from dedup_lib.clustering import Cut
from dedup_lib.clustering.frames import frame_of
from dedup_lib.errors import CheckFailedError
from dedup_lib.signatures.jit import kernel

MAX_ROUNDS = 100  # a chain of 10^6 links takes 21, and twice the links one more
_LINKS = StructType([StructField(name, LongType()) for name in ("node", "other", "moved")])
_LINKS_ARROW = pa.schema([pa.field(name, pa.int64()) for name in _LINKS.names])


@kernel
def _join_sets(anchors: NDArray[np.int64], items: NDArray[np.int64], parents: NDArray[np.int64]) -> None:
    """Union-find with path halving; the root of a set is its least member. Ends with every parent a root."""
    for edge in range(len(anchors)):
        one, other = anchors[edge], items[edge]
        while parents[one] != one:
            parents[one] = parents[parents[one]]
            one = parents[one]
        while parents[other] != other:
            parents[other] = parents[parents[other]]
            other = parents[other]
        if one < other:
            parents[other] = one
        else:
            parents[one] = other
    for node in range(len(parents)):  # parents come before their children
        parents[node] = parents[parents[node]]


def join_components(edges: pa.Table) -> pa.Table:
    """Rows (item, head) of an edge table (anchor, item): the first item of each other item's component."""
    ends = np.concatenate([edges.column(name).to_numpy() for name in ("anchor", "item")])
    names, dense = np.unique(ends, return_inverse=True)
    parents = np.arange(len(names))
    _join_sets(dense[: len(edges)], dense[len(edges) :], parents)
    others = parents != np.arange(len(names))
    return pa.table({"item": names[others], "head": names[parents[others]]})


def _on_driver(edges: DataFrame) -> DataFrame:
    heads = join_components(edges.select("anchor", "item").toArrow())
    return frame_of(edges.sparkSession, heads)


@kernel
def _link_to_least(
    nodes: NDArray[np.int64],
    others: NDArray[np.int64],
    moved: NDArray[np.int64],
    large: bool,
    state: NDArray[np.int64],
    out: NDArray[np.int64],
) -> int:
    """Links the neighbours of each node, in sorted order, to its least neighbour; gives the number of rows written.

    Large star: those after the node, to the least of them all and the node. Small star, where all neighbours come
    before the node: they and the node. Carried from batch to batch in `state`: whether there is a node, the node,
    its least neighbour, and the last one, since a link may come several times.
    """
    written = 0
    for row in range(len(nodes)):
        node, other = nodes[row], others[row]
        fresh = state[0] == 0 or node != state[1]
        if fresh:
            state[0], state[1], state[2] = 1, node, other
        elif other == state[3]:
            continue
        state[3] = other
        least = min(state[2], node)
        if large:
            if other > node:
                out[0, written], out[1, written] = other, least
                out[2, written] = least != node
                written += 1
        else:
            out[0, written], out[1, written] = (node if fresh else other), least
            out[2, written] = 1 if moved[row] or not fresh else 0
            written += 1
    return written


def linking(large: bool) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function of a star step over rows (node, other, moved), sorted, those of a node together."""

    def link(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        state = np.zeros(4, np.int64)
        for batch in batches:
            nodes, others, moved = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
            out = np.empty((3, batch.num_rows), np.int64)
            written = _link_to_least(nodes, others, moved, large, state, out)
            yield pa.RecordBatch.from_arrays([pa.array(row[:written]) for row in out], schema=_LINKS_ARROW)

    return link


def _star_step(links: DataFrame, large: bool) -> DataFrame:
    placed = links.repartition("node").sortWithinPartitions("node", "other", F.desc("moved"))
    return placed.mapInArrow(linking(large), _LINKS)


def component_heads(edges: DataFrame, driver_edges: int, cut: Cut, max_rounds: int = MAX_ROUNDS) -> DataFrame:
    """Rows (item, head): the first item of the component of each item that is not the first itself.

    `edges` has rows (anchor, item), anchor < item, and should be stored. Each round links every neighbour of a node
    to the least of them, the later ones first (large star) and then the earlier ones (small star): links never
    become more, and each round stores them. A link is `moved` if a step made another one of it. A round that moved none
    has found stars, which no further round would change, so that the labels are final. As soon as at most
    `driver_edges` links are left they are joined on the driver. Links that still move after `max_rounds` are an error.
    """
    if edges.count() <= driver_edges:
        return _on_driver(edges)
    still = F.lit(0).cast("long").alias("moved")
    links = edges.select(F.col("item").alias("node"), F.col("anchor").alias("other"))
    for turn in range(max_rounds):
        back = links.select(F.col("other").alias("node"), F.col("node").alias("other"), still)
        large = _star_step(links.select("node", "other", still).unionAll(back), True)
        stored = cut(_star_step(large, False), f"links-{turn}")
        left, moved = stored.agg(F.count("*"), F.count_if(F.col("moved") == 1)).collect()[0]  # one row
        links = stored.select("node", "other")
        if moved == 0:
            return links.select(F.col("node").alias("item"), F.col("other").alias("head"))
        if left <= driver_edges:
            return _on_driver(links.select(F.col("other").alias("anchor"), F.col("node").alias("item")))
    raise CheckFailedError(
        [f"{moved} of {left} links of the components still move after {max_rounds} rounds"],
        "raise cluster.driver_edges, or use cluster.shape: star",
    )
