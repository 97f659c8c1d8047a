"""Work that many ask for at once and that is done once: one flight for all who wait, and the last results are kept."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Flights"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Flights(Generic[K, V]):
    """Results by key, `most` of them. Whoever goes away does not end the work that others wait for."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._done: OrderedDict[K, V] = OrderedDict()
        self._flying: dict[K, asyncio.Future[V]] = {}

    async def get(self, key: K, make: Callable[[], Awaitable[V]]) -> V:
        """What `make` gives for this key; it is called once, however many wait. What it raises is not kept."""
        if key in self._done:
            self._done.move_to_end(key)
            return self._done[key]
        flight = self._flying.get(key)
        if flight is None:
            flight = self._flying[key] = asyncio.ensure_future(make())
            flight.add_done_callback(lambda done: self._landed(key, done))
        return await asyncio.shield(flight)

    def drop(self, key: K) -> None:
        """Have it made anew for whoever asks from now on."""
        self._done.pop(key, None)
        self._flying.pop(key, None)

    def _landed(self, key: K, flight: asyncio.Future[V]) -> None:
        """Keep a result; an error that nobody waits for any more is not told, the next who asks has it made again."""
        own = self._flying.get(key) is flight
        if own:
            del self._flying[key]
        if flight.cancelled() or flight.exception() is not None or not own:
            return
        self._done[key] = flight.result()
        if len(self._done) > self._most:
            self._done.popitem(last=False)
