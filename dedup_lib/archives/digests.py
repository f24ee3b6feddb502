"""Block digests of records: the value of WARC-Block-Digest against the bytes (ISO 28500, section 5.8)."""

import base64
import binascii
import hashlib

ALGORITHMS = {"sha1": hashlib.sha1, "sha256": hashlib.sha256, "sha512": hashlib.sha512, "md5": hashlib.md5}


def digest_fault(value: str | None, content: bytes) -> str | None:
    """What is wrong with a digest as `algorithm:value`, hex, base32 or base64; None if it fits or cannot be checked.

    No digest, or one of an algorithm other than sha1, sha256, sha512 and md5, cannot be checked.

    >>> digest_fault("md5:d41d8cd98f00b204e9800998ecf8427e", b"") is None
    True
    """
    algorithm, colon, stated = (value or "").partition(":")
    name = algorithm.strip().lower().replace("-", "")
    if not colon or name not in ALGORITHMS:
        return None
    actual = ALGORITHMS[name](content, usedforsecurity=False).digest()
    if actual in (_hex(stated.strip()), _base32(stated.strip()), _base64(stated.strip())):
        return None
    return f"WARC-Block-Digest is {name}:{stated.strip()[:128]}, the content has {name}:{actual.hex()}"


def _hex(value: str) -> bytes | None:
    try:
        return bytes.fromhex(value)
    except ValueError:
        return None


def _base32(value: str) -> bytes | None:
    try:
        return base64.b32decode(value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 8), casefold=True)
    except (binascii.Error, ValueError):
        return None


def _base64(value: str) -> bytes | None:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return None
