"""Numbers on a declared grid: their mean without bias, and their distribution [Li20, Wang19, Duchi18]."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.collect.reports import Field, Reports
from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.codes import Span
from deniable.core.domain import Domain
from deniable.core.grid import Grid
from deniable.core.guess import Guess, check_prior
from deniable.core.types import Columns, FloatArray, IntArray
from deniable.core.window import window_channel, window_likelihood
from deniable.errors import ParameterError, require
from deniable.estimate.evidence import Evidence
from deniable.estimate.linear import check_reports
from deniable.estimate.result import Estimate, Part
from deniable.estimate.window import WindowEvidence
from deniable.kernels import loops
from deniable.kernels.sampling import windowed
from deniable.mechanisms.bulk import check_outputs, refuse_values
from deniable.mechanisms.legacy import Legacy
from deniable.mechanisms.numeric.estimate import NumberPart, lean_part, sliding_part
from deniable.mechanisms.numeric.laws import Blend, Lean, Sliding, best_window, wave_window
from deniable.randomness import Stream
from deniable_client.exact import WORD_BITS, check_epsilon
from deniable_client.kernels import Leaning, Window

__all__ = [
    "POINTS_MEAN",
    "POINTS_MOST",
    "POINTS_WAVE",
    "WINDOWS",
    "Duchi",
    "Numeric",
    "Piecewise",
    "SlidingWindow",
    "SquareWave",
    "on_grid",
    "only_means",
]

WINDOWS = ("best", "paper")
"""Windows of the piecewise mechanism: of least largest variance, or of the paper's size."""

POINTS_MOST = 1 << 20
"""Finest grid: tallies count every answer."""
POINTS_MEAN = 1024
"""Points of an interval unless told otherwise: rounding to them shifts a mean by at most a 2048th of the interval, less
than the standard error of a mean of a million people at epsilon 1; a report has two bytes at most."""
POINTS_WAVE = 512
"""The same for distributions. Smoothing works on neighbouring points: it blurs peaks on coarser grids and leaves more
noise on finer ones; of grids from 16 to 1024 points this one is never far from the best (docs/maths/numeric.md)."""


def on_grid(domain: Domain | Span, points: int) -> Domain:
    """The domain, or `points` points of an interval for which none are given."""
    if not isinstance(domain, Span):
        return domain
    return Grid.of(domain.low, domain.high, points, layout=domain.layout, clip=domain.clip)


def only_means(name: str, why: str) -> ParameterError:
    """The error where a distribution is asked of reports that have none."""
    hint = "Use estimate() for the mean, or collect with sw for a distribution."
    return ParameterError(f"{name} reports {why}.", hint)


@dataclass(frozen=True, kw_only=True)
class Numeric(Legacy):
    """Reports whose mean is exactly linear in the value, so that the mean of the values is estimated without bias."""

    vetted: ClassVar[bool] = True
    sufficient: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        hint = "Give interval=(low, high) and points=N, or Grid.of(low, high, N)."
        require(isinstance(self.domain, Grid), "domain", self.domain, "a grid of numbers", hint)
        require(self.k <= POINTS_MOST, "points", self.k, f"at most {POINTS_MOST}", "Tallies count every answer.")

    @property
    @abstractmethod
    def answers(self) -> int:
        """Number of different reports."""

    @property
    @abstractmethod
    def law(self) -> Sliding[float] | Lean[float] | Blend[float]:
        """The law of a report with ideal parameters."""

    @property
    @abstractmethod
    def law_exact(self) -> Sliding[Fraction] | Lean[Fraction] | Blend[Fraction]:
        """The law of what is sampled."""

    @abstractmethod
    def mean_part(self, counts: IntArray) -> NumberPart:
        """The mean from counts of the reports."""

    @property
    def grid(self) -> Grid:
        """The domain, as what it is."""
        assert isinstance(self.domain, Grid)
        return self.domain

    # ---- client and counter

    @property
    def fields(self) -> tuple[Field, ...]:
        """See `Mechanism.fields`."""
        return (Field("value", "uint", self.kernel.width),)

    def count(self, columns: Columns) -> dict[str, IntArray]:
        """See `Mechanism.count`: how often each answer was given."""
        refuse_values(columns["value"], self.answers, "value")
        counts = loops().count_values(columns["value"], self.answers)
        return {"n": np.array([len(columns["value"])], np.int64), "value": counts[None, :]}

    @property
    def outputs(self) -> float:
        """See `Mechanism.outputs`."""
        return math.log2(self.answers)

    # ---- estimator

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`: the mean."""
        check_reports(tally)
        return {"mean": self.mean_part(tally.cells["value"][0])}

    def estimate(self, tally: Tally) -> Estimate:
        """See `Mechanism.estimate`: the mean, one number; `fit` gives the distribution."""
        if isinstance(tally, Reports):
            tally = self.tally(tally)
        self.check_tally(tally)
        steps = (
            f"unbiased mean from {tally.n} reports, of values as rounded to {self.k} points "
            f"(by at most {self.grid.step / 2:.3g})",
        )
        return Estimate(("mean",), self.parts(tally), tally.n, self.design, tally.simulated, steps)

    @cached_property
    def readings(self) -> FloatArray:
        """What each report is taken for, as a number of the interval or beyond it: on average the value."""
        law = self.law_exact
        assert not isinstance(law, Blend)
        return np.asarray(self.grid.at((np.arange(self.answers) - float(law.shift)) / float(law.pull)))

    def unbiased(self, reports: Reports) -> FloatArray:
        """Every report as a number whose mean is the value it was made of; single ones are far from it."""
        require(reports.design == self.design, "reports", "reports of another design", "reports of this very design")
        return np.asarray(self.readings[reports.columns["value"].astype(np.int64)])

    # ---- closed forms

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`: the variance of the mean, averaged over the grid, and for the worst value."""
        size = {"bits": self.outputs} if self.refusal else {"bits": self.outputs, "bytes": self.row_bytes}
        return self._numbers(self.law, n) | {"asr": self.guess().success} | size

    def effective(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.effective`."""
        return {"epsilon": self.epsilon_exact} | self._numbers(self.law_exact, n)

    def _numbers(self, law: Sliding[Any] | Lean[Any] | Blend[Any], n: float) -> dict[str, float]:
        unit = self.grid.step**2 / n
        return {"variance_mean": float(law.average) * unit, "variance_worst": float(law.worst) * unit}


@dataclass(frozen=True, kw_only=True)
class SlidingWindow(Numeric):
    """An answer in the window of `m` answers that starts at the value, or another one, all alike.

    There are k - 1 + m answers, so that no window is cut at an end: all values have windows of their own, and the mean
    answer is exactly linear in the value.
    """

    m: int

    def __post_init__(self) -> None:
        super().__post_init__()
        whole = isinstance(self.m, int | np.integer) and not isinstance(self.m, bool) and 1 <= self.m <= 2 * self.k
        require(whole, "m", self.m, f"an integer from 1 to twice the number of points, {2 * self.k}")
        object.__setattr__(self, "m", int(self.m))

    @property
    def answers(self) -> int:
        """See `Numeric.answers`."""
        return self.k - 1 + self.m

    @cached_property
    def kernel(self) -> Window:
        """See `Mechanism.kernel`."""
        return Window.calibrate(self.epsilon, self.k, self.answers, self.m)

    @property
    def params(self) -> dict[str, Any]:
        """See `Mechanism.params`."""
        return {"m": self.m}

    @cached_property
    def law(self) -> Sliding[float]:
        """See `Numeric.law`."""
        return Sliding.ideal(self.epsilon, self.k, self.m)

    @cached_property
    def law_exact(self) -> Sliding[Fraction]:
        """See `Numeric.law_exact`."""
        return Sliding.of(self.kernel)

    def mean_part(self, counts: IntArray) -> NumberPart:
        """See `Numeric.mean_part`."""
        return sliding_part(self.law_exact, counts, self.grid)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Mechanism.perturb`."""
        return {"value": windowed(rng, items, self.kernel, self.fields[0].dtype)}

    def channel(self) -> Channel:
        """See `Mechanism.channel`."""
        check_outputs(self.answers, self.name, self.k)
        return window_channel(self.kernel)

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`."""
        text = (
            "an answer has the probability keep/(2^64 m) given every value whose window it is in and (2^64 - keep)/"
            "(2^64 (k - 1)) given all others; answer 0 is in the window of value 0 only"
        )
        return Proof(self.kernel.ratio, "two levels", text, Witness("report 0", 0, 1))

    def likelihood(self, columns: Columns) -> FloatArray:
        """See `Mechanism.likelihood`."""
        return window_likelihood(self.kernel, columns["value"])

    def tally_evidence(self, tally: Tally) -> Evidence:
        """See `Mechanism.tally_evidence`."""
        return WindowEvidence.of(self.kernel, tally.cells["value"][0])

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: the likeliest value whose window has the answer, or the likeliest of all."""
        w = math.exp(-self.epsilon)
        high = 1 / (self.m + (self.k - 1) * w)
        if prior is None:
            return Guess(self.answers * high / self.k, 1 / self.k)
        pi = check_prior(prior, self.k)
        padded = np.concatenate([np.zeros(self.m - 1), pi, np.zeros(self.m - 1)])
        told = _running_max(padded, self.m)
        return Guess(high * float(np.maximum(told, w * pi.max()).sum()), float(pi.max()))


@dataclass(frozen=True, kw_only=True)
class SquareWave(SlidingWindow):
    """The square wave: the window that tells most about where a value lies; `fit(method="ems")` for distributions.

    >>> SquareWave.optimal(epsilon=1.0, domain=Grid.of(0, 1, 64)).m
    33
    """

    family: ClassVar[str] = "sw"

    @classmethod
    def optimal(cls, *, epsilon: float, domain: Domain | Span, m: int | None = None) -> SquareWave:
        """With the window of the paper, unless another one is given."""
        grid = on_grid(domain, POINTS_WAVE)
        return cls(epsilon=epsilon, domain=grid, m=wave_window(check_epsilon(epsilon), grid.k) if m is None else m)


@dataclass(frozen=True, kw_only=True)
class Piecewise(SlidingWindow):
    """The piecewise mechanism for means, by default with the window whose largest variance is least."""

    family: ClassVar[str] = "pm"

    @classmethod
    def optimal(cls, *, epsilon: float, domain: Domain | Span, window: str = "best", m: int | None = None) -> Piecewise:
        """`window`: best, or the paper's share e^(-eps/2) of the points, whose largest variance is higher."""
        require(window in WINDOWS, "window", window, f"one of {', '.join(WINDOWS)}")
        grid, epsilon = on_grid(domain, POINTS_MEAN), check_epsilon(epsilon)
        if m is None:
            paper = max(1, round(grid.k * math.exp(-epsilon / 2)))
            m = paper if window == "paper" else best_window(epsilon, grid.k)
        return cls(epsilon=epsilon, domain=grid, m=m)


@dataclass(frozen=True, kw_only=True)
class Duchi(Numeric):
    """One bit, the likelier to be 1 the larger the value: best for means at a small epsilon."""

    family: ClassVar[str] = "duchi"

    @classmethod
    def over(cls, *, epsilon: float, domain: Domain | Span) -> Duchi:
        """On the given grid, or on the usual one of an interval."""
        return cls(epsilon=epsilon, domain=on_grid(domain, POINTS_MEAN))

    @property
    def answers(self) -> int:
        """See `Numeric.answers`."""
        return 2

    @cached_property
    def kernel(self) -> Leaning:
        """See `Mechanism.kernel`."""
        return Leaning.calibrate(self.epsilon, self.k)

    @property
    def params(self) -> dict[str, Any]:
        """See `Mechanism.params`."""
        return {}

    @cached_property
    def law(self) -> Lean[float]:
        """See `Numeric.law`."""
        return Lean.ideal(self.epsilon, self.k)

    @cached_property
    def law_exact(self) -> Lean[Fraction]:
        """See `Numeric.law_exact`."""
        return Lean.of(self.kernel)

    def mean_part(self, counts: IntArray) -> NumberPart:
        """See `Numeric.mean_part`."""
        return lean_part(self.law_exact, counts, self.grid)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        """See `Mechanism.perturb`."""
        thresholds = np.uint64(self.kernel.base) + items.astype(np.uint64) * np.uint64(self.kernel.slope)
        return {"value": (rng.draw(64, items.size) < thresholds).astype(np.uint8)}

    def channel(self) -> Channel:
        """See `Mechanism.channel`."""
        check_outputs(2, self.name, self.k)
        ones = [self.kernel.base + x * self.kernel.slope for x in range(self.k)]
        word = 1 << WORD_BITS
        return Channel(("report 0", "report 1"), (tuple(word - one for one in ones), tuple(ones)), word)

    @cached_property
    def proof(self) -> Proof:
        """See `Mechanism.proof`."""
        text = "the probability of a 1 rises with the value, so the first and the last value are farthest apart"
        ends = (0, self.k - 1)
        one = Fraction(self.kernel.base + (self.k - 1) * self.kernel.slope, self.kernel.base)
        likely = ("report 1", *ends[::-1]) if one == self.kernel.ratio else ("report 0", *ends)
        return Proof(self.kernel.ratio, "monotone", text, Witness(*likely))

    def likelihood(self, columns: Columns) -> FloatArray:
        """See `Mechanism.likelihood`."""
        one = float(self.law_exact.shift) + float(self.law_exact.pull) * np.arange(self.k)
        return np.where(columns["value"][:, None] == 1, one, 1 - one)

    def tally_evidence(self, tally: Tally) -> Evidence:
        """No distribution follows from bits: `ParameterError`."""
        raise only_means(self.name, f"tell the mean and nothing else: their channel has rank 2, for {self.k} points")

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`."""
        pi = np.full(self.k, 1 / self.k) if prior is None else check_prior(prior, self.k)
        one = self.law.shift + self.law.pull * np.arange(self.k)
        other = self.law.shift + self.law.pull * np.arange(self.k - 1, -1, -1)
        return Guess(float((pi * one).max() + (pi * other).max()), float(pi.max()))


def _running_max(v: FloatArray, size: int) -> FloatArray:
    """The largest of every `size` neighbours: of the rest of one block and the beginning of the next."""
    count = v.size - size + 1
    padded = np.concatenate([v, np.zeros(-v.size % size)]).reshape(-1, size)
    ahead = np.maximum.accumulate(padded, axis=1).ravel()
    behind = np.maximum.accumulate(padded[:, ::-1], axis=1)[:, ::-1].ravel()
    return np.asarray(np.maximum(behind[:count], ahead[size - 1 : size - 1 + count]))
