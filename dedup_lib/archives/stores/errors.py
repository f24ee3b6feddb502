"""What can go wrong with an object in storage: errors of one sentence, and interruptions that are tried again."""

from typing import Any

from dedup_lib.errors import InputError

SHOWN_CHARS = 200  # of what another library says


class StorageError(InputError):
    """An object or a bucket cannot be read, and trying again does not help. `path` holds no secret."""

    def __init__(self, path: str, message: str) -> None:
        self.path = path
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, str(self))


class StorageUnreachable(StorageError):  # noqa: N818 (what happened, not what kind of thing it is)
    """Patience ended: it says nothing about the object, and may succeed later or on another machine."""


class ObjectMissing(StorageError):  # noqa: N818
    """There is no such object."""

    def __init__(self, path: str, message: str = "") -> None:
        super().__init__(path, message or f"{path} cannot be read, it does not exist: check the address")


class ObjectChanged(StorageError):  # noqa: N818
    """The object is not the one that was listed, or that was read up to here: this object's records must not count.

    `expected` and `found` are versions: an ETag, or times and sizes; `found` is empty if it is not known.
    """

    def __init__(self, path: str, expected: str, found: str) -> None:
        self.expected, self.found = expected, found
        super().__init__(
            path,
            f"{path} was changed while it was being read (version {expected}, now {found or 'another'}): "
            "run again when nobody writes to it",
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.expected, self.found)


class Interrupted(Exception):  # noqa: N818
    """An attempt failed in a way that may pass: a connection broken, an answer cut short, a server overloaded.

    `throttled` asks for more patience, by `retry_after` seconds where the server said so. `remedy` is the message if
    patience ends, `limit` a number of attempts below the configured one.
    """

    def __init__(
        self,
        what: str,
        throttled: bool = False,
        retry_after: float | None = None,
        remedy: str = "",
        limit: int | None = None,
    ) -> None:
        super().__init__(what)
        self.what, self.throttled, self.retry_after = what, throttled, retry_after
        self.remedy, self.limit = remedy, limit


def one_line(error: object) -> str:
    """The words of another library's error, on one line and without the query of an address, which may be signed.

    >>> one_line(ValueError("no route to http://a/b?X-Amz-Signature=1 (gone)"))
    'no route to http://a/b?... (gone)'
    """
    words = (word if "?" not in word else word.partition("?")[0] + "?..." for word in str(error).split())
    text = " ".join(words) or type(error).__name__
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "..."
