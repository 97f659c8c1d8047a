"""How the loops are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

__all__ = ["compile_loop", "compile_sum", "inline"]

F = TypeVar("F", bound=Callable[..., Any])
_options: dict[str, Any] = {"nogil": True, "cache": True, "boundscheck": False, "error_model": "numpy"}

compile_loop: Callable[[F], F] = njit(**_options)
"""A loop that is called from Python: without the interpreter's lock, its machine code kept on disk."""

compile_sum: Callable[[F], F] = njit(**_options, fastmath={"reassoc", "nsz"})
"""The same for a sum of floats that may be taken in any order, hence in several parts at once."""

inline: Callable[[F], F] = njit(**_options, inline="always")
"""A small function that is written into the loops that call it."""
