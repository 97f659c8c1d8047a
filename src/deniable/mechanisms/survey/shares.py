"""What tables of two questions cost, and the shares of people that make them cheapest (docs/maths/tables.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from deniable.core.domain import Domain
from deniable.core.types import FloatArray
from deniable.errors import require
from deniable.mechanisms.survey.effects import Effects, best_buckets
from deniable.mechanisms.survey.laws import most_information

__all__ = ["Pair", "Wanted", "effect_shares", "least_of_tables", "pair_shares", "split_budget", "wanted"]

Pair: TypeAlias = tuple[str, str]
_STEPS, _CLOSE = 20_000, 1e-14
"""Rounds of looking for the best shares of pairs, and by how much of itself the cost may be above the least."""


@dataclass(frozen=True)
class Wanted:
    """Tables with their weights, and the questions that they are of."""

    questions: Mapping[str, Domain]
    tables: tuple[Pair, ...]
    weights: tuple[float, ...]

    def sizes(self, pair: Pair) -> tuple[int, int]:
        """Numbers of answers of a pair's questions."""
        return self.questions[pair[0]].k, self.questions[pair[1]].k

    @cached_property
    def mains(self) -> dict[str, float]:
        """What the shares of each question count for: they are spread over the cells of every table that has it."""
        found = dict.fromkeys((name for name in self.questions if any(name in pair for pair in self.tables)), 0.0)
        for pair, weight in zip(self.tables, self.weights, strict=True):
            for name, other in (pair, pair[::-1]):
                found[name] += weight / self.questions[other].k
        return found


def wanted(questions: object, tables: object = None, weights: object = None) -> Wanted:
    """Questions by name, pairs of them (all unless given) and their weights, after a check."""
    named = isinstance(questions, Mapping) and len(questions) >= 2
    hint = 'For example {"smokes": 2, "sport": ["never", "weekly", "daily"]}.'
    require(named, "questions", questions, "a mapping of at least two names to numbers of answers or labels", hint)
    known = {str(name): Domain.of(what) for name, what in questions.items()}  # type: ignore[attr-defined]
    listed: Any = list(combinations(known, 2)) if tables is None else tables
    fits = isinstance(listed, Sequence) and not isinstance(listed, str) and len(listed) > 0
    require(fits, "tables", tables, "a list of pairs of questions", 'For example [("smokes", "sport")].')
    pairs: list[Pair] = []
    for pair in listed:
        two = isinstance(pair, Sequence) and not isinstance(pair, str) and len(pair) == 2 and pair[0] != pair[1]
        require(two and set(pair) <= set(known), "tables", pair, f"pairs of two of {', '.join(known)}")
        again = (pair[0], pair[1]) in pairs or (pair[1], pair[0]) in pairs
        require(not again, "tables", pair, "each pair once", "A table can be read in both directions.")
        pairs.append((pair[0], pair[1]))
    given: Any = [1.0] * len(pairs) if weights is None else weights
    listed = isinstance(given, Sequence | np.ndarray) and len(given) == len(pairs)
    positive = bool(listed) and all(isinstance(w, int | float) and 0 < w < math.inf for w in given)
    require(positive, "weights", weights, f"{len(pairs)} numbers > 0, one for each table")
    return Wanted(known, tuple(pairs), tuple(float(w) for w in given))


def _main(k: int, told: float) -> float:
    """Variances of the shares of a question, summed over its answers, from one report that tells so much of it."""
    return (k - 1) ** 2 / (k * told)


def _least(costs: Sequence[float]) -> tuple[float, tuple[float, ...]]:
    """The least sum of cost/share, and the shares that give it: in proportion to square roots [formula (T9)]."""
    roots = [math.sqrt(cost) for cost in costs]
    total = math.fsum(roots)
    return total**2, tuple(root / total for root in roots)


def effect_shares(epsilon: float, want: Wanted) -> tuple[float, tuple[float, ...]]:
    """The least cost of main effects and interactions, and their shares: questions first, then tables."""
    sizes = {name: want.questions[name].k for name in want.mains}
    costs = [weight * _main(sizes[name], most_information(sizes[name], epsilon)) for name, weight in want.mains.items()]
    for pair, weight in zip(want.tables, want.weights, strict=True):
        costs.append(weight * Effects.ideal(epsilon, want.sizes(pair), *best_buckets(epsilon, want.sizes(pair))).cost())
    return _least(costs)


def least_of_tables(epsilon: float, want: Wanted) -> float:
    """No design has a smaller weighted sum of variances of one report over all cells of all tables [formula (T8)]."""
    most = math.sinh(epsilon / 2) ** 2
    costs = [weight * _main(want.questions[name].k, most) for name, weight in want.mains.items()]
    for pair, weight in zip(want.tables, want.weights, strict=True):
        one, two = want.sizes(pair)
        costs.append(weight * ((one - 1) * (two - 1)) ** 2 / (one * two * most))
    return _least(costs)[0]


def pair_shares(epsilon: float, want: Wanted) -> tuple[float, tuple[float, ...]]:
    """The least cost of pairs whose reports are pooled, and their shares [formula (T10)].

    What is known of a question adds up over the pairs that have it, so the cost is convex in the shares. They are
    multiplied by the square roots of what more of each would save until all save the same.
    """
    sizes = [want.sizes(pair) for pair in want.tables]
    told = np.array([most_information(a * b, epsilon) / (a * b - 1) for a, b in sizes])
    names = list(want.mains)
    has = np.array([[name in pair for pair in want.tables] for name in names], np.float64)
    mains = np.array([want.mains[name] * (want.questions[name].k - 1) / want.questions[name].k for name in names])
    both = np.array([w * (a - 1) * (b - 1) / (a * b) for (a, b), w in zip(sizes, want.weights, strict=True)])
    q: FloatArray = np.full(len(told), 1 / len(told))
    for _ in range(_STEPS):
        known = has @ (q * told)
        saved = told * (has.T @ (mains / known**2)) + both / (told * q * q)
        cost = float((mains / known).sum() + (both / (told * q)).sum())
        if saved.max() <= cost * (1 + _CLOSE):
            break
        q = q * np.sqrt(saved)
        q = q / q.sum()
    return cost, tuple(q.tolist())


def split_budget(epsilon: float, want: Wanted) -> float:
    """The cost where everybody answers all questions, each with an equal part of epsilon, for comparison."""
    own = epsilon / len(want.questions)
    each = {name: 1 / d.k + _main(d.k, most_information(d.k, own)) for name, d in want.questions.items()}
    costs = (
        weight * (each[one] * each[two] - 1 / math.prod(want.sizes((one, two))))
        for (one, two), weight in zip(want.tables, want.weights, strict=True)
    )
    return math.fsum(costs)
