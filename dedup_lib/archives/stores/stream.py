"""A stream over an object in storage that survives broken connections: it goes on from the last byte it gave."""

import io
from typing import TYPE_CHECKING

from dedup_lib.archives.stores.addresses import Address
from dedup_lib.archives.stores.errors import Interrupted, ObjectChanged
from dedup_lib.archives.stores.interface import Body, ObjectStore
from dedup_lib.archives.stores.retries import Patience, ReadMeter, persist
from dedup_lib.config.settings import StorageSettings

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LEAST_PIECE, MOST_PIECE = 1 << 12, 1 << 18  # of a body at once; a piece that breaks is lost, so they start small
SKIP_BYTES = 1 << 18  # a seek this far ahead reads on, which is cheaper than a new request


class ObjectStream(io.RawIOBase):
    """The bytes of one object from an offset on, by a single request as long as nothing breaks.

    Holds no more than the piece being read. Every request after the first, and the first if `version` is given, asks
    for that version: `ObjectChanged` if it is gone, so that bytes of two versions are never mixed. `StorageUnreachable`
    once `storage.attempts` attempts in a row have brought no byte. `size` is None until it is known.
    """

    def __init__(
        self,
        store: ObjectStore,
        address: Address,
        storage: StorageSettings,
        meter: ReadMeter,
        start: int = 0,
        version: str = "",
        size: int | None = None,
    ) -> None:
        super().__init__()
        self.size, self.version = size, version
        self._store, self._address, self._storage, self._meter = store, address, storage, meter
        self._patience = Patience(str(address), storage, meter)
        self._position = start
        self._body: Body | None = None
        self._body_position = 0
        self._piece = LEAST_PIECE

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is, at the price of a request."""
        return True

    def tell(self) -> int:
        """The offset of the next byte."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to an offset; a request is made only when bytes are read there."""
        if whence == io.SEEK_END:
            if self.size is None:
                self.size = self._learn_size()
            offset += self.size
        elif whence == io.SEEK_CUR:
            offset += self._position
        if offset < 0:
            raise ValueError(f"negative offset {offset}")
        self._position = offset
        return offset

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Fill the buffer; less only at the end of the object."""
        view = memoryview(buffer).cast("B")
        filled = 0
        while filled < len(view):
            data = self._next(len(view) - filled)
            if not data:
                break
            view[filled : filled + len(data)] = data
            filled += len(data)
        return filled

    def close(self) -> None:
        """Give the connection up, without reading what is left."""
        self._drop()
        super().close()

    def _next(self, count: int) -> bytes:
        """Some bytes at the position, at most `count`; none at the end."""
        while not self._at_end():
            try:
                body = self._body_here()
                if self._at_end():
                    break
                data = body.read(min(count, self._piece))
                self._body_position += len(data)
                self._meter.bytes += len(data)
                if data:
                    self._position += len(data)
                    self._piece = min(MOST_PIECE, 2 * self._piece)
                    self._patience.progress()
                    return data
                if self.size is not None:
                    raise Interrupted(f"the answer ended {self.size - self._position} bytes early")
                self.size = self._position
            except EOFError:
                if self.size is not None:
                    raise ObjectChanged(str(self._address), self.version or f"of {self.size} bytes", "") from None
                break
            except Interrupted as trouble:
                self._drop()
                self._piece = LEAST_PIECE
                self._patience.wait(trouble)
        return b""

    def _at_end(self) -> bool:
        return self.size is not None and self._position >= self.size

    def _body_here(self) -> Body:
        """A body whose next byte is the one at the position."""
        if self._body is not None and not 0 <= self._position - self._body_position <= SKIP_BYTES:
            self._drop()
        body = self._body or self._open()
        while self._body_position < self._position:  # a seek ahead, or a server that knows no ranges
            data = body.read(min(MOST_PIECE, self._position - self._body_position))
            self._body_position += len(data)
            self._meter.bytes += len(data)
            if not data and self.size is not None:
                raise Interrupted(f"the answer ended at {self._body_position}, before {self._position}")
            if not data:
                self.size = self._body_position
                break
        return body

    def _open(self) -> Body:
        self._meter.requests += 1
        body = self._store.get(self._address, self._position, self.version)
        self._body, self._body_position = body, body.start
        if body.start > self._position:
            raise Interrupted(f"the server answered bytes from {body.start}, asked for {self._position}")
        if self.version and body.version and body.version != self.version:
            raise ObjectChanged(str(self._address), self.version, body.version)
        if self.size is not None and body.total is not None and not body.version and body.total != self.size:
            raise ObjectChanged(str(self._address), f"of {self.size} bytes", f"of {body.total} bytes")
        self.version = self.version or body.version
        self.size = body.total if self.size is None else self.size
        return body

    def _drop(self) -> None:
        if self._body is not None:
            self._body.close()
            self._body = None

    def _learn_size(self) -> int:
        """By a request for it, or else by reading to the end."""
        path, store = str(self._address), self._store
        listed = persist(path, lambda: store.stat(self._address), self._storage, self._meter, self._storage.attempts)
        if self.version and listed.version not in ("", self.version):
            raise ObjectChanged(path, self.version, listed.version)
        if listed.bytes >= 0:
            self.version = self.version or listed.version
            return listed.bytes
        from_here = self._position
        while self._next(MOST_PIECE):
            pass
        self._position, size = from_here, self._position
        return size
