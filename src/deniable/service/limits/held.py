"""Memory that requests hold, all of them together: counted as bytes arrive, and never by what a header claims.

Where it gets short, whoever holds most makes room: a body that is still arriving, or an answer that nobody reads, the
oldest of equal ones. So a stranger who fills the memory loses it to the next honest request, which is smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from deniable.service.writer import OverloadedError

__all__ = ["CrowdedError", "Held", "Lease"]


class CrowdedError(OverloadedError):
    """There is no memory for this request now; none of its reports were taken, try later."""


class Lease:
    """What one request holds, until it is left."""

    __slots__ = ("_held", "give_up", "lost", "size")

    def __init__(self, held: Held) -> None:
        self._held = held
        self.size = 0
        self.lost = False
        """Whether others needed the room."""
        self.give_up: Callable[[], None] | None = None
        """Ends what is waited for, to make room; None while nobody is waited for."""

    def __enter__(self) -> Self:
        self._held.leases[self] = None
        return self

    def __exit__(self, *error: object) -> None:
        del self._held.leases[self]
        self._held.now -= self.size

    def take(self, size: int) -> None:
        """Hold so many bytes more; `CrowdedError` if there is no room for them."""
        self._held.make_room(self, size)
        self.size += size
        self._held.now += size

    def lose(self) -> None:
        """Make room for others."""
        assert self.give_up is not None
        self.lost = True
        self._held.now -= self.size
        self.size = 0
        end, self.give_up = self.give_up, None
        end()


class Held:
    """Bytes of bodies that arrive and of answers that leave. Only the event loop comes here."""

    def __init__(self, most: int) -> None:
        self.most, self.now = most, 0
        self.leases: dict[Lease, None] = {}
        """All that are held now, the oldest first."""

    def lease(self) -> Lease:
        """Something to hold memory by."""
        return Lease(self)

    def make_room(self, wanted: Lease, size: int) -> None:
        """See that so much more fits in: those who hold more than this one will and wait for a client go first."""
        while self.now + size > self.most:
            most = wanted.size + size
            others = [each for each in self.leases if each.give_up is not None and each.size >= most]
            found = max((each for each in others if each is not wanted), key=lambda each: each.size, default=None)
            if found is None:
                raise CrowdedError("too many requests are being read or answered.", "Try again later.")
            found.lose()
