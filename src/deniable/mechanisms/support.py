"""Mechanisms whose reports support items: the rest of the contract follows from p, q and the pair probabilities."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.frontier import distance
from deniable.core.guess import Guess, check_prior, uniform_success
from deniable.core.support import Support
from deniable.core.types import Bytes, Columns, FloatArray, IntArray, Target
from deniable.estimate.evidence import Evidence, PackedRows, RowEvidence
from deniable.estimate.linear import SupportPart, check_reports
from deniable.estimate.result import Part
from deniable.kernels.parallel import blocks
from deniable.mechanisms.base import Mechanism

__all__ = ["SupportMechanism"]


@dataclass(frozen=True, kw_only=True)
class SupportMechanism(Mechanism):
    """A mechanism whose reports support items with the same p and q for all: the rest follows from `support`."""

    @property
    @abstractmethod
    def support(self) -> Support[float]:
        """The ideal support probabilities."""

    @property
    @abstractmethod
    def support_exact(self) -> Support[Fraction]:
        """The support probabilities of the integers that are sampled."""

    @property
    def leak(self) -> float:
        """The ideal epsilon that reports spend: all of it, unless a mechanism cannot."""
        return self.epsilon

    def covered(self, support: Support[float]) -> float:
        """Chance that a report made without any value supports at least one item."""
        return 1.0

    @abstractmethod
    def best_ranked(self, order: IntArray) -> FloatArray:
        """For items in falling order of interest: chance that each is the first one that a blind report supports."""

    @abstractmethod
    def rows(self, columns: Columns) -> Bytes:
        """The sets of items that reports support, one row of packed bits (lowest first) per report."""

    @property
    def odds(self) -> float:
        """Likelihood of a value that a report supports, relative to one that it does not: the same for all reports."""
        return float(self.kernel.ratio)

    def likelihood(self, columns: Columns) -> FloatArray:
        """Likelihood of every value given each report, up to a factor per report: `odds` where it is supported."""
        member = np.unpackbits(self.rows(columns), axis=1, count=self.k, bitorder="little")
        return np.where(member == 1, 1.0, 1 / self.odds)

    def evidence(self, batches: Sequence[Columns]) -> Evidence:
        """See `Mechanism.evidence`: the supported items, packed."""
        rows = PackedRows.of([self.rows(columns) for columns in batches], self.k)
        return RowEvidence(rows, self.odds, self.size_law)

    def tally_evidence(self, tally: Tally) -> Evidence:
        """See `Mechanism.tally_evidence`: for reports that are one number, whose counts are the cell `value`."""
        counts = tally.cells["value"][0]
        outputs = [
            np.arange(part.start, part.stop, dtype=self.fields[0].dtype) for part in blocks(counts.size, 1 << 12)
        ]
        rows = PackedRows.of([self.rows({"value": values}) for values in outputs], self.k, counts)
        return RowEvidence(rows, self.odds, complete=True)

    @property
    def size_law(self) -> FloatArray | None:
        """Law of the number of supported items, where reports of one size are subset-selection reports; else None."""
        return None

    @cached_property
    def support_effective(self) -> Support[float]:
        """`support_exact` as floats: what the estimator uses."""
        return self.support_exact.map(float)

    def support_counts(self, tally: Tally) -> IntArray:
        """How many reports support each item, from a tally."""
        return np.asarray(tally.cells["support"][0])

    def extra_pairs(self, f: FloatArray) -> FloatArray | None:
        """What third values add to `both_none` of each pair at frequencies `f`, where they are not all alike."""
        return None

    def covariance(self, f: FloatArray, n: float = 1, target: Target = "reporters") -> FloatArray:
        """Covariance matrix of the estimates at frequencies `f`, by the ideal parameters."""
        extra = self.extra_pairs(f)
        return self.support.covariance(f, n, target, 0.0 if extra is None else extra)

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`: the unbiased linear estimator [AdaptiveLDP Eq. 2]."""
        check_reports(tally)
        share = self.support_counts(tally) / tally.n
        alike = type(self).extra_pairs is SupportMechanism.extra_pairs
        return {"frequency": SupportPart(share, self.support_effective, tally.n, None if alike else self._extra)}

    def _extra(self, f: FloatArray) -> FloatArray:
        extra = self.extra_pairs(f)
        return np.zeros((self.k, self.k)) if extra is None else extra

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
        first = self.best_ranked(order)
        w = math.exp(-self.leak)
        blind = float(self.support.p_not + self.support.p * w)
        told = float(np.sum(first * np.maximum(pi[order] / w, pi.max())))
        return Guess(blind * (told + max(0.0, 1 - float(first.sum())) * float(pi.max())), float(pi.max()))

    def mse(self, n: float = 1) -> float:
        """Exact variance averaged over the items; the same for every population."""
        return float(self.support.mse(self.k, n))

    def mse_approx(self, n: float = 1) -> float:
        """Variance of an item that nobody holds, the usual approximation."""
        return float(self.support.mse_approx(n))

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`."""
        size = {"bits": self.outputs} if self.refusal else {"bits": self.outputs, "bytes": self.row_bytes}
        return (
            self._numbers(self.support, math.exp(-self.leak), n)
            | size
            | distance(self.k, self.epsilon, self.mse(n), self.asr, n)
        )

    def effective(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.effective`."""
        return {"epsilon": self.epsilon_exact} | self._numbers(self.support_effective, 1 / self.odds, n)

    def _numbers(self, support: Support[float], w: float, n: float) -> dict[str, float]:
        return {
            "p": float(support.p),
            "q": float(support.q),
            "mse": float(support.mse(self.k, n)),
            "mse_sum": float(self.k * support.mse(self.k, n)),
            "mse_approx": float(support.mse_approx(n)),
            "asr": self._asr(support, w),
        }

    def _one_stratum(self, columns: Columns, support: IntArray) -> dict[str, IntArray]:
        n = len(next(iter(columns.values())))
        return {"n": np.array([n], np.int64), "support": support[None, :]}
