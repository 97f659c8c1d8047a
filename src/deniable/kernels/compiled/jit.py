"""How the loops are compiled."""

from __future__ import annotations

from typing import Any

from numba import njit

__all__ = ["compile_loop", "inline"]

compile_loop: Any = njit(nogil=True, cache=True, boundscheck=False, error_model="numpy")
"""A loop that is called from Python: without the interpreter's lock, its machine code kept on disk."""

inline: Any = njit(nogil=True, cache=True, inline="always")
"""A small function that is written into the loops that call it."""
