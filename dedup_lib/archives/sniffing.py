"""Tells what a file is from its first bytes, in the words of the person who will read the verdict."""

PREFIXES: tuple[tuple[bytes, str], ...] = (
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x04\x22\x4d\x18", "an LZ4 file, which is not read: recompress it with gzip or zstd, record by record"),
    (b"\x1f\x8b", "gzip"),
    (b"PAR1", "a Parquet file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ", "an xz file"),
    (b"PK\x03\x04", "a ZIP file"),
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"<", "markup"),
    (b"{", "JSON"),
)


def describe(first: bytes) -> str:
    """What a file (or the inside of a gzip member) that begins with `first` looks like.

    >>> describe(b"GIF89a")
    'a GIF image'
    """
    if first[1:4] == b"\x2a\x4d\x18" and 0x50 <= first[0] <= 0x5F:  # RFC 8878, 3.1.2: a skippable frame
        return PREFIXES[0][1]
    start = first.lstrip(b"\xef\xbb\xbf \t\r\n")
    for prefix, what in PREFIXES:
        if start.startswith(prefix):
            return what
    return "of an unknown kind"
