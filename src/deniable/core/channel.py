"""Exact channels: every output's likelihood as integers, the worst ratio and who attains it, the best guess."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Integral
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from deniable.core.support import Support
from deniable.core.types import FloatArray
from deniable.errors import ParameterError, require
from deniable_client.exact import fraction_of, log_upper

__all__ = ["Chances", "Channel", "Proof", "Witness"]

_FEW = 4
"""Outputs that `repr` names."""
_ROUNDING = Fraction(1, 10**6)
"""How far from 1 probabilities that were rounded may sum."""


class Chances(NamedTuple):
    """A matrix of chances as somebody wrote it down: nothing in it is checked yet."""

    rows: Any
    """A row for each answer, a column for each output."""
    outputs: tuple[str, ...] | None = None
    """The names of the columns, if they have some."""
    labels: tuple[str, ...] | None = None
    """The answers, if they stood beside the rows."""


@dataclass(frozen=True, slots=True)
class Witness:
    """An output and two inputs that attain a likelihood ratio."""

    output: str
    likely: int
    unlikely: int

    def __str__(self) -> str:
        return f"Pr[{self.output} | value {self.likely}] against Pr[{self.output} | value {self.unlikely}]"


@dataclass(frozen=True, slots=True)
class Proof:
    """An exact largest likelihood ratio, and why it is the largest. `ratio` None means infinite."""

    ratio: Fraction | None
    method: str
    argument: str
    witness: Witness
    ratios: tuple[tuple[Fraction | None, Witness], ...] = ()
    """The largest ones of inputs that are promised less than others, each with two of them; inputs are numbered as in
    the promise."""
    parts: tuple[tuple[str, Fraction], ...] = ()
    """The largest ones of parts of a report, by the names that the promise has for them."""

    @property
    def epsilon(self) -> float:
        """ln(ratio), rounded up to a float."""
        return math.inf if self.ratio is None else log_upper(self.ratio)


@dataclass(frozen=True, slots=True, repr=False)
class Channel:
    """A channel with few outputs, in whole numbers: Pr[output o | value x] = weights[o][x] / total.

    `supported[o]` is the set of items that output o supports, for mechanisms that have one. `harmless` are the inputs
    that need no protection, and `disclosing` the outputs that are allowed to give one of them away: then `proof` is
    about utility-optimised local privacy [ULDP Def. 3].

    >>> coin = Channel(("heads", "tails"), ((3, 1), (1, 3)), 4)
    >>> proof = coin.proof()
    >>> proof.ratio, str(proof.witness)
    (Fraction(3, 1), 'Pr[heads | value 0] against Pr[heads | value 1]')
    >>> coin.asr()
    Fraction(3, 4)
    """

    outputs: tuple[str, ...]
    weights: tuple[tuple[int, ...], ...]
    total: int
    supported: tuple[frozenset[int], ...] | None = field(default=None)
    harmless: frozenset[int] = frozenset()
    disclosing: frozenset[int] = frozenset()
    strata: tuple[int, ...] = ()
    """The stratum that each output is counted in: the first unless told."""
    unlimited: frozenset[tuple[int, int]] = frozenset()
    """Pairs of inputs (x, z) with no limit: how much likelier an output is for x than for z is not looked at."""

    def __post_init__(self) -> None:
        require(len(self.weights) == len(self.outputs) > 0, "weights", len(self.weights), "one row per output")
        sizes = {len(row) for row in self.weights}
        require(len(sizes) == 1, "weights", sorted(sizes), "rows of one length")
        rows = (*self.weights, (self.total,))
        odd = [
            row for row in rows if not all(issubclass(kind, Integral) for kind in set(map(type, row))) or min(row) < 0
        ]
        hint = "No float decides: Channel.from_matrix takes probabilities, as fractions or floats."
        require(not odd, "weights and total", odd and odd[0], "whole numbers >= 0", hint)
        sums = [sum(column) for column in zip(*self.weights, strict=True)]
        wrong = [x for x, s in enumerate(sums) if s != self.total]
        if wrong:
            raise ParameterError(
                f"the weights of value {wrong[0]} sum to {sums[wrong[0]]}, not to the total {self.total}.",
                "A channel has a row for each output and a column for each value; every column sums to `total`.",
            )

    def __repr__(self) -> str:
        shown = ", ".join(self.outputs[:_FEW]) + ", ..." * (len(self.outputs) > _FEW)
        return f"<Channel of {self.k:,} values to {len(self.outputs):,} outputs: {shown}>"

    @classmethod
    def from_matrix(cls, matrix: Sequence[Sequence[float | Fraction]], outputs: Sequence[str] = ()) -> Channel:
        """From rows Pr[. | value x] of exact fractions, or floats taken at their exact value and normalised by row.

        Floats rarely sum to exactly 1; dividing each row by its own exact sum makes them a channel. The division is
        part of what is then proved.
        """
        rows = [[_fraction(v) for v in row] for row in matrix]
        require(len({len(row) for row in rows}) == 1 and len(rows[0]) > 0, "matrix", matrix, "rows of one length")
        off = next((x for x, row in enumerate(rows) if abs(sum(row, Fraction(-1))) > _ROUNDING), None)
        if off is not None:
            raise ParameterError(
                f"the probabilities given value {off} sum to {float(sum(rows[off])):g}, not to 1.",
                "A matrix has a row for each value and a column for each output; turn it round if yours has not.",
            )
        rows = [[v / sum(row) for v in row] for row in rows]
        total = math.lcm(*(v.denominator for row in rows for v in row))
        weights = tuple(tuple(int(row[o] * total) for row in rows) for o in range(len(rows[0])))
        return cls(tuple(outputs) or tuple(map(str, range(len(weights)))), weights, total)

    @property
    def k(self) -> int:
        """Number of inputs."""
        return len(self.weights[0])

    def proof(self) -> Proof:
        """The largest likelihood ratio over all outputs and pairs of inputs, by looking at them all.

        An output that discloses counts as a breach, unless exactly one input can lead to it, and a harmless one.
        """
        best: tuple[Fraction | None, int, tuple[int, int]] = (Fraction(1), 0, (0, 0))
        groups = self._groups()
        for o, row in enumerate(self.weights):
            if self._discloses_well(o):
                continue
            for inputs, others in groups:
                x, z = max(inputs, key=row.__getitem__), min(others, key=row.__getitem__)
                if row[x] == 0 or best[0] is None:
                    continue
                ratio = Fraction(row[x], row[z]) if row[z] else None
                if ratio is None or ratio > best[0]:
                    best = (ratio, o, (x, z))
        ratio, o, (x, z) = best
        witness = Witness(self.outputs[o], x, z)
        pairs = self.k * (self.k - 1) - len(self.unlimited)
        text = f"all {len(self.outputs)} outputs and {pairs} ordered pairs of values were compared"
        if self.disclosing:
            text += f"; {len(self.disclosing)} of the outputs disclose a harmless value, each of them just one"
        return Proof(ratio, "enumeration", text, witness)

    def _groups(self) -> list[tuple[Sequence[int], Sequence[int]]]:
        """Inputs that something is promised to against the same ones, with these; themselves are among them."""
        if not self.unlimited:
            return [(range(self.k), range(self.k))]
        found: dict[tuple[int, ...], list[int]] = {}
        for x in range(self.k):
            others = tuple(z for z in range(self.k) if (x, z) not in self.unlimited)
            found.setdefault(others, []).append(x)
        return [(inputs, others) for others, inputs in found.items()]

    def _discloses_well(self, o: int) -> bool:
        """Whether output o is one that may disclose, and only one input, a harmless one, leads to it."""
        if o not in self.disclosing:
            return False
        senders = [x for x, weight in enumerate(self.weights[o]) if weight]
        return len(senders) == 1 and senders[0] in self.harmless

    def asr(self, prior: Sequence[Fraction] | None = None) -> Fraction:
        """Success of the best guess of the value from the report, under a prior (uniform unless given)."""
        weight = prior or [Fraction(1, self.k)] * self.k
        require(len(weight) == self.k and sum(weight) == 1, "prior", prior, f"{self.k} fractions that sum to 1")
        scale = math.lcm(*(w.denominator for w in weight))
        whole = [int(w * scale) for w in weight]
        return Fraction(sum(max(map(mul, whole, row)) for row in self.weights), scale * self.total)

    def matrix(self) -> FloatArray:
        """Pr[output | value] as floats, one row per value."""
        return np.array([[row[x] / self.total for row in self.weights] for x in range(self.k)])

    def support(self) -> Support[Fraction]:
        """The exact support probabilities; an error where they are not the same for all items (not pure)."""
        if self.supported is None:
            raise ParameterError("this channel does not say which items its outputs support.")
        chance = [[self._mass(x, {i}) for i in range(self.k)] for x in range(self.k)]
        p = _only("p", {chance[x][x] for x in range(self.k)})
        q = _only("q", {chance[x][i] for x in range(self.k) for i in range(self.k) if i != x})
        others = [(x, i, j) for x in range(self.k) for i in range(self.k) for j in range(i) if j != i]
        one = _only("both_one", {self._mass(x, {i, j}) for x, i, j in others if x in (i, j)})
        none = {self._mass(x, {i, j}) for x, i, j in others if x not in (i, j)} or {Fraction(0)}
        return Support(p, q, p - q, 1 - p, 1 - q, one, _only("both_none", none))

    def _mass(self, x: int, items: set[int]) -> Fraction:
        assert self.supported is not None
        hits = (row[x] for row, supported in zip(self.weights, self.supported, strict=True) if items <= supported)
        return Fraction(sum(hits), self.total)


def _fraction(given: float | Fraction) -> Fraction:
    """A probability at its exact value."""
    try:
        return fraction_of(given) if isinstance(given, str) else Fraction(given)
    except (TypeError, ValueError, OverflowError):
        hint = "For example Channel.from_matrix([[0.75, 0.25], [0.25, 0.75]])."
        raise ParameterError(f"matrix must be rows of probabilities, got {given!r}.", hint) from None


def _only(name: str, values: set[Fraction]) -> Fraction:
    if len(values) != 1:
        raise ParameterError(f"{name} is not the same for all items: from {min(values)} to {max(values)}.")
    return next(iter(values))
