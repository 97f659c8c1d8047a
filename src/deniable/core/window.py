"""Windows of neighbouring answers: where they start, which answers they hold, and the likelihood of values."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from deniable.core.types import FloatArray, IntArray, UintArray
from deniable_client.exact import WORD
from deniable_client.kernels import Window

__all__ = ["starts_of", "window_held", "window_likelihood", "window_odds", "window_starts"]


def starts_of(k: int, shifts: Sequence[int], last: int) -> IntArray:
    """The first answer of every value's window, `shift` before it but from 0 to `last`: a row for each shift."""
    return np.asarray(np.clip(np.arange(k) - np.array(shifts)[:, None], 0, last))


def window_starts(kernel: Window) -> IntArray:
    """The first answer of every value's window, one row for each side of the coin (one row without a coin)."""
    shifts = range(kernel.shift, kernel.shift - kernel.tie - 1, -1)
    return starts_of(kernel.k, shifts, kernel.outputs - kernel.m)


def window_held(starts: IntArray, m: int, outputs: int) -> IntArray:
    """In how many of each value's windows (one, or a coin's two) each answer is: a row for each value."""
    answers = np.arange(outputs)
    held = np.zeros((starts.shape[1], outputs), np.int64)
    for first in starts[:, :, None]:
        held += (first <= answers) & (answers < first + m)
    return held


def window_odds(kernel: Window) -> Fraction:
    """Probability of an answer in the window, relative to one outside."""
    return Fraction(kernel.keep * (kernel.outputs - kernel.m), (WORD - kernel.keep) * kernel.m)


def window_likelihood(kernel: Window, values: UintArray) -> FloatArray:
    """Likelihood of every value given each report, relative to that of an answer inside all its windows."""
    w = float(1 / window_odds(kernel))
    y, starts = values.astype(np.int64)[:, None], window_starts(kernel)
    inside = sum((first <= y) & (y < first + kernel.m) for first in starts) / np.float64(len(starts))
    return np.asarray(w + (1 - w) * inside)
