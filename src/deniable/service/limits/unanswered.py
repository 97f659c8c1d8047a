"""Connections whose server does not answer: they are cut after a while, so that nobody waits for ever.

A server that is stopped, or a network that swallows packets, keeps no time limit of its own, and its machine may still
say that it is there. Only whoever asked can tell that no answer came.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

__all__ = ["Watch"]

_LOOK_SECONDS = 0.25


class Watch:
    """Cuts connections that take longer than they may; its thread lives while something is asked."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._asked: dict[int, tuple[float, Callable[[], int]]] = {}
        self._number = 0
        self._thread: threading.Thread | None = None

    @contextmanager
    def over(self, handle: Callable[[], int], seconds: float) -> Iterator[None]:
        """Within this block the connection answers in time, or is cut, which the driver tells as its own error."""
        with self._lock:
            self._number += 1
            number = self._number
            self._asked[number] = time.monotonic() + seconds, handle
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="deniable-watch", daemon=True)
                self._thread.start()
            elif len(self._asked) == 1:
                self._lock.notify()
        try:
            yield
        finally:
            with self._lock:
                self._asked.pop(number, None)

    def _work(self) -> None:
        while True:
            with self._lock:
                while not self._asked:
                    self._lock.wait()
                now = time.monotonic()
                for number in [number for number, (due, _) in self._asked.items() if due <= now]:
                    _cut(self._asked.pop(number)[1])
            time.sleep(_LOOK_SECONDS)


def _cut(handle: Callable[[], int]) -> None:
    """End the connection of a handle, which stays open for its owner to close."""
    with suppress(OSError), socket.socket(fileno=os.dup(handle())) as link:  # gone meanwhile: that is what was wanted
        link.shutdown(socket.SHUT_RDWR)
