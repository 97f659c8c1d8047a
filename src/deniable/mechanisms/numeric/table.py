"""The registry's rows of mechanisms for means and distributions of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from deniable.core.codes import Span
from deniable.errors import require
from deniable.mechanisms.entry import DIRECTION, MEAN, Entry, Traits
from deniable.mechanisms.numeric.arc import Direction
from deniable.mechanisms.numeric.base import Duchi, Hybrid, Numeric, Piecewise, SquareWave
from deniable.mechanisms.numeric.lattice import LogUniform, OptimalMean
from deniable.mechanisms.spaces import INTERVAL, space_of

__all__ = ["ROWS"]


def _cases(*more: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Two grids at three budgets, and the given further cases."""
    ends = {"interval": "-1,1", "points": 5, "layout": "endpoints"}
    grids = ({"interval": "0,10", "points": 4}, ends)
    return (*({"epsilon": e, **own} for e in (0.1, 1.0, 4.0) for own in grids), *more)


def _work(m: Numeric, n: float) -> float:
    """One counter per report, and one product for each possible report per release."""
    return 1 + m.readings.size / n


def _pull(m: Numeric, r: int) -> float:
    """The largest reading, if everybody has the lowest value; downwards it is the same."""
    return float(m.readings.max() - m.grid.at(0))


def _span(options: dict[str, Any]) -> Span | None:
    """The interval that options describe; `points` are the mechanism's own."""
    given = {name: options.pop(name) for name in ("interval", "clip") if name in options}
    if "interval" not in given:
        require(not given, "clip", given.get("clip"), "left out without an interval")
        return None
    return Span.of(given.pop("interval"), **given)


def _rows(*cases: tuple[float, Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """Small grids at several budgets."""
    return tuple({"interval": "-1,1", "epsilon": e, **own} for e, own in cases)


_row = partial(Entry, question=MEAN, space=space_of, traits=Traits(_work, _pull))
_on_span = partial(_row, space=_span)

ROWS: Mapping[str, Entry] = {
    "sw": _row(
        SquareWave,
        SquareWave.optimal,
        "an answer near the number, with room beyond both ends (square wave)",
        "Li20",
        "the distribution of numbers, by EM with smoothing; their mean comes with it, unbiased",
        INTERVAL,
        inner=("m",),
        small=_cases({"interval": "0,1", "points": 9, "epsilon": 1.0, "m": 4}),
    ),
    "pm": _row(
        Piecewise,
        Piecewise.optimal,
        "an answer near the number, in a wider window than sw (piecewise mechanism)",
        "Wang19, docs/maths/numeric.md",
        "the mean of numbers, for epsilon above about 1.2; a rough distribution comes with it",
        ("window", *INTERVAL),
        inner=("m",),
        small=_cases({"interval": "0,1", "points": 9, "epsilon": 2.0, "window": "paper"}),
    ),
    "duchi": _row(
        Duchi,
        Duchi.over,
        "one bit that leans with the number",
        "Duchi18",
        "the mean of numbers in a report of one bit, for epsilon below about 1.2",
        INTERVAL,
        small=_cases(),
    ),
    "hm": _row(
        Hybrid,
        Hybrid.optimal,
        "for each report a random choice of pm or duchi (hybrid mechanism)",
        "Wang19, docs/maths/numeric.md",
        "the mean of numbers, where epsilon is beyond 8 or a distribution is not wanted: better than pm and duchi",
        INTERVAL,
        small=_cases({"interval": "0,1", "points": 9, "epsilon": 2.0}),
    ),
    "om": _on_span(
        OptimalMean,
        OptimalMean.optimal,
        "one of some numbers with exactly the right mean, by a table of the least largest variance",
        "docs/maths/mean-optimum.md",
        "the mean of numbers: next to the least error that is possible at all, with a proof of how near",
        ("points", "outputs", "objective", "prior", "interval", "clip"),
        inner=("fine", "progress"),
        small=_rows(
            (0.1, {"points": 3, "fine": 1}),
            (1.0, {"points": 5, "fine": 2}),
            (1.0, {"points": 5, "fine": 1, "objective": "even"}),
            (1.0, {"points": 5, "fine": 1, "objective": "centre"}),
            (2.0, {"points": 9, "fine": 0, "prior": "0,1,2,3,2,1,1,1,0"}),
            (4.0, {"points": 25, "fine": 0}),
        ),
    ),
    "lu": _on_span(
        LogUniform,
        LogUniform.over,
        "one of some numbers, log-uniform in size, with exactly the right mean",
        "docs/maths/mean-optimum.md",
        "the mean of numbers for epsilon below about 0.7: next to the least error, by a formula",
        ("outputs", "interval", "clip"),
        inner=("fine",),
        small=_rows(*((e, {"outputs": many, "fine": 8 * many - 7}) for e, many in ((0.1, 2), (0.5, 4), (1.0, 8)))),
    ),
    "arc": Entry(
        Direction,
        Direction.optimal,
        "a direction whose arc holds the true one",
        "docs/maths/mean-optimum.md",
        "the mean of directions or of hours of the day: the least variance of all, with an interval around the circle",
        ("points", "interval"),
        inner=("size",),
        small=tuple(
            {"interval": "0,24", "points": k, "epsilon": e} for k, e in ((3, 1.0), (9, 0.5), (8, 1.0), (12, 4.0))
        ),
        question=DIRECTION,
        space=_span,
        traits=Traits(lambda m, n: 1 + m.k / n, lambda m, r: 1 / m.pull),
    ),
}
