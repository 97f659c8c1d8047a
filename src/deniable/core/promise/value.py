"""What is promised to whom: budgets between any two inputs, by classes of inputs; and how promises go together.

A channel keeps a promise B if Pr[y|x] <= e^B[x,z] Pr[y|z] for every report y and all inputs x, z. Whether it does is
decided in `deniable.core.promise.judge`, nowhere else. Mathematics: docs/maths/promise.md.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from deniable.core.domain import Domain
from deniable.core.promise.ranges import Ranges, joined, ranges_of, refined, size
from deniable.core.types import BoolArray, FloatArray, IntArray
from deniable.errors import EnumerationError, InWords, ParameterError, is_whole, require

if TYPE_CHECKING:
    from deniable.core.promise.paths import Implied

__all__ = ["LISTED", "Promise", "add_up", "few", "plain_promise"]

_MATRIX = 2048
"""Inputs of the largest matrix that is written out."""
LISTED = 6
"""Values that a sentence names."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Promise:
    """Budgets between inputs: at most e^between(x, z) times as likely for x as for z, whatever the report.

    Inputs are k values; or, where people choose `levels`, a value and a level: level * k + value. `dn.promise` makes
    promises of values, and every mechanism has its own.

    >>> p = Promise.plain(1.0, 1_000_000)
    >>> p.between(0, 999_999), p.between(7, 7)
    (1.0, 0.0)
    >>> (2 * p).between(0, 1), (p & Promise.plain(0.5, 1_000_000)).epsilon
    (2.0, 0.5)
    """

    k: int
    classes: tuple[Ranges, ...]
    """Values that are promised the same, as ranges of their numbers; every value is in one of them."""
    table: FloatArray
    """Budgets of different values by their classes (and levels: number of the level * classes + class), inf: no limit.
    On the diagonal those of two values of one class; where a class has one value only, what it was given itself."""
    strict: FloatArray | None = None
    """The same of reports that disclose nothing, where others may show a value that has no limit [ULDP Def. 3]."""
    levels: tuple[float, ...] = ()
    """What people choose from, where they do."""
    same: FloatArray | None = None
    """Budgets of one value at two levels, by its class: (classes, levels, levels)."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """What parts of a report keep on their own; these are no statements between inputs."""
    labels: Sequence[str] | None = None
    places: tuple[tuple[int, int], ...] = field(init=False)
    """Where ranges begin, in order, each with the number of its class."""

    def __post_init__(self) -> None:
        places = sorted((start, i) for i, ends in enumerate(self.classes) for start in ends[::2])
        object.__setattr__(self, "places", tuple(places))
        nodes = len(self.classes) * max(1, len(self.levels))
        shape = self.table.shape == (nodes, nodes) and (self.strict is None or self.strict.shape == (nodes, nodes))
        require(shape, "table", InWords(f"shape {self.table.shape}"), f"a budget for each two of {nodes} classes")
        wanted = (len(self.classes), len(self.levels), len(self.levels)) if self.levels else None
        given = None if self.same is None else self.same.shape
        require(given == wanted, "same", given, f"of shape {wanted}")
        below = self.strict is None or bool((self.strict <= self.table).all())
        require(below, "strict", self.strict, "no budget above those of all reports")
        for array in (self.table, self.strict, self.same):
            if array is not None:
                array.setflags(write=False)

    # ---- ways to make one

    @classmethod
    def plain(cls, epsilon: float, k: int, labels: Sequence[str] | None = None) -> Promise:
        """The same to all: `epsilon` between any two values."""
        return cls(k, ((0, k),), np.full((1, 1), float(epsilon)), labels=labels)

    @classmethod
    def by_class(
        cls,
        k: int,
        classes: Sequence[Ranges],
        budgets: Sequence[float],
        labels: Sequence[str] | None = None,
        *,
        least: bool = False,
        strict: float | None = None,
    ) -> Promise:
        """By the budget of each class, inf for harmless values: the own one, or the smaller of two (`least`).

        `strict`: reports that disclose nothing keep the smaller one in both directions, and this one between values
        that are both harmless.
        """
        own: FloatArray = np.array([b for ends, b in zip(classes, budgets, strict=True) if ends], np.float64)
        smaller = np.minimum.outer(own, own)
        table = np.where(np.isinf(own)[:, None], np.inf, smaller if least else np.tile(own[:, None], own.size))
        both = None if strict is None else np.where(np.isinf(smaller), strict, smaller)
        return cls(k, tuple(ends for ends in classes if ends), table, both, labels=labels)

    @classmethod
    def of_matrix(cls, matrix: FloatArray, labels: Sequence[str] | None = None) -> Promise:
        """From a budget for each two values; values that can be exchanged are one class."""
        k = len(matrix)
        firsts: list[int] = []
        owner = np.empty(k, np.int64)
        for x in range(k):
            found = next((i for i, y in enumerate(firsts) if _alike(matrix, x, y)), len(firsts))
            firsts += [x] if found == len(firsts) else []
            owner[x] = found
        classes = tuple(ranges_of(np.flatnonzero(owner == i)) for i in range(len(firsts)))
        table = matrix[np.ix_(firsts, firsts)].copy()
        for i, x in enumerate(firsts):
            others = np.flatnonzero(owner == i)[1:]
            table[i, i] = matrix[x, others[0]] if others.size else matrix[x][np.arange(k) != x].max()
        return cls(k, classes, table, labels=labels)

    def with_levels(self, levels: Sequence[float], level: float, pair: float) -> Promise:
        """Of values and levels: the own level where a budget is finite, `level` for one value, `pair` for the rest."""
        t = len(levels)
        table = np.kron(np.full((t, t), pair), np.where(np.isinf(self.table), np.inf, 1.0))
        strict = None if self.strict is None else np.full_like(table, pair)
        for i, epsilon in enumerate(levels):
            at = slice(i * len(self.classes), (i + 1) * len(self.classes))
            table[at, at] = np.where(np.isinf(self.table), np.inf, epsilon)
            if strict is not None:
                strict[at, at] = epsilon
        same = np.tile(np.where(np.eye(t) > 0, 0.0, level), (len(self.classes), 1, 1))
        return replace(self, table=table, strict=strict, levels=tuple(levels), same=same)

    def flat(self, epsilon: float) -> Promise:
        """The promise of one epsilon to the same values, whatever their budgets and levels were."""
        harmless = [ends for ends, free in zip(self.classes, self._harmless(), strict=True) if free]
        rest = [ends for ends, free in zip(self.classes, self._harmless(), strict=True) if not free]
        groups = [joined(rest), joined(harmless)]
        strict = None if self.strict is None else epsilon
        return Promise.by_class(self.k, groups, (epsilon, math.inf), self.labels, strict=strict)

    # ---- what it says

    @property
    def inputs(self) -> int:
        """Number of inputs."""
        return self.k * max(1, len(self.levels))

    @property
    def limits(self) -> FloatArray:
        """Budgets by classes, of reports that disclose nothing where others may."""
        return self.table if self.strict is None else self.strict

    @property
    def epsilon(self) -> float:
        """The largest finite budget between two values; 0 where nothing is limited."""
        return max(self.value_budgets, default=0.0)

    @property
    def value_budgets(self) -> set[float]:
        """The finite budgets that two different values can have, their level being the same."""
        found: set[float] = set()
        c = len(self.classes)
        lone = np.array([size(ends) == 1 for ends in self.classes])
        for i in range(max(1, len(self.levels))):
            block = self.limits[i * c : (i + 1) * c, i * c : (i + 1) * c].copy()
            block[np.diag_indices(c)] = np.where(lone, np.inf, block.diagonal())
            found |= set(np.unique(block[np.isfinite(block)]).tolist())
        return found

    @property
    def pairs_of_classes(self) -> FloatArray:
        """All budgets that two different values can have, by classes: 0 where a class has one value only."""
        found = self.limits.copy()
        alone = [size(ends) == 1 for ends in self.classes] * max(1, len(self.levels))
        np.fill_diagonal(found, np.where(alone, 0.0, found.diagonal()))
        return found

    @property
    def sensitive(self) -> Ranges | None:
        """The values that have a finite budget, None if all have."""
        free = self._harmless()
        if not any(free):
            return None
        return joined([ends for ends, harmless in zip(self.classes, free, strict=True) if not harmless])

    @property
    def own(self) -> list[float]:
        """What each class was given for itself."""
        return [float(b) for b in self.table.diagonal()[: len(self.classes)]]

    def _harmless(self) -> list[bool]:
        """Which classes have no limit at all, at any level."""
        free: BoolArray = np.isinf(self.table).all(axis=1).reshape(-1, len(self.classes))
        return [bool(column.all()) for column in free.T]

    def is_harmless(self, value: int) -> bool:
        """Whether nothing is promised to this value: a report may show it."""
        return self._harmless()[self.class_of(value)]

    def class_of(self, value: int) -> int:
        """The number of a value's class."""
        return self.places[bisect_right(self.places, (value, len(self.classes))) - 1][1]

    def between(self, likely: object, unlikely: object) -> float:
        """The budget as it was given: of reports for the first against the second; inf where there is no limit.

        Values are labels, or numbers from 0 on; where there are levels, (value, level).
        """
        return self.entry(self.table, self.number(likely), self.number(unlikely))

    def limit(self, likely: int, unlikely: int) -> float:
        """The same of two inputs by their numbers, for reports that disclose nothing."""
        return self.entry(self.limits, likely, unlikely)

    def entry(self, table: FloatArray, one: int, two: int) -> float:
        """The budget of two inputs by a table of classes."""
        (i, x), (j, z) = divmod(one, self.k), divmod(two, self.k)
        if x == z:
            return 0.0 if self.same is None else float(self.same[self.class_of(x), i, j])
        c = len(self.classes)
        return float(table[i * c + self.class_of(x), j * c + self.class_of(z)])

    def number(self, what: object) -> int:
        """The number of an input, from a label or number, or (value, level)."""
        value: Any
        value, level = what if isinstance(what, tuple) and len(what) == 2 else (what, None)
        if level is None:
            most = self.inputs - 1
        else:
            hint = "Only promises with levels have pairs of a value and a level."
            require(level in self.levels, "level", level, f"one of {few(map(str, self.levels)) or 'none'}", hint)
            most = self.k - 1
        if isinstance(value, str):
            known = self.labels or ()
            require(value in known, "value", value, f"one of {few(known)}" if known else f"from 0 to {most}")
            value = known.index(value)
        require(is_whole(value, 0, most), "value", value, f"a label, or a number from 0 to {most}")
        return int(value) + (0 if level is None else self.levels.index(level) * self.k)

    def name(self, number: int) -> str:
        """What an input is called."""
        level, value = divmod(number, self.k)
        return self.label(value) + (f" at level {self.levels[level]:g}" if len(self.levels) > 1 else "")

    def label(self, value: int) -> str:
        """What a value is called."""
        return str(value) if self.labels is None else self.labels[value]

    @property
    def budgets(self) -> FloatArray:
        """The matrix as it was given, a row for each input; `EnumerationError` where it is too large."""
        if self.inputs > _MATRIX:
            hint = "Ask between(x, z), or read classes and table."
            raise EnumerationError(f"a matrix of {self.inputs:,} inputs is too large (at most {_MATRIX:,}).", hint)
        every = list(range(self.k))
        return self.spread(every, [self.class_of(x) for x in every], self.table)

    def spread(self, values: Sequence[int], owners: Sequence[int], table: FloatArray) -> FloatArray:
        """The matrix of some values (of these classes) at all levels."""
        n, t, c = len(values), max(1, len(self.levels)), len(self.classes)
        own: IntArray = np.array(owners, np.int64)
        nodes = np.concatenate([i * c + own for i in range(t)])
        full: FloatArray = table[np.ix_(nodes, nodes)].copy()
        for i in range(t):
            for j in range(t):
                at = (np.arange(n) + i * n, np.arange(n) + j * n)
                full[at] = 0.0 if self.same is None else self.same[own, i, j]
        return full

    # ---- what follows from it

    @property
    def closed(self) -> Promise:
        """The least promise that every channel that keeps this one keeps too: budgets of shortest paths."""
        from deniable.core.promise.paths import closed

        return closed(self)

    @property
    def implied(self) -> tuple[Implied, ...]:
        """Inputs whose budgets are smaller than given, with the path that says why; one of each two classes."""
        from deniable.core.promise.paths import implied

        return implied(self)

    def merged(self) -> Promise:
        """Values that no report can tell apart (budget 0) as one value, called by all their labels."""
        from deniable.core.promise.paths import merged

        return merged(self)

    # ---- how promises go together

    def __and__(self, other: Promise) -> Promise:
        """Both promises."""
        return self._with(other, np.minimum)

    def __or__(self, other: Promise) -> Promise:
        """What is left if a public coin chooses which of the two is kept."""
        return self._with(other, np.maximum)

    def __add__(self, other: Promise) -> Promise:
        """What two reports keep together, one under each promise; the second may depend on the first."""
        return self._with(other, add_up)

    def __mul__(self, times: int) -> Promise:
        """What so many reports keep together."""
        require(is_whole(times, 1), "times", times, "a whole number >= 1")
        whole = self
        for bit in bin(times)[3:]:
            whole = whole + whole
            whole = whole + self if bit == "1" else whole
        return whole

    __rmul__ = __mul__

    def _with(self, other: Promise, op: Callable[[Any, Any], Any]) -> Promise:
        """Entry by entry, on the common refinement of the classes."""
        if not isinstance(other, Promise):
            return NotImplemented
        fits = (self.k, self.levels) == (other.k, other.levels)
        fits = fits and (self.labels == other.labels or self.labels is None or other.labels is None)
        if not fits:
            raise ParameterError(
                f"these promises are about different inputs: {self!r} and {other!r}.",
                "Promises go together if their values, labels and levels are the same.",
            )
        classes, mine, its = refined(self.classes, other.classes)
        one, two = self._on(mine), other._on(its)
        strict = None
        if self.strict is not None or other.strict is not None:
            strict = op(one.limits, two.limits)
        same = None if one.same is None or two.same is None else op(one.same, two.same)
        common = self.parts.keys() & other.parts.keys()
        parts = {**self.parts, **other.parts} | {
            name: float(op(self.parts[name], other.parts[name])) for name in common
        }
        table, labels = op(one.table, two.table), self.labels or other.labels
        if strict is not None and np.array_equal(strict, table):
            strict = None
        return Promise(self.k, classes, table, strict, self.levels, same, parts, labels)

    def _on(self, owners: Sequence[int]) -> Promise:
        """The same by other classes, each of which is a part of the class of this number; only tables are right."""
        c, t = len(self.classes), max(1, len(self.levels))
        nodes = [i * c + owner for i in range(t) for owner in owners]
        pick = np.ix_(nodes, nodes)
        strict = None if self.strict is None else self.strict[pick].copy()
        same = None if self.same is None else self.same[list(owners)]
        return replace(
            self,
            classes=tuple(self.classes[i] for i in owners),
            table=self.table[pick].copy(),
            strict=strict,
            same=same,
        )

    # ---- as text and as plain data

    def __repr__(self) -> str:
        many = f"{self.k:,} values" + f" at {len(self.levels)} levels" * bool(self.levels)
        finite = sorted(self.value_budgets)
        told = (
            "no limit" if not finite else f"{finite[0]:g}" if len(finite) == 1 else f"{finite[0]:g} to {finite[-1]:g}"
        )
        free = " and no limit for some" if finite and any(self._harmless()) else ""
        groups = f" in {len(self.classes)} classes" * (len(self.classes) > 1)
        return f"<Promise to {many}{groups}: {told}{free}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Promise) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        values = [getattr(self, f.name) for f in fields(self) if f.name not in ("parts", "labels", "places")]
        plain = (value.tobytes() if isinstance(value, np.ndarray) else value for value in values)
        return (*plain, tuple(sorted(self.parts.items())), None if self.labels is None else tuple(self.labels))

    def explain(self, value: object) -> str:
        """What somebody with this value (or value and level) is promised, in a sentence or two.

        >>> Promise.plain(1.0, 3, ("no", "yes", "often")).explain("yes")
        'Whatever is sent for yes is at most e^1 = 2.72 times as likely as for no, often, whatever is known already.'
        """
        from deniable.core.protection import explained

        return explained(self, self.number(value))

    def to_document(self) -> dict[str, Any]:
        """As plain data; what is not there is left out. `read_promise` reads it."""
        found: dict[str, Any] = {"k": self.k} if self.labels is None else {"labels": list(self.labels)}
        found |= {"classes": [list(ends) for ends in self.classes], "budgets": _plain(self.table)}
        found |= {} if self.strict is None else {"strict": _plain(self.strict)}
        if self.same is not None:
            found |= {"levels": list(self.levels), "same": [_plain(each) for each in self.same]}
        return found | ({"parts": dict(self.parts)} if self.parts else {})


# ---- budgets


def _alike(matrix: FloatArray, x: int, y: int) -> bool:
    """Whether two values can be exchanged."""
    others = np.ones(len(matrix), np.bool_)
    others[[x, y]] = False
    rows = np.array_equal(matrix[x, others], matrix[y, others]) and matrix[x, y] == matrix[y, x]
    return bool(rows and np.array_equal(matrix[others, x], matrix[others, y]))


class _Asked(Protocol):
    """What has one epsilon and a domain."""

    @property
    def epsilon(self) -> float: ...

    @property
    def domain(self) -> Domain: ...


def plain_promise(m: _Asked) -> Promise:
    """What is promised to whom, between any two inputs of the channel: here, one epsilon to all answers."""
    return Promise.plain(m.epsilon, m.domain.k, m.domain.labels)


def add_up(one: Any, two: Any) -> Any:
    """The sum of budgets, rounded up: a promise must not become smaller than what is kept."""
    with np.errstate(invalid="ignore"):
        whole = np.add(one, two)
        part = whole - one
        lost = (one - (whole - part)) + (two - part)
        return np.where(lost > 0, np.nextafter(whole, np.inf), whole)


# ---- text and plain data


def few(names: Iterable[str]) -> str:
    """The first names, and a sign if there are more."""
    found = list(islice(names, LISTED + 1))
    return ", ".join(found[:LISTED]) + ", ..." * (len(found) > LISTED)


def _plain(table: FloatArray) -> list[list[float | str]]:
    return [[b if math.isfinite(b) else "inf" for b in row] for row in table.tolist()]
