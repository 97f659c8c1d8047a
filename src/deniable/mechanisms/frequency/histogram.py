"""Histogram encodings: thresholded (THE) and summed (SHE) [Wang17, AdaptiveLDP Sec. IV-E]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

import numpy as np

from deniable.collect.reports import Field
from deniable.collect.tally import Tally
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.domain import Domain
from deniable.core.frontier import distance
from deniable.core.guess import Guess, check_prior
from deniable.core.laws import thresholded
from deniable.core.support import Support, check_n
from deniable.core.types import Columns, FloatArray, IntArray
from deniable.errors import FormatError, InWords, is_number, require
from deniable.estimate.linear import NoisePart, check_reports
from deniable.estimate.result import Part
from deniable.kernels.noise import laplace_steps
from deniable.mechanisms.base import Mechanism, report_size
from deniable.mechanisms.bulk import Bulk, Cells, check_outputs
from deniable.mechanisms.frequency.noise import (
    asr_laplace,
    asr_laplace_prior,
    check_reach,
    step_law,
    success_of,
    variance_of,
)
from deniable.mechanisms.frequency.unary import UnaryBulk
from deniable.mechanisms.possible import Cell
from deniable.mechanisms.reader import Reader
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import Stream
from deniable_client.exact import WORD, check_epsilon
from deniable_client.kernels import Laplace, promised_ratio
from deniable_client.kernels import Unary as UnaryKernel
from deniable_client.kernels.basic import EPSILON_MIN, grid_for

__all__ = ["SHE", "THE"]

_FINE = 2.0**-12
"""Steps of noise, times epsilon, up to which continuous noise has the same best guess to a part in a billion."""


@dataclass(frozen=True, kw_only=True)
class THE(SupportMechanism):
    """Bits that say whether one-hot plus Laplace noise of scale 2/epsilon exceeds `theta`, cut on the device.

    The bits spend less than epsilon: `epsilon_exact` is what they leak. Unary encodings with the same epsilon are more
    accurate; this one is here for comparison.
    """

    theta: float
    family: ClassVar[str] = "the"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        ok = is_number(self.theta) and 0 <= self.theta <= 1
        require(ok, "threshold", self.theta, "between 0 and 1", "The best lies between 1/2 and 1.")
        object.__setattr__(self, "theta", float(self.theta))

    @classmethod
    def optimal(cls, *, epsilon: float, domain: Domain) -> THE:
        """The threshold of least approximate MSE: (2/eps) ln T, T = ((1+c) + sqrt(1-c+c^2))/(3c), c = e^(-eps/2)."""
        c = math.exp(-check_epsilon(epsilon) / 2)
        theta = 2 / epsilon * math.log(((1 + c) + math.sqrt(1 - c + c * c)) / (3 * c))
        return cls(epsilon=epsilon, domain=domain, theta=theta)

    @cached_property
    def support(self) -> Support[float]:
        """See `SupportMechanism.support` [AdaptiveLDP Eq. 18 and 19]."""
        return thresholded(self.epsilon, self.theta)

    @property
    def leak(self) -> float:
        """What the ideal bits leak: ln p(1-q)/((1-p)q), less than epsilon."""
        s = self.support
        return math.log(s.p * s.q_not / (s.p_not * s.q))

    @cached_property
    def bulk(self) -> UnaryBulk:
        """See `Mechanism.bulk`. Nearest integers; what they leak is computed, not assumed."""
        check_epsilon(self.epsilon, sampling=True)
        keep, flip = (WORD - round(self.support.p_not * WORD), round(self.support.q * WORD))
        return UnaryBulk(UnaryKernel(self.k, keep, flip))

    @cached_property
    def proof(self) -> Proof:
        return self.bulk.proof

    def alone(self, support: Support[float]) -> float:
        return float(support.q)


class _LaplaceReader(Reader["LaplaceBulk"]):
    blind_likelihood = 1.0
    """See `Reader.blind_likelihood`: noise alone has e^((eps/2)(|y-1| - |y|)) times a value's likelihood."""

    def likelihood(self, columns: Columns) -> FloatArray:
        """See `Reader.likelihood`: exp((eps/2) clip(2y-1, -1, 1)) of a value's coordinate."""
        kernel = self.bulk.kernel
        y = self.bulk.steps(columns) / (1 << kernel.grid)
        half = kernel.level_top / kernel.level_bottom / 2
        return np.asarray(np.exp(half * np.clip(2 * y - 1, -1, 1)))


class LaplaceBulk(Bulk[Laplace]):
    """Noisy vectors of many people: 4 bytes for each item, the number of steps plus 2**31."""

    reads = _LaplaceReader

    @property
    def fields(self) -> tuple[Field, ...]:
        return (Field("steps", "bytes", self.kernel.width),)

    @property
    def outputs(self) -> float:
        return self.k * math.log2(2 * self.kernel.reach + 1)

    def perturb(self, items: IntArray, rng: Stream) -> Columns:
        steps = self._noise(items.size, rng)
        steps[np.arange(items.size), items] += 1 << self.kernel.grid
        return self._packed(steps)

    def blind(self, n: int, rng: Stream) -> Columns:
        return self._packed(self._noise(n, rng))

    def _noise(self, n: int, rng: Stream) -> IntArray:
        kernel = self.kernel
        return laplace_steps(rng, n * self.k, kernel.again, kernel.digits, kernel.grid).reshape(-1, self.k)

    def _packed(self, steps: IntArray) -> Columns:
        np.clip(steps, -self.kernel.reach, self.kernel.reach, out=steps)
        return {"steps": (steps + (1 << 31)).astype("<u4").view(np.uint8).reshape(len(steps), 4 * self.k)}

    def steps(self, columns: Columns) -> IntArray:
        """Reports as whole numbers of steps; `FormatError` for numbers that no device can have sent."""
        numbers = np.ascontiguousarray(columns["steps"]).view("<u4").astype(np.int64) - (1 << 31)
        if numbers.size and int(np.abs(numbers).max()) > self.kernel.reach:
            raise FormatError(f"a report has a number beyond {self.kernel.reach} steps.")
        return numbers

    @property
    def cells(self) -> Mapping[str, Cell]:
        return {"sum": Cell(self.k, (-self.kernel.reach, self.kernel.reach))}

    def count(self, columns: Columns) -> Cells:
        numbers = self.steps(columns)
        return {"n": np.array([len(numbers)], np.int64), "sum": numbers.sum(axis=0, dtype=np.int64)[None, :]}

    @cached_property
    def noise(self) -> float:
        return variance_of(self.kernel)

    def sums(self, cells: Cells) -> FloatArray:
        """Sums of the coordinates; refused where noise is cut off so often that they are biased."""
        check_reach(self.kernel)
        return np.asarray(cells["sum"][0] / (1 << self.kernel.grid))

    def channel(self) -> Channel:
        """See `Bulk.channel`: for a small `reach` only."""
        check_outputs(self.outputs, "noisy vectors", self.k)
        law, total = step_law(self.kernel)
        reports = self._reports()
        weights = tuple(
            tuple(math.prod(law[i == x][step] for i, step in enumerate(y)) for x in range(self.k)) for y in reports
        )
        return Channel(tuple(f"report {y}" for y in reports), weights, total**self.k)

    def _reports(self) -> list[tuple[int, ...]]:
        return list(product(range(-self.kernel.reach, self.kernel.reach + 1), repeat=self.k))

    def blind_weights(self, channel: Channel) -> list[Fraction]:
        law, total = step_law(self.kernel)
        return [Fraction(math.prod(law[False][step] for step in y), total**self.k) for y in self._reports()]


@dataclass(frozen=True, kw_only=True)
class SHE(Mechanism):
    """One-hot plus Laplace noise of scale 2/epsilon in every coordinate; the estimate is the mean of the reports.

    The noise is discrete, a multiple of 2**-grid, so that it is exact; the grid changes variance and best guess by less
    than one part in a million. Large reports and no use of the budget's full worth: here for comparison.
    """

    grid: int | None = None
    """Bits of the grid: 16 unless epsilon is so small that the noise would not fit 32 bits."""
    reach: int = (1 << 31) - 1
    """Largest number of steps; noise beyond it is cut off, at 100 standard scales or more."""
    family: ClassVar[str] = "she"
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.grid is None and self.epsilon >= EPSILON_MIN:
            object.__setattr__(self, "grid", grid_for(self.epsilon))

    @cached_property
    def bulk(self) -> LaplaceBulk:
        return LaplaceBulk(Laplace.calibrate(self.epsilon, self.k, grid=self.grid, reach=self.reach))

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`: means of the reports. Unbiased, since the noise is symmetric."""
        check_reports(tally)
        return {"frequency": NoisePart(self.bulk.sums(tally.cells) / tally.n, self.bulk.noise, tally.n)}

    @property
    def noise(self) -> float:
        """Variance of a coordinate of a report with continuous noise."""
        return 8 / self.epsilon**2

    def mse(self, n: float = 1) -> float:
        """Variance of an estimate, the same for all items and populations [AdaptiveLDP Eq. 16, with its 1/n]."""
        return 8 / (self.epsilon**2 * check_n(n))

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`: of continuous noise, variance 8/eps^2 [AdaptiveLDP Eq. 16, with its 1/n]."""
        mse, asr = self.mse(n), asr_laplace(self.k, self.epsilon)
        return self._numbers(mse, asr) | report_size(self) | distance(self.k, self.epsilon, mse, asr, n)

    def effective(self, n: float = 1) -> dict[str, Any]:
        numbers = self._numbers(variance_of(self.bulk.kernel) / check_n(n), self.guess().success)
        return {"epsilon": self.epsilon_exact, "step": 2.0**-self.bulk.kernel.grid} | numbers

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: of the steps that are sampled.

        Where no report can be drawn, or where the prior has so many different shares that a fine grid would take too
        long, that of continuous noise: such a grid changes it by less than a part in a billion.
        """
        pi = np.full(self.k, 1 / self.k) if prior is None else check_prior(prior, self.k)
        success = None if self.refusal else success_of(self.bulk.kernel, pi)
        if success is None:
            success = self._continuous(pi)
        return Guess(success, float(pi.max()))

    def _continuous(self, pi: FloatArray) -> float:
        """Success for continuous noise; refused where the grid is too coarse for it."""
        fine = bool(self.refusal) or self.epsilon / 2**self.bulk.kernel.grid <= _FINE
        shares = InWords(f"{np.unique(pi).size:,} different shares")
        hint = f"Join shares that hardly differ, or take a finer grid than {self.grid} bits."
        require(fine, "prior", shares, "fewer of them for so coarse a grid", hint)
        return asr_laplace_prior(pi, self.epsilon)

    def _numbers(self, mse: float, asr: float) -> dict[str, float]:
        return {"mse": mse, "mse_sum": self.k * mse, "mse_approx": mse, "asr": asr}

    @cached_property
    def proof(self) -> Proof:
        text = (
            "the coordinates are independent and two of them differ between two values; in each the noise is shifted "
            "by one unit, which changes its probability by at most 2^64/again (exactly that outside the unit, less "
            "inside; cutting off at the reach merges outcomes of one ratio)"
        )
        return Proof(promised_ratio(self.kernel), "factorisation", text, Witness("a report (1, 0, ...)", 0, 1))
