"""Kernels whose report is the number of one of some outputs, in bulk: a tally counts every output."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.core.channel import Channel
from deniable.core.laws import ratio_to
from deniable.core.types import Columns, FloatArray, IntArray
from deniable.core.window import window_held, window_likelihood, window_odds, window_starts
from deniable.errors import EnumerationError, require
from deniable.estimate.evidence import DenseEvidence, Evidence
from deniable.estimate.window import WindowEvidence
from deniable.kernels.sampling import draw_by_row, last_outputs, row_thresholds, windowed
from deniable.mechanisms.bulk import Bulk, Cells, K, Numbered, check_outputs
from deniable.mechanisms.possible import NUMBERED, Cell, Entries
from deniable.mechanisms.reader import Reader
from deniable.randomness import Simulation, Stream
from deniable_client.exact import WORD, WORD_BITS
from deniable_client.kernels import Window

__all__ = [
    "MATRIX_MAX",
    "OutputBulk",
    "OutputReader",
    "TableBulk",
    "Weights",
    "WindowBulk",
    "check_matrix",
    "favoured_held",
    "favoured_matrix",
    "favoured_weights",
    "odds_to",
]

COUNTED_MAX = 1 << 26
"""Outputs that a tally counts one by one."""
MATRIX_MAX = 1 << 24
"""Channels are written out as matrices of floats up to this many entries."""

Weights = tuple[Sequence[Sequence[int]], int]
"""Whole numbers in proportion to Pr[output | value], a row for each value, and the sum of a row."""


class OutputReader(Reader[Any]):
    """Numbers of outputs: the columns of the channel."""

    bulk: OutputBulk[Any]
    sufficient = True

    def likelihood(self, columns: Columns) -> FloatArray:
        return np.asarray(self.bulk.matrix.T[columns["value"].astype(np.int64)])

    def tally_evidence(self, cells: Cells) -> Evidence:
        counts = cells["value"][0]
        seen = np.flatnonzero(counts)
        return DenseEvidence(np.ascontiguousarray(self.bulk.matrix.T[seen]), counts[seen].astype(np.float64))


@dataclass(frozen=True)
class OutputBulk(Numbered, Bulk[K]):
    """Reports are numbers of outputs."""

    reads = OutputReader
    about: Entries = field(default=NUMBERED, kw_only=True)
    """What outputs are, for those who read counts: just numbers, unless they are answers."""
    knows_counts = True

    @property
    def size(self) -> int:
        kernel: Any = self.kernel
        return int(kernel.outputs)

    @property
    def cells(self) -> Mapping[str, Cell]:
        return {"value": replace(super().cells["value"], about=self.about)}

    @abstractmethod
    def weights(self) -> Weights:
        """The integers that are sampled, as weights of each value's outputs."""

    @cached_property
    def matrix(self) -> FloatArray:
        """The channel as floats, a row for each value: what likelihoods and estimates use."""
        check_matrix(self.k, self.size, f"this {self.kernel.kind} kernel")
        rows, total = self.weights()
        return np.array([[weight / total for weight in row] for row in rows])

    def count(self, columns: Columns) -> Cells:
        hint = "Take fewer points, or read the reports themselves."
        require(self.size <= COUNTED_MAX, "outputs", self.size, f"at most {COUNTED_MAX} to tally", hint)
        return super().count(columns)

    def simulate_counts(self, counts: IntArray, rng: Simulation, blind: int = 0) -> Cells:
        """See `Bulk.simulate_counts`: the outputs of each value's people are multinomial; none is blind."""
        require(blind == 0, "blind", blind, "0 for kernels that have no reports without a value")
        drawn = rng.generator().multinomial(counts, self.matrix).sum(axis=0)
        return {"n": np.array([counts.sum()], np.int64), "value": np.asarray(drawn, np.int64)[None, :]}

    def channel(self) -> Channel:
        check_outputs(math.log2(self.size), f"this {self.kernel.kind} kernel", self.k)
        rows, total = self.weights()
        return Channel(tuple(f"report {y}" for y in range(self.size)), tuple(zip(*rows, strict=True)), total)


@dataclass(frozen=True)
class TableBulk(OutputBulk[Any]):
    """A channel that is written down, for many people: `weights` of its kernel, a row for each value."""

    names: tuple[str, ...] = field(default=(), kw_only=True)
    """What outputs are called, if they have names."""
    unlimited: frozenset[tuple[int, int]] = field(default=frozenset(), kw_only=True)
    """Pairs of values between which nothing is promised."""

    @cached_property
    def _thresholds(self) -> NDArray[np.uint64]:
        return row_thresholds(self.kernel.weights)

    @cached_property
    def _last(self) -> IntArray | None:
        return last_outputs(self.kernel.weights)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        return {"value": draw_by_row(rng, self._thresholds, items, self._last).astype(self.fields[0].dtype)}

    def weights(self) -> Weights:
        return self.kernel.weights, WORD

    def channel(self) -> Channel:
        found = super().channel()
        return replace(found, outputs=self.names or found.outputs, unlimited=self.unlimited)


class _WindowReader(OutputReader):
    def likelihood(self, columns: Columns) -> FloatArray:
        return window_likelihood(self.bulk.kernel, columns["value"])

    def tally_evidence(self, cells: Cells) -> Evidence:
        return WindowEvidence.of(self.bulk.kernel, cells["value"][0])


class WindowBulk(OutputBulk[Window]):
    """Windows of neighbouring answers for many people; likelihoods take steps of O(k)."""

    reads = _WindowReader

    @cached_property
    def odds(self) -> Fraction:
        """Probability of an answer in the window, relative to one outside."""
        return window_odds(self.kernel)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        return {"value": windowed(rng, items, self.kernel, self.fields[0].dtype)}

    def _held(self) -> IntArray:
        return window_held(window_starts(self.kernel), self.kernel.m, self.size)

    def weights(self) -> Weights:
        return favoured_weights(self._held(), 1 + self.kernel.tie, self.kernel.keep, self.kernel.m)

    @cached_property
    def matrix(self) -> FloatArray:
        check_matrix(self.k, self.size, "this window kernel")
        return favoured_matrix(self._held(), 1 + self.kernel.tie, *odds_to(self.odds), self.kernel.m)


def odds_to(odds: Fraction) -> tuple[float, float]:
    """(w, v) of `laws.ratio_to`, as floats."""
    w, v = ratio_to(odds)
    return float(w), float(v)


def check_matrix(k: int, outputs: int, name: str) -> None:
    """`EnumerationError` where a channel is too large to be written out as floats."""
    if k * outputs > MATRIX_MAX:
        raise EnumerationError(
            f"the channel of {name} has {k} x {outputs} entries, too many to write out.",
            "Take fewer points; closed forms and reports work for any number of them.",
        )


def favoured_held(lists: IntArray, outputs: int) -> IntArray:
    """Which outputs each value's list has: a row of zeros and ones for each value."""
    check_matrix(len(lists), outputs, "these lists of nearest answers")
    held = np.zeros((len(lists), outputs), np.int64)
    np.put_along_axis(held, lists, 1, axis=1)
    return held


def favoured_weights(held: IntArray, sides: int, keep: int, m: int) -> Weights:
    """Weights of kernels that give one of m favoured outputs with probability keep/2**64, else one of the others.

    A fair coin picks one of each value's `sides` sets of favoured outputs; `held` says in how many of them each is.
    """
    rest = held.shape[1] - m
    inside, outside = keep * rest, (WORD - keep) * m
    level = [inside * sets + outside * (sides - sets) for sets in range(sides + 1)]
    return [[level[sets] for sets in row] for row in held.tolist()], sides * m * rest << WORD_BITS


def favoured_matrix(held: IntArray, sides: int, w: float, v: float, m: int) -> FloatArray:
    """The same as probabilities, where others have w = 1 - v times the probability of a favoured one [BRR Eq. 7]."""
    high = 1 / (m + (held.shape[1] - m) * w)
    return np.asarray(high * (w + v * held / sides))
