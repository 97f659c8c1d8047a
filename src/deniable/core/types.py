"""Names for the array types that appear in signatures."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["BoolArray", "Bytes", "Columns", "FloatArray", "IntArray", "Target", "UintArray", "Words"]

Bytes: TypeAlias = NDArray[np.uint8]
BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
UintArray: TypeAlias = NDArray[np.unsignedinteger]
Words: TypeAlias = NDArray[np.uint64]
Columns: TypeAlias = dict[str, UintArray]
"""Report columns by field name: (n,) integers or (n, width) packed bytes."""

Target: TypeAlias = Literal["reporters", "population"]
"""Whose frequencies are meant: the people who reported, or the population they were drawn from."""
