"""What an estimate is: named parts with standard errors and intervals, and a record of what was done."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from deniable.collect.frames import Columned
from deniable.collect.reports import Design, title_of
from deniable.core.intervals import Interval, wald_interval
from deniable.core.same import Same, agree
from deniable.core.support import check_target
from deniable.core.types import BoolArray, FloatArray, Target
from deniable.errors import InWords, MergeError, ParameterError, require
from deniable.estimate.simplex import project_simplex

if TYPE_CHECKING:
    from deniable.estimate.ordered import Quantiles

__all__ = ["CUMULATIVE", "Comparison", "Estimate", "NormalPart", "Part", "Shares", "holm"]

CUMULATIVE = "cumulative"
"""The part of an estimate that has cumulative shares."""


class Part(Protocol):
    """One estimated quantity for each label, e.g. `frequency`."""

    @property
    def value(self) -> FloatArray:
        """The point estimates."""

    def variance(self, target: Target) -> FloatArray:
        """Their variances."""

    def covariance(self, target: Target) -> FloatArray:
        """Their covariance matrix."""

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        """Confidence intervals."""

    def prefix_variance(self, target: Target) -> FloatArray:
        """The variances of the sums of the first 1, 2, .. and of all values."""

    def sum_variance(self, start: int, stop: int, target: Target) -> float:
        """The variance of the sum of the values from `start` on, `stop` not included."""

    @property
    def several(self) -> bool:
        """Whether people may have several of the labels, so that shares need not sum to 1."""

    @property
    def range(self) -> tuple[float, float] | None:
        """The ends of the interval that means are from; None of shares."""

    def too_rare(self, level: float = 0.95) -> BoolArray | None:
        """Of which labels nothing can be said, because too few people have them; None where that does not happen."""


class Shares:
    """What most parts are: shares that sum to 1, each of which can be told."""

    __slots__ = ()

    def prefix_variance(self: Part, target: Target) -> FloatArray:
        """See `Part.prefix_variance`: from the covariance matrix."""
        return np.asarray(np.diagonal(self.covariance(target).cumsum(axis=0).cumsum(axis=1)))

    def sum_variance(self: Part, start: int, stop: int, target: Target) -> float:
        """See `Part.sum_variance`: from the covariance matrix."""
        return float(self.covariance(target)[start:stop, start:stop].sum())

    @property
    def several(self) -> bool:
        """See `Part.several`: everybody has one label."""
        return False

    @property
    def range(self) -> tuple[float, float] | None:
        """See `Part.range`: no means."""
        return None

    def too_rare(self, level: float = 0.95) -> BoolArray | None:
        """See `Part.too_rare`: it does not happen."""
        return None


class NormalPart(Shares):
    """A part whose intervals follow from the normal law: value +- z stderr."""

    __slots__ = ()

    def interval(self: Part, level: float, target: Target, simultaneous: bool) -> Interval:
        """The normal interval around the value."""
        spread = np.sqrt(self.variance(target))
        return wald_interval(self.value, spread, level=level, target=target, simultaneous=simultaneous)


@dataclass(frozen=True, slots=True, eq=False)
class _Projected(Shares):
    """A part after projection onto the simplex: biased; intervals stay those of the unbiased estimate."""

    raw: Part
    value: FloatArray

    def variance(self, target: Target) -> FloatArray:
        return self.raw.variance(target)

    def covariance(self, target: Target) -> FloatArray:
        return self.raw.covariance(target)

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        """The unbiased estimate's interval cut to [0, 1] and widened to hold the projected value: covers no less."""
        ends = self.raw.interval(level, target, simultaneous)
        low = np.minimum(np.clip(ends.low, 0, 1), self.value)
        high = np.maximum(np.clip(ends.high, 0, 1), self.value)
        return replace(ends, low=low, high=high)


@dataclass(frozen=True, slots=True, eq=False)
class Estimate(Columned):
    """Estimates for every label, with error bars and their history.

    `value`, `stderr` and `interval` speak of the first part (`frequency` where there is one); `estimate["mean"]` is the
    same estimate seen from another part. `steps` says what was done, in order; `bias` names the steps that
    gave up unbiasedness.
    """

    labels: tuple[str, ...]
    parts: Mapping[str, Part]
    n: int
    design: Design
    simulated: bool
    steps: tuple[str, ...]
    bias: tuple[str, ...] = ()
    """What made it biased, in order: `fitted`, `smoothed`, `projected`, `shrunk`, ...; nothing if it is not."""

    @property
    def biased(self) -> bool:
        """Whether a step gave up unbiasedness."""
        return bool(self.bias)

    @property
    def _part(self) -> Part:
        return next(iter(self.parts.values()))

    def __getitem__(self, name: str) -> Estimate:
        if name not in self.parts:
            hint = "The estimates of answers stand in `value`, in the order of `labels`; to_pandas() has both."
            raise ParameterError(f"part must be one of {', '.join(self.parts)}, got {name!r}.", hint)
        return replace(self, parts={name: self.parts[name], **self.parts})

    __iter__ = None  # parts are asked for by name; without this, Python would ask for number 0

    @property
    def value(self) -> FloatArray:
        """The point estimates."""
        return self._part.value

    @property
    def stderr(self) -> FloatArray:
        """Standard errors for the reporters' own frequencies (after projection: those before it)."""
        return np.sqrt(self._part.variance("reporters"))

    def variance(self, target: Target = "reporters") -> FloatArray:
        """Variances, for the reporters or the population behind them."""
        check_target(target)
        return self._part.variance(target)

    def covariance(self, target: Target = "reporters") -> FloatArray:
        """The covariance matrix of the estimates."""
        check_target(target)
        return self._part.covariance(target)

    def interval(self, level: float = 0.95, target: Target = "reporters", *, simultaneous: bool = False) -> Interval:
        """Confidence intervals: one by one, or (simultaneous) all at once with the given level."""
        check_target(target)
        return self._part.interval(level, target, simultaneous)

    def project(self) -> Estimate:
        """The nearest frequencies that are non-negative and sum to 1. A biased estimate: it is labelled so."""
        name, part = next(iter(self.parts.items()))
        require(name == "frequency", "part", name, "'frequency'", "Only frequencies sum to 1.")
        hint = "People have several of the answers, so their shares need not sum to 1."
        require(not part.several, "part", InWords("shares of several pairs per person"), "single", hint)
        if isinstance(part, _Projected):
            return self
        projected = _Projected(part, project_simplex(part.value))
        steps = (*self.steps, "projected onto the simplex (biased; intervals from before, within [0, 1])")
        return replace(self, parts={**self.parts, name: projected}, steps=steps, bias=(*self.bias, "projected"))

    def binned(self, bins: int | None = None) -> Estimate:
        """The distribution of numbers in equal bins: so many, or as many as the reports can tell apart."""
        from deniable.estimate.bins import binned

        return binned(self, bins)

    def ranges(self, *ranges: object) -> Estimate:
        """The shares of ranges of answers in their order, each given as (first, last), both included.

        For example estimate.ranges(("18", "24"), ("25", "64")).
        """
        from deniable.estimate.ordered import range_shares

        return range_shares(self, ranges)

    def cumulative(self) -> Estimate:
        """The share of people at or below each answer, in their order; `simultaneous` intervals are a band."""
        from deniable.estimate.ordered import cumulative

        return cumulative(self)

    def quantiles(self, *shares: float, level: float = 0.95, target: Target = "reporters") -> Quantiles:
        """Quantiles of answers in an order, with confidence sets: the median unless `shares` are given."""
        from deniable.estimate.ordered import quantiles

        return quantiles(self, shares or (0.5,), level, target)

    def compare(self, other: Estimate, *, target: Target = "population") -> Comparison:
        """Label by label, this estimate minus another one of the same labels from other people."""
        check_target(target)
        require(isinstance(other, Estimate), "other", other, "an estimate", "For example a.compare(b).")
        if self.labels != other.labels:
            raise MergeError("only estimates of the same labels, in the same order, can be compared.")
        if self.biased or other.biased:
            raise ParameterError("compare takes unbiased estimates.", "Compare first, project afterwards.")
        spread = np.sqrt(self.variance(target) + other.variance(target))
        simulated = self.simulated or other.simulated
        return Comparison(self.labels, self.value - other.value, spread, target, (self.n, other.n), simulated)

    def to_columns(self, level: float = 0.95, target: Target = "reporters") -> dict[str, list[Any]]:
        """Label, value, standard error, interval ends and the mark of simulated data as plain lists."""
        ends = self.interval(level, target)
        return {
            "label": list(self.labels),
            "value": self.value.tolist(),
            "stderr": np.sqrt(self.variance(target)).tolist(),
            "low": ends.low.tolist(),
            "high": ends.high.tolist(),
            "simulated": [self.simulated] * len(self.labels),
        }

    def chart(
        self,
        level: float = 0.95,
        target: Target = "reporters",
        *,
        title: str | None = None,
        truth: Any = None,
        top: int | None = None,
        order: str | None = None,
    ) -> Any:
        """An Altair chart of the estimates (shares, or a mean) on their intervals, with the truth where it is known.

        Answers with names stand with the largest estimate first, numbers in their order; `order="given"` or
        `order="value"` says otherwise. The distribution of numbers is drawn in bins: see `binned`.
        `deniable.present.charts.save(chart, "shares.html")` writes it. The extra `charts` brings what is needed.
        """
        from deniable.estimate.bins import edges_of, is_fine
        from deniable.present.charts import caption, estimate_chart
        from deniable.present.cumulative import cumulative_chart

        if truth is None and top is None and is_fine(self):
            return self.binned().chart(level, target, title=title, order=order)
        added_up = CUMULATIVE in self.parts
        ends, known = self.interval(level, target, simultaneous=added_up), self.design
        source = caption(known["mechanism"], epsilon=known["epsilon"], n=self.n, simulated=self.simulated)
        told = f"{source} · biased" if self.biased else source
        usual = "Estimated shares" if self.range is None else f"Estimated mean{'s' * (len(self.labels) > 1)}"
        shown: dict[str, Any] = {"title": title or usual, "subtitle": told, "truth": truth, "level": level, "top": top}
        if added_up:
            return cumulative_chart(self.labels, self.value, ends.low, ends.high, **_curve(shown, title))
        shown |= {"ends": self.range, "edges": edges_of(self), "order": order}
        return estimate_chart(self.labels, self.value, ends.low, ends.high, **shown)

    @property
    def range(self) -> tuple[float, float] | None:
        """The ends of the interval that a mean, or the mean of a key's values, is from; None of shares."""
        return self._part.range

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Estimate):
            return NotImplemented
        kept = ("labels", "n", "design", "simulated", "steps", "bias")
        same = all(getattr(self, name) == getattr(other, name) for name in kept)
        same = same and list(self.parts) == list(other.parts)
        return same and all(
            agree(part.value, other.parts[name].value) and agree(_variance(part), _variance(other.parts[name]))
            for name, part in self.parts.items()
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        from deniable.estimate.bins import edges_of

        if self._fine:
            return repr(self.binned())
        bins = "" if edges_of(self) is None else f", in {len(self.labels)} bins"
        mark = f"{bins}{', SIMULATED' * self.simulated}"
        first, *rest = self.parts
        numbers = [self._told(first, _FEW)]
        numbers += [[f"{name} {number}" for number in self._told(name, _FEW)] for name in rest]
        each = [
            f"{label}{':' * bool(bins)} {', '.join(row)}"
            for label, row in zip(self.labels, zip(*numbers, strict=True), strict=False)
        ]
        apart = "; " if rest else ", "
        more = f"{apart}and {len(self.labels) - _FEW:,} more" if len(self.labels) > _FEW else ""
        known = f"{self.design.get('mechanism')}, epsilon = {self.design.get('epsilon', 0.0):g}"
        return f"<Estimate from {self.n:,} report{'s' * (self.n != 1)} of {known}{mark}: {apart.join(each)}{more}>"

    def _repr_html_(self) -> str:
        """A small table with bars for notebooks."""
        from deniable.present.html import bars_html, scaled

        if self._fine:
            return self.binned()._repr_html_()
        (name, *rest), most = self.parts, 12
        shown = [*rest, name]  # beside its bars
        rows = list(zip(self.labels[:most], *(self._told(part, most) for part in shown), strict=True))
        rows += [("",) * (1 + len(self.parts))] * (len(self.labels) - len(rows))
        bars = None
        if name == "frequency" and _variance(self._part) is not None:
            ends = self.interval()
            bars = scaled(self.value, ends.low, ends.high)[:most]
        title = f"{title_of(self.design)}: {self.n:,} reports"
        return bars_html(title, ("", *shown), rows, bars, simulated=self.simulated, notes=self.steps)

    @property
    def _fine(self) -> bool:
        """Whether these are shares of so many numbers that only bins tell anything, and errors to choose them by."""
        from deniable.estimate.bins import is_fine

        return is_fine(self) and _variance(self._part) is not None

    def _told(self, name: str, most: int) -> list[str]:
        """The first numbers of a part with their standard errors, shares in per cent."""
        part, (unit, sign) = self.parts[name], (100, " %") if name in ("frequency", CUMULATIVE) else (1, "")
        value, squares = (unit * part.value[:most]).tolist(), _variance(part)
        if squares is None:
            return [f"{x:.3g}{sign}" for x in value]
        spread = (unit * np.sqrt(squares[:most])).tolist()
        digits = [max(0, 1 - math.floor(math.log10(s))) if 0 < s < math.inf else 2 for s in spread]
        told = [f"{x:.{d}f}{sign} ± {s:.{d}f}" for x, s, d in zip(value, spread, digits, strict=True)]
        rare = part.too_rare()
        return told if rare is None else ["too rare to say" if no else x for x, no in zip(told, rare, strict=False)]


def _curve(shown: Mapping[str, Any], title: str | None) -> dict[str, Any]:
    """What the chart of cumulative shares is told: all but which answers, since it needs all of them."""
    require(shown["top"] is None, "top", shown["top"], "left out for cumulative shares")
    kept = {name: what for name, what in shown.items() if name != "top"}
    return kept | {"title": title or "Estimated cumulative shares"}


_FEW = 4
"""Estimates that `repr` shows."""


def _variance(part: Part) -> FloatArray | None:
    """Variances of a part, or None where it was made without them."""
    try:
        return part.variance("reporters")
    except ParameterError:
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(Same, Columned):
    """Differences of two independent estimates, with standard errors and tests."""

    labels: tuple[str, ...]
    value: FloatArray
    stderr: FloatArray
    target: Target
    n: tuple[int, int]
    simulated: bool
    """Whether one of the two is."""
    tells: ClassVar[tuple[str, ...]] = ("labels", "target", "n", "simulated", "value", "stderr")

    def __repr__(self) -> str:
        told = zip(self.labels[:_FEW], self.value.tolist(), self.stderr.tolist(), strict=False)
        shown = ", ".join(f"{label} {value:+.3g} ± {stderr:.2g}" for label, value, stderr in told)
        more = f", and {len(self.labels) - _FEW:,} more" if len(self.labels) > _FEW else ""
        return f"<Comparison of {self._people}{', SIMULATED' * self.simulated}: {shown}{more}>"

    @property
    def _people(self) -> str:
        return f"{self.n[0]:,} and {self.n[1]:,} reports"

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        from deniable.present.html import bars_html

        found = zip(self.labels, self.value, self.stderr, self.pvalue_adjusted, strict=True)
        rows = [(label, f"{value:+.3g} ± {stderr:.2g}", f"{p:.2g}") for label, value, stderr, p in found]
        head = ("", "difference", "p-value, corrected")
        return bars_html(f"Comparison of {self._people}", head, rows, simulated=self.simulated)

    def to_columns(self, level: float = 0.95) -> dict[str, list[Any]]:
        """Label, difference, standard error, interval ends, p-values and the mark of simulated data as plain lists."""
        ends = self.interval(level)
        numbers = {"value": self.value, "stderr": self.stderr, "low": ends.low, "high": ends.high}
        numbers |= {"pvalue": self.pvalue, "pvalue_adjusted": self.pvalue_adjusted}
        told = {name: column.tolist() for name, column in numbers.items()}
        return {"label": list(self.labels), **told, "simulated": [self.simulated] * len(self.labels)}

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> Interval:
        """Normal confidence intervals of the differences."""
        return wald_interval(self.value, self.stderr, level=level, target=self.target, simultaneous=simultaneous)

    @property
    def pvalue(self) -> FloatArray:
        """Two-sided p-value of each difference (normal approximation)."""
        return np.array([math.erfc(abs(d) / s / math.sqrt(2)) for d, s in zip(self.value, self.stderr, strict=True)])

    @property
    def pvalue_adjusted(self) -> FloatArray:
        """p-values corrected for looking at all labels (Holm); yes and no that mirror each other are one test."""
        return self.pvalue if self.mirrored else holm(self.pvalue)

    @property
    def mirrored(self) -> bool:
        """Whether there are two answers and the difference of one is minus that of the other: then they are one."""
        one = len(self.labels) == 2 and np.allclose(self.value[0], -self.value[1], rtol=1e-9, atol=1e-12)
        return bool(one and np.allclose(self.stderr[0], self.stderr[1], rtol=1e-9))


def holm(pvalues: FloatArray) -> FloatArray:
    """p-values corrected for looking at all of them [Holm79]; they need not be independent.

    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(pvalues)
    steps = pvalues[order] * np.arange(order.size, 0, -1)
    out = np.empty(order.size)
    out[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return out
