"""What was spent on whom: budgets as exact fractions, and the sum that must not exceed the promise."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from deniable.errors import PrivacyError, require
from deniable_client.exact import check_epsilon

__all__ = ["Ledger", "float_below", "shares_of"]


@dataclass(frozen=True, slots=True)
class Line:
    """One expense. Steps add up; parts of one step concern different people, so that only the largest part counts."""

    what: str
    epsilon: Fraction
    step: int = 0
    part: int = 0


@dataclass
class Ledger:
    """The expenses of one fit. `epsilon` is the promise, `total` what was spent on the person who gave most.

    >>> book = Ledger(1.0)
    >>> book.add("first question", Fraction(1, 4))
    >>> book.add("second question, first half of the people", Fraction(3, 4), step=1, part=0)
    >>> book.add("second question, the other half", Fraction(3, 4), step=1, part=1)
    >>> book.total
    Fraction(1, 1)
    """

    epsilon: float
    lines: list[Line] = field(default_factory=list, init=False)
    total: Fraction = field(default=Fraction(0), init=False)
    """The sum over steps of the largest part, exactly."""
    _parts: dict[tuple[int, int], Fraction] = field(default_factory=dict, init=False, repr=False)
    _steps: dict[int, Fraction] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)

    def add(self, what: str, epsilon: Fraction, step: int = 0, part: int = 0) -> None:
        """Write an expense down; `PrivacyError` if the promise would be broken: then nothing may be released."""
        require(epsilon >= 0, "epsilon", epsilon, "at least 0")
        own = self._parts.get((step, part), Fraction(0)) + epsilon
        most = self._steps.get(step, Fraction(0))
        total = self.total + max(own - most, Fraction(0))
        if total > Fraction(self.epsilon):
            raise PrivacyError(
                f"{what}: {float(epsilon)!r} would go beyond the budget of {self.epsilon!r}; nothing was released."
            )
        self.lines.append(Line(what, epsilon, step, part))
        self._parts[step, part], self._steps[step], self.total = own, max(own, most), total

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    def __str__(self) -> str:
        rows = [f"step {line.step}, part {line.part}: {float(line.epsilon):.6g} for {line.what}" for line in self.lines]
        return "\n".join([*rows, f"total {float(self.total):.6g} of {self.epsilon:g}"])


def shares_of(epsilon: float, weights: list[Fraction]) -> list[Fraction]:
    """The budget divided in proportion to the weights: fractions whose sum is exactly epsilon."""
    total = sum(weights, Fraction(0))
    ok = bool(weights) and min(weights) >= 0 and total > 0
    require(ok, "weights", [float(w) for w in weights], "numbers >= 0, not all of them 0")
    return [Fraction(epsilon) * w / total for w in weights]


def float_below(budget: Fraction) -> float:
    """The largest float that is at most the budget: what a mechanism is made for, so that it spends no more.

    >>> float_below(Fraction(1, 3)) <= Fraction(1, 3) < float_below(Fraction(1, 3)) + 2**-53
    True
    """
    near = float(budget)
    return near if Fraction(near) <= budget else math.nextafter(near, 0.0)
