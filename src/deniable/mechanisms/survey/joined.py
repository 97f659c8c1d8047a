"""Tables that are put together from reports about different parts, and the table of two questions that people see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from deniable.collect.frames import Columned
from deniable.core.types import FloatArray, Target
from deniable.errors import ParameterError
from deniable.estimate.result import Estimate, NormalPart, Part
from deniable.mechanisms.survey.effects import centred

__all__ = [
    "JoinedPart",
    "Spread",
    "TwoWay",
    "added",
    "after",
    "centre",
    "joined_covariance",
    "margin_of",
    "spread_columns",
    "spread_rows",
]

Spread: TypeAlias = Callable[[FloatArray], FloatArray]
"""A linear map from the entries of a part, along the first axis, to the cells of a table."""


def spread_rows(sizes: tuple[int, int]) -> Spread:
    """Shares of the first question's answers over all cells of their rows."""
    return lambda values: np.repeat(values / sizes[1], sizes[1], axis=0)


def spread_columns(sizes: tuple[int, int]) -> Spread:
    """Shares of the second question's answers over all cells of their columns."""
    return lambda values: np.tile(values / sizes[0], (sizes[0], *[1] * (values.ndim - 1)))


def margin_of(sizes: tuple[int, int], axis: int, weight: float) -> Spread:
    """The margin of a table, times a weight: sums over all questions but that of the axis."""
    return lambda values: weight * values.reshape(*sizes, *values.shape[1:]).sum(axis=1 - axis)


def centre(sizes: tuple[int, int]) -> Spread:
    """Cells without the means of their rows and columns."""
    return lambda values: centred(values, sizes)


def after(outer: Spread, inner: Spread) -> Spread:
    """One map after another."""
    return lambda values: outer(inner(values))


def added(spreads: Sequence[Spread]) -> Spread:
    """The sum of several maps of one part."""
    return lambda values: np.asarray(sum(spread(values) for spread in spreads))


@dataclass(frozen=True, slots=True, eq=False)
class JoinedPart(NormalPart):
    """A sum of linear maps of parts that different people answered, and a constant for every cell.

    It speaks of the population: there is no one group of reporters that it is about. The variances for reporters are
    those for the population, which are the larger ones.
    """

    terms: tuple[tuple[Spread, Part], ...]
    constant: float

    @property
    def value(self) -> FloatArray:
        return np.asarray(sum(spread(part.value) for spread, part in self.terms) + self.constant)

    def variance(self, target: Target) -> FloatArray:
        return np.diag(self.covariance(target)).copy()

    def covariance(self, target: Target) -> FloatArray:
        return joined_covariance([(spread, part.covariance("population")) for spread, part in self.terms])


def joined_covariance(terms: Sequence[tuple[Spread, FloatArray]]) -> FloatArray:
    """The covariance of a sum of linear maps of independent estimates, from that of each."""
    return np.asarray(sum(spread(spread(matrix).T).T for spread, matrix in terms))


@dataclass(frozen=True, slots=True, eq=False)
class TwoWay(Columned):
    """A table of two questions: shares of all pairs of answers, with their covariance."""

    questions: tuple[str, str]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    estimate: Estimate
    """Of all cells, row by row."""

    @staticmethod
    def labels(rows: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
        """Names of all cells, row by row."""
        return tuple(f"{a}, {b}" for a in rows for b in columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return len(self.rows), len(self.columns)

    @property
    def n(self) -> int:
        """Number of reports."""
        return self.estimate.n

    @property
    def simulated(self) -> bool:
        """Whether any report came from a seeded stream."""
        return self.estimate.simulated

    @property
    def value(self) -> FloatArray:
        """Unbiased shares, a row for each answer to the first question; they sum to 1 and may be below 0."""
        return self.estimate.value.reshape(self.shape)

    @property
    def stderr(self) -> FloatArray:
        """Standard errors for the population."""
        return np.sqrt(self.estimate.variance("population")).reshape(self.shape)

    def covariance(self, target: Target = "population") -> FloatArray:
        """The covariance matrix of all cells, row by row."""
        return self.estimate.covariance(target)

    def margin(self, question: str, target: Target = "population") -> tuple[FloatArray, FloatArray]:
        """Shares of one question's answers, as the table has them, and their covariance matrix."""
        if question not in self.questions:
            raise ParameterError(f"question must be one of {', '.join(self.questions)}, got {question!r}.")
        away = 1 - self.questions.index(question)
        sums = self.covariance(target).reshape(*self.shape, *self.shape).sum(axis=(away, 2 + away))
        return self.value.sum(axis=away), np.asarray(sums)

    def turned(self) -> TwoWay:
        """The same table with its rows as columns."""

        def turn(values: FloatArray) -> FloatArray:
            return np.asarray(values.reshape(*self.shape, *values.shape[1:]).swapaxes(0, 1).reshape(values.shape))

        own, (first, second) = self.estimate, self.questions
        part = JoinedPart(((turn, own.parts["frequency"]),), 0.0)
        made = replace(own, labels=TwoWay.labels(self.columns, self.rows), parts={"frequency": part})
        return TwoWay((second, first), self.columns, self.rows, made)

    def to_columns(self, level: float = 0.95) -> dict[str, list[Any]]:
        """Both answers, share, standard error and interval ends of every cell as plain lists."""
        told = self.estimate.to_columns(level, "population")
        first, second = self.questions
        answers = [(a, b) for a in self.rows for b in self.columns]
        names = {first: [a for a, _ in answers], second: [b for _, b in answers]}
        return {**names, **{name: column for name, column in told.items() if name != "label"}}

    def __repr__(self) -> str:
        mark = ", SIMULATED" * self.simulated
        first, second = self.questions
        told = "".join(
            f"\n  {row}: " + ", ".join(f"{label} {100 * x:.1f} ± {100 * s:.1f} %" for label, x, s in cells)
            for row, cells in (
                (row, zip(self.columns, self.value[i], self.stderr[i], strict=True)) for i, row in enumerate(self.rows)
            )
        )
        return f"<Table of {first} and {second} from {self.n:,} reports{mark}:{told}>"
