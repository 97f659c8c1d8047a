"""Linear estimates from reports at hidden levels, with first-order covariances and a guard.

By the level reports (AUEM), by groups of reported levels, or self-calibrated: from the sum of all support, which needs
no level report at all. Derivations: docs/maths/personal.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deniable.core.intervals import Curve, Interval, curve_interval
from deniable.core.types import FloatArray, IntArray, Target
from deniable.errors import ParameterError, require
from deniable.estimate.linear import SupportPart
from deniable.estimate.result import Part, Shares
from deniable.estimate.simplex import project_simplex
from deniable.mechanisms.personal.laws import Extra, LevelLaw, Linear, calibration_slope
from deniable.mechanisms.personal.sensitive_laws import UtilityLevelLaw

__all__ = [
    "GuardWarning",
    "LevelCounts",
    "UtilityLevelCounts",
    "blend",
    "choose",
    "choose_utility",
    "estimate_shares",
    "linear",
    "linear_utility",
    "plausible_shares",
]

_GUARD = 3.0
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
    extra: Extra = None

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
class PersonalPart(Shares):
    """Frequencies with a first-order covariance, levels drawn."""

    value: FloatArray
    _covariance: Callable[[Target], FloatArray]
    _curve: Callable[[Target], Curve]
    """How the variance changes with an item's own frequency: only differences count."""
    n: float
    _plausible: FloatArray
    """The frequencies at which variances are taken."""
    _scale: FloatArray | float = 1.0
    """Denominator of the variances in terms of that of the estimate."""
    _variance: Callable[[Target], FloatArray] | None = None
    """The diagonal alone, where there is a shorter way to it."""

    def variance(self, target: Target) -> FloatArray:
        if self._variance is not None:
            return self._variance(target)
        return np.asarray(np.diagonal(self._covariance(target)).copy())

    def covariance(self, target: Target) -> FloatArray:
        return self._covariance(target)

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        """See `Part.interval`: a score test of numerator - f denominator, both being estimated [Fieller54]."""
        (_, b, c), f, scale = self._curve(target), self._plausible, self._scale**2
        start = np.maximum(self.variance(target) - b * f - c * f * f, 0.0)
        curve = (start * scale, b * scale, c * scale)
        return curve_interval(self.value, curve, level=level, target=target, simultaneous=simultaneous, n=self.n)


def estimate_shares(counts: LevelCounts) -> FloatArray:
    """Unbiased shares of the levels [PLDP Eq. 4]; they may be negative. For a response over the levels only."""
    t = len(counts.law.supports)
    if t == 1:
        return np.ones(1)
    if counts.law.channel.shape[1] != t or not counts.law.reported:
        raise ParameterError(
            "the shares of single levels are not known: the level reports show a mean only, or nothing.",
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


def _auem(counts: LevelCounts, law: LevelLaw, guard: bool = True) -> tuple[PersonalPart, str]:
    p, q = blend(counts)
    error = law.gap_error(counts.total) if len(law.supports) > 1 else 0.0
    if guard:
        _guard("p - q by the level reports", p - q, error)
    text = f"by the level reports (AUEM), p - q = {p - q:.4g} with standard error {error:.2g}"
    return _part(counts, law, "auem", (counts.share - q) / (p - q), p - q), text


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
    _guard("p - q by the sum of support", p - q, error)
    text = f"self-calibrated, without the level reports: p - q = {p - q:.4g} with standard error {error:.2g}"
    return _part(counts, law, "self", (share - q) / (p - q), p - q), text


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
    part = _part(counts, law, "auem", value, law.gap)
    best, equal = groups.variance, law.known_shares(1 / counts.k, counts.total)
    text = (
        f"by groups of reported levels with their best weights (predicted variance {best / equal:.4f} of equal "
        "weights, if the shares of the levels were known; standard errors are those of AUEM, which estimates them too)"
    )
    return part, text


def _pbp(counts: LevelCounts, law: LevelLaw) -> tuple[Part, str]:
    """The shares of the levels are public: those that the design was planned with."""
    shares = counts.law.shares
    text = f"with public shares of the levels (PBP): {', '.join(f'{share:.3g}' for share in shares.tolist())}"
    return SupportPart(counts.share, counts.law.mixed(), counts.total), text


def linear(counts: LevelCounts, method: str, *, guard: bool = True) -> tuple[Part, str]:
    """An estimate by the method of this name (`auto`: the best for this design), and what was done.

    Without `guard` AUEM is as printed: nothing is said of a p - q that is near zero, or below.
    """
    law = replace(counts.law, shares=plausible_shares(counts))
    if not guard:
        require(method == "auem", "method", method, "auem, which alone is printed without a guard")
        return _auem(counts, law, guard=False)

    def best() -> tuple[str, str]:
        return choose(counts.base, counts.k, law, counts.total)

    return _by({"auem": _auem, "self": _self, "grouped": _grouped, "pbp": _pbp}, method, best, counts, law)


def _by(
    methods: Mapping[str, Callable[[Any, Any], tuple[Part, str]]],
    method: str,
    best: Callable[[], tuple[str, str]],
    counts: object,
    law: object,
) -> tuple[Part, str]:
    require(method in ("auto", *methods), "method", method, f"auto or one of {', '.join(methods)}")
    method, why = best() if method == "auto" else (method, "")
    part, text = methods[method](counts, law)
    return part, text + (f"; chosen because {why}" if why else "")


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


def _part(counts: LevelCounts, law: LevelLaw, method: Linear, value: FloatArray, gap: float) -> PersonalPart:
    """`gap`: the p - q that was divided by."""
    f = np.clip(value, 0, 1)
    f = f / max(float(f.sum()), 1.0)

    def covariance(target: Target) -> FloatArray:
        return law.covariance(method, counts.base, f, counts.total, target, counts.extra)

    def curve(target: Target) -> Curve:
        return law.curve(method, counts.base, counts.k, counts.total, target)

    return PersonalPart(value, covariance, curve, counts.total, f, law.gap / gap)


def _guard(what: str, gap: float, error: float) -> None:
    """Refuse a denominator that is not positive, and warn of one near zero."""
    told = f"{what} is {gap:.3g}"
    if gap <= 0:
        raise ParameterError(
            f"{told}, with standard error {error:.2g}, and must be above 0: the reports do not show any difference "
            "between values.",
            "Collect more reports, report levels with a larger level epsilon, or use method='self' or fit().",
        )
    if gap < _GUARD * error:
        warnings.warn(
            f"{told} with standard error {error:.2g}: an estimate divided by it has errors far beyond its standard "
            "errors; use method='self' or fit().",
            GuardWarning,
            stacklevel=4,
        )


# ---- where harmless items are disclosed now and then: docs/maths/personal.md, section 8


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


def _utility_auem(counts: UtilityLevelCounts, law: UtilityLevelLaw) -> tuple[PersonalPart, str]:
    told = np.array([law.own.unbiased(row) for row in law.features()])
    blend = told @ counts.own.n / counts.total
    errors = np.zeros(2)
    if len(law.own.supports) > 1:
        noise = law.noise() / counts.total
        errors = np.sqrt([noise[0, 0] - 2 * noise[0, 1] + noise[1, 1], noise[3, 3]])
    gap = float(blend[0] - blend[1])
    _guard("p - q by the level reports", gap, float(errors[0]))
    _guard("the chance of disclosure by the level reports", float(blend[3]), float(errors[1]))
    text = f"by the level reports, p - q = {gap:.4g} with standard error {errors[0]:.2g}"
    return _utility_part(counts, law, "auem", _solve(blend, *counts.shares), blend), text


def _utility_self(counts: UtilityLevelCounts, law: UtilityLevelLaw) -> tuple[PersonalPart, str]:
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
    _guard("p - q by the sum of support", p - q, error)
    text = f"self-calibrated, without the level reports: p - q = {p - q:.4g} with standard error {error:.2g}"
    blend = np.array([p, q, r, z])
    return _utility_part(counts, law, "self", _solve(blend, supported, disclosed), blend), text


def _utility_grouped(counts: UtilityLevelCounts, law: UtilityLevelLaw) -> tuple[PersonalPart, str]:
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
    return _utility_part(counts, law, "auem", (own, rest), law.blended()), text


def linear_utility(counts: UtilityLevelCounts, method: str) -> tuple[Part, str]:
    """`linear` where harmless items are disclosed now and then."""
    law = counts.law.with_shares(plausible_shares(counts.own))

    def best() -> tuple[str, str]:
        supported, disclosed = counts.shares
        theta = min(1.0, float(disclosed.sum()) / float(law.blended()[3]))
        return choose_utility(counts.own.base, law, supported.size, disclosed.size, theta, counts.total)

    return _by({"auem": _utility_auem, "self": _utility_self, "grouped": _utility_grouped}, method, best, counts, law)


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


def _utility_part(
    counts: UtilityLevelCounts,
    law: UtilityLevelLaw,
    method: Linear,
    found: tuple[FloatArray, FloatArray],
    blend: FloatArray,
) -> PersonalPart:
    """`found`: estimates of sensitive and of harmless items, `blend`: the p, q, r and z that they were made with."""
    own, rest = (np.clip(value, 0, 1) for value in found)
    total = max(float(own.sum() + rest.sum()), 1.0)
    own, rest = own / total, rest / total
    order = np.argsort(np.concatenate(counts.items))
    at = (method, counts.own.base, own, rest, counts.total)

    def covariance(target: Target) -> FloatArray:
        return np.asarray(law.covariance(*at, target, counts.own.extra)[np.ix_(order, order)])

    def variance(target: Target) -> FloatArray:
        return counts.join(*law.variances(*at, target))

    def curve(target: Target) -> Curve:
        one, two = law.curves(method, float(rest.sum()), counts.total, target)
        a, b, c = (counts.join(np.full(own.size, x), np.full(rest.size, y)) for x, y in zip(one, two, strict=True))
        return a, b, c

    p, q, _, z = law.blended().tolist()
    scale = counts.join(np.full(own.size, (p - q) / (blend[0] - blend[1])), np.full(rest.size, z / blend[3]))
    plausible = counts.join(own, rest)
    return PersonalPart(counts.join(*found), covariance, curve, counts.total, plausible, scale, variance)
