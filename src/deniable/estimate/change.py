"""What changes over time, and what differs between groups: one test for each question.

A question has one test, whatever the number of its answers: the slopes of all of them, or the differences of all
groups, are judged together by their covariance (docs/maths/intervals.md, section 7). Estimates must be of different
reports.
Where the same people answer several times with fresh noise, the test is cautious: what they have in common is counted
as if it were sampled anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from deniable.core.same import Same
from deniable.core.support import check_target
from deniable.core.types import FloatArray, Target
from deniable.errors import InWords, MergeError, ParameterError, require
from deniable.estimate.result import Comparison, Estimate, holm

__all__ = ["Equality", "Trend", "equality", "trend", "trends"]

_RANK = 1e-9
"""Directions whose variance is a smaller share than this of the largest one have none: shares that sum to 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Trend(Same):
    """The slope of every answer over time, and one test that all of them are zero."""

    labels: tuple[str, ...]
    slope: FloatArray
    """Change of each answer for one unit of time; between windows without `times`."""
    stderr: FloatArray
    statistic: float
    degrees: int
    pvalue: float
    """Chance of a statistic at least as large if nothing changes."""
    change: Comparison
    """The last estimate minus the first, with its interval: how large it is, and no second test."""
    times: tuple[float, ...]
    n: tuple[int, ...]
    target: Target
    simulated: bool
    tells: ClassVar[tuple[str, ...]] = (
        "labels", "slope", "stderr", "statistic", "degrees", "pvalue", "change", "times", "n", "target", "simulated",
    )  # fmt: skip

    def __repr__(self) -> str:
        found = f"chi-square {self.statistic:.3g}, {self.degrees} degrees, p-value {self.pvalue:.2g}"
        return f"<Trend over {len(self.times)} estimates{', SIMULATED' * self.simulated}: {found}>"

    def document(self, level: float = 0.95) -> dict[str, Any]:
        """As plain data."""
        ends = self.change.interval(level)
        return {
            "labels": list(self.labels),
            "slope": self.slope.tolist(),
            "stderr": self.stderr.tolist(),
            "statistic": self.statistic,
            "degrees": self.degrees,
            "pvalue": self.pvalue,
            "first_to_last": {
                "value": self.change.value.tolist(),
                "stderr": self.change.stderr.tolist(),
                "low": ends.low.tolist(),
                "high": ends.high.tolist(),
                "level": level,
            },
            "times": list(self.times),
            "n": list(self.n),
            "target": self.target,
            "simulated": self.simulated,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Equality(Same):
    """One test that several groups have the same shares, or the same mean."""

    statistic: float
    degrees: int
    pvalue: float
    n: tuple[int, ...]
    target: Target
    simulated: bool
    tells: ClassVar[tuple[str, ...]] = ("statistic", "degrees", "pvalue", "n", "target", "simulated")


def trend(
    estimates: Sequence[Estimate], times: Sequence[float] | None = None, *, target: Target = "population"
) -> Trend:
    """The trend of one question over estimates of different reports, in order of time.

    The slope is the weighted one of least squares; each estimate has the weight of its number of reports, which does
    not depend on what they say. `times` are 0, 1, 2, .. if left out; give them where windows are missing.

    >>> import deniable as dn
    >>> m = dn.mechanism("grr", epsilon=2.0, labels=["yes", "no"])
    >>> weeks = [["yes"] * yes + ["no"] * (4000 - yes) for yes in (1200, 1500, 1800)]
    >>> found = trend([m.estimate(m.tally(m.privatize(week, rng=dn.simulation(1)))) for week in weeks])
    >>> found.degrees, found.pvalue < 0.001
    (1, True)
    """
    _check(estimates, target, "different moments")
    at = np.arange(len(estimates), dtype=np.float64) if times is None else np.asarray(times, dtype=np.float64)
    rising = at.shape == (len(estimates),) and bool(np.isfinite(at).all()) and bool((np.diff(at) > 0).all())
    require(rising, "times", times, f"{len(estimates)} rising numbers, one for each estimate")
    weights = np.array([each.n for each in estimates], dtype=np.float64)
    away = at - np.average(at, weights=weights)
    factors = weights * away / (weights * away * away).sum()
    slope = np.asarray(sum(a * each.value for a, each in zip(factors, estimates, strict=True)))
    spread = np.asarray(sum(a * a * each.covariance(target) for a, each in zip(factors, estimates, strict=True)))
    statistic, degrees = _judged(slope, spread, _total(estimates[0]))
    return Trend(
        labels=estimates[0].labels,
        slope=slope,
        stderr=np.sqrt(np.maximum(np.diagonal(spread), 0.0)),
        statistic=statistic,
        degrees=degrees,
        pvalue=_chance(statistic, degrees),
        change=estimates[-1].compare(estimates[0], target=target),
        times=tuple(at.tolist()),
        n=tuple(each.n for each in estimates),
        target=target,
        simulated=any(each.simulated for each in estimates),
    )


def trends(found: Sequence[Trend]) -> FloatArray:
    """The p-values of several questions' trends, corrected for looking at all of them (Holm)."""
    return holm(np.array([each.pvalue for each in found]))


def equality(estimates: Sequence[Estimate], *, target: Target = "population") -> Equality:
    """Whether all of these groups have the same shares: all differences are judged together."""
    _check(estimates, target, "different groups")
    basis = _contrasts(len(estimates[0].labels), _total(estimates[0]))
    first, *others = [(basis.T @ each.value, basis.T @ each.covariance(target) @ basis) for each in estimates]
    apart = np.concatenate([value - first[0] for value, _ in others])
    spread: FloatArray = np.kron(np.ones((len(others),) * 2), first[1]).astype(np.float64)
    for number, (_, own) in enumerate(others):
        place = slice(number * own.shape[0], (number + 1) * own.shape[0])
        spread[place, place] += own
    statistic, degrees = _judged(apart, spread, False)
    simulated = any(each.simulated for each in estimates)
    chance = _chance(statistic, degrees)
    return Equality(statistic, degrees, chance, tuple(each.n for each in estimates), target, simulated)


def _check(estimates: Sequence[Estimate], target: Target, what: str) -> None:
    check_target(target)
    require(len(estimates) >= 2, "estimates", InWords(f"{len(estimates)}"), f"at least 2, of {what}")
    if len({each.labels for each in estimates}) != 1:
        raise MergeError("only estimates of the same labels, in the same order, can be tested together.")
    if any(each.biased for each in estimates):
        raise ParameterError("estimates must be unbiased ones here.", "Test first, project afterwards.")


def _total(estimate: Estimate) -> bool:
    """Whether the true shares sum to 1, so that a change of their sum is noise: everybody has one of the answers."""
    name, part = next(iter(estimate.parts.items()))
    return name == "frequency" and part.range is None and not part.several and len(estimate.labels) > 1


def _judged(slope: FloatArray, spread: FloatArray, total: bool) -> tuple[float, int]:
    """The chi-square statistic of slopes and its degrees of freedom.

    Where true shares sum to 1 but estimates do not, the slope of the sum is known to be zero: the statistic is that of
    the slopes given that, with one degree less. So yes and no are one test under every design.
    """
    values, vectors = np.linalg.eigh((spread + spread.T) / 2)
    kept = values > _RANK * max(float(values[-1]), 0.0)
    along = vectors[:, kept].T @ slope
    statistic, degrees = float((along * along / values[kept]).sum()), int(kept.sum())
    noise = float(spread.sum())
    if total and noise > _RANK * float(np.trace(spread)):
        statistic -= float(slope.sum()) ** 2 / noise
        degrees -= 1
    return max(statistic, 0.0), degrees


def _contrasts(size: int, total: bool) -> FloatArray:
    """Directions in which groups can differ: all, but for the sum of shares that sum to 1."""
    around = np.eye(size) - 1.0 / size
    return np.asarray(np.linalg.eigh(around)[1][:, 1:]) if total else np.eye(size)


def _chance(statistic: float, degrees: int) -> float:
    from scipy.stats import chi2

    return float(chi2.sf(statistic, degrees)) if degrees else 1.0
