"""Hot loops, twice: `reference` (NumPy) defines the results, `compiled` (Numba, optional) gives the same ones faster.

`loops()` is the set in use. It is chosen at the first call: compiled if Numba is installed, else reference;
the environment variable DENIABLE_KERNELS=reference or =compiled says otherwise. Little work is done by the reference.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from threading import Lock
from types import ModuleType

from deniable.errors import need_extra, require

__all__ = ["loops", "sparing", "using"]

_asked: ContextVar[ModuleType | None] = ContextVar("loops", default=None)
"""The set that `using` asks for. Each thread has its own; workers (`parallel`) have that of their caller."""
_LITTLE = 1 << 24
"""So many pairs of report and item take the reference loops a few hundredths of a second."""


class _Work:
    """Pairs of report and item that all threads have handled so far."""

    def __init__(self) -> None:
        self._pairs, self._lock = 0, Lock()

    def add(self, pairs: int) -> int:
        with self._lock:
            self._pairs += pairs
            return self._pairs


_work = _Work()


def loops() -> ModuleType:
    """The module with the loops in use."""
    return _asked.get() or _usual()


@contextmanager
def using(name: str) -> Iterator[ModuleType]:
    """Within the block, use the `reference` or the `compiled` loops: on this thread and its workers, on no other."""
    module = _find(name)
    before = _asked.set(module)
    try:
        yield module
    finally:
        _asked.reset(before)


def sparing(pairs: int) -> AbstractContextManager[object]:
    """Within the block, the reference loops, as long as little work was done so far and no others were asked for.

    `pairs` is the number of reports times that of items. The results are the same, but loading Numba takes longer than
    little work does.
    """
    loaded = f"{__name__}.compiled" in sys.modules
    spare = _work.add(pairs) <= _LITTLE and not loaded and "DENIABLE_KERNELS" not in os.environ
    return using("reference") if spare else nullcontext()


@cache
def _usual() -> ModuleType:
    return _find(os.environ.get("DENIABLE_KERNELS", "auto"))


def _find(name: str) -> ModuleType:
    require(name in ("auto", "reference", "compiled"), "DENIABLE_KERNELS", name, "auto, reference or compiled")
    if name == "auto":
        try:
            return import_module("deniable.kernels.compiled")
        except ImportError:
            name = "reference"
    if name == "compiled":
        need_extra("numba", "fast")
    return import_module(f"deniable.kernels.{name}")
