"""Hot loops, twice: `reference` (NumPy) defines the results, `compiled` (Numba, optional) gives the same ones faster.

`loops()` is the set in use. It is chosen at the first call: compiled if Numba is installed, else reference;
the environment variable DENIABLE_KERNELS=reference or =compiled says otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from deniable.errors import need_extra, require

__all__ = ["loops", "using"]

_chosen: list[ModuleType] = []


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
        _chosen.remove(module)


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
