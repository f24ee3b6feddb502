"""The WHATWG URL parser (ada) as the other modules see it: text in, the serialised URL or None out.

No other module imports ada. See https://url.spec.whatwg.org/; ada passes all of its published test data.
"""

import codecs
from importlib.metadata import version

import ada_url
from ada_url._ada_wrapper import ffi, lib

PARSER = "ada" + version("ada-url")

_ada_parse, _ada_is_valid, _ada_get_href, _ada_free = lib.ada_parse, lib.ada_is_valid, lib.ada_get_href, lib.ada_free
_unpack = ffi.unpack


def _escape_byte(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    broken = error.object[error.start : error.end]
    return "".join(f"%{byte:02X}" for byte in broken), error.end


codecs.register_error("urls.percent", _escape_byte)


def decode(raw: bytes) -> str:
    """The text of a URL given as bytes: UTF-8, each byte that is not UTF-8 as its percent escape.

    >>> decode(b"http://example.com/caf\\xe9")
    'http://example.com/caf%E9'
    """
    return raw.decode("utf-8", "urls.percent")


def parse(url: str) -> str | None:
    """The URL as the parser writes it, or None if it is not an absolute URL.

    This is `ada_url.normalize_url` without the objects it makes on the way, which cost half of its time.

    >>> parse("HTTP://Example.COM:80/a/../b c")
    'http://example.com/b%20c'

    Raises:
        UnicodeEncodeError: `url` has a lone surrogate.
    """
    raw = url.encode()
    parsed = _ada_parse(raw, len(raw))
    try:
        if not _ada_is_valid(parsed):
            return None
        href = _ada_get_href(parsed)
        text: bytes = _unpack(href.data, href.length)
        return text.decode()
    finally:
        _ada_free(parsed)


def join(base: str, reference: str) -> str | None:
    """`reference` resolved against the absolute URL `base`, or None if either cannot be parsed.

    >>> join("http://example.com/a/b", "../c")
    'http://example.com/c'
    """
    try:
        joined: str = ada_url.join_url(base, reference)
    except ValueError:  # also a lone surrogate: UnicodeEncodeError is one
        return None
    return joined


def resolve_dots(path: str) -> str:
    """A path, starting with a slash, with its dot segments resolved (RFC 3986, section 5.2.4).

    >>> resolve_dots("/a/../b/./c")
    '/b/c'
    """
    href = parse("http://h" + path)
    return path if href is None else href[len("http://h") :]
