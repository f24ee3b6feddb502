"""One query against stored signatures: a text, or a MinHash that datasketch made, with every row of a column."""

from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dedup_lib.errors import SchemeMismatchError, UsageError
from dedup_lib.signatures.jit import kernel
from dedup_lib.signatures.scheme import Scheme
from dedup_lib.signatures.sign import sign_texts
from dedup_lib.signatures.similarity import minhash_rows, without_chance


class Sketch(Protocol):
    """What is asked of a `datasketch.MinHash`: all 64 bits of the minima, and by which permutations they are."""

    scheme: str
    seed: int
    hashvalues: Any

    def is_empty(self) -> bool:
        """Whether nothing was added to it."""


@kernel
def _count_agreeing(query: NDArray[Any], rows: NDArray[Any], equal: NDArray[np.int32]) -> None:
    for row in range(rows.shape[0]):
        same = 0
        for place in range(rows.shape[1]):
            same += rows[row, place] == query[place]
        equal[row] = same


def similarity_to_store(query: str | Sketch, minhash: pa.Array | pa.ChunkedArray, scheme: Scheme | str) -> pa.Array:
    """Estimated Jaccard of the query to each row of a column `minhash` of a store: double, null for null.

    `scheme` is the store's, as a value or as its column `scheme` has it. A text is signed by it. A datasketch MinHash
    must be of `affine64`, of as many permutations and the same seed, over the hashes that `shingle_sets` gives (its
    `hashfunc` must hand them through): its low bits are compared. Standard error sqrt(J (1 - J) / permutations).

    SchemeMismatchError, with both schemes, where query, column and scheme do not belong together; UsageError for a
    query without shingles, of which MinHash says nothing.
    """
    known = Scheme.parse(scheme) if isinstance(scheme, str) else scheme
    wanted = _minima_of_text(query, known) if isinstance(query, str) else _minima_of_sketch(query, known)
    if isinstance(minhash, pa.ChunkedArray):
        minhash = minhash.combine_chunks()
    stored = minhash_rows(minhash.drop_null(), known.minhash_bits)
    if len(stored) and stored.shape[1] != known.permutations:
        raise SchemeMismatchError(
            "the minhash column",
            f"{stored.shape[1]} permutations of {known.minhash_bits} bits",
            str(known),
            "pass the value of its column `scheme`",
        )
    equal = np.empty(len(stored), np.int32)
    _count_agreeing(wanted, stored, equal)
    estimates = without_chance(equal / known.permutations, known.minhash_bits)
    places = np.cumsum(minhash.is_valid().to_numpy(zero_copy_only=False)) - 1
    return pc.take(pa.array(estimates), pa.array(places, mask=minhash.is_null().to_numpy(zero_copy_only=False)))


def _minima_of_text(text: str, scheme: Scheme) -> NDArray[Any]:
    signed = sign_texts(pa.array([text], pa.string()), scheme)
    if signed.shingles[0] == 0:
        raise UsageError(
            f"the query has fewer than {scheme.shingle_words} words, so that it has no shingle: compare its "
            "content_hash with the store's instead"
        )
    minima: NDArray[Any] = signed.minhash[0]
    return minima


def _minima_of_sketch(sketch: Sketch, scheme: Scheme) -> NDArray[Any]:
    found = (sketch.scheme, len(sketch.hashvalues), sketch.seed)
    if found != ("affine64", scheme.permutations, scheme.seed):
        raise SchemeMismatchError(
            "the MinHash",
            f"{found[0]}-{found[1]}-seed{found[2]}",
            str(scheme),
            f"make it with num_perm={scheme.permutations}, seed={scheme.seed}, scheme='affine64'",
        )
    if sketch.is_empty():
        raise UsageError("the MinHash is empty: add shingle hashes to it before it is compared")
    minima: NDArray[Any] = sketch.hashvalues.astype(np.uint16 if scheme.minhash_bits == 16 else np.uint32)
    return minima
