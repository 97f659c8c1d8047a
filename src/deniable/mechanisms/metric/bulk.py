"""Kernels of reports near the value, in bulk: lists of nearest answers, and codes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from deniable.core.types import Columns, FloatArray, IntArray
from deniable.kernels.sampling import near, respond
from deniable.mechanisms.outputs import (
    OutputBulk,
    Weights,
    check_matrix,
    favoured_held,
    favoured_matrix,
    favoured_weights,
    odds_to,
)
from deniable.randomness import Stream
from deniable_client.exact import WORD
from deniable_client.kernels import Constant, Kernel, Neighbours, Response

__all__ = ["CodeBulk", "ConstantBulk", "NeighboursBulk", "code_matrix", "code_of"]


class NeighboursBulk(OutputBulk[Neighbours]):
    """The nearest answers favoured, by lists, for many people."""

    @cached_property
    def odds(self) -> Fraction:
        """Probability of a favoured answer, relative to another one."""
        kernel = self.kernel
        return Fraction(kernel.keep * (kernel.outputs - kernel.m), (WORD - kernel.keep) * kernel.m)

    @cached_property
    def _held(self) -> IntArray:
        return favoured_held(np.array(self.kernel.neighbours, np.int64), self.size)

    @cached_property
    def _ranked(self) -> IntArray:
        """The answers of every value, the nearest ones first."""
        return np.argsort(1 - self._held, axis=1, kind="stable")

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        places = near(rng, np.zeros(items.size, np.int64), self.kernel.m, self.size, self.kernel.keep)
        return {"value": self._ranked[items, places].astype(self.fields[0].dtype)}

    def weights(self) -> Weights:
        return favoured_weights(self._held, 1, self.kernel.keep, self.kernel.m)

    @cached_property
    def matrix(self) -> FloatArray:
        return favoured_matrix(self._held, 1, *odds_to(self.odds), self.kernel.m)


@dataclass(frozen=True, eq=False)
class CodeBulk(OutputBulk[Kernel]):
    """Randomised response on public codes for many people: a report is a code."""

    response: Response
    """The kernel on codes: the whole kernel, or inside of it."""
    starts: IntArray
    """Where runs of values with one code start ..."""
    codes: IntArray
    """... and their codes."""

    @property
    def size(self) -> int:
        return self.response.k

    @property
    def odds(self) -> Fraction:
        """Probability of the own code, relative to another one."""
        return self.response.ratio

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        own = code_of(items, self.starts, self.codes)
        return {"value": respond(rng, own, self.size, self.response.keep, self.fields[0].dtype)}

    def _own(self) -> IntArray:
        return code_of(np.arange(self.k), self.starts, self.codes)

    def weights(self) -> Weights:
        keep, rest = self.response.keep, self.size - 1
        own, other = keep * rest, WORD - keep
        return [[own if y == code else other for y in range(self.size)] for code in self._own().tolist()], rest * WORD

    @cached_property
    def matrix(self) -> FloatArray:
        check_matrix(self.k, self.size, f"this {self.kernel.kind} kernel")
        return code_matrix(self._own(), self.size, float(1 / self.odds))


class ConstantBulk(OutputBulk[Constant]):
    """Always the same report."""

    size = 1

    @property
    def odds(self) -> Fraction:
        """See `CodeBulk.odds`: there is no other code."""
        return Fraction(1)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        return {"value": np.zeros(items.size, self.fields[0].dtype)}

    def weights(self) -> Weights:
        return [[1]] * self.k, 1


def code_of(items: IntArray, starts: IntArray, codes: IntArray) -> IntArray:
    """The code of each item, by runs of items that have one code."""
    return np.asarray(codes[np.searchsorted(starts, items, side="right") - 1])


def code_matrix(own: IntArray, size: int, w: float) -> FloatArray:
    """Randomised response on codes, of which others have w times the probability of the own one."""
    p = 1 / (1 + (size - 1) * w)
    return np.asarray(np.where(own[:, None] == np.arange(size), p, w * p))
