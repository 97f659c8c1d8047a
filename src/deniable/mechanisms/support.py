"""Mechanisms whose reports support items: the rest of the contract follows from p, q and the pair probabilities."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.frontier import distance
from deniable.core.guess import (
    Guess,
    check_prior,
    first_of_independent,
    first_of_subset,
    prior_success,
    uniform_success,
)
from deniable.core.support import Support, check_n
from deniable.core.types import FloatArray, IntArray, Target
from deniable.estimate.linear import SupportPart, check_reports
from deniable.estimate.result import Part
from deniable.mechanisms.base import Mechanism, report_size
from deniable.mechanisms.bulk import SupportBulk

__all__ = ["SupportMechanism"]


@dataclass(frozen=True, kw_only=True)
class SupportMechanism(Mechanism):
    """A mechanism whose reports support items with the same p and q for all: the rest follows from `support`."""

    @property
    @abstractmethod
    def bulk(self) -> SupportBulk[Any]:
        """See `Mechanism.bulk`."""

    @property
    @abstractmethod
    def support(self) -> Support[float]:
        """The ideal support probabilities."""

    @property
    def leak(self) -> float:
        """The ideal epsilon that reports spend: all of it, unless a mechanism cannot."""
        return self.epsilon

    def alone(self, support: Support[float]) -> float | None:
        """Chance that a blind report supports an item, where it supports all items independently; else None."""
        return None

    @property
    def sizes(self) -> Mapping[int, float]:
        """How likely a blind report supports so many items, which are then a uniformly drawn subset."""
        from scipy.stats import binom

        law = binom.pmf(np.arange(self.k + 1), self.k, float(self.alone(self.support) or 0.0))
        return dict(enumerate(law.tolist()))

    def covered(self, support: Support[float]) -> float:
        """Chance that a report made without any value supports at least one item."""
        share = self.alone(support)
        return 1.0 if share is None else -math.expm1(self.k * math.log1p(-share))

    def best_ranked(self, order: IntArray) -> FloatArray:
        """For items in falling order of interest: chance that each is the first one that a blind report supports."""
        share = self.alone(self.support)
        if share is not None:
            return first_of_independent(self.k, share)
        return np.asarray(sum(chance * first_of_subset(self.k, size) for size, chance in self.sizes.items()))

    @cached_property
    def support_effective(self) -> Support[float]:
        """The support probabilities of the sampled integers, as floats: what the estimator uses."""
        return self.bulk.support.map(float)

    def covariance(self, f: FloatArray, n: float = 1, target: Target = "reporters") -> FloatArray:
        """Covariance matrix of the estimates at frequencies `f`, by the ideal parameters."""
        extra = self.bulk.extra_pairs(f, self.support) if self.bulk.uneven else 0.0
        return self.support.covariance(f, n, target, extra)

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`: the unbiased linear estimator [AdaptiveLDP Eq. 2]."""
        check_reports(tally)
        share = self.bulk.support_counts(tally.cells) / tally.n
        extra = (lambda f: self.bulk.extra_pairs(f, self.support)) if self.bulk.uneven else None
        return {"frequency": SupportPart(share, self.support_effective, tally.n, extra)}

    @property
    def asr(self) -> float:
        """Success of the best guess of the value from one report, all values being equally likely, exactly."""
        return self._asr(self.support, math.exp(-self.leak))

    def _asr(self, support: Support[float], w: float) -> float:
        return float(uniform_success(support, w, self.covered(support), self.k))

    def guess(self, prior: object = None) -> Guess:
        """The best guess of the value under a prior (k numbers that sum to 1; uniform unless given)."""
        if prior is None:
            return Guess(self.asr, 1 / self.k)
        pi = check_prior(prior, self.k)
        order = np.argsort(-pi, kind="stable")
        success = prior_success(self.support, math.exp(-self.leak), pi[order], self.best_ranked(order))
        return Guess(float(success), float(pi.max()))

    def mse(self, n: float = 1) -> float:
        """Exact variance averaged over the items; the same for every population."""
        return float(self.support.mse(self.k, check_n(n)))

    def mse_approx(self, n: float = 1) -> float:
        """Variance of an item that nobody holds, the usual approximation."""
        return float(self.support.mse_approx(check_n(n)))

    def properties(self, n: float = 1) -> dict[str, Any]:
        return (
            self._numbers(self.support, math.exp(-self.leak), n)
            | report_size(self)
            | distance(self.k, self.epsilon, self.mse(n), self.asr, n)
        )

    def effective(self, n: float = 1) -> dict[str, Any]:
        return {"epsilon": self.epsilon_exact} | self._numbers(self.support_effective, 1 / self.bulk.odds, n)

    def _numbers(self, support: Support[float], w: float, n: float) -> dict[str, float]:
        n = check_n(n)
        return {
            "p": float(support.p),
            "q": float(support.q),
            "mse": float(support.mse(self.k, n)),
            "mse_sum": float(self.k * support.mse(self.k, n)),
            "mse_approx": float(support.mse_approx(n)),
            "asr": self._asr(support, w),
        }
