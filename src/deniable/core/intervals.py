"""Confidence intervals for frequencies: inverted score tests, one item at a time or all at once.

Where few reports are expected, so that the normal law does not do, those of `core.exact` are joined to them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from numbers import Real
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from deniable.core.exact import exact_end
from deniable.core.same import Same
from deniable.core.support import Support, check_target
from deniable.core.types import BoolArray, FloatArray, IntArray, Target
from deniable.errors import require

__all__ = [
    "Curve",
    "Interval",
    "count_interval",
    "critical",
    "curve_interval",
    "drawn",
    "joined",
    "mixed",
    "noted",
    "score_interval",
    "spread",
    "told_interval",
    "wald_interval",
]

Curve = tuple[Any, Any, Any]
"""A variance as a polynomial of the true frequency, constant term first; one number or one per item."""

_FEW = 10.0
"""Variance of a count from which on score intervals cover well enough: 93.5 to 96.5 %."""
_RARE = "labels with few reports: "
_WHOLE = f"{_RARE}at least the level, and more where whole numbers of reports leave no choice"
_ROUGH = f"{_RARE}the normal law is rough, so coverage may be some points above or below the level"
_NAMED = 3
"""So many labels are named in a note."""
_DIVISOR = "divided by an estimate that is not far from 0: may cover more than the level"
_TWICE = 4.0
"""A denominator of up to twice what may be 0: the square of it."""
_NORMAL = "value +- standard errors by the normal law: rare labels and few reports may be covered less than the level"


@dataclass(frozen=True, slots=True, eq=False)
class Interval(Same):
    """Lower and upper ends, with what they promise."""

    low: FloatArray
    high: FloatArray
    level: float
    target: Target
    simultaneous: bool
    notes: Mapping[str, BoolArray] = field(default_factory=dict)
    """What else is known of the coverage, where it is not about the level, and of which intervals."""
    tells: ClassVar[tuple[str, ...]] = ("level", "target", "simultaneous", "low", "high", "notes")

    def __repr__(self) -> str:
        told = zip(self.low[:_NAMED].tolist(), self.high[:_NAMED].tolist(), strict=True)
        shown = ", ".join(f"{low:.4g} to {high:.4g}" for low, high in told)
        more = f", and {len(self.low) - _NAMED:,} more" if len(self.low) > _NAMED else ""
        joint = " together" if self.simultaneous else ""
        return f"<Interval, level {self.level:g}{joint}, of the {self.target}: {shown}{more}>"

    @property
    def note(self) -> str:
        """All notes."""
        return "; ".join(self.notes)

    def note_on(self, labels: Sequence[str]) -> str:
        """All notes; where there are several, each names the labels that it is about if they are few."""
        if len(self.notes) < 2:
            return self.note
        told = []
        for text, about in self.notes.items():
            names = [labels[i] for i in np.flatnonzero(about).tolist()]
            few = len(names) <= _NAMED and len(about) == len(labels) > len(names)
            told.append(f"{', '.join(names)}: {text.removeprefix(_RARE)}" if few else text)
        return "; ".join(told)

    def note_of(self, item: int) -> str:
        """The notes on one interval."""
        return "; ".join(text for text, about in self.notes.items() if about[item])

    def covers(self, truth: FloatArray) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which intervals contain the truth."""
        return np.asarray((self.low <= truth) & (truth <= self.high))


def critical(level: float, tests: int = 1) -> float:
    """Two-sided normal quantile for `level`, shared by `tests` intervals (Bonferroni)."""
    inside = isinstance(level, Real | Decimal) and 0 < level < 1
    require(inside, "level", level, "a number between 0 and 1", "95 % is level=0.95.")
    return -NormalDist().inv_cdf((1 - float(level)) / (2 * tests))


def noted(text: str, about: Any) -> dict[str, BoolArray]:
    """A note on some intervals; none where it is about none of them."""
    return {text: np.asarray(about, np.bool_)} if np.any(about) else {}


def joined(level: float, simultaneous: bool, *groups: tuple[IntArray, Interval]) -> Interval:
    """One interval from those of groups of items, each with the numbers of its items."""
    size = sum(items.size for items, _ in groups)
    low, high = np.empty(size), np.empty(size)
    notes: dict[str, BoolArray] = {}
    for items, ends in groups:
        low[items], high[items] = ends.low, ends.high
        for text, about in ends.notes.items():
            notes.setdefault(text, np.zeros(size, np.bool_))[items] = about
    return Interval(low, high, level, groups[0][1].target, simultaneous, notes)


def score_interval(
    share: FloatArray, support: Support[float], n: float, *, level: float, target: Target, simultaneous: bool = False
) -> Interval:
    """All frequencies whose score test does not reject the observed support share.

    Reporters: (share - q - f gap)^2 <= z^2 (q(1-q) + f (p(1-p) - q(1-q)))/n, a quadratic in f. Population: Wilson's
    interval [Wilson27] for the support probability q + f gap, mapped to f.
    """
    check_target(target)
    c = critical(level, share.size if simultaneous else 1) ** 2 / n
    p, q, gap = support.p, support.q, support.gap
    if target == "population":
        centre = (share + c / 2) / (1 + c)
        half = np.sqrt(c * (share * (1 - share) + c / 4)) / (1 + c)
        low, high = (centre - half - q) / gap, (centre + half - q) / gap
    else:
        bend, base, y = p * support.p_not - q * support.q_not, q * support.q_not, share - q
        root = np.sqrt(c * (4 * gap * (y * bend + gap * base) + c * bend * bend))
        low, high = ((2 * gap * y + c * bend + sign * root) / (2 * gap * gap) for sign in (-1, 1))
    return Interval(np.asarray(low), np.asarray(high), level, target, simultaneous)


def count_interval(
    share: FloatArray, support: Support[float], n: float, *, level: float, target: Target, simultaneous: bool = False
) -> Interval:
    """`score_interval` of counts of reports; joined with the exact interval where a count's variance is below _FEW.

    There the normal law does not do: score intervals alone cover as little as 87 %.
    """
    ends = score_interval(share, support, n, level=level, target=target, simultaneous=simultaneous)
    low, high = ends.low.copy(), ends.high.copy()
    counts, alpha = np.rint(share * n), (1 - level) / (share.size if simultaneous else 1)
    variance = support.plug_in(share, 1 / n, target) * support.gap**2
    few = (variance < _FEW) & (np.abs(counts - share * n) < 1e-6) & (n == round(n))
    law = (int(n), float(support.p), float(support.q), float(support.gap), alpha, target)
    for count in np.unique(counts[few]).tolist():
        same = few & (counts == count)
        first, last = float(low[same][0]), float(high[same][0])
        reach = last - first + 3 / (n * support.gap)
        low[same] = exact_end(int(count), *law, first, -reach)
        high[same] = exact_end(int(count), *law, last, reach)
    value = support.unbias(share)
    return replace(ends, low=np.minimum(low, value), high=np.maximum(high, value), notes=noted(_WHOLE, few))


def told_interval(share: FloatArray, z: float, n: float, *, level: float, target: Target) -> Interval:
    """Of items that are disclosed: from the share of reports that do so, and the chance z that a holder's does."""
    told = Support(z, 0.0, z, 1 - z, 1.0, 0.0, 0.0)
    return count_interval(share, told, n, level=level, target=target)


def curve_interval(
    value: FloatArray, curve: Curve, *, level: float, target: Target, simultaneous: bool = False, n: float = math.inf
) -> Interval:
    """All frequencies f whose score test does not reject the estimate: (value - f)^2 <= z^2 (a + b f + c f^2).

    All from 0 to 1 where far ones are no less likely than near ones, which a denominator that may be 0 can cause.
    `n`: how many reports the estimate is a mean of; notes tell for which items they are few, and a denominator small.
    """
    check_target(target)
    z2 = critical(level, value.size if simultaneous else 1) ** 2
    a, b, c = curve
    lead, half = 1 - z2 * c, value + z2 * b / 2
    safe = np.where(lead > 0, lead, 1.0)
    root = np.sqrt(np.maximum(half * half - safe * (value**2 - z2 * a), 0.0))
    low = np.minimum(np.where(lead > 0, (half - root) / safe, 0.0), value)
    high = np.maximum(np.where(lead > 0, (half + root) / safe, 1.0), value)
    notes: dict[str, BoolArray] = {}
    if not math.isinf(n):
        near = np.broadcast_to(_TWICE * z2 * np.asarray(c) >= 1, value.shape)
        notes = noted(_ROUGH, _few(value, curve, n, target)) | noted(_DIVISOR, near)
    return Interval(np.asarray(low), np.asarray(high), level, target, simultaneous, notes)


def _few(value: FloatArray, curve: Curve, n: float, target: Target) -> BoolArray:
    """Whether a count of reports that told as much would have a variance below _FEW.

    A report that counts with the chance p if the item is held and q if not has a weight of 1/(p-q) and, if n is 1, the
    variances a + b = p(1-p)/(p-q)^2 and a = q(1-q)/(p-q)^2; so 1/(p-q)^2 = (1 + b)^2 + 4 a.
    """
    (a, b, c), f = curve, np.clip(value, 0, 1)
    own = n * b - (1 if target == "population" else 0)
    return np.asarray(n * n * (a + b * f + c * f * f) < _FEW * ((1 + own) ** 2 + 4 * n * a))


def drawn(curve: Curve, n: float, target: Target) -> Curve:
    """The reporters' curve as that of the target: drawing people from a population adds f(1-f)/n."""
    a, b, c = curve
    return curve if target == "reporters" else (a, b + 1 / n, c - 1 / n)


def mixed(own: Any, mean: Any, f: FloatArray, n: float) -> Curve:
    """The variance of a mean of n unbiased weights: linear in an item's frequency, the others kept in proportion.

    `own`: of one weight, given that the item is held; `mean`: at the (plausible) frequencies f.
    """
    rest = 1 - f
    other = np.where(rest > 0, np.maximum(mean - f * own, 0.0) / np.where(rest > 0, rest, 1.0), own)
    return other / n, (own - other) / n, 0.0


def wald_interval(
    value: FloatArray, stderr: FloatArray, *, level: float, target: Target, simultaneous: bool = False
) -> Interval:
    """value +- z stderr, for estimates that are no frequencies of a support mechanism."""
    check_target(target)
    half = critical(level, value.size if simultaneous else 1) * stderr
    notes = noted(_NORMAL, np.ones(value.shape))
    return Interval(value - half, value + half, level, target, simultaneous, notes)


def spread(values: FloatArray) -> float | None:
    """Standard error of the mean over independent runs; None where there is only one."""
    return float(values.std(ddof=1)) / math.sqrt(values.size) if values.size > 1 else None
