"""Do two questions have anything to do with each other? A chi-square test with the covariance that tables really have.

The usual test takes the noise of reports for an association. This one compares a table with the product of its margins
by the covariance that its design has where there is no association (docs/maths/tables.md, section 4).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from deniable.core.same import Same
from deniable.core.support import check_n
from deniable.core.types import FloatArray
from deniable.errors import InWords, ParameterError, require
from deniable.estimate.simplex import project_simplex
from deniable.mechanisms.survey.effects import interaction_of
from deniable.mechanisms.survey.joined import TwoWay, centre, joined_covariance, spread_columns, spread_rows
from deniable.mechanisms.survey.shares import Pair
from deniable.mechanisms.survey.tables import PAIRS, Counted, Tables, part_of

__all__ = ["Independence", "dependence", "independence", "independence_people", "independence_power"]

Margins: TypeAlias = tuple[FloatArray, FloatArray]
"""Shares of the answers to each of two questions."""
MARGIN = 3
"""A margin must be at least so many of its standard errors: below that the share of false alarms is not the level."""


@dataclass(frozen=True, eq=False)
class Independence(Same):
    """The test that two questions are independent, and the usual one beside it, which is not valid here."""

    questions: tuple[str, str]
    statistic: float
    degrees: int
    pvalue: float
    """Chance of a statistic at least as large, if the questions are independent."""
    n: int
    simulated: bool
    pearson: float
    """Pearson's statistic of the table after projection onto the simplex, as if its shares had been counted."""
    pearson_pvalue: float
    """What that would mean for counts. It is far too small: the noise of reports is taken for an association."""
    tells: ClassVar[tuple[str, ...]] = ("questions", "statistic", "degrees", "pvalue", "n", "simulated", "pearson")

    @property
    def warning(self) -> str:
        """Why the usual test must not be used."""
        return (
            "Pearson's test of the projected table is shown for comparison only: it takes the noise of reports for an "
            "association and finds one in most tables of independent questions."
        )

    def document(self) -> dict[str, Any]:
        """As plain data."""
        usual = {"statistic": self.pearson, "pvalue": self.pearson_pvalue, "valid": False, "warning": self.warning}
        told = {"questions": list(self.questions), "statistic": self.statistic, "degrees": self.degrees}
        return told | {"pvalue": self.pvalue, "n": self.n, "simulated": self.simulated, "pearson": usual}

    def __repr__(self) -> str:
        one, two = self.questions
        mark = ", SIMULATED" * self.simulated
        return (
            f"<Independence of {one} and {two} from {self.n:,} reports{mark}: statistic {self.statistic:.4g} on "
            f"{self.degrees} degree{'s' * (self.degrees > 1)} of freedom, p = {self.pvalue:.3g} "
            f"(not valid: Pearson p = {self.pearson_pvalue:.3g})>"
        )


@dataclass(frozen=True, slots=True)
class Power:
    """How likely the test finds an association, before anybody is asked."""

    power: float
    noncentrality: float
    degrees: int
    n: float
    """Reports in all, of which the table gets its share."""
    level: float
    refused: str
    """Which margin would be too uncertain for the test; empty if none is."""


# ---- where there is no association


def null_covariance(plan: Tables, pair: Pair, margins: Margins, n: Mapping[str, float]) -> Any:
    """The covariance of a table of independent questions with these margins, from so many reports of each part."""
    product = np.outer(*margins)
    made = {name: plan.mechanisms[plan.names.index(name)] for name in plan.names}
    both: Any = made[part_of(*pair)]
    count = n[part_of(*pair)]
    if plan.scheme == PAIRS:
        return both.support_effective.covariance(product.reshape(-1), count, "population")
    law, sizes = both.bulk.effects, plan.want.sizes(pair)
    gamma = interaction_of(product, law.padded)
    share = law.base + law.slope * gamma.reshape(-1)
    noise = (law.joint(gamma) - np.outer(share, share)) / (count * law.slope**2)
    single: list[Any] = [made[name] for name in pair]
    mains = [
        m.support_effective.covariance(f, n[name], "population")
        for m, f, name in zip(single, margins, pair, strict=True)
    ]
    spreads = (spread_rows(sizes), spread_columns(sizes), centre(sizes))
    return joined_covariance(list(zip(spreads, (*mains, noise), strict=True)))


def _distance(gap: FloatArray, margins: Margins, covariance: FloatArray) -> float:
    """How far a table is from the product of its margins, measured by what that varies by [formula (T12)].

    The last row and the last column follow from the others and are left out.
    """
    off = [np.eye(f.size) - np.outer(f, np.ones(f.size)) for f in margins]
    kept = [one[:-1] for one in off]
    moves = np.kron(*kept)
    told = gap[:-1, :-1].reshape(-1)
    return float(told @ np.linalg.solve(moves @ covariance @ moves.T, told))


def _uncertain(table: TwoWay) -> str:
    """The margin that is less than `MARGIN` of its standard errors, in words; empty if there is none."""
    worst, told = math.inf, ""
    for question, labels in zip(table.questions, (table.rows, table.columns), strict=True):
        value, matrix = table.margin(question)
        spread = np.sqrt(np.maximum(np.diag(matrix), 0.0))
        alone = np.where(value > 0, math.inf, -math.inf)  # of a few reports none of which is about it
        times = np.where(spread > 0, value / np.where(spread > 0, spread, 1.0), alone)
        at = int(np.argmin(times))
        if times[at] < min(MARGIN, worst):
            worst = times[at]
            told = f"{labels[at]} of {question}, {100 * value[at]:.1f} ± {100 * spread[at]:.1f} %"
    return told


# ---- the test


def independence(plan: Tables, tally: Counted, one: str, two: str) -> Independence:
    """The test that two questions are independent, from reports about their table.

    Of pairs, those about the pair itself are used. Refused where a margin is less than three of its standard errors:
    there the law of the statistic is not the one that p-values are taken from.
    """
    from scipy.stats import chi2

    each, pair = plan.apart(tally), plan.pair(one, two)
    table = plan.table(each, *pair, pooled=plan.scheme != PAIRS)
    unsure = _uncertain(table)
    if unsure:
        raise ParameterError(
            f"independence of {one} and {two} cannot be tested: a margin must be at least {MARGIN} times its standard "
            f"error, got {unsure}.",
            "Collect more reports, or join rare answers; independence_people() says how many are needed.",
        )
    value, degrees = table.value, (table.shape[0] - 1) * (table.shape[1] - 1)
    counts = {name: float(own.n) for name, own in each.items()}
    statistic = dependence(value, lambda margins: null_covariance(plan, pair, margins, counts))
    pearson = _pearson(value, table.n)
    found = float(chi2.sf(statistic, degrees)), float(chi2.sf(pearson, degrees))
    return Independence(pair, statistic, degrees, found[0], table.n, table.simulated, pearson, found[1])


def dependence(value: FloatArray, null: Callable[[Margins], FloatArray]) -> float:
    """The statistic of a table, given the covariance of tables with some margins and no association.

    Margins are projected onto the simplex for the covariance, and for nothing else.
    """
    first, second = value.sum(axis=1), value.sum(axis=0)
    margins = project_simplex(first), project_simplex(second)
    return _distance(value - np.outer(first, second), margins, null(margins))


def _pearson(value: FloatArray, n: int) -> float:
    """Pearson's statistic of a table of shares as if they were counts of n people."""
    shares = project_simplex(value.reshape(-1)).reshape(value.shape)
    expected = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    there = expected > 0
    return float(n * ((shares - expected)[there] ** 2 / expected[there]).sum())


# ---- beforehand


def _alternative(plan: Tables, one: str, two: str, table: object) -> FloatArray:
    """A table with a row for each answer to question `one`, as the plan has it: perhaps with its rows as columns."""
    shares, sizes = np.asarray(table, np.float64), plan.want.sizes((one, two))
    need = f"shares of {sizes[0]} times {sizes[1]} cells that are >= 0 and sum to 1"
    fits = shares.shape == sizes and bool((shares >= 0).all()) and abs(float(shares.sum()) - 1) < 1e-9
    require(fits, "table", InWords(f"an array of shape {shares.shape}"), need, f"A row for each answer to {one}.")
    return shares if plan.pair(one, two) == (one, two) else shares.T


def _margins(shares: FloatArray) -> Margins:
    return shares.sum(axis=1), shares.sum(axis=0)


def _each(plan: Tables, n: float) -> dict[str, float]:
    """Reports of each part on average."""
    return {name: n * chance for name, chance in zip(plan.names, plan.chances, strict=True)}


def _noncentrality(plan: Tables, pair: Pair, shares: FloatArray, n: float) -> float:
    margins = _margins(shares)
    empty = [f for f in margins if not (f > 0).all()]
    require(not empty, "table", InWords("one with an empty row or column"), "people in all rows and columns")
    return _distance(shares - np.outer(*margins), margins, null_covariance(plan, pair, margins, _each(plan, n)))


def independence_power(plan: Tables, one: str, two: str, table: object, n: float, *, level: float = 0.05) -> Power:
    """The chance that the test finds the association of a table, with n reports in all.

    `table` has the true shares of all pairs of answers, a row for each answer to the first question.
    """
    from scipy.stats import chi2, ncx2

    n, pair = check_n(n), plan.pair(one, two)
    require(0 < level < 1, "level", level, "between 0 and 1")
    given = _alternative(plan, one, two, table)
    away = _noncentrality(plan, pair, given, n)
    degrees = math.prod(size - 1 for size in plan.want.sizes(pair))
    found = float(ncx2.sf(chi2.isf(level, degrees), degrees, away)) if away > 0 else level
    return Power(found, away, degrees, n, level, _refused(plan, pair, given, n))


def _refused(plan: Tables, pair: Pair, shares: FloatArray, n: float) -> str:
    """Which margin of a known table would be too uncertain."""
    margins = _margins(shares)
    counts, sizes = _each(plan, n), plan.want.sizes(pair)
    matrix = null_covariance(plan, pair, margins, counts).reshape(*sizes, *sizes)
    for axis, name in enumerate(pair):
        spread = np.sqrt(np.diag(matrix.sum(axis=(1 - axis, 3 - axis))))
        poor = np.flatnonzero(margins[axis] < MARGIN * spread)
        if poor.size:
            label = plan.questions[name].labels_or_numbers[poor[0]]
            return f"{label} of {name}, {100 * margins[axis][poor[0]]:.1f} ± {100 * spread[poor[0]]:.1f} %"
    return ""


def independence_people(
    plan: Tables, one: str, two: str, table: object, *, power: float = 0.8, level: float = 0.05
) -> int:
    """The least number of people of whom the test finds the association of a table with a wanted chance.

    There are at least so many that no margin is too uncertain for the test.
    """
    from scipy.optimize import brentq
    from scipy.stats import chi2, ncx2

    pair = plan.pair(one, two)
    require(0 < level < 1, "level", level, "between 0 and 1")
    require(level < power < 1, "power", power, f"between the level {level:g} and 1")
    given = _alternative(plan, one, two, table)
    degrees = math.prod(size - 1 for size in plan.want.sizes(pair))
    once = _noncentrality(plan, pair, given, 1.0)
    require(once > 0, "table", InWords("one without any association"), "one with an association to be found")
    limit = float(chi2.isf(level, degrees))
    needed = brentq(lambda away: float(ncx2.sf(limit, degrees, away)) - power, 1e-12, 1e6)
    people = max(1, math.ceil(needed / once))
    while _refused(plan, pair, given, people):
        people = math.ceil(people * 1.1)
    return people
