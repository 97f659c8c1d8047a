"""A mechanism from a matrix of chances: what somebody wrote down becomes whole numbers that keep a promise exactly."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from deniable.core.channel import Chances, Channel
from deniable.core.domain import Domain
from deniable.core.promise import Promise
from deniable.core.values import labels_of
from deniable.errors import InWords, ParameterError, PrivacyError, require, show
from deniable.mechanisms.optimal.ratios import worst_of
from deniable.mechanisms.optimal.rounding import table_of
from deniable.mechanisms.optimal.written import Written, budgets_of
from deniable_client.exact import EPSILON_MIN, WORD, check_epsilon, exp_bounds, fraction_of, log_upper
from deniable_client.kernels import Channel as Table
from deniable_client.kernels.channel import COMPARED
from deniable_client.kernels.table import ENTRIES_MAX

__all__ = ["Matrix", "from_matrix", "make_matrix", "matrix_pull", "matrix_work", "rows_domain", "rows_epsilon"]

_ROUNDING = Fraction(1, 10**6)
"""How far from 1 a row may sum: it is divided by its sum, which is part of what is then proved."""
_NEAR = Fraction(1 + 10**9, 10**9)
"""How far beyond a limit a matrix may be for rounding to explain it."""
_NOTHING = "nothing"
"""The output that stands for what rounding needs, where no other one is possible for all answers."""


class Rows(NamedTuple):
    """Chances of outputs, a row for each answer, whose sums are 1 exactly; and what stood beside them."""

    rows: tuple[tuple[Fraction, ...], ...]
    outputs: tuple[str, ...] | None = None
    labels: tuple[str, ...] | None = None

    def name(self, y: int) -> str:
        """What an output is called."""
        return f"report {y}" if self.outputs is None else self.outputs[y]


@dataclass(frozen=True, kw_only=True)
class Matrix(Written):
    """A table that was made of a matrix of chances; its outputs may have names."""

    outputs: tuple[str, ...] | None = None
    family: ClassVar[str] = "matrix"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.outputs is not None:
            names = tuple(map(str, self.outputs))
            fits = len(names) == self.table.outputs and len(set(names)) == len(names) and all(names)
            need = f"{self.table.outputs} different names, one for each column"
            require(fits, "outputs", InWords(show(list(names))), need)
            object.__setattr__(self, "outputs", names)

    @property
    def output_names(self) -> tuple[str, ...]:
        return self.outputs or ()

    @property
    def params(self) -> dict[str, Any]:
        return super().params | ({} if self.outputs is None else {"outputs": list(self.outputs)})

    def at(self, epsilon: float) -> Self:
        made = super().at(epsilon)
        return made if self.outputs is None else replace(made, outputs=_named(self.outputs, made.table.outputs))


def from_matrix(
    matrix: object, *, labels: Sequence[str] | None = None, outputs: Sequence[str] | None = None, **asked: Any
) -> Matrix:
    """What `Mechanism.from_matrix` makes; rows of floats are divided by their sums.

    With a `promise` an output may be impossible for some answers, where no limit is given.

    >>> coin = from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], labels=["no", "yes"])
    >>> coin.epsilon, coin.proof.ratio
    (1.0986122886681098, Fraction(3, 1))
    """
    found = rows_of(matrix, outputs, named=labels is None)
    given = found.labels if labels is None else labels_of(labels)
    domain = Domain.of(len(found.rows) if given is None else given)
    epsilon = asked.pop("epsilon", None)
    level = None if epsilon is None else check_epsilon(epsilon, sampling=True)
    return make_matrix(epsilon=level, domain=domain, matrix=found, **asked)


def make_matrix(
    *,
    epsilon: float | None,
    domain: Domain,
    matrix: object,
    promise: Promise | None = None,
    prior: Sequence[float] | None = None,
    outputs: Sequence[str] | None = None,
) -> Matrix:
    """The same for a domain, as the registry makes mechanisms."""
    found = matrix if isinstance(matrix, Rows) else rows_of(matrix, outputs)
    k = len(found.rows)
    names = domain.labels_or_numbers
    require(domain.k == k, "matrix", InWords(f"{k} rows"), f"{domain.k} rows, one for each answer")
    if promise is None:
        _refuse_leak(found, names)
        table = _plain(found, names, epsilon)
    else:
        require(isinstance(promise, Promise), "promise", promise, "a promise", "Make one: dn.promise(...).")
        fits = promise.k == k and (epsilon is None or epsilon == promise.epsilon)
        require(fits, "promise", promise, f"one to {k} answers, with its own epsilon", "Leave out epsilon.")
        table = _within(found, names, budgets_of(promise))
    named = None if found.outputs is None else _named(found.outputs, table.outputs)
    own = None if prior is None else tuple(prior)
    return Matrix.of_table(table, domain, outputs=named, prior=own)


def _named(names: Sequence[str], count: int) -> tuple[str, ...]:
    return (*names, _NOTHING)[:count]


def rows_domain(options: dict[str, Any]) -> Domain | None:
    """The domain that a matrix brings with it, where none is given: its labels, else as many numbers as rows."""
    if "matrix" not in options:
        return None
    found = options["matrix"] = rows_of(options["matrix"], options.pop("outputs", None))
    return Domain.of(len(found.rows) if found.labels is None else found.labels)


def rows_epsilon(options: Mapping[str, Any]) -> float:
    """Epsilon of a matrix where none is given: that of its promise, or the exact one."""
    if options.get("promise") is not None:
        return float(options["promise"].epsilon)
    if "matrix" not in options:
        return 1.0  # the missing matrix is what is to be told
    given = options["matrix"]
    found = given if isinstance(given, Rows) else rows_of(given, options.get("outputs"))
    names = tuple(map(str, found.labels or range(len(found.rows))))
    _refuse_leak(found, names)
    return _plain(found, names, None).limit


# ---- costs


def matrix_work(m: Matrix, n: float) -> float:
    """Steps of the server per report: one counter, and a product for each output and answer per release."""
    return 1 + m.k * m.table.outputs / n


def matrix_pull(m: Matrix, r: int) -> float:
    """What a forged report can add to n times the summed estimates of r answers: the r largest scores of an output."""
    return float(np.sort(m.scores, axis=1)[:, -r:].sum(axis=1).max())


# ---- whole numbers


def _plain(found: Rows, names: Sequence[str], epsilon: float | None) -> Table:
    """One limit between all answers: the given one, or what the nearest whole numbers have."""
    k = len(found.rows)
    if epsilon is None:
        weights = tuple(_nearest(row) for row in found.rows)
        ratio = worst_of(weights, ~np.eye(k, dtype=bool)).ratio
        assert ratio is not None  # no entry is 0
        level = log_upper(ratio)
        hint = "Rows that are all the same tell nothing: there is nothing to estimate."
        require(
            level >= EPSILON_MIN, "matrix", InWords(f"epsilon {level:g}"), f"rows that differ ({EPSILON_MIN:g})", hint
        )
        return Table(weights, _square(k, check_epsilon(level, sampling=True)))
    return _within(found, names, _square(k, epsilon))


def _within(found: Rows, names: Sequence[str], budgets: tuple[tuple[float, ...], ...]) -> Table:
    """The nearest whole numbers if they are within all limits, else such as are.

    `PrivacyError` where a column is farther beyond the limit of two answers than rounding explains.
    """
    near = Table(tuple(_nearest(row) for row in found.rows), budgets)
    broken = list(near.breaches())
    for _, x, z in broken:
        budget = budgets[x][z]
        low = exp_bounds(budget)[0] * _NEAR
        for y, (one, two) in enumerate(zip(found.rows[x], found.rows[z], strict=True)):
            if one > low * two:
                told = f"{float(one / two):.6g} times as likely" if two else "possible, and impossible,"
                raise PrivacyError(
                    f"this matrix is beyond what is promised: {found.name(y)} is {told} for {names[x]} as for "
                    f"{names[z]}, above e^{budget:g} = {math.exp(budget):.6g}; no table was made.",
                    "Leave out epsilon to have the exact one, or make these rows more alike.",
                )
    return table_of(found.rows, budgets) if broken else near


def _square(k: int, budget: float) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(0.0 if x == z else budget for z in range(k)) for x in range(k))


def _nearest(row: Sequence[Fraction]) -> tuple[int, ...]:
    """Whole numbers with the sum 2**64 that are nearest to a row; what is possible stays so."""
    exact = [p * WORD for p in row]
    found = [max(math.floor(e), 1) if e else 0 for e in exact]
    order = sorted(range(len(row)), key=lambda y: found[y] - exact[y])  # what lost most comes first
    missing = WORD - sum(found)
    if missing >= 0:
        for y in [y for y in order if exact[y]][:missing]:
            found[y] += 1
    else:  # more entries than not were below 2**-64: the largest one pays
        found[found.index(max(found))] += missing
    return tuple(found)


def _refuse_leak(found: Rows, names: Sequence[str]) -> None:
    """`PrivacyError` where an output is possible for one answer and impossible for another."""
    for y, column in enumerate(zip(*found.rows, strict=True)):
        if any(column) and not all(column):
            x, z = next(i for i, p in enumerate(column) if p), next(i for i, p in enumerate(column) if not p)
            raise PrivacyError(
                f"this matrix rules answers out: {found.name(y)} has the chance {float(column[x]):g} for {names[x]} "
                f"and 0 for {names[z]}: a report of it shows for certain that the answer is not {names[z]}.",
                "No epsilon allows that. Give every answer a chance in this column; or, if it is meant, say which "
                'pairs have no limit, in a promise: dn.promise(budgets=[[0, 1], ["inf", 0]]).',
            )


# ---- what is given


def rows_of(matrix: object, outputs: Iterable[object] | None = None, *, named: bool = True) -> Rows:
    """A matrix as exact chances; errors name the place. `named`: whether a frame's index names the rows."""
    names = None if outputs is None else _texts(outputs)
    if isinstance(matrix, Rows):
        return matrix._replace(outputs=_one_each(names or matrix.outputs, matrix.rows[0]))
    if isinstance(matrix, Channel):
        columns = [[Fraction(w, matrix.total) for w in row] for row in matrix.weights]
        return Rows(tuple(zip(*columns, strict=True)), _one_each(names or _texts(matrix.outputs), columns))
    given = matrix if isinstance(matrix, Chances) else _beside(matrix, named)
    cells, own = _cells(given.rows)
    _check_shape(cells)
    if given.labels is not None and len(given.labels) != len(cells):
        raise ParameterError(f"labels must be {len(cells)} names, one for each row, got {len(given.labels)}.")
    rows = [[_chance(cell, x, y) for y, cell in enumerate(row)] for x, row in enumerate(cells)]
    return Rows(_divided(rows), _one_each(names or given.outputs or own, cells[0]), given.labels)


def _one_each(names: tuple[str, ...] | None, columns: Sequence[Any]) -> tuple[str, ...] | None:
    """The names of columns, refused if there are more or fewer of them."""
    need = f"{len(columns)} different names, one for each column"
    require(names is None or len(names) == len(columns), "outputs", InWords(show(list(names or ()))), need)
    return names


def _beside(matrix: Any, named: bool) -> Chances:
    """What was given, with the names of the rows of a frame that names them and does not just count them."""
    index = getattr(matrix, "index", None) if named and hasattr(matrix, "columns") else None
    names = [] if index is None else list(index)
    return Chances(matrix, labels=None if names == [*range(len(names))] else labels_of(names))


def _cells(matrix: Any) -> tuple[Sequence[Sequence[Any]], tuple[str, ...] | None]:
    """Rows of cells, and the names of columns if they have some."""
    if isinstance(matrix, Mapping):
        columns = [list(column) for column in matrix.values()]
        require(len({*map(len, columns)}) == 1, "matrix", sorted({*map(len, columns)}), "columns of one length")
        return list(zip(*columns, strict=True)), _texts(matrix)
    if hasattr(matrix, "to_numpy") and hasattr(matrix, "columns"):
        return matrix.to_numpy().tolist(), _texts(matrix.columns)
    _check_size(np.shape(matrix) if isinstance(matrix, np.ndarray) else ())
    rows = matrix.tolist() if isinstance(matrix, np.ndarray) else matrix
    listed = isinstance(rows, Sequence) and not isinstance(rows, str) and len(rows) > 0
    hint = "For example [[0.75, 0.25], [0.25, 0.75]]: a row for each answer, a column for each output."
    require(listed, "matrix", matrix, "rows of chances", hint)
    whole = all(isinstance(row, Sequence | np.ndarray) and not isinstance(row, str) for row in rows)
    require(whole, "matrix", matrix, "rows of chances", hint)
    return rows, None


def _texts(names: Iterable[object]) -> tuple[str, ...]:
    return tuple(map(str, names))


def _check_size(shape: tuple[int, ...]) -> None:
    """Refuse what is too large before it is looked at."""
    if len(shape) == 2 and (shape[0] * shape[1] > ENTRIES_MAX or shape[0] * shape[0] * shape[1] > COMPARED):
        raise ParameterError(
            f"matrix must have at most {ENTRIES_MAX} entries, which every design carries, and {COMPARED} of them times "
            f"rows, which every device compares; got {shape[0]} x {shape[1]}.",
            "For so many answers use a mechanism whose chances follow a law: `deniable mechanisms` lists them.",
        )


def _check_shape(cells: Sequence[Sequence[Any]]) -> None:
    sizes = sorted({len(row) for row in cells})
    require(len(sizes) == 1, "matrix", InWords(f"rows of {sizes[0]} to {sizes[-1]} entries"), "rows of one length")
    _check_size((len(cells), sizes[0]))
    hint = "A row for each answer: for a yes/no question there are two of them."
    require(len(cells) >= 2, "matrix", InWords(f"{len(cells)} x {sizes[0]} entries"), "at least 2 rows", hint)
    hint = "With one output every report is the same and tells nothing."
    require(sizes[0] >= 2, "matrix", InWords(f"{len(cells)} x {sizes[0]} entries"), "at least 2 columns", hint)


def _chance(cell: Any, x: int, y: int) -> Fraction:
    """A chance, or a whole number, at its exact value."""
    try:
        plain = cell.item() if hasattr(cell, "item") else cell
        found = fraction_of(plain) if isinstance(plain, str) else None if isinstance(plain, bool) else Fraction(plain)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        found = None
    if found is None or found < 0:
        need = 'a number >= 0 or a fraction such as "1/3"'
        raise ParameterError(f"matrix[{x}][{y}] must be {need}, got {show(cell)}.")
    return found


def _divided(rows: list[list[Fraction]]) -> tuple[tuple[Fraction, ...], ...]:
    """Rows by their sums: all of them are 1, or 1 up to the rounding of floats; or one whole number."""
    sums = [sum(row, Fraction(0)) for row in rows]
    whole = all(entry.denominator == 1 for row in rows for entry in row)
    same = whole and len(set(sums)) == 1 and sums[0] > 0
    off = next((x for x, total in enumerate(sums) if abs(total - 1) > _ROUNDING), None)
    if not same and off is not None:
        turned = all(abs(sum(column, Fraction(-1))) <= _ROUNDING for column in zip(*rows, strict=True))
        hint = "Its columns do: turn it round, a row for each answer." if turned else ""
        hint = hint or "A row holds the chances of all outputs for one answer; whole numbers have one sum in all rows."
        raise ParameterError(f"matrix[{off}] must sum to 1, got {float(sums[off]):.12g}.", hint)
    return tuple(tuple(entry / total for entry in row) for row, total in zip(rows, sums, strict=True))
