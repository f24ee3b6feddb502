"""What every kind of object storage offers, one request at a time. Patience is the caller's."""

from dataclasses import dataclass
from typing import Protocol

from dedup_lib.archives.stores.addresses import Address


@dataclass(frozen=True, slots=True)
class Listed:
    """An object as storage lists it: address, size in bytes, version (ETag, or time and size; empty if unknown)."""

    address: Address
    bytes: int
    version: str


class Body(Protocol):
    """An answer whose bytes begin at offset `start` of an object of `total` bytes (None: the server does not say)."""

    start: int
    total: int | None
    version: str

    def read(self, count: int) -> bytes:
        """At most `count` bytes; none at the end. `Interrupted` if the connection breaks."""
        ...

    def close(self) -> None:
        """Gives the connection up."""
        ...


class ObjectStore(Protocol):
    """One kind of storage. All methods raise `Interrupted` for what may pass, `StorageError` for what will not."""

    lists: bool  # whether keys can be listed

    def stat(self, address: Address) -> Listed:
        """Size and version of an object; `ObjectMissing` if there is none."""
        ...

    def page(self, prefix: Address, after: str, token: str) -> tuple[list[Listed], str]:
        """Some objects whose keys begin with the prefix and come after `after`, in order, and a token for more."""
        ...

    def get(self, address: Address, start: int, version: str) -> Body:
        """The bytes from `start` on, of that version if one is given; the body may begin before `start`.

        `ObjectChanged` if the version is another, `EOFError` if the object ends at or before `start`.
        """
        ...
