"""Hot loops, twice: `reference` (NumPy) defines the results, `compiled` (Numba, optional) gives the same ones faster.

`loops()` is the set in use. It is chosen at the first call: compiled if Numba is installed, else reference;
the environment variable DENIABLE_KERNELS=reference or =compiled says otherwise. Little work is done by the reference.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from types import ModuleType

from deniable.errors import need_extra, require

__all__ = ["loops", "sparing", "using"]

_chosen: list[ModuleType] = []
_done = [0]
"""Pairs of report and item that were handled so far."""
_LITTLE = 1 << 24
"""So many of them take the reference loops a few hundredths of a second."""


def loops() -> ModuleType:
    """The module with the loops in use."""
    if not _chosen:
        _chosen.append(_find(os.environ.get("DENIABLE_KERNELS", "auto")))
    return _chosen[-1]


@contextmanager
def using(name: str) -> Iterator[ModuleType]:
    """Within the block, use the `reference` or the `compiled` loops."""
    module = _find(name)
    _chosen.append(module)
    try:
        yield module
    finally:
        del _chosen[len(_chosen) - 1 - _chosen[::-1].index(module)]


def sparing(pairs: int) -> AbstractContextManager[object]:
    """Within the block, the reference loops, as long as little work was done so far and no others were asked for.

    `pairs` is the number of reports times that of items. The results are the same, but loading Numba takes longer than
    little work does.
    """
    _done.append(_done.pop() + pairs)
    spare = _done[0] <= _LITTLE and not _chosen and "DENIABLE_KERNELS" not in os.environ
    return using("reference") if spare else nullcontext()


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
