"""Content hash, shingles, MinHash, SimHash: kernels over Arrow buffers, no Spark."""

from dedup_lib.signatures.content_hash import content_hash, content_hashes, normalise_content
from dedup_lib.signatures.normalisation import Normalisation
from dedup_lib.signatures.queries import similarity_to_store
from dedup_lib.signatures.scheme import Scheme
from dedup_lib.signatures.sign import Signatures, sign_texts
from dedup_lib.signatures.similarity import estimate_jaccard, exact_jaccard, shingle_sets

__all__ = [
    "Normalisation",
    "Scheme",
    "Signatures",
    "content_hash",
    "content_hashes",
    "estimate_jaccard",
    "exact_jaccard",
    "normalise_content",
    "shingle_sets",
    "sign_texts",
    "similarity_to_store",
]
