"""How close questions that are asked together will be known, and the tables of two that they are asked together for.

The estimator says it: it is given what a very large crowd sends on average, and its variances are divided by how many
people there are. So pooled shares and tables have the very errors that releases will show.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.types import FloatArray
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.survey.interaction import Interaction
from deniable.mechanisms.survey.shares import Pair
from deniable.mechanisms.survey.tables import Tables, part_of

__all__ = ["Worst", "worst"]

_CROWD = 10**9
"""So many people that whole numbers of reports are the averages, to more digits than anybody is told."""


@dataclass(frozen=True, slots=True)
class Worst:
    """Variances from one person of the population who is dealt one of the parts of a survey.

    Each is that of the worst answer or cell, where all are equally common or half of the people have one of them.
    """

    questions: Mapping[str, float]
    cells: Mapping[Pair, float]


def worst(plan: Tables, shares: Sequence[float]) -> Worst:
    """What comes of tables whose parts are dealt to these shares of the people.

    >>> from deniable.mechanisms.survey.tables import pairs_parts
    >>> found = worst(pairs_parts({"a": 2, "b": 2}, 1.0), [1.0])
    >>> round(found.questions["a"], 2), round(found.cells["a", "b"], 2)
    (2.77, 2.43)
    """
    return _worst(_Key(plan, tuple(shares)))


class _Key:
    """Tables by their designs and shares: the same ones are gone through once."""

    def __init__(self, plan: Tables, shares: tuple[float, ...]) -> None:
        self.plan, self.shares = plan, shares
        sizes = tuple((name, domain.k) for name, domain in plan.questions.items())
        self.named = (plan.scheme, plan.epsilon, sizes, plan.tables, shares)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.named == self.named

    def __hash__(self) -> int:
        return hash(self.named)


@lru_cache(maxsize=256)
def _worst(key: _Key) -> Worst:
    plan = key.plan
    even = {name: _shares(plan.questions[name].k, 1 / plan.questions[name].k) for name in plan.want.mains}
    common = _reports(key, even, {})
    questions = {}
    for name, own in even.items():
        half = _reports(key, even | {name: _shares(own.size, 0.5)}, {})
        each = [plan.margin(tallies, name).variance("population") for tallies in (common, half)]
        questions[name] = _CROWD * max(float(variance.max()) for variance in each)
    tables = {}
    for pair in plan.tables:
        sizes = plan.want.sizes(pair)
        cells = _shares(math.prod(sizes), 0.5).reshape(sizes)
        margins = {name: cells.sum(axis=1 - axis) for axis, name in enumerate(pair)}
        half = _reports(key, even | margins, {pair: cells})
        each = [plan.table(tallies, *pair).estimate.variance("population") for tallies in (common, half)]
        tables[pair] = _CROWD * max(float(variance.max()) for variance in each)
    return Worst(questions, tables)


def _shares(k: int, first: float) -> FloatArray:
    """Shares of k answers, of which the first has so much and the others the same."""
    return np.array([first, *[(1 - first) / (k - 1)] * (k - 1)])


def _reports(key: _Key, margins: Mapping[str, FloatArray], tables: Mapping[Pair, FloatArray]) -> dict[str, Tally]:
    """What the crowd sends on average, part by part; questions without a table of their own have nothing in common."""
    plan, found = key.plan, {}
    pairs = {part_of(*pair): pair for pair in plan.tables}
    for name, mechanism, share in zip(plan.names, plan.mechanisms, key.shares, strict=True):
        if name in pairs:
            one, two = pairs[name]
            cells = tables.get(pairs[name], np.outer(margins[one], margins[two]))
        else:
            cells = margins[name]
        found[name] = _average(mechanism, cells, round(_CROWD * share))
    return found


def _average(m: Mechanism, shares: FloatArray, n: int) -> Tally:
    """What n reports of a mechanism of tables add up to on average, in whole numbers."""
    made: Any = m
    if isinstance(m, Interaction):
        law = m.bulk.effects
        support = law.base + law.slope * m.interaction_of(shares)
    else:
        own = made.support_effective
        support = own.q + own.gap * shares.reshape(-1)
    counts = np.floor(n * support).astype(np.int64)
    total = m.bulk.cells["support"].total
    if total is not None and total[0] == total[1]:
        counts[: total[0] * n - int(counts.sum())] += 1  # what rounding took, so that all reports are whole
    return Tally(m.design, m.bulk.strata, {"n": np.array([n]), "support": counts[None, :]}, simulated=True)
