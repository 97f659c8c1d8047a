"""Long work of Python's beside the event loop: while it goes on, threads take turns ten times as often as usual.

Who answers devices waits for its turn several times an answer, each time for as long as a thread that computes keeps
it. All the time, short turns would cost a tenth of the throughput.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

__all__ = ["short_turns"]

_SECONDS = 0.0005
_guard = Lock()
_usual: list[float] = []
"""The usual length of a turn, once for each who wants short ones."""


@contextmanager
def short_turns() -> Iterator[None]:
    """Let others come in between often, until this is left."""
    with _guard:
        _usual.append(_usual[0] if _usual else sys.getswitchinterval())
        sys.setswitchinterval(_SECONDS)
    try:
        yield
    finally:
        with _guard:
            usual = _usual.pop()
            if not _usual:
                sys.setswitchinterval(usual)
