"""Numbers on a declared grid: their mean without bias, and their distribution [Li20, Wang19, Duchi18]."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.collect.reports import Reports
from deniable.collect.tally import Tally
from deniable.core.channel import Proof
from deniable.core.codes import Span, on_grid
from deniable.core.domain import Domain
from deniable.core.grid import Grid
from deniable.core.guess import Guess
from deniable.core.protection import NUMBER
from deniable.core.support import check_n
from deniable.core.types import FloatArray, IntArray
from deniable.errors import ParameterError, is_number, require, whole
from deniable.estimate.linear import check_reports
from deniable.estimate.result import Estimate, Part
from deniable.mechanisms.base import Mechanism, report_size
from deniable.mechanisms.common import numbers_of
from deniable.mechanisms.fitting import check_tally
from deniable.mechanisms.numeric.bulk import LeaningBulk, WindowOrBitBulk, prove
from deniable.mechanisms.numeric.estimate import mean_part
from deniable.mechanisms.numeric.laws import Blend, Law, Lean, Sliding, best_blend, best_window, law_of, wave_window
from deniable.mechanisms.numeric.options import WINDOWS
from deniable.mechanisms.outputs import WindowBulk
from deniable_client.exact import WORD, check_epsilon
from deniable_client.kernels import Leaning, Window, WindowOrBit

__all__ = [
    "POINTS_WAVE",
    "Duchi",
    "Hybrid",
    "Numeric",
    "Piecewise",
    "SquareWave",
]

POINTS_MOST = 1 << 20
"""Finest grid: tallies count every answer."""
POINTS_MEAN = 1024
"""Points of an interval unless told otherwise: rounding to them shifts a mean by at most a 2048th of the interval, less
than the standard error of a mean of a million people at epsilon 1; a report has two bytes at most."""
POINTS_WAVE = 512
"""The same for distributions. Smoothing works on neighbouring points: it blurs peaks on coarser grids and leaves more
noise on finer ones; of grids from 16 to 1024 points this one is never far from the best (docs/maths/numeric.md)."""


@dataclass(frozen=True, kw_only=True)
class Numeric(Mechanism):
    """Reports whose mean is exactly linear in the value, so that the mean of the values is estimated without bias."""

    vetted: ClassVar[bool] = True
    subject: ClassVar[str] = NUMBER
    finest: ClassVar[int] = POINTS_MOST
    """Points of the finest grid."""

    def __post_init__(self) -> None:
        super().__post_init__()
        hint = "Give interval=(low, high) and, if wanted, points=N."
        if not isinstance(self.domain, Grid):
            raise ParameterError(f"domain must be a grid of numbers, got {self.domain.allowed}.", hint)
        require(self.k <= self.finest, "points", self.k, f"at most {self.finest}", "Tallies count every answer.")

    @property
    @abstractmethod
    def law(self) -> Law:
        """The law of a report with ideal parameters."""

    @cached_property
    def law_exact(self) -> Law:
        """The law of what is sampled, in fractions."""
        return law_of(self.kernel)

    @property
    def grid(self) -> Grid:
        """The domain, as what it is."""
        assert isinstance(self.domain, Grid)
        return self.domain

    @property
    def coarse(self) -> tuple[Grid, IntArray]:
        """Numbers to make people up from, as a grid, and the items that they are: here, all of them."""
        return self.grid, np.arange(self.k)

    @cached_property
    def proof(self) -> Proof:
        return prove(self.kernel)

    # ---- estimator

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`: the mean."""
        check_reports(tally)
        return {"mean": mean_part(self.law_exact, tally.cells["value"][0], self.grid)}

    def estimate(self, tally: Tally) -> Estimate:
        """See `Mechanism.estimate`: the mean, one number; `fit` gives the distribution."""
        tally = check_tally(self, tally)
        steps = (
            f"unbiased mean from {tally.n} reports, of values as rounded to {self.k} points "
            f"(by at most {self.grid.step / 2:.3g})",
        )
        return Estimate(("mean",), self.parts(tally), tally.n, self.design, tally.simulated, steps)

    @cached_property
    def readings(self) -> FloatArray:
        """What each report is taken for, as a number of the interval or beyond it: on average the value."""
        return np.asarray(self.grid.at(self.law_exact.readings()))

    def unbiased(self, reports: Reports) -> FloatArray:
        """Every report as a number whose mean is the value it was made of; single ones are far from it."""
        return np.asarray(self.readings[numbers_of(self, reports)])

    # ---- closed forms

    def guess(self, prior: object = None) -> Guess:
        return self.law.guess(prior)

    def guess_half(self) -> Guess:
        """The best guess of the half of the interval that a number is in, all numbers being equally likely.

        Unlike `guess`, which is of the very point, it does not depend on how fine the grid is. A point in the middle
        is in either half.
        """
        upper = np.clip(np.arange(self.k) - self.k / 2 + 1, 0, 1) / self.k
        told = np.maximum(self.law.reports(upper), self.law.reports(upper[::-1]))
        return Guess(float(told.sum()), 0.5)

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`: the variance of the mean, averaged over the grid, and for the worst value."""
        size = {"bits": math.log2(self.law.answers)} | report_size(self)
        return self._numbers(self.law, n) | {"asr": self.guess().success} | size

    def effective(self, n: float = 1) -> dict[str, Any]:
        return {"epsilon": self.epsilon_exact} | self._numbers(self.law_exact, n)

    def variances(self, n: float = 1) -> tuple[float, float]:
        """Of the mean of n values, in their own unit: averaged over the interval, and for the worst value."""
        unit = self.grid.step**2 / check_n(n)
        return float(self.law.average) * unit, float(self.law.worst) * unit

    def _numbers(self, law: Law, n: float) -> dict[str, float]:
        unit = self.grid.step**2 / check_n(n)
        return {"variance_mean": float(law.average) * unit, "variance_worst": float(law.worst) * unit}


# ---- windows


def check_window(m: object, k: int) -> int:
    """The number of answers in a window."""
    return whole("m", m, 1, 2 * k, f"an integer from 1 to twice the number of points, {2 * k}")


def sliding(epsilon: float, k: int, m: int) -> WindowBulk:
    """An answer in the window of `m` answers that starts at the value, or another one, all alike.

    There are k - 1 + m answers, so that no window is cut at an end: all values have windows of their own, and the mean
    answer is exactly linear in the value.
    """
    return WindowBulk(Window.calibrate(epsilon, k, k - 1 + m, m))


@dataclass(frozen=True, kw_only=True)
class SquareWave(Numeric):
    """The square wave: the window that tells most about where a value lies; `fit(method="ems")` for distributions.

    >>> SquareWave.optimal(epsilon=1.0, domain=Grid.of(0, 1, 64)).m
    33
    """

    m: int
    family: ClassVar[str] = "sw"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "m", check_window(self.m, self.k))

    @classmethod
    def optimal(cls, *, epsilon: float, domain: Domain | Span, m: int | None = None) -> SquareWave:
        """With the window of the paper, unless another one is given."""
        grid = on_grid(domain, POINTS_WAVE)
        return cls(epsilon=epsilon, domain=grid, m=wave_window(check_epsilon(epsilon), grid.k) if m is None else m)

    @cached_property
    def bulk(self) -> WindowBulk:
        return sliding(self.epsilon, self.k, self.m)

    @cached_property
    def law(self) -> Sliding[float]:
        return Sliding.ideal(self.epsilon, self.k, self.m)


@dataclass(frozen=True, kw_only=True)
class Piecewise(Numeric):
    """The piecewise mechanism for means, by default with the window whose largest variance is least."""

    m: int
    family: ClassVar[str] = "pm"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "m", check_window(self.m, self.k))

    @classmethod
    def optimal(cls, *, epsilon: float, domain: Domain | Span, window: str = "best", m: int | None = None) -> Piecewise:
        """`window`: best, or the paper's share e^(-eps/2) of the points, whose largest variance is higher."""
        require(window in WINDOWS, "window", window, f"one of {', '.join(WINDOWS)}")
        grid, epsilon = on_grid(domain, POINTS_MEAN), check_epsilon(epsilon)
        if m is None:
            paper = max(1, round(grid.k * math.exp(-epsilon / 2)))
            m = paper if window == "paper" else best_window(epsilon, grid.k)
        return cls(epsilon=epsilon, domain=grid, m=m)

    @cached_property
    def bulk(self) -> WindowBulk:
        return sliding(self.epsilon, self.k, self.m)

    @cached_property
    def law(self) -> Sliding[float]:
        return Sliding.ideal(self.epsilon, self.k, self.m)


@dataclass(frozen=True, kw_only=True)
class Duchi(Numeric):
    """One bit, the likelier to be 1 the larger the value: best for means at a small epsilon."""

    family: ClassVar[str] = "duchi"

    @classmethod
    def over(cls, *, epsilon: float, domain: Domain | Span) -> Duchi:
        """On the given grid, or on the usual one of an interval."""
        return cls(epsilon=epsilon, domain=on_grid(domain, POINTS_MEAN))

    @cached_property
    def bulk(self) -> LeaningBulk:
        return LeaningBulk(Leaning.calibrate(self.epsilon, self.k))

    @cached_property
    def law(self) -> Lean[float]:
        return Lean.ideal(self.epsilon, self.k)


@dataclass(frozen=True, kw_only=True)
class Hybrid(Numeric):
    """Duchi's bit with probability `share`, else an answer of a window of `m`: the worst variance is below either's."""

    m: int
    share: float
    family: ClassVar[str] = "hm"

    def __post_init__(self) -> None:
        super().__post_init__()
        ok = is_number(self.share) and 0 <= self.share <= 1
        require(ok, "share", self.share, "a number from 0 to 1", "It is the chance that a report is a bit.")
        object.__setattr__(self, "share", float(self.share))
        object.__setattr__(self, "m", check_window(self.m, self.k))

    @classmethod
    def optimal(cls, *, epsilon: float, domain: Domain | Span) -> Hybrid:
        """With the window and the share whose largest variance is least."""
        grid = on_grid(domain, POINTS_MEAN)
        Duchi(epsilon=epsilon, domain=grid)  # refuses what is no grid, or too fine, before the search
        m, share = best_blend(check_epsilon(epsilon), grid.k)
        return cls(epsilon=epsilon, domain=grid, m=m, share=share)

    @cached_property
    def bulk(self) -> WindowOrBitBulk:
        coin = min(max(int(self.share * WORD), 1), WORD - 1)  # both kinds of report always stay possible
        window = sliding(self.epsilon, self.k, self.m).kernel
        return WindowOrBitBulk(WindowOrBit(window, Leaning.calibrate(self.epsilon, self.k), coin))

    @cached_property
    def law(self) -> Blend[float]:
        window, bit = Sliding.ideal(self.epsilon, self.k, self.m), Lean.ideal(self.epsilon, self.k)
        return Blend(window, bit, self.share)
