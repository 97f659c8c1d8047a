"""Answers in an order: windows that slide over them, and trees of them as they are usual."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.channel import Proof, Witness
from deniable.core.codes import Span, on_grid
from deniable.core.domain import Domain
from deniable.core.guess import Guess, check_prior, first_of_subset, prior_success, ranked
from deniable.core.laws import epsilon_to, subset
from deniable.core.ranges import PREFIXES, RANGES, WORKLOADS, least_variance
from deniable.core.support import check_n
from deniable.core.types import FloatArray
from deniable.errors import ParameterError, is_whole, require
from deniable.estimate.linear import check_reports
from deniable.estimate.result import Part
from deniable.mechanisms.base import Mechanism, report_size
from deniable.mechanisms.ordinal.bulk import WindowsBulk
from deniable.mechanisms.ordinal.estimate import CellsPart
from deniable.mechanisms.ordinal.laws import Law, ideal_law
from deniable.mechanisms.ordinal.options import LEVELS
from deniable.mechanisms.ordinal.rules import (
    circle_of,
    sizes_of,
    tree_shares,
    whole_shares,
    widths_of,
    windows_shares,
)
from deniable_client.exact import check_epsilon
from deniable_client.kernels import Windows as Kernel
from deniable_client.kernels.windows import WIDTHS_MAX

__all__ = ["Ordered", "Tree", "Windows"]

POINTS_MOST = 1 << 14
"""Most answers in an order."""
DENSE_MOST = 1 << 11
"""Most of them where not all points of the circle are answers: estimates then take the inverse of a matrix."""
POINTS = 256
"""Points of an interval unless told otherwise."""
_SHARES_MOST = 1 << 32
"""What shares may sum to: bulk samplers draw words of 32 bits."""


@dataclass(frozen=True, kw_only=True)
class Ordered(Mechanism):
    """Subset selection among the cells of a public grid: of which width is drawn by `shares`.

    Estimates are of all answers and of any sums of them at once; `estimate(tally).ranges`, `.cumulative` and
    `.quantiles` read them (docs/howto/ranges.md).
    """

    circle: int
    widths: tuple[int, ...]
    shares: tuple[int, ...]
    sizes: tuple[int, ...]
    vetted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("widths", "shares", "sizes"):
            object.__setattr__(self, name, wholes(name, getattr(self, name)))
        room = POINTS_MOST if self.circle == self.k else DENSE_MOST
        hint = "Take as many points as there are on the circle, or a number of points with more divisors."
        require(is_whole(self.circle, self.k), "circle", self.circle, f"a whole number of at least {self.k}")
        require(self.k <= room, "points", self.k, f"at most {room:,} on a circle of {self.circle}", hint)
        check_widths(self.widths, self.circle, self.k)
        counts = {len(self.widths), len(self.shares), len(self.sizes)}
        require(len(counts) == 1, "shares", self.shares, f"{len(self.widths)} whole numbers, one for each width")
        most = _SHARES_MOST
        ok = all(share >= 1 for share in self.shares) and sum(self.shares) <= most
        require(ok, "shares", self.shares, f"whole numbers >= 1 with a sum of at most {most:,}")
        cells = [self.circle // width for width in self.widths]
        ok = all(1 <= size < own for size, own in zip(self.sizes, cells, strict=True))
        require(ok, "sizes", self.sizes, f"whole numbers from 1 to one less than the cells, {cells}")

    @property
    @abstractmethod
    def shifts(self) -> tuple[int, ...]:
        """How many shifts the grid of each width has."""

    @cached_property
    def bulk(self) -> WindowsBulk:
        grid = (self.k, self.circle, self.widths, self.shifts, self.shares, self.sizes)
        return WindowsBulk(Kernel.calibrate(self.epsilon, *grid))

    @property
    def params(self) -> dict[str, Any]:
        return {name: list(value) if isinstance(value, tuple) else value for name, value in super().params.items()}

    @cached_property
    def law(self) -> Law:
        """The law of a report with ideal parameters."""
        grid = (self.k, self.circle, self.widths, self.shifts, self.shares, self.sizes)
        return ideal_law(self.epsilon, *grid)

    @cached_property
    def proof(self) -> Proof:
        text = (
            "width and shift are drawn without looking at the value and stand in the report, so their probabilities "
            "cancel; given both, the report is subset selection on the cells, a set having one probability given any "
            "value in its cells and another given any other; the width of the largest ratio counts"
        )
        parts = self.bulk.kernel.parts
        i = max(range(len(parts)), key=lambda i: parts[i].ratio)
        output = f"width {self.widths[i]} shift 0, any set with the first cell and without the last"
        witness = Witness(output, 0, self.k - 1)
        return Proof(parts[i].ratio, "conditioning on the public width and shift", text, witness)

    # ---- estimator

    def parts(self, tally: Tally) -> dict[str, Part]:
        """See `Mechanism.parts`: unbiased shares of all answers, by the law of what is sampled."""
        check_reports(tally)
        law = self.bulk.law
        support = [row.astype(np.float64) for row in tally.cells["support"]]
        return {"frequency": CellsPart(law.shares(support, tally.cells["n"].tolist()), law, tally.n)}

    def range_variance(self, start: int, stop: int, n: float = 1, frequencies: object = None) -> float:
        """The variance of the share of the answers from number `start` on, `stop` not included, from n reports.

        For the population that the reporters are drawn from, all answers being equally likely unless their
        `frequencies` are given.

        >>> import deniable as dn
        >>> m = dn.mechanism("windows", epsilon=1.0, points=64)
        >>> round(m.range_variance(3, 32, n=1000), 6)
        0.016332
        """
        inside = is_whole(start, 0, self.k - 1) and is_whole(stop, int(start) + 1, self.k)
        need = f"whole numbers with 0 <= start < stop <= {self.k}; stop is not included"
        require(inside, "start and stop", (start, stop), need)
        f = np.full(self.k, 1 / self.k) if frequencies is None else check_prior(frequencies, self.k)
        query = np.zeros((self.k, 1))
        query[start:stop] = 1
        whole = stop - start == self.k
        return 0.0 if whole else float(self.law.variance(query, f, "population")[0]) / check_n(n)

    # ---- closed forms

    def guess(self, prior: object = None) -> Guess:
        """See `Mechanism.guess`: of the likeliest answer in the likeliest cell, for all widths and shifts."""
        pi = np.full(self.k, 1 / self.k) if prior is None else check_prior(prior, self.k)
        return Guess(self._success(pi, [epsilon_to(self.epsilon)] * len(self.widths)), float(pi.max()))

    def _success(self, pi: FloatArray, odds: Sequence[tuple[float, float]]) -> float:
        held = np.concatenate([pi, np.zeros(self.circle - self.k)])
        found = []
        for i, (w, v) in enumerate(odds):
            cells = self.circle // self.widths[i]
            likely = [ranked(np.roll(held, shift).reshape(cells, -1).max(axis=1)) for shift in range(self.shifts[i])]
            chances = subset(w, v, cells, self.sizes[i])
            first = first_of_subset(cells, self.sizes[i])
            mean = math.fsum(float(prior_success(chances, w, each, first)) for each in likely) / self.shifts[i]
            found.append(self.shares[i] / sum(self.shares) * mean)
        return math.fsum(found)

    def properties(self, n: float = 1) -> dict[str, Any]:
        """See `Mechanism.properties`: errors of single answers, of ranges and of cumulative shares.

        At the uniform population; `mse` of the reporters as for all mechanisms, the others, and the `bound` and `gap`
        of ranges, of the population that they are drawn from.
        """
        told = self._numbers(self.law, n) | {"asr": self.guess().success} | report_size(self)
        bound = least_variance(self.k, self.epsilon)
        if bound is not None:
            told |= {"bound": bound / n, "gap": told["variance_range"] * n / bound - 1}
        return told

    def effective(self, n: float = 1) -> dict[str, Any]:
        odds = [(float(1 / part.ratio), float(1 - 1 / part.ratio)) for part in self.bulk.kernel.parts]
        asr = self._success(np.full(self.k, 1 / self.k), odds)
        return {"epsilon": self.epsilon_exact} | self._numbers(self.bulk.law, n) | {"asr": asr}

    def _numbers(self, law: Law, n: float) -> dict[str, float]:
        n, even = check_n(n), np.full(self.k, 1 / self.k)
        mse = float(law.each_point(even, "reporters").mean()) / n
        told = {"mse": mse, "mse_sum": self.k * mse, "variance_range": law.mean_variance(RANGES) / n}
        return told | {"variance_prefix": law.mean_variance(PREFIXES) / n}


def wholes(name: str, given: object) -> tuple[int, ...]:
    """Whole numbers from a list, or from a text with commas."""
    each = given.split(",") if isinstance(given, str) else given
    hint = f"For example {name}=(1, 2, 4)."
    if not isinstance(each, Sequence | np.ndarray) or len(each) == 0:
        raise ParameterError(f"{name} must be whole numbers, got {given!r}.", hint)
    found = []
    for one in each:
        text = one.strip() if isinstance(one, str) else ""
        number = int(text) if text.isdecimal() and len(text) < 20 else one
        require(is_whole(number, 1), name, given, "whole numbers >= 1", hint)
        found.append(int(number))
    return tuple(found)


def check_widths(widths: tuple[int, ...], circle: int, points: int) -> None:
    """Refuse widths that do not cut the circle, or do not tell neighbours apart."""
    require(points <= POINTS_MOST, "points", points, f"at most {POINTS_MOST:,}", "Put neighbours together.")
    require(len(widths) <= WIDTHS_MAX, "widths", widths, f"at most {WIDTHS_MAX} numbers")
    hint = "Without it neighbours cannot be told apart."
    require(widths[0] == 1, "widths", widths, "numbers that begin with 1", hint)
    rising = all(a < b for a, b in pairwise(widths)) and widths[-1] < points
    fits = rising and all(circle % width == 0 for width in widths)
    require(fits, "widths", widths, f"divisors of the circle's {circle} points that rise, below the {points} answers")


@dataclass(frozen=True, kw_only=True)
class Windows(Ordered):
    """Cells of several widths in any shift, so that no answer is at an edge more often than another one."""

    family: ClassVar[str] = "windows"

    @property
    def shifts(self) -> tuple[int, ...]:
        return self.widths

    @classmethod
    def optimal(
        cls,
        *,
        epsilon: float,
        domain: Domain | Span,
        queries: str = RANGES,
        circle: int | None = None,
        widths: object = None,
        shares: object = None,
        sizes: object = None,
    ) -> Self:
        """Circle, widths and shares by the rules for the `queries` that are wanted, as far as they are not given."""
        epsilon, where = check_epsilon(epsilon), on_grid(domain, POINTS)
        require(queries in WORKLOADS, "queries", queries, f"one of {', '.join(WORKLOADS)}")
        round_ = circle_of(where.k, queries) if circle is None else circle
        require(is_whole(round_, where.k), "circle", circle, f"a whole number of at least {where.k}, the points")
        own = _below(widths_of(round_, queries), where.k) if widths is None else wholes("widths", widths)
        check_widths(own, round_, where.k)
        if shares is None:
            own, found = _used(own, windows_shares(epsilon, where.k, round_, own, queries))
        else:
            found = wholes("shares", shares)
        size = sizes_of(epsilon, round_, own) if sizes is None else wholes("sizes", sizes)
        return cls(epsilon=epsilon, domain=where, circle=round_, widths=own, shares=found, sizes=size)


def _below(widths: tuple[int, ...], points: int) -> tuple[int, ...]:
    return tuple(width for width in widths if width < points)


def _used(widths: tuple[int, ...], shares: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Those that are used at all."""
    kept = [(width, share) for width, share in zip(widths, shares, strict=True) if share]
    return tuple(width for width, _ in kept), tuple(share for _, share in kept)


@dataclass(frozen=True, kw_only=True)
class Tree(Ordered):
    """The nodes of one level of a tree that stands still (hierarchical histograms), read by least squares."""

    family: ClassVar[str] = "tree"

    @property
    def shifts(self) -> tuple[int, ...]:
        return (1,) * len(self.widths)

    @classmethod
    def optimal(
        cls,
        *,
        epsilon: float,
        domain: Domain | Span,
        fanout: int = 2,
        levels: str = LEVELS[0],
        shares: object = None,
    ) -> Self:
        """A tree whose last level has the answers; levels in the shares of least mean variance of ranges, or alike."""
        epsilon, where = check_epsilon(epsilon), on_grid(domain, POINTS)
        require(is_whole(fanout, 2, 1 << 10), "fanout", fanout, "a whole number from 2 to 1,024")
        require(levels in LEVELS, "levels", levels, f"one of {', '.join(LEVELS)}")
        depth = next(depth for depth in range(1, 64) if fanout**depth >= where.k)
        widths = tuple(fanout**i for i in range(depth))
        if shares is not None:
            require(levels == LEVELS[0], "levels", levels, "left out where shares are given")
            found = wholes("shares", shares)
        else:
            best = whole_shares(tree_shares(epsilon, fanout, depth)) if levels == LEVELS[0] else (1,) * depth
            widths, found = _used(widths, best)
        size = sizes_of(epsilon, fanout**depth, widths)
        return cls(epsilon=epsilon, domain=where, circle=fanout**depth, widths=widths, shares=found, sizes=size)
