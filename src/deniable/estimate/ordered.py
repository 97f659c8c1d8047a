"""Answers in an order: shares of ranges, cumulative shares with a band, quantiles with confidence sets.

Everything is read from unbiased estimates as they are. A cumulative share may therefore fall somewhere, or be below 0:
nothing is sorted or cut off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from deniable.collect.frames import Columned
from deniable.core.intervals import Interval, critical, wald_interval
from deniable.core.same import Same
from deniable.core.support import check_target
from deniable.core.types import FloatArray, Target
from deniable.errors import InWords, ParameterError, is_number, require
from deniable.estimate.result import CUMULATIVE, NormalPart

if TYPE_CHECKING:
    from deniable.estimate.result import Estimate, Part

__all__ = ["Quantiles", "band_width", "cumulative", "quantiles", "range_shares"]

_STEPS = 40
"""Halvings of the search for the width of a band."""
_GRID = 512
"""Correlations are rounded down to multiples of its inverse, which makes a band wider, never narrower."""
_NODES, _REACH = 96, 8.0
"""Points and standard deviations of the integrals over both tails."""
_TARGETS: tuple[Target, Target] = ("reporters", "population")


@dataclass(frozen=True, slots=True, eq=False)
class SumsPart(NormalPart):
    """Sums of shares with their variances, for either target: of ranges, or of the first 1, 2, .., all answers."""

    value: FloatArray
    variances: Mapping[str, FloatArray]
    singles: Mapping[str, FloatArray] | None = None
    """Of cumulative shares the variances of the single ones, which say how neighbours vary together."""
    several = True
    """See `Part.several`: an answer may be in several sums, or in none."""

    def variance(self, target: Target) -> FloatArray:
        return self.variances[target]

    def covariance(self, target: Target) -> FloatArray:
        """See `Part.covariance`: not worked out."""
        raise ParameterError("covariances of sums are not worked out.", "Take those of the estimate itself.")

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        """See `Part.interval`; simultaneous ones of cumulative shares are a band that holds everywhere at once."""
        spread = np.sqrt(self.variance(target))
        band = simultaneous and self.singles is not None
        ends = wald_interval(self.value, spread, level=level, target=target, simultaneous=simultaneous and not band)
        if not band or self.singles is None:
            return ends
        half = band_width(self.variance(target), self.singles[target], level) * spread
        return replace(ends, low=self.value - half, high=self.value + half, simultaneous=True)


@dataclass(frozen=True, slots=True, eq=False)
class Quantiles(Same, Columned):
    """Answers below which given shares of people are, each with a set of answers that may be it.

    `low` and `high` are the first and the last answer of the set that neither "more than the share is below" nor "less
    than the share is at or below" is significant for [Woodruff52].
    """

    shares: tuple[float, ...]
    value: tuple[str, ...]
    low: tuple[str, ...]
    high: tuple[str, ...]
    level: float
    target: Target
    n: int
    simulated: bool
    tells: ClassVar[tuple[str, ...]] = ("shares", "value", "low", "high", "level", "target", "n", "simulated")

    def __repr__(self) -> str:
        rows = zip(self.shares, self.value, self.low, self.high, strict=True)
        shown = ", ".join(f"{share:g}: {value} ({low} to {high})" for share, value, low, high in rows)
        return f"<Quantiles from {self.n:,} reports{', SIMULATED' * self.simulated}, level {self.level:g}: {shown}>"

    def to_columns(self) -> dict[str, list[Any]]:
        """Shares, answers and the ends of their sets as plain lists."""
        own: dict[str, list[Any]] = {"share": list(self.shares)}
        own |= {"value": list(self.value), "low": list(self.low), "high": list(self.high)}
        return own | {"simulated": [self.simulated] * len(self.shares)}


def _shares_of(estimate: Estimate, what: str) -> Part:
    """The unbiased shares of all answers."""
    name, part = next(iter(estimate.parts.items()))
    hint = "Ask for them before anything is projected, fitted or summed up."
    require(name == "frequency" and not part.several, "estimate", InWords(name), f"shares of answers for {what}", hint)
    require(not estimate.biased, "estimate", InWords(", ".join(estimate.bias)), f"unbiased for {what}", hint)
    return part


def _span_of(estimate: Estimate, given: object) -> tuple[int, int]:
    """The first and the last answer of a range, both included, as numbers: from two labels, or a text with a comma."""
    labels = {label: i for i, label in enumerate(estimate.labels)}
    if isinstance(given, str):
        cuts = [i for i, sign in enumerate(given) if sign == ","]
        pairs = [(given[:i].strip(), given[i + 1 :].strip()) for i in cuts]
    elif isinstance(given, Sequence) and len(given) == 2:
        pairs = [(str(given[0]), str(given[1]))]
    else:
        pairs = []
    known = [(labels[a], labels[b]) for a, b in pairs if a in labels and b in labels]
    ends = f"{estimate.labels[0]},{estimate.labels[-1]}"
    hint = f"All answers: {ends}. A single one: {estimate.labels[0]},{estimate.labels[0]}."
    require(len(known) == 1, "range", given, "the first and the last answer of it, both included", hint)
    first, last = known[0]
    require(first <= last, "range", given, "the earlier answer first", hint)
    return first, last


def range_shares(estimate: Estimate, ranges: Sequence[object]) -> Estimate:
    """The shares of ranges of answers, each given by its first and its last one."""
    part = _shares_of(estimate, "ranges")
    listed = isinstance(ranges, Sequence) and not isinstance(ranges, str) and len(ranges) > 0
    require(listed, "ranges", ranges, "a list of ranges", "For example [('18', '24'), ('25', '64')].")
    spans = [_span_of(estimate, given) for given in ranges]
    value = np.array([part.value[first : last + 1].sum() for first, last in spans])
    spread = {t: np.array([part.sum_variance(a, b + 1, t) for a, b in spans]) for t in _TARGETS}
    names = [(estimate.labels[first], estimate.labels[last]) for first, last in spans]
    labels = tuple(first if first == last else f"{first} to {last}" for first, last in names)
    require(len(set(labels)) == len(labels), "ranges", labels, "different from each other")
    made = SumsPart(value, {t: np.maximum(own, 0.0) for t, own in spread.items()})
    steps = (*estimate.steps, f"summed over {len(labels)} range{'s' * (len(labels) != 1)}")
    return replace(estimate, labels=labels, parts={"frequency": made}, steps=steps)


def cumulative(estimate: Estimate) -> Estimate:
    """The share of people at or below each answer; the last one is 1."""
    part = _shares_of(estimate, "cumulative shares")
    spread: dict[str, FloatArray] = {t: np.maximum(part.prefix_variance(t), 0.0) for t in _TARGETS}
    for own in spread.values():
        own[-1] = 0.0
    value = np.cumsum(part.value)
    value[-1] = 1.0  # known, where estimated shares do not sum to 1
    made = SumsPart(value, spread, {t: part.variance(t) for t in _TARGETS})
    steps = (*estimate.steps, "added up in the order of the answers, neither sorted nor cut off")
    return replace(estimate, parts={CUMULATIVE: made}, steps=steps)


def quantiles(
    estimate: Estimate, shares: Sequence[float], level: float = 0.95, target: Target = "reporters"
) -> Quantiles:
    """The first answer at which the cumulative share reaches each of `shares`, with its confidence set."""
    part = _shares_of(estimate, "quantiles")
    check_target(target)
    z, wanted = critical(level), [float(share) for share in _numbers(shares)]
    upto = np.cumsum(part.value)
    spread = np.sqrt(np.maximum(part.prefix_variance(target), 0.0))
    upto[-1], spread[-1] = 1.0, 0.0
    below, off = np.append(0.0, upto[:-1]), np.append(0.0, spread[:-1])
    found: list[tuple[int, int, int]] = []
    for share in wanted:
        possible = np.flatnonzero((below - z * off <= share) & (upto + z * spread >= share))
        found.append((int(np.argmax(upto >= share)), int(possible[0]), int(possible[-1])))
    value, low, high = (tuple(estimate.labels[row[i]] for row in found) for i in range(3))
    return Quantiles(tuple(wanted), value, low, high, level, target, estimate.n, estimate.simulated)


def _numbers(shares: Sequence[Any]) -> Sequence[Any]:
    numbers = (is_number(x) and 0 < x < 1 for x in shares)
    require(all(numbers), "shares", shares, "numbers between 0 and 1", "The median is 0.5.")
    return shares


# ---- the band


def band_width(variance: FloatArray, singles: FloatArray, level: float) -> float:
    """How many standard errors a band around cumulative shares needs to hold everywhere with a chance of `level`.

    At most as likely as that one of them is further off is the sum of the chances of each, less those that neighbours
    are both off [Worsley82]: no assumption beyond a normal law is made about more than two at a time. `singles` are the
    variances of the steps from one to the next.
    """
    z = critical(level)
    known = np.flatnonzero(variance > 0)
    if known.size < 2:
        return z
    own, steps = variance[known], singles[known[1:]]
    together = (own[:-1] + own[1:] - steps) / (2 * np.sqrt(own[:-1] * own[1:]))
    rounded = np.floor(np.clip(together, 0.0, 1.0) * _GRID) / _GRID
    rho, times = np.unique(np.minimum(rounded, 1 - 1 / _GRID), return_counts=True)
    low, high = z, critical(level, known.size)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        chance = 2 * known.size * NormalDist().cdf(-middle) - float(times @ _both_off(rho, middle))
        low, high = (low, middle) if chance <= 1 - level else (middle, high)
    return high


@cache
def _nodes() -> tuple[FloatArray, FloatArray]:
    """Points and weights of integrals from -1 to 1."""
    return np.polynomial.legendre.leggauss(_NODES)


def _both_off(rho: FloatArray, z: float) -> FloatArray:
    """The chances that two normal numbers with these correlations are both further than z from 0."""
    from scipy.special import ndtr

    node, weight = _nodes()
    u = z + _REACH * (node + 1) / 2
    density = np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi) * weight * (_REACH / 2)
    rest = np.sqrt(1 - rho**2)[:, None]
    other = ndtr((rho[:, None] * u - z) / rest) + ndtr((-z - rho[:, None] * u) / rest)
    return np.asarray(2 * (other @ density))
