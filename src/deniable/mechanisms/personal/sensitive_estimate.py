"""Linear estimates from reports at hidden levels that disclose harmless items now and then.

By the level reports, by groups of reported levels, or self-calibrated, each with a first-order covariance. Derivations:
docs/maths/personal.md, section 8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deniable.core.types import FloatArray, IntArray, Target
from deniable.errors import ParameterError, require
from deniable.mechanisms.personal.estimate import LevelCounts, PersonalPart, guard, plausible_shares
from deniable.mechanisms.personal.laws import Linear
from deniable.mechanisms.personal.sensitive_laws import UtilityLevelLaw

__all__ = ["UtilityLevelCounts", "choose_utility", "linear_utility"]


@dataclass(frozen=True, slots=True, eq=False)
class UtilityLevelCounts:
    """What a tally has by reported level: reports, support of sensitive items, and disclosed harmless ones."""

    own: LevelCounts
    """Reports and support of the s sensitive items, with their law."""
    disclosed: IntArray
    law: UtilityLevelLaw
    items: tuple[IntArray, IntArray]
    """Numbers of the sensitive and of the harmless items."""

    @property
    def total(self) -> int:
        """Number of reports."""
        return self.own.total

    @property
    def shares(self) -> tuple[FloatArray, FloatArray]:
        """Shares of the reports that support each sensitive item, and that disclose each harmless one."""
        return self.own.share, np.asarray(self.disclosed.sum(axis=0) / self.total)

    def join(self, own: FloatArray, rest: FloatArray) -> FloatArray:
        """Numbers of sensitive and of harmless items in the order of the items."""
        out = np.empty(own.size + rest.size)
        out[self.items[0]], out[self.items[1]] = own, rest
        return out


def _solve(blend: FloatArray, supported: FloatArray, disclosed: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Frequencies of sensitive and of harmless items from blended p, q, r and z."""
    p, q, r, z = blend.tolist()
    theta = float(disclosed.sum()) / z
    return np.asarray((supported - q + theta * (q - r)) / (p - q)), np.asarray(disclosed / z)


def _auem(counts: UtilityLevelCounts, law: UtilityLevelLaw) -> tuple[PersonalPart, str]:
    told = np.array([law.own.unbiased(row) for row in law.features()])
    blend = told @ counts.own.n / counts.total
    errors = np.zeros(2)
    if len(law.own.supports) > 1:
        noise = law.noise() / counts.total
        errors = np.sqrt([noise[0, 0] - 2 * noise[0, 1] + noise[1, 1], noise[3, 3]])
    gap = float(blend[0] - blend[1])
    guard("p - q by the level reports", gap, float(errors[0]))
    guard("the chance of disclosure by the level reports", float(blend[3]), float(errors[1]))
    text = f"by the level reports, p - q = {gap:.4g} with standard error {errors[0]:.2g}"
    return _part(counts, law, "auem", *_solve(blend, *counts.shares)), text


def _self(counts: UtilityLevelCounts, law: UtilityLevelLaw) -> tuple[PersonalPart, str]:
    """p and q from the sum of all support, so that the estimates sum to 1; the chance of disclosure is known."""
    supported, disclosed = counts.shares
    base, s, z = counts.own.base, law.s, float(law.z[0])
    theta = float(disclosed.sum()) / z
    law.slopes(base, supported, theta)  # refuses what cannot be calibrated
    total, t, hidden = float(supported.sum()), 1 - theta, theta * (1 - z)
    p, q, r, _ = law.blended().tolist()
    if base == "sue":
        width = (s - 2) * t + s * hidden
        q = (total - t) / width
        p, r = 1 - q, (1 - z) * q
    elif base == "oue":
        width = (s - 1) * t + s * hidden
        q = (total - t * p) / width
        r = (1 - z) * q
    else:
        width = t
        p = (total - t * (s - 1) * q - theta * s * r) / t
    ones = max(law.own.bits(0.0), law.own.bits(1.0)) * s
    error = (2 if base == "sue" else 1) / width * float(np.sqrt(ones / counts.total))
    guard("p - q by the sum of support", p - q, error)
    text = f"self-calibrated, without the level reports: p - q = {p - q:.4g} with standard error {error:.2g}"
    return _part(counts, law, "self", *_solve(np.array([p, q, r, z]), supported, disclosed)), text


def _grouped(counts: UtilityLevelCounts, law: UtilityLevelLaw) -> tuple[PersonalPart, str]:
    """Groups of reported levels, sensitive and harmless items each with their best weights."""
    if not law.own.reported:
        raise ParameterError("method grouped needs level reports.", "Use method='self'.")
    share, chance = law.own.posterior()
    blends = chance @ law.features().T
    n = np.maximum(counts.own.n, 1)[:, None]
    values = [
        _solve(blend, supported, disclosed)
        for blend, supported, disclosed in zip(blends, counts.own.support / n, counts.disclosed / n, strict=True)
    ]
    p, q, _, z = blends.T
    mean = q + (p - q) / (law.s + counts.disclosed.shape[1])
    weights = [share * (p - q) ** 2 / (mean * (1 - mean)), share * z / (1 - z)]
    weights = [np.where(counts.own.n > 0, w, 0.0) for w in weights]
    own, rest = (np.asarray((w / w.sum()) @ np.array([value[i] for value in values])) for i, w in enumerate(weights))
    text = "by groups of reported levels with their best weights; standard errors are those of the level reports"
    return _part(counts, law, "auem", own, rest), text


_Method = Callable[[UtilityLevelCounts, UtilityLevelLaw], tuple[PersonalPart, str]]
LINEAR: dict[str, _Method] = {"auem": _auem, "self": _self, "grouped": _grouped}
"""Linear estimators by name."""


def linear_utility(counts: UtilityLevelCounts, method: str) -> tuple[PersonalPart, str]:
    """An estimate by one of `LINEAR` (`auto`: the best for this design), and what was done."""
    require(method in ("auto", *LINEAR), "method", method, f"auto or one of {', '.join(LINEAR)}")
    law, reason = counts.law.with_shares(plausible_shares(counts.own)), ""
    if method == "auto":
        supported, disclosed = counts.shares
        theta = min(1.0, float(disclosed.sum()) / float(law.blended()[3]))
        method, why = choose_utility(counts.own.base, law, supported.size, disclosed.size, theta, counts.total)
        reason = f"; chosen because {why}"
    part, text = LINEAR[method](counts, law)
    return part, text + reason


def choose_utility(base: str, law: UtilityLevelLaw, s: int, h: int, theta: float, n: float) -> tuple[str, str]:
    """The linear estimator with the least predicted error, items of a kind being equally frequent, and why."""
    if len(law.own.supports) == 1:
        return "auem", "there is one level only, so that p and q are known"
    f, rest = np.full(s, (1 - theta) / s), np.full(h, theta / h)
    try:
        law.slopes(base, f, theta)
    except ParameterError as error:
        if not law.own.reported:
            raise
        return "auem", f"the level reports are needed: {error}"
    if not law.own.reported:
        return "self", "no level is reported"
    own, told = (
        float(sum(part.sum() for part in law.variances(m, base, f, rest, n, "reporters"))) for m in ("self", "auem")
    )
    if own <= told:
        return "self", f"the sum of all support tells p and q with {told / own:.3g} times less predicted error"
    return "auem", f"the level reports tell p and q with {own / told:.3g} times less predicted error"


def _part(
    counts: UtilityLevelCounts, law: UtilityLevelLaw, method: Linear, own: FloatArray, rest: FloatArray
) -> PersonalPart:
    f, other = np.clip(own, 0, 1), np.clip(rest, 0, 1)
    total = max(float(f.sum() + other.sum()), 1.0)
    order = np.argsort(np.concatenate(counts.items))
    at = (method, counts.own.base, f / total, other / total, counts.total)

    def covariance(target: Target) -> FloatArray:
        return np.asarray(law.covariance(*at, target)[np.ix_(order, order)])

    def variance(target: Target) -> FloatArray:
        return counts.join(*law.variances(*at, target))

    return PersonalPart(counts.join(own, rest), covariance, variance)
