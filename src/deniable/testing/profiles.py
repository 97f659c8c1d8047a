"""Reports by what they tell: the law of any mechanism with an enumerable channel and a known likelihood.

Outputs whose likelihoods of the values are proportional tell the same; each such class is counted. That is all that an
attacker or an estimator can use, so it is all that has to be right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.core.channel import Channel
from deniable.core.types import Bytes, Columns, FloatArray, IntArray
from deniable.mechanisms.base import Mechanism

__all__ = ["Profiles", "counts_by_value", "distinct"]

_DIGITS = 7
"""Likelihoods relative to the largest one that agree to so many digits are the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Profiles:
    """The classes of a channel's outputs: relative likelihoods, one row per class, and the class of each output."""

    likelihood: FloatArray
    of_output: Mapping[str, int]

    @classmethod
    def of(cls, channel: Channel) -> Profiles:
        """Group the outputs; outputs that never occur form a class of their own."""
        found: dict[tuple[float, ...], int] = {}
        classes = {}
        for output, row in zip(channel.outputs, channel.weights, strict=True):
            top = max(row) or 1
            key = tuple(round(float(Fraction(v, top)), _DIGITS) for v in row)
            classes[output] = found.setdefault(key, len(found))
        return cls(np.array(list(found)), classes)

    def chances(self, channel: Channel, x: int) -> FloatArray:
        """Probability of each class given value `x`, by this channel or another (more outputs do not count)."""
        sums = [0] * len(self.likelihood)
        for output, row in zip(channel.outputs, channel.weights, strict=True):
            if output in self.of_output:
                sums[self.of_output[output]] += row[x]
        return np.array([float(Fraction(s, channel.total)) for s in sums])

    def points_to(self, x: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """The classes that no other value explains better than `x`."""
        return np.asarray(self.likelihood[:, x] >= 1 - 10.0**-_DIGITS)

    def count(self, m: Mechanism, columns: Columns) -> IntArray | None:
        """How many reports are of each class; None if one is of no class, so that `m` cannot have made it."""
        rows = [np.ascontiguousarray(c).view(np.uint8).reshape(len(c), -1) for c in columns.values()]
        first, counts = distinct(np.concatenate(rows, axis=1))
        kinds = m.bulk.reader.likelihood({name: column[first] for name, column in columns.items()})
        kinds = kinds / kinds.max(axis=1, keepdims=True)
        off = np.abs(kinds[:, None, :] - self.likelihood[None, :, :]).max(axis=2)
        if off.min(axis=1).max() > 10.0 ** (1 - _DIGITS):
            return None
        return np.bincount(off.argmin(axis=1), weights=counts, minlength=len(self.likelihood)).astype(np.int64)


def distinct(rows: Bytes) -> tuple[IntArray, IntArray]:
    """Where each different row is first, and how often it is there."""
    n, width = rows.shape
    table = np.zeros((n, max(8, width)), np.uint8)
    table[:, :width] = rows
    keys = table.view(np.uint64 if width <= 8 else f"V{width}").reshape(n)  # numbers are sorted faster
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    return first.astype(np.int64), counts.astype(np.int64)


def counts_by_value(m: Mechanism, profiles: Profiles, batches: Mapping[int, Columns]) -> dict[int, IntArray] | None:
    """`Profiles.count` of each batch, or None if any has an impossible report."""
    counts = {x: profiles.count(m, columns) for x, columns in batches.items()}
    return None if any(c is None for c in counts.values()) else {x: c for x, c in counts.items() if c is not None}
