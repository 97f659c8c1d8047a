"""Surveys with tables: some parts of the deal are about two questions, the others about single ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from deniable.collect.tally import Tally
from deniable.errors import ParameterError
from deniable.estimate.result import Estimate
from deniable.mechanisms.survey.blocks import shares_of
from deniable.mechanisms.survey.foreseen import Worst, worst
from deniable.mechanisms.survey.independence import Independence, independence
from deniable.mechanisms.survey.joined import TwoWay
from deniable.mechanisms.survey.laws import most_information
from deniable.mechanisms.survey.survey import Survey
from deniable.mechanisms.survey.tables import PAIRS, Tables, part_of, refuse_association

__all__ = ["TableSurvey"]


@dataclass(frozen=True, kw_only=True, repr=False)
class TableSurvey(Survey):
    """A survey whose first parts are those of `plan`, for tables of two questions; `blocks` has the other questions."""

    plan: Tables

    @property
    def parts(self) -> tuple[str, ...]:
        """See `Survey.parts`: those of the tables first."""
        return (*self.plan.names, *super().parts)

    def about(self, part: str) -> tuple[str, ...]:
        """See `Survey.about`: one question, or the two of a table."""
        pair = next((pair for pair in self.plan.tables if part_of(*pair) == part), None)
        return pair if pair is not None else (part,) if part in self.plan.names else super().about(part)

    @property
    def tables(self) -> tuple[tuple[str, str], ...]:
        return self.plan.tables

    @property
    def people(self) -> float:
        """In proportion to how many people the tables are asked of: by their error, averaged over the cells of each."""
        cells = math.fsum(math.prod(self.plan.want.sizes(pair)) for pair in self.plan.tables) / len(self.plan.tables)
        return math.sqrt(self.plan.cost / cells)

    @property
    def of_tables(self) -> float:
        """The share of the people that parts about the tables are asked of."""
        return self.people / (self.people + math.fsum(block.people for block in self.blocks))

    @cached_property
    def shares(self) -> tuple[float, ...]:
        here = self.of_tables
        others = [(1 - here) * share for share in shares_of(self.blocks)] if self.blocks else []
        return (*(here * chance for chance in self.plan.chances), *others)

    @property
    def asked(self) -> list[str]:
        """See `Survey.asked`: those of the tables first."""
        return [*self.plan.want.mains, *super().asked]

    def _told(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return self.plan.columns(given) | super()._told(given)

    def _found(self, apart: Mapping[str, Tally]) -> dict[str, Estimate]:
        """See `Survey._found`: of questions with tables, the margins that these have."""
        found = super()._found(apart)
        for name in self.plan.want.mains:
            if self._reports_about(name, apart):
                found[name] = self.plan.margin(apart, name)
        return found

    def _reports_about(self, name: str, apart: Mapping[str, Tally]) -> int:
        if self.plan.scheme == PAIRS:
            return sum(apart[part_of(*pair)].n for pair in self.plan.tables if name in pair)
        return apart[name].n

    @cached_property
    def worst(self) -> Worst:
        return worst(self.plan, self.shares[: len(self.plan.names)])

    def table(self, *given: Any, pooled: bool = True) -> TwoWay:
        one, two, counted = self._wanted(given)
        return self.plan.table(self.apart(counted), one, two, pooled=pooled)

    def independence(self, *given: Any) -> Independence:
        one, two, counted = self._wanted(given)
        apart = self.apart(counted)
        return independence(self.plan, {name: apart[name] for name in self.plan.names}, one, two)

    def _wanted(self, given: Sequence[Any]) -> tuple[str, str, Any]:
        """Two names of questions that have a table, and what is counted."""
        one, two, counted = self._pair(given)
        return (one, two, counted) if {one, two} <= set(self.plan.questions) else refuse_association(one, two)

    def _errors(self) -> tuple[dict[str, float], dict[str, float]]:
        """See `Survey._errors`: what all parts tell of a question adds up."""
        shares, errors = super()._errors() if self.blocks else ({}, {})
        part = dict(zip(self.parts, self.shares, strict=True))
        for name in self.plan.want.mains:
            k = self.plan.questions[name].k
            if self.plan.scheme == PAIRS:
                pairs = [pair for pair in self.plan.tables if name in pair]
                cells = {pair: math.prod(self.plan.want.sizes(pair)) for pair in pairs}
                each = [part[part_of(*p)] * most_information(c, self.plan.epsilon) / (c - 1) for p, c in cells.items()]
                shares[name] = math.fsum(part[part_of(*pair)] for pair in pairs)
                told = (k - 1) * math.fsum(each)
            else:
                shares[name] = part[name]
                told = part[name] * most_information(k, self.plan.epsilon)
            errors[name] = ((k - 1) / k) ** 2 / told
        return shares, errors

    def _distance(self, n: float, errors: Mapping[str, float]) -> dict[str, Any]:
        """See `Survey._distance`: sums over all cells of all tables; the bound is known where nothing else is asked."""
        cost = self.plan.cost / self.of_tables
        told: dict[str, Any] = {"table_sum": cost / n, "tables": [list(pair) for pair in self.plan.tables]}
        if self.blocks:
            return told
        return told | {"bound": self.plan.bound / n, "gap": self.plan.gap}

    def pooled(self, tallies: Mapping[str, Any], weights: Mapping[str, float] | None = None) -> Any:
        """Refused: tables of groups are put together one by one."""
        raise ParameterError("groups are not pooled where there are tables.", "Estimate each group by itself.")
