"""The kernel of a channel that is written down beside what it promises: a budget for each two values.

An output may be impossible for some values, where nothing is promised against these. Every limit is checked in whole
numbers, output by output, before the first report.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product, repeat
from operator import le, mul
from typing import Any, ClassVar, NamedTuple

from deniable_client.errors import PrivacyError, require
from deniable_client.exact import EPSILON_MAX, EPSILON_MIN, WORD, WORD_BITS, exp_bounds
from deniable_client.kernels.contract import Disclosing, Work
from deniable_client.kernels.table import ENTRIES_MAX, Rows, Written, check_sizes

__all__ = ["COMPARED", "Channel"]

_SHIFT = 256
"""Bounds of e^budget are whole numbers of 2**-256: all binary digits that they have."""
COMPARED = 1 << 23
"""Comparisons of one proof, at most: values times values times outputs."""

Budgets = tuple[tuple[float, ...], ...]


class Breach(NamedTuple):
    """An output that is likelier for a value, against another one, than their budget allows."""

    output: int
    likely: int
    unlikely: int


@dataclass(frozen=True)
class Channel(Written, Disclosing):
    """Output y of value x with probability weights[x][y] / 2**64; one word decides.

    `budgets[x][z]` is promised to whoever has x: every output is at most e^budgets[x][z] times as likely for x as for
    z; infinite: there is no limit. `hidden_ratio` is the largest ratio where there is one. A value is protected if all
    its outputs are within that ratio against every other value, so if it has limits against all of them.

    >>> half = 1 << 63
    >>> kernel = Channel(((half, half, 0), (half // 2, half // 2, half)), ((0.0, 0.7), (math.inf, 0.0)))
    >>> kernel.hidden_ratio, kernel.protected, kernel.disclosed
    (Fraction(2, 1), (0, 1), Fraction(1, 2))
    """

    weights: Rows
    budgets: Budgets
    kind: ClassVar[str] = "channel"
    names_alone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name, rows in (("weights", self.weights), ("budgets", self.budgets)):
            shaped = isinstance(rows, tuple) and all(isinstance(row, tuple) for row in rows)
            require(shaped, name, rows, "a tuple of rows, one for each value")
        check_sizes(self.weights)
        _check_budgets(self.budgets, len(self.weights))
        for x, row in enumerate(self.weights):
            if set(map(type, row)) != {int} or min(row) < 0:
                require(False, f"weights[{x}]", row, "integers >= 0")
            if sum(row) != WORD:
                require(False, f"weights[{x}]", sum(row), f"integers whose sum is 2**{WORD_BITS}")

    @property
    def work(self) -> Work:
        """See `Work`: every output for each two values, about eight in a microsecond; and a bound of each budget."""
        number, bounds = self.k * self.k * self.outputs, len({b for row in self.budgets for b in row})
        return Work("comparisons of values and outputs", number, COMPARED, (number >> 3) + 50 * bounds)

    # ---- what is promised

    @property
    def limit(self) -> float:
        """The largest finite budget, which is the epsilon of a design; 0 if there is none."""
        return max(b for row in self.budgets for b in row if b < math.inf)

    @property
    def closed(self) -> list[list[float]]:
        """What follows from the budgets: those of shortest paths, sums rounded up; 0 makes two values one."""
        found = [list(row) for row in self.budgets]
        for x, z in product(range(self.k), repeat=2):
            if self.budgets[x][z] == 0:
                found[z][x] = 0.0
        for via, past in enumerate(found):
            for row in found:
                if (first := row[via]) < math.inf:
                    row[:] = [min(own, _add_up(first, more)) for own, more in zip(row, past, strict=True)]
        return found

    @property
    def limited(self) -> bool:
        """See `Disclosing.limited`: whether any two values have a limit."""
        return any(b < math.inf for x, row in enumerate(self.budgets) for z, b in enumerate(row) if z != x)

    def breaches(self) -> Iterator[Breach]:
        """Limits that are not kept, one for each two values: nothing by nothing is no breach, anything by it is one."""
        for x, budgets in enumerate(self.budgets):
            own = [weight << _SHIFT for weight in self.weights[x]]
            for z, budget in enumerate(budgets):
                if z == x or budget == math.inf:
                    continue
                most, other = _most(budget), self.weights[z]
                if not all(map(le, own, map(mul, repeat(most), other))):
                    yield Breach(next(y for y, weight in enumerate(own) if weight > most * other[y]), x, z)

    def check_promises(self, params: Mapping[str, Any]) -> None:
        """`PrivacyError` unless every output is within the budget of every two values; they are the kernel's own."""
        broken = next(self.breaches(), None)
        if broken is not None:
            y, x, z = broken
            most = exp_bounds(self.budgets[x][z])[0]
            raise PrivacyError(
                f"value number {x} is promised {self.budgets[x][z]!r} against number {z}, at most {float(most)!r} "
                f"times as likely, but output {y} has the weights {self.weights[x][y]} and {self.weights[z][y]}; no "
                "report was made.",
                "Do not take part; tell whoever runs the task.",
            )

    # ---- what is told

    @cached_property
    def hidden_ratio(self) -> Fraction:
        """See `Disclosing.hidden_ratio`: of any two values that have a limit; `PrivacyError` if it is infinite."""
        over, under = 1, 1
        for free, rows in self._alike.items():
            peaks = (max(column) for column in zip(*rows, strict=True))
            for top, bottom in zip(peaks, self._least(free, False), strict=True):
                if top * under > over * bottom:
                    over, under = top, bottom
        if not under:
            self.check_promises({})
        return Fraction(over, under)

    @cached_property
    def _told(self) -> tuple[int, ...]:
        """How often, in 2**-64, a report speaks for each value beyond that ratio, against one that has no limit."""
        top, bottom = self.hidden_ratio.as_integer_ratio()
        least = {free: self._least(free, True) for free in self._alike if any(free)}
        told = []
        for row, budgets in zip(self.weights, self.budgets, strict=True):
            rest = least.get(tuple(map(_endless, budgets)), row)
            told.append(sum(w for w, m in zip(row, rest, strict=True) if w * bottom > top * m))
        return tuple(told)

    @cached_property
    def _alike(self) -> Mapping[tuple[bool, ...], list[tuple[int, ...]]]:
        """The weights of the values that have no limit against the same other ones, by these."""
        found: dict[tuple[bool, ...], list[tuple[int, ...]]] = {}
        for row, budgets in zip(self.weights, self.budgets, strict=True):
            found.setdefault(tuple(map(_endless, budgets)), []).append(row)
        return found

    def _least(self, free: tuple[bool, ...], which: bool) -> list[int]:
        """The least weight of each output, of the values that have no limit, or of the others (the own one too)."""
        rows = [row for row, endless in zip(self.weights, free, strict=True) if endless == which]
        return [min(column) for column in zip(*rows, strict=True)]

    @property
    def protected(self) -> tuple[int, ...]:
        """See `Disclosing.protected`: those that every report speaks for within the ratio, against any other one."""
        closed = [not told for told in self._told]
        return tuple(x for x in range(self.k + 1) if (x < self.k and closed[x]) != (x > 0 and closed[x - 1]))

    @property
    def disclosed(self) -> Fraction:
        return Fraction(max(self._told), WORD)


def _endless(budget: float) -> bool:
    return budget == math.inf


def _most(budget: float) -> int:
    """A certified lower bound of e^budget in 2**-256: all of its digits, so nothing is lost."""
    low = exp_bounds(budget)[0]
    return (low.numerator << _SHIFT) // low.denominator


def _check_budgets(budgets: Sequence[Sequence[object]], k: int) -> None:
    """Refuse what is no square of budgets: 0 on the diagonal, else 0, from 1e-12 to 40, or infinite."""
    hint = "Use fewer values."
    require(k * k <= ENTRIES_MAX, "values times values", k * k, f"at most {ENTRIES_MAX} budgets", hint)
    square = len(budgets) == k and all(len(row) == k for row in budgets)
    require(square, "budgets", sorted({len(row) for row in budgets}), f"{k} rows of {k} budgets")
    told = f"0, a number from {EPSILON_MIN:g} to {EPSILON_MAX:g}, or infinite"
    for x, row in enumerate(budgets):
        for z, budget in enumerate(row):
            number = isinstance(budget, float) and (budget in (0, math.inf) or EPSILON_MIN <= budget <= EPSILON_MAX)
            if not number or (x == z and budget):
                require(False, f"budgets[{x}][{z}]", budget, "0" if x == z else told)


def _add_up(one: float, two: float) -> float:
    """The sum of two budgets, rounded up."""
    whole = one + two
    if whole == math.inf:
        return whole
    part = whole - one
    lost = (one - (whole - part)) + (two - part)
    return math.nextafter(whole, math.inf) if lost > 0 else whole
