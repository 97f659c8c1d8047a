"""Tables of two questions under one budget: which parts to deal, and how their reports become tables.

`pairs` deals cells of two questions at a time; `effects` deals single questions, and what two questions have to do with
each other. Every report has the whole epsilon. The better one is found by the exact errors of both
(docs/maths/tables.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from deniable.collect.reports import Reports
from deniable.collect.tally import Tally
from deniable.core.domain import Domain
from deniable.core.frontier import best_subset_size
from deniable.core.types import IntArray
from deniable.errors import ParameterError, require
from deniable.estimate.result import Estimate, Part
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.dealt.base import Dealt
from deniable.mechanisms.frequency.subset import SubsetSelection
from deniable.mechanisms.survey.interaction import Interaction
from deniable.mechanisms.survey.joined import (
    JoinedPart,
    Spread,
    TwoWay,
    added,
    after,
    centre,
    margin_of,
    spread_columns,
    spread_rows,
)
from deniable.mechanisms.survey.laws import most_information
from deniable.mechanisms.survey.shares import (
    Pair,
    Wanted,
    effect_shares,
    least_of_tables,
    pair_shares,
    split_budget,
    wanted,
)
from deniable_client.errors import within
from deniable_client.exact import check_epsilon
from deniable_client.grammar import SHARE_MAX

__all__ = [
    "PAIRS",
    "Tables",
    "effects_parts",
    "pairs_parts",
    "part_of",
    "refuse_association",
    "table_costs",
    "table_parts",
]

PAIRS, EFFECTS = "pairs", "effects"
Counted = Tally | Reports | Mapping[str, Tally]
"""A tally of all parts, reports of them, or the tallies of the parts by their names."""


def refuse_association(one: str, two: str) -> NoReturn:
    """From reports about single questions nothing follows about two of them together: an error that says why."""
    raise ParameterError(
        f"{one} and {two} have no table: no report is about both, and all tables with the same shares of answers to "
        "each question give reports of the very same law, so that nothing can tell them apart.",
        "Ask for the table beforehand, with tables=[(one, two)]: then some reports are about both questions.",
    )


def part_of(one: str, two: str) -> str:
    """The name of the part about two questions."""
    return f"{one} x {two}"


@dataclass(frozen=True)
class Tables:
    """Parts of a deal for tables of two questions: `names`, `mechanisms` and `shares`, and how their reports are read.

    `cost` is the weighted sum of the variances of all cells of all tables, from one report out of a population in which
    all answers are equally common, the drawing of people included; `bound` the least that any design has.
    """

    scheme: str
    epsilon: float
    want: Wanted
    names: tuple[str, ...]
    mechanisms: tuple[Mechanism, ...]
    chances: tuple[float, ...]
    cost: float

    @property
    def questions(self) -> Mapping[str, Domain]:
        """The questions by name."""
        return self.want.questions

    @property
    def tables(self) -> tuple[Pair, ...]:
        """The pairs of questions that have a table."""
        return self.want.tables

    @property
    def bound(self) -> float:
        """The least cost of any design; see `least_of_tables`."""
        return least_of_tables(self.epsilon, self.want)

    @property
    def gap(self) -> float:
        """How far the cost is above that bound."""
        return self.cost / self.bound - 1

    @cached_property
    def shares(self) -> tuple[int, ...]:
        """The chances as whole numbers in proportion, as deals have them."""
        most = max(self.chances)
        return tuple(max(1, round(chance / most * SHARE_MAX)) for chance in self.chances)

    @cached_property
    def mechanism(self) -> Mechanism:
        """One of the parts for each person; where there is a single part, that part itself."""
        if len(self.mechanisms) == 1:
            return self.mechanisms[0]
        given: dict[str, Any] = {"mechanisms": self.mechanisms, "shares": self.shares, "names": self.names}
        return Dealt(epsilon=self.epsilon, **given)

    def columns(self, answers: Mapping[str, Any]) -> dict[str, Any]:
        """What each part is told of people's answers, which are columns by question: what `mechanism` privatises."""
        missing = [name for name in self.questions if name not in answers]
        require(not missing, "answers", list(answers), f"columns for {', '.join(self.questions)}")
        items = {name: domain.encode(answers[name]) for name, domain in self.questions.items()}
        pairs = {part_of(*pair): pair for pair in self.tables}
        return {name: self.cells(pairs[name], items) if name in pairs else answers[name] for name in self.names}

    def cells(self, pair: Pair, items: Mapping[str, IntArray]) -> IntArray:
        """The numbers of a pair's cells, from the numbers of the answers to each question."""
        return np.asarray(items[pair[0]] * self.questions[pair[1]].k + items[pair[1]])

    # ---- reading

    def pair(self, one: str, two: str) -> Pair:
        """The table as it was asked for; refused, with the reason, where there is none of these questions."""
        for name in (one, two):
            require(name in self.questions, "question", name, f"one of {', '.join(self.questions)}")
        found = next((pair for pair in self.tables if set(pair) == {one, two}), None)
        return refuse_association(one, two) if found is None else found

    def apart(self, tally: Counted) -> Mapping[str, Tally]:
        """The tally of each part, by its name."""
        if isinstance(tally, Mapping):
            return tally
        made: Any = self.mechanism
        whole = made.tally(tally) if isinstance(tally, Reports) else tally
        return {self.names[0]: whole} if len(self.names) == 1 else made.apart(whole)

    def table(self, tally: Counted, one: str, two: str, *, pooled: bool = True) -> TwoWay:
        """The unbiased table of two questions, with its covariance.

        Of pairs, `pooled` takes the shares of single questions from all pairs that have them, weighted by what they
        tell; otherwise the pair's own reports are all there is, and the table is about those who sent them.
        """
        each, pair = self.apart(tally), self.pair(one, two)
        hint = "Tables of effects join reports about both questions with those about what they have in common."
        require(pooled or self.scheme == PAIRS, "pooled", pooled, "left out for effects", hint)
        rows, columns = (self.questions[name].labels_or_numbers for name in pair)
        if pooled:
            names, terms = self._terms(each, pair)
            found = self._joined(
                each, names, terms, TwoWay.labels(rows, columns), -1 / math.prod(self.want.sizes(pair))
            )
        else:
            own = self._estimate(each, part_of(*pair))
            found = Estimate(
                TwoWay.labels(rows, columns), own.parts, own.n, own.design, own.simulated, own.steps, own.bias
            )
        made = TwoWay(pair, rows, columns, found)
        return made if pair == (one, two) else made.turned()

    def margin(self, tally: Counted, question: str) -> Estimate:
        """The shares of one question's answers, from all that is known: the very margins that pooled tables have."""
        asked = self.want.mains
        require(question in asked, "question", question, f"one of {', '.join(asked)}")
        each = self.apart(tally)
        if self.scheme == EFFECTS:
            return self._estimate(each, question)
        terms = self._margin(each, question)
        return self._joined(each, list(terms), list(terms.values()), self.questions[question].labels_or_numbers, 0.0)

    def _terms(self, each: Mapping[str, Tally], pair: Pair) -> tuple[list[str], list[Spread]]:
        """The parts that a table is put together from, each with its map to the cells."""
        sizes, own = self.want.sizes(pair), part_of(*pair)
        ways = (spread_rows(sizes), spread_columns(sizes))
        if self.scheme == EFFECTS:
            return [*pair, own], [*ways, centre(sizes)]
        found: dict[str, list[Spread]] = {own: [centre(sizes)]}
        for name, way in zip(pair, ways, strict=True):
            for part, inner in self._margin(each, name).items():
                found.setdefault(part, []).append(after(way, inner))
        return list(found), [added(spreads) for spreads in found.values()]

    def _margin(self, each: Mapping[str, Tally], name: str) -> dict[str, Spread]:
        """Maps from pairs to the shares of a question that they have, weighted by what their reports tell of it."""
        pairs = [pair for pair in self.tables if name in pair]
        told = [self._count(each, pair) * self._tells(pair, name) for pair in pairs]
        if sum(told) == 0:
            raise ParameterError(f"{name} was not asked: no report is about a pair that has it.", "Wait for reports.")
        return {
            part_of(*pair): margin_of(self.want.sizes(pair), pair.index(name), weight / sum(told))
            for pair, weight in zip(pairs, told, strict=True)
            if weight
        }

    def _count(self, each: Mapping[str, Tally], pair: Pair) -> int:
        require(part_of(*pair) in each, "tally", list(each), f"one with the part {part_of(*pair)}")
        return each[part_of(*pair)].n

    def _tells(self, pair: Pair, name: str) -> float:
        """What a report about a pair tells of the shares of one of its questions, up to a factor of the question."""
        cells, other = math.prod(self.want.sizes(pair)), self.questions[pair[1 - pair.index(name)]].k
        return cells / (cells - 1) * most_information(cells, self.epsilon) / other

    def _estimate(self, each: Mapping[str, Tally], name: str) -> Estimate:
        require(name in each, "tally", list(each), f"one with the part {name}")
        with within(name):
            return self.mechanisms[self.names.index(name)].estimate(each[name])

    def _joined(
        self,
        each: Mapping[str, Tally],
        names: Sequence[str],
        spreads: Sequence[Spread],
        labels: tuple[str, ...],
        constant: float,
    ) -> Estimate:
        found = [self._estimate(each, name) for name in names]
        parts: list[Part] = [next(iter(own.parts.values())) for own in found]
        n, simulated = sum(own.n for own in found), any(own.simulated for own in found)
        steps = (f"joined from {n} reports about {', '.join(names)}, each part by its unbiased estimate",)
        part = JoinedPart(tuple(zip(spreads, parts, strict=True)), constant)
        return Estimate(labels, {"frequency": part}, n, self.mechanism.design, simulated, steps)


# ---- designs


def _subset(epsilon: float, domain: Domain) -> SubsetSelection:
    return SubsetSelection(epsilon=epsilon, domain=domain, size=best_subset_size(domain.k, epsilon))


def pairs_parts(questions: object, epsilon: float, *, tables: object = None, weights: object = None) -> Tables:
    """Cells of two questions at a time, by subset selection, with the best shares of the pairs.

    >>> plan = pairs_parts({"a": 2, "b": 2, "c": 3}, 1.0)
    >>> plan.names, [m.k for m in plan.mechanisms]
    (('a x b', 'a x c', 'b x c'), [4, 6, 6])
    """
    epsilon, want = check_epsilon(epsilon), wanted(questions, tables, weights)
    cost, chances = pair_shares(epsilon, want)
    made = tuple(_subset(epsilon, Domain.of(math.prod(want.sizes(pair)))) for pair in want.tables)
    return Tables(PAIRS, epsilon, want, tuple(part_of(*pair) for pair in want.tables), made, chances, cost)


def effects_parts(questions: object, epsilon: float, *, tables: object = None, weights: object = None) -> Tables:
    """Single questions, and what pairs of them have to do with each other, with the best shares of all of these.

    >>> plan = effects_parts({"a": 2, "b": 2}, 1.0)
    >>> plan.names, plan.shares
    (('a', 'b', 'a x b'), (1000000, 1000000, 1000000))
    """
    epsilon, want = check_epsilon(epsilon), wanted(questions, tables, weights)
    cost, chances = effect_shares(epsilon, want)
    mains = [_subset(epsilon, want.questions[name]) for name in want.mains]
    both = [Interaction.optimal(epsilon=epsilon, sizes=want.sizes(pair)) for pair in want.tables]
    names = (*want.mains, *(part_of(*pair) for pair in want.tables))
    return Tables(EFFECTS, epsilon, want, names, (*mains, *both), chances, cost)


def table_parts(
    questions: object, epsilon: float, *, tables: object = None, weights: object = None, scheme: str = "auto"
) -> Tables:
    """Parts for tables of two questions: `pairs`, `effects`, or whichever costs less.

    >>> table_parts({"a": 2, "b": 2}, 1.0).scheme, table_parts(dict.fromkeys("abcd", 4), 1.0).scheme
    ('pairs', 'effects')
    """
    require(scheme in ("auto", PAIRS, EFFECTS), "scheme", scheme, f"auto, {PAIRS} or {EFFECTS}")
    ways = {PAIRS: pairs_parts, EFFECTS: effects_parts}
    made = [
        make(questions, epsilon, tables=tables, weights=weights)
        for name, make in ways.items()
        if scheme in ("auto", name)
    ]
    return min(made, key=lambda one: one.cost)


def table_costs(
    questions: object, epsilon: float, *, tables: object = None, weights: object = None
) -> dict[str, float]:
    """The costs of all designs for the same tables, of everybody answering everything, and the least there can be."""
    epsilon, want = check_epsilon(epsilon), wanted(questions, tables, weights)
    told = {EFFECTS: effect_shares(epsilon, want)[0], PAIRS: pair_shares(epsilon, want)[0]}
    return told | {"split": split_budget(epsilon, want), "bound": least_of_tables(epsilon, want)}
