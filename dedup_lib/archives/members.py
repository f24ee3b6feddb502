"""What the members of all compressions share: how one ends, what is wrong with it, and where the next one begins."""

from typing import ClassVar

from dedup_lib.archives.faults import Reason
from dedup_lib.archives.sources import Container, begins_record, find_member
from dedup_lib.archives.stored import StoredBytes


class Member:
    """The state of a `CompressedMember`, and all of it that does not inflate."""

    ends_early: ClassVar[str]  # what is wrong with a record that declares more than its sound member holds

    def __init__(self, container: Container, stored: StoredBytes, offset: int) -> None:
        self.offset = offset
        self.end: int | None = None
        self.resume: int | None = None
        self.fault: Reason | None = None
        self.detail = ""
        self._container = container
        self._stored = stored
        self._begin(offset)

    def extend(self) -> bool:
        """Goes on with the member behind this one, unless a record begins there."""
        if self.end is None:
            return False
        magic, following = self._container.magic, self._container.skip(self.end)
        if self._stored.peek(following, len(magic)) != magic or begins_record(self._container, following):
            return False
        self._begin(following)
        return True

    def cut_reason(self) -> tuple[Reason, str]:
        """What is wrong with the member, or else with the length that the record declares."""
        if self.fault is not None:
            return self.fault, self.detail
        return Reason.BAD_LENGTH, self.ends_early

    def rewind(self, position: int) -> bool:
        """A member is not inflated twice."""
        return False

    def _begin(self, offset: int) -> None:
        self.end = None
        self._start = offset

    def _damaged(self, detail: str) -> None:
        """The member does not inflate: reading goes on with the next one that begins with a record."""
        self.fault, self.detail = Reason.DAMAGED_MEMBER, detail
        self.resume = self._find_next()

    def _cut(self, truncated: str, endless: str) -> None:
        """The file ended inside this member: cut off, unless damage made it swallow members that follow."""
        self.resume = self._find_next()
        if self.resume is None:
            self.fault, self.detail = Reason.TRUNCATED_MEMBER, truncated
        else:
            self.fault, self.detail = Reason.DAMAGED_MEMBER, endless

    def _find_next(self) -> int | None:
        return find_member(self._stored, self._container, self._stored.rewind(self._start + 1))
