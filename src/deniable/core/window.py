"""Windows of neighbouring answers: where they start, their exact channel, and the likelihood of values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from deniable.core.channel import Channel
from deniable.core.types import FloatArray, IntArray, UintArray
from deniable_client.exact import WORD_BITS
from deniable_client.kernels import Window

__all__ = ["window_channel", "window_likelihood", "window_odds", "window_starts"]


def window_starts(kernel: Window) -> IntArray:
    """The first answer of every value's window, one row for each side of the coin (one row without a coin)."""
    shifts = np.arange(kernel.shift, kernel.shift - kernel.tie - 1, -1)
    return np.asarray(np.clip(np.arange(kernel.k) - shifts[:, None], 0, kernel.outputs - kernel.m))


def window_odds(kernel: Window) -> Fraction:
    """Probability of an answer in the window, relative to one outside."""
    return Fraction(kernel.keep * (kernel.outputs - kernel.m), ((1 << WORD_BITS) - kernel.keep) * kernel.m)


def window_channel(kernel: Window) -> Channel:
    """The exact channel; the coin's two windows are mixed in equal parts."""
    m, rest = kernel.m, kernel.outputs - kernel.m
    inside, outside = kernel.keep * rest, ((1 << WORD_BITS) - kernel.keep) * m
    starts = window_starts(kernel)
    firsts = starts.T.tolist()
    weights = tuple(
        tuple(sum(inside if first <= y < first + m else outside for first in windows) for windows in firsts)
        for y in range(kernel.outputs)
    )
    names = tuple(f"report {y}" for y in range(kernel.outputs))
    return Channel(names, weights, len(starts) * m * rest << WORD_BITS)


def window_likelihood(kernel: Window, values: UintArray) -> FloatArray:
    """Likelihood of every value given each report, relative to that of an answer inside all its windows."""
    w = float(1 / window_odds(kernel))
    y, starts = values.astype(np.int64)[:, None], window_starts(kernel)
    inside = sum((first <= y) & (y < first + kernel.m) for first in starts) / np.float64(len(starts))
    return np.asarray(w + (1 - w) * inside)
