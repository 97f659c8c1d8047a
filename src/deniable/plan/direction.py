"""The planner's question about directions: what a mean direction costs, and how many people it takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from deniable.core.grid import check_interval
from deniable.mechanisms.entry import DIRECTION
from deniable.mechanisms.numeric.arc import Direction
from deniable.plan.advice import least_error
from deniable.plan.answer import made
from deniable.plan.mean import OTHERS, MeanPlan, MeanPrediction, predicted, ranked
from deniable.plan.smallest import smallest_n

__all__ = ["plan_direction"]

_PREVAILS = 0.5
"""The resultant that errors are told for."""


class DirectionPlan(MeanPlan):
    """Mechanisms for mean directions, best first."""

    meanings: ClassVar[Mapping[str, str]] = {
        "error": f"standard error of the mean direction where the resultant is {_PREVAILS:g}, at most",
        "all the same": "the same where all directions are the same",
        "guess": (
            "how often the best guess from a report, of the half of the circle that a direction is in, is right "
            "(without a report 50 %)"
        ),
        "bytes": "of a report",
        "work": "operations of the server per report",
        "forged": "how far 1 % of forged reports can move the end of the resultant, whose length is 1 at most",
    }
    drawn: ClassVar[tuple[str, str, str]] = (
        "Mean directions",
        "standard error, all directions the same",
        f"standard error where the resultant is {_PREVAILS:g}",
    )

    @property
    def columns(self) -> Mapping[str, Callable[[MeanPrediction], str]]:
        return {"all the same" if name == "evenly spread" else name: cell for name, cell in super().columns.items()}

    @property
    def notes(self) -> tuple[str, ...]:
        """What a newcomer should hear: that there may be no direction."""
        told = f"Errors are for a resultant of {_PREVAILS:g}: with half of it they are twice as large"
        return () if self.best is None else (f"{told}, and where no direction prevails there is none to be found.",)


def plan_direction(
    *,
    interval: Any,
    epsilon: float,
    n: int | None = None,
    limits: Mapping[str, float],
    weight: float | None = None,
    weights: Mapping[str, float] | str | None = None,
    top: int | None = None,
    points: int | None = None,
) -> DirectionPlan:
    """Mechanisms for the mean direction of numbers around a circle, whose ends the interval has.

    Without n, `limits` must have the wanted stderr; every design then has the fewest people that reach it.
    """
    low, high = check_interval(interval)
    asked = {"question": DIRECTION, "interval": [low, high], "n": n, "epsilon": epsilon}
    aspects = (least_error("the least error"), *OTHERS[1:])
    where = {"interval": (low, high)} | ({} if points is None else {"points": points})
    return ranked(DirectionPlan, _design, asked, where, aspects, limits=limits, weight=weight, weights=weights, top=top)


def _stderr(m: Direction, n: float) -> float:
    return math.sqrt(m.variance_at(_PREVAILS) / n)


def _design(
    name: str, epsilon: float, where: Mapping[str, Any], n: int | None, limits: Mapping[str, float]
) -> MeanPrediction:
    m: Direction = made(name, epsilon=epsilon, **where)
    people = smallest_n(partial(_stderr, m), limits["stderr"]) if n is None else n
    variances = m.variance_at(1.0) / people, m.variance_at(_PREVAILS) / people
    return predicted(m, where, people, variances, m.circle.step / 2)
