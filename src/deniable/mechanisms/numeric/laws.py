"""Means of numbers on a grid: the laws of reports whose expectation is exactly linear in the value.

A value is an item x = 0..k-1 of the grid; a report y is turned into (y - shift)/pull, whose mean is x. Variances are in
squared steps of the grid. Numbers are floats (ideal parameters) or fractions (the integers that are sampled).
Derivations: docs/maths/numeric.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np

from deniable.core.guess import Guess, check_prior
from deniable.core.types import FloatArray
from deniable_client.exact import WORD
from deniable_client.kernels import Leaning, Window, WindowOrBit

__all__ = ["Blend", "Law", "Lean", "Sliding", "best_blend", "best_window", "law_of", "wave_window"]

N = TypeVar("N", float, Fraction)
_SMALL = 1e-2
"""Below this epsilon the square wave's width is taken from its series."""


@dataclass(frozen=True, slots=True)
class Sliding(Generic[N]):
    """A window of m answers from answer x on, of k - 1 + m answers in all: uniform in it with probability `pull`,
    uniform among all answers with probability `blur` = 1 - pull.
    """

    k: int
    m: int
    pull: N
    blur: N

    @classmethod
    def ideal(cls, epsilon: float, k: int, m: int) -> Sliding[float]:
        """With exactly e^epsilon between inside and outside; stable up to epsilon 700."""
        w = math.exp(-epsilon)
        total = m + (k - 1) * w
        return Sliding(k, m, m * -math.expm1(-epsilon) / total, (m + k - 1) * w / total)

    @classmethod
    def of(cls, kernel: Window) -> Sliding[Fraction]:
        """With the integers that are sampled."""
        rest = kernel.outputs - kernel.m
        outside = Fraction(WORD - kernel.keep, WORD) / rest * kernel.outputs
        return Sliding(kernel.k, kernel.m, 1 - outside, outside)

    @property
    def answers(self) -> int:
        """Number of different reports."""
        return self.k - 1 + self.m

    @property
    def shift(self) -> N:
        """Mean of a report of item 0."""
        return (self.pull * (self.m - 1) + self.blur * (self.k - 2 + self.m)) / 2

    def unbiased(self, y: Any) -> Any:
        """What a report is taken for: on average its item."""
        return (y - self.shift) / self.pull

    @property
    def floor(self) -> N:
        """The part of the variance that is the same for all values: how wide window and answers are."""
        return (self.pull * (self.m**2 - 1) + self.blur * (self.answers**2 - 1)) / (12 * self.pull * self.pull)

    @property
    def slant(self) -> N:
        """How fast the variance grows with the squared distance from the middle."""
        return self.blur / self.pull

    def noise(self, x: Any) -> Any:
        """Variance of one unbiased report of x: `floor`, and more the farther x is from the middle."""
        return self.floor + self.slant * (2 * x - self.k + 1) ** 2 / 4

    @property
    def worst(self) -> N:
        """The largest variance of all values: that of the ends."""
        return self.floor + self.slant * (self.k - 1) ** 2 / 4

    @property
    def average(self) -> N:
        """The mean of all values' variances."""
        return self.floor + self.slant * (self.k**2 - 1) / 12

    def readings(self) -> FloatArray:
        """What every report is taken for, in steps."""
        return _readings(self.answers, float(self.shift), float(self.pull))

    def reports(self, shares: FloatArray) -> FloatArray:
        """How often each report is given by people with these shares of values."""
        up_to, y = np.concatenate([[0.0], np.cumsum(shares)]), np.arange(self.answers)
        within = up_to[np.minimum(y + 1, self.k)] - up_to[np.maximum(y + 1 - self.m, 0)]
        return np.asarray(float(self.blur) / self.answers * up_to[-1] + float(self.pull) / self.m * within)

    def guess(self, prior: object = None) -> Guess:
        """The likeliest value whose window has the answer, or the likeliest of all."""
        low = float(self.blur) / self.answers
        high = float(self.pull) / self.m + low
        if prior is None:
            return Guess(self.answers * high / self.k, 1 / self.k)
        pi = check_prior(prior, self.k)
        told = _running_max(np.concatenate([np.zeros(self.m - 1), pi, np.zeros(self.m - 1)]), self.m)
        return Guess(float(np.maximum(high * told, low * pi.max()).sum()), float(pi.max()))


@dataclass(frozen=True, slots=True)
class Lean(Generic[N]):
    """One bit, 1 with probability shift + pull x."""

    k: int
    shift: N
    pull: N
    answers = 2
    """Number of different reports."""

    @classmethod
    def ideal(cls, epsilon: float, k: int) -> Lean[float]:
        """From 1/(e+1) for the first value to e/(e+1) for the last."""
        w = math.exp(-epsilon)
        return Lean(k, w / (1 + w), -math.expm1(-epsilon) / (1 + w) / (k - 1))

    @classmethod
    def of(cls, kernel: Leaning) -> Lean[Fraction]:
        """With the integers that are sampled."""
        return Lean(kernel.k, Fraction(kernel.base, WORD), Fraction(kernel.slope, WORD))

    def chance(self, x: Any) -> Any:
        """Probability of a 1."""
        return self.shift + self.pull * x

    def unbiased(self, y: Any) -> Any:
        """What a report is taken for: on average its item."""
        return (y - self.shift) / self.pull

    def noise(self, x: Any) -> Any:
        """Variance of one unbiased report of x."""
        return self.chance(x) * (1 - self.chance(x)) / (self.pull * self.pull)

    @property
    def worst(self) -> N:
        """The largest variance of all values: that of the middle, where the bit is most uncertain."""
        near = {self.k // 2, (self.k - 1) // 2}
        worst: N = max(self.noise(x) for x in near)
        return worst

    @property
    def average(self) -> N:
        """The mean of all values' variances."""
        middle = self.chance(Fraction(self.k - 1, 2))
        average: N = middle * (1 - middle) / (self.pull * self.pull) - Fraction(self.k**2 - 1, 12)
        return average

    def readings(self) -> FloatArray:
        """What either bit is taken for, in steps."""
        return _readings(2, float(self.shift), float(self.pull))

    def reports(self, shares: FloatArray) -> FloatArray:
        """How often each bit is given by people with these shares of values."""
        one = float(shares @ (float(self.shift) + float(self.pull) * np.arange(self.k)))
        return np.array([float(shares.sum()) - one, one])

    def guess(self, prior: object = None) -> Guess:
        """The value that makes the bit likeliest, by the prior."""
        pi = np.full(self.k, 1 / self.k) if prior is None else check_prior(prior, self.k)
        one = float(self.shift) + float(self.pull) * np.arange(self.k)
        return Guess(float((pi * one).max() + (pi * one[::-1]).max()), float(pi.max()))


@dataclass(frozen=True, slots=True)
class Blend(Generic[N]):
    """A bit with probability `share`, reported after the window's answers; else an answer of a window."""

    window: Sliding[N]
    bit: Lean[N]
    share: N

    @classmethod
    def of(cls, kernel: WindowOrBit) -> Blend[Fraction]:
        """With the integers that are sampled."""
        return Blend(Sliding.of(kernel.window), Lean.of(kernel.bit), Fraction(kernel.coin, WORD))

    @property
    def k(self) -> int:
        """Number of items."""
        return self.window.k

    @property
    def answers(self) -> int:
        """Number of different reports."""
        return self.window.answers + 2

    def unbiased(self, y: int) -> N:
        """What a report is taken for: on average its item, whichever kind it is."""
        answers = self.window.answers
        found: N = self.window.unbiased(y) if y < answers else self.bit.unbiased(y - answers)
        return found

    def noise(self, x: Any) -> Any:
        """Variance of one unbiased report of x. Both kinds have the same mean, so their variances add by share."""
        return (1 - self.share) * self.window.noise(x) + self.share * self.bit.noise(x)

    @property
    def bend(self) -> N:
        """How fast the variance grows with the squared distance from the middle; negative where bits prevail."""
        return (1 - self.share) * self.window.slant - self.share

    @property
    def worst(self) -> N:
        """The largest variance of all values: at an end, or in the middle."""
        near = {0, self.k - 1, self.k // 2, (self.k - 1) // 2}
        worst: N = max(self.noise(x) for x in near)
        return worst

    @property
    def average(self) -> N:
        """The mean of all values' variances."""
        return (1 - self.share) * self.window.average + self.share * self.bit.average

    def readings(self) -> FloatArray:
        """What every report is taken for, in steps."""
        return np.concatenate([self.window.readings(), self.bit.readings()])

    def reports(self, shares: FloatArray) -> FloatArray:
        """How often each report is given by people with these shares of values."""
        share = float(self.share)
        return np.concatenate([(1 - share) * self.window.reports(shares), share * self.bit.reports(shares)])

    def guess(self, prior: object = None) -> Guess:
        """That of either kind, by its share."""
        window, bit, share = self.window.guess(prior), self.bit.guess(prior), float(self.share)
        return Guess((1 - share) * window.success + share * bit.success, window.blind)


Law = Sliding[Any] | Lean[Any] | Blend[Any]
"""The law of one report."""

_LAWS: Mapping[type, Callable[[Any], Law]] = {Window: Sliding.of, Leaning: Lean.of, WindowOrBit: Blend.of}


def law_of(kernel: object) -> Law:
    """The law of the integers that a kernel samples."""
    return _LAWS[type(kernel)](kernel)


def _readings(answers: int, shift: float, pull: float) -> FloatArray:
    return np.asarray((np.arange(answers) - shift) / pull)


def _running_max(v: FloatArray, size: int) -> FloatArray:
    """The largest of every `size` neighbours: of the rest of one block and the beginning of the next."""
    count = v.size - size + 1
    padded = np.concatenate([v, np.zeros(-v.size % size)]).reshape(-1, size)
    ahead = np.maximum.accumulate(padded, axis=1).ravel()
    behind = np.maximum.accumulate(padded[:, ::-1], axis=1)[:, ::-1].ravel()
    return np.asarray(np.maximum(behind[:count], ahead[size - 1 : size - 1 + count]))


def best_blend(epsilon: float, k: int) -> tuple[int, float]:
    """Window and share of bits with the least largest variance.

    Windows are worst at the ends and bits in the middle. For each window the variances of ends and middle are linear in
    the share, so the best share is 0, 1 or where they meet; all windows are tried.
    """
    window, bit = Sliding.ideal(epsilon, k, np.arange(1, 2 * k + 1)), Lean.ideal(epsilon, k)  # type: ignore[arg-type]
    ends, middle = np.asarray(window.worst), np.asarray(window.noise((k - 1) // 2))
    bit_ends, bit_middle = bit.noise(k - 1), bit.noise((k - 1) // 2)
    apart = (ends - middle) + (bit_middle - bit_ends)
    share = np.clip(np.divide(ends - middle, apart, out=np.zeros_like(ends), where=apart > 0), 0, 1)
    tried = np.stack([np.zeros_like(ends), np.ones_like(ends), share])
    worst = np.maximum((1 - tried) * ends + tried * bit_ends, (1 - tried) * middle + tried * bit_middle)
    kind, at = np.unravel_index(int(np.argmin(worst)), worst.shape)
    return int(at) + 1, float(tried[kind, at])


def wave_window(epsilon: float, k: int) -> int:
    """The window of the square wave: 2 floor(b k) + 1 answers.

    b = (eps e - e + 1)/(2 e (e - 1 - eps)) as a share of the interval: the width that lets reports tell most about a
    value that is uniform on the interval [Li20].
    """
    if epsilon < _SMALL:
        top = sum((-epsilon) ** i / math.factorial(i + 2) for i in range(6))
        bottom = sum(epsilon**i / math.factorial(i + 2) for i in range(6))
    else:
        top, bottom = epsilon + math.expm1(-epsilon), math.expm1(epsilon) - epsilon
    return 2 * int(top / (2 * bottom) * k) + 1


def best_window(epsilon: float, k: int) -> int:
    """The window whose largest variance is least: about k e^(-eps/2) answers, as in the piecewise mechanism.

    The largest variance falls and then rises with the window (docs/maths/numeric.md), so halving finds its least.
    """
    low, high = 1, 2 * k
    while low < high:
        middle = (low + high) // 2
        if _worst(epsilon, k, middle) <= _worst(epsilon, k, middle + 1):
            high = middle
        else:
            low = middle + 1
    return low


def _worst(epsilon: float, k: int, m: int) -> float:
    return Sliding.ideal(epsilon, k, m).worst
