"""How the loops are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

__all__ = ["compile_loop", "inline"]

F = TypeVar("F", bound=Callable[..., Any])
_options: dict[str, Any] = {"nogil": True, "cache": True, "boundscheck": False, "error_model": "numpy"}

compile_loop: Callable[[F], F] = njit(**_options)
"""A loop that is called from Python: without the interpreter's lock, its machine code kept on disk."""

inline: Callable[[F], F] = njit(**_options, inline="always")
"""A small function that is written into the loops that call it."""
