"""Linear estimates from reports at hidden levels, with first-order covariances and a guard.

By the level reports (AUEM), by groups of reported levels, or self-calibrated: from the sum of all support, which needs
no level report at all. Derivations: docs/maths/personal.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from deniable.core.intervals import Interval, wald_interval
from deniable.core.types import FloatArray, IntArray, Target
from deniable.errors import ParameterError, require
from deniable.estimate.simplex import project_simplex
from deniable.mechanisms.personal.laws import LevelLaw, Linear, calibration_slope

__all__ = [
    "GuardWarning",
    "LevelCounts",
    "PersonalPart",
    "blend",
    "choose",
    "estimate_shares",
    "guard",
    "linear",
    "plausible_shares",
]

GUARD = 3.0
"""An estimated denominator below so many of its standard errors makes an estimate unreliable."""


class GuardWarning(UserWarning):
    """The denominator of an estimate is near zero, so that its standard errors cannot be trusted."""


@dataclass(frozen=True, slots=True, eq=False)
class LevelCounts:
    """What a tally has: reports and support counts by reported level, and the law with the shares not yet known."""

    n: IntArray
    support: IntArray
    law: LevelLaw
    base: str

    @property
    def total(self) -> int:
        """Number of reports."""
        return int(self.n.sum())

    @property
    def k(self) -> int:
        """Number of items."""
        return int(self.support.shape[1])

    @property
    def share(self) -> FloatArray:
        """Share of the reports that support each item."""
        return np.asarray(self.support.sum(axis=0) / self.total)


@dataclass(frozen=True, slots=True, eq=False)
class PersonalPart:
    """Frequencies with a first-order covariance, levels drawn; intervals by the normal law."""

    value: FloatArray
    _covariance: Callable[[Target], FloatArray]
    _variance: Callable[[Target], FloatArray] | None = None
    """The diagonal alone, where there is a shorter way to it."""

    def variance(self, target: Target) -> FloatArray:
        if self._variance is not None:
            return self._variance(target)
        return np.asarray(np.diagonal(self._covariance(target)).copy())

    def covariance(self, target: Target) -> FloatArray:
        return self._covariance(target)

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        spread = np.sqrt(self.variance(target))
        return wald_interval(self.value, spread, level=level, target=target, simultaneous=simultaneous)


def estimate_shares(counts: LevelCounts) -> FloatArray:
    """Unbiased shares of the levels [PLDP Eq. 4]; they may be negative. For a response over the levels only."""
    t = len(counts.law.supports)
    if t == 1:
        return np.ones(1)
    if counts.law.channel.shape[1] != t or not counts.law.reported:
        raise ParameterError(
            "the shares of single levels are not known: the level report tells a mean or nothing.",
            "Use level_report='response' for them.",
        )
    return np.array([counts.law.unbiased(np.eye(t)[i]) @ counts.n / counts.total for i in range(t)])


def plausible_shares(counts: LevelCounts) -> FloatArray:
    """Shares for variances and weights: the unbiased ones projected onto the simplex, else the planned ones."""
    try:
        return project_simplex(estimate_shares(counts))
    except ParameterError:
        return counts.law.shares


def blend(counts: LevelCounts) -> tuple[float, float]:
    """The blended p and q by the level reports: unbiased."""
    law = counts.law
    p, q = (float(law.unbiased(law.of(name)) @ counts.n / counts.total) for name in ("p", "q"))
    return p, q


# ---- the estimators


def _auem(counts: LevelCounts, law: LevelLaw) -> tuple[PersonalPart, str]:
    p, q = blend(counts)
    error = law.gap_error(counts.total) if len(law.supports) > 1 else 0.0
    guard("p - q by the level reports", p - q, error)
    text = f"by the level reports (AUEM), p - q = {p - q:.4g} with standard error {error:.2g}"
    return _part(counts, law, "auem", (counts.share - q) / (p - q)), text


def _self(counts: LevelCounts, law: LevelLaw) -> tuple[PersonalPart, str]:
    """p and q from the sum of all support, so that the estimates sum to 1."""
    k, share = counts.k, counts.share
    calibration_slope(counts.base, k, share)  # refuses what cannot be calibrated
    total = float(share.sum())
    if counts.base == "sue":
        q = (total - 1) / (k - 2)
        p, weight = 1 - q, 2 / (k - 2)
    elif counts.base == "oue":
        q = (total - float(law.of("p")[0])) / (k - 1)
        p, weight = float(law.of("p")[0]), 1 / (k - 1)
    else:
        q = float(law.of("q")[0])
        p, weight = q + total - k * q, 1.0
    ones = max(law.bits(0.0), law.bits(1.0)) * k
    error = weight * float(np.sqrt(ones / counts.total))
    guard("p - q by the sum of support", p - q, error)
    text = f"self-calibrated, without the level reports: p - q = {p - q:.4g} with standard error {error:.2g}"
    return _part(counts, law, "self", (share - q) / (p - q)), text


def _grouped(counts: LevelCounts, law: LevelLaw) -> tuple[PersonalPart, str]:
    """Groups of reported levels, weighted for an item of frequency 1/k; groups without reports have no weight."""
    if not law.reported:
        raise ParameterError("method grouped needs level reports.", "Use method='self'.")
    groups = law.groups(1 / counts.k, counts.total)
    weights = np.where(counts.n > 0, groups.weights, 0.0)
    weights = weights / weights.sum()
    gap = groups.p - groups.q
    shares = counts.support / np.maximum(counts.n, 1)[:, None]
    value = weights @ ((shares - groups.q[:, None]) / gap[:, None])
    part = _part(counts, law, "auem", value)
    best, equal = groups.variance, law.known_shares(1 / counts.k, counts.total)
    text = (
        f"by groups of reported levels with their best weights (predicted variance {best / equal:.4f} of equal "
        "weights, if the shares of the levels were known; standard errors are those of AUEM, which estimates them too)"
    )
    return part, text


_Method = Callable[[LevelCounts, LevelLaw], tuple[PersonalPart, str]]
LINEAR: dict[str, _Method] = {"auem": _auem, "self": _self, "grouped": _grouped}
"""Linear estimators by name."""


def linear(counts: LevelCounts, method: str) -> tuple[PersonalPart, str]:
    """An estimate by one of `LINEAR` (`auto`: the best for this design), and what was done."""
    require(method in ("auto", *LINEAR), "method", method, f"auto or one of {', '.join(LINEAR)}")
    law, reason = replace(counts.law, shares=plausible_shares(counts)), ""
    if method == "auto":
        method, why = choose(counts.base, counts.k, law, counts.total)
        reason = f"; chosen because {why}"
    part, text = LINEAR[method](counts, law)
    return part, text + reason


def choose(base: str, k: int, law: LevelLaw, n: float) -> tuple[str, str]:
    """The linear estimator with the least predicted variance of an item of frequency 1/k, and why."""
    if len(law.supports) == 1:
        return "auem", "there is one level only, so that p and q are known"
    try:
        own = law.self_calibrated(base, k, 1 / k, n).random_levels
    except ParameterError as error:
        if not law.reported:
            raise
        return "auem", f"the level reports are needed: {error}"
    if not law.reported:
        return "self", "no level is reported"
    told = law.auem(1 / k, n).random_levels
    name, what = ("self", "the sum of all support tells") if own < told else ("auem", "the level reports tell")
    ratio = max(told / own, own / told)
    return name, f"{what} p and q with the least predicted variance, {ratio:.3g} times less than the other way"


def _part(counts: LevelCounts, law: LevelLaw, method: Linear, value: FloatArray) -> PersonalPart:
    f = np.clip(value, 0, 1)
    total = max(float(f.sum()), 1.0)

    def covariance(target: Target) -> FloatArray:
        return law.covariance(method, counts.base, f / total, counts.total, target)

    return PersonalPart(value, covariance)


def guard(what: str, gap: float, error: float) -> None:
    """Refuse a denominator that is not positive, and warn of one near zero."""
    told = f"{what} is {gap:.3g}"
    if gap <= 0:
        raise ParameterError(
            f"{told}, with standard error {error:.2g}, and must be above 0: the reports do not show any difference "
            "between values.",
            "Collect more reports, report levels with a larger level epsilon, or use method='self' or fit().",
        )
    if gap < GUARD * error:
        warnings.warn(
            f"{told} with standard error {error:.2g}: an estimate divided by it has errors far beyond its standard "
            "errors; use method='self' or fit().",
            GuardWarning,
            stacklevel=4,
        )
