"""The bound of a best release as a proof that travels with it: whole numbers that anybody checks.

Each row is four whole numbers. (x, z, y, a), x and z being different values, takes a from what output y may cost at z,
and gives a e^-B[x, z] of it to x, which costs no more where a channel keeps the promise. (x, x, 0, a) is the weight of
x where the bound is that of the worst value. Amounts are in units that follow from the costs: the largest one has as
many binary digits as a row (0, 0, 1, digits) says, or 50. Mathematics: docs/maths/release.md, section 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from deniable.core.types import FloatArray
from deniable.errors import FormatError
from deniable.mechanisms.optimal.release.arcs import Arcs
from deniable_client.exact import exp_bounds

__all__ = ["PROOF_MAX", "Row", "proof_of", "proved"]

Row = tuple[int, int, int, int]

PROOF_MAX = 1 << 16
"""Rows of the longest proof that a design carries."""
_DIGITS = 50
"""Binary digits of the largest cost in units, unless small budgets make amounts much larger than costs."""
_FEWEST = 16
_MOST = 1 << 53
"""Amounts are whole numbers of JSON."""
_WEIGHT, _FINE = 0, 1
"""What rows of one value are about: its weight, or the digits of all amounts."""


def proof_of(
    arcs: Arcs, multipliers: FloatArray, loss: FloatArray, weights: FloatArray, owner: Sequence[int], *, worst: bool
) -> tuple[Row, ...]:
    """The rows that say what multipliers of a programme say: hubs become pairs, and joined values one of them.

    Losses and weights have a row for each kind of people, and `owner` is the value of the programme that it hands in.
    """
    whole = [round(weight * (1 << _DIGITS)) for weight in weights.tolist()]
    found = [(x, x, _WEIGHT, weight) for x, weight in enumerate(whole if worst else ())]
    cost = np.ldexp(np.array(whole, np.float64), -_DIGITS)[:, None] * loss if worst else weights[:, None] * loss
    first = {value: x for x, value in reversed(list(enumerate(owner)))}
    amounts = [
        (first[x], first[z], y, much) for y in range(cost.shape[1]) for x, z, much in _pairs(arcs, multipliers[:, y])
    ]
    joined = [(x, first[value]) for x, value in enumerate(owner) if first[value] != x]
    amounts += [(own, x, y, float(cost[x, y])) for x, own in joined for y in range(cost.shape[1])]
    most = max((much for *_, much in amounts), default=0.0) / _unit(cost, _DIGITS)
    digits = max(_FEWEST, _DIGITS - max(0, math.frexp(most)[1] - 53))
    unit = _unit(cost, digits)
    found += [] if digits == _DIGITS else [(0, 0, _FINE, digits)]
    found += [(x, z, y, math.floor(much / unit)) for x, z, y, much in amounts]
    return tuple(row for row in found if row[3])


def _pairs(arcs: Arcs, multipliers: FloatArray) -> Iterator[tuple[int, int, float]]:
    """Pairs of values with what is taken from the second: as they are, and those that hubs stand between."""
    k, half = arcs.values, np.exp(arcs.budget / 2)
    above: dict[int, list[tuple[int, float]]] = {}
    below: dict[int, list[tuple[int, float, float]]] = {}
    for i in np.flatnonzero(multipliers > 0).tolist():
        x, z, much = int(arcs.high[i]), int(arcs.low[i]), float(multipliers[i])
        if x < k and z < k:
            yield x, z, much * float(half[i])
        elif x < k:
            above.setdefault(z, []).append((x, much * float(half[i])))
        else:
            below.setdefault(x, []).append((z, much / float(half[i]), float(half[i]) ** 2))
    for hub, into in above.items():
        yield from _matched(into, below.get(hub, []))


def _matched(
    above: Sequence[tuple[int, float]], below: Sequence[tuple[int, float, float]]
) -> Iterator[tuple[int, int, float]]:
    """What goes through a hub, from one side to the other, in turn; a value that would meet itself needs nothing."""
    left, right = [list(each) for each in above], [list(each) for each in below]
    while left and right:
        much = min(left[-1][1], right[-1][1])
        x, z = int(left[-1][0]), int(right[-1][0])
        if x != z:
            yield x, z, much * right[-1][2]
        for side in (left, right):
            side[-1][1] -= much
            if side[-1][1] <= 0:
                side.pop()


def proved(rows: Sequence[Row], loss: FloatArray, prior: FloatArray | None, budgets: FloatArray) -> float:
    """The least expected loss that a proof shows, at a prior or (None) of the worst value; `FormatError` for no proof.

    `budgets` are closed. Everything is compared in whole numbers, whoever made the rows.
    """
    k, outputs = loss.shape
    weights, total = (prior, Fraction(1)) if prior is not None else _weights(rows, k)
    cost = weights[:, None] * loss
    fine = [much for x, z, y, much in rows if x == z and y == _FINE]
    unit = _unit(cost, min([_DIGITS, *fine]))
    left = [[math.floor(c / unit) - 1 for c in line] for line in cost.tolist()]  # a product of floats is off by less
    powers: dict[float, Fraction] = {}
    for x, z, y, much in rows:
        _check_row(x, z, y, much, k, outputs, budgets)
        if x != z:
            b = float(budgets[x, z])
            power = powers.get(b) or powers.setdefault(b, exp_bounds(_above(b, k))[1])
            left[z][y] -= much
            left[x][y] += much * power.denominator // power.numerator
    return _below(Fraction(unit) * sum(map(min, left)) / total)


def _check_row(x: int, z: int, y: int, much: int, k: int, outputs: int, budgets: FloatArray) -> None:
    """`FormatError` for rows that say nothing about this channel."""
    inside = 0 <= x < k and 0 <= z < k and 0 <= y < outputs
    known = inside and (y in (_WEIGHT, _FINE) if x == z else bool(np.isfinite(budgets[x, z])))
    least = _FEWEST if x == z and y == _FINE else 0
    if not known or not least <= much <= _MOST:
        raise FormatError(
            f"a row of the certificate proves nothing: {(x, z, y, much)}.",
            "It was changed, or the promise or the losses were.",
        )


def _weights(rows: Sequence[Row], k: int) -> tuple[FloatArray, Fraction]:
    """The weights of values in the worst case, and their sum."""
    found = np.zeros(k)
    for x, z, y, much in rows:
        if x == z and y == _WEIGHT and 0 <= x < k and 0 <= much <= _MOST:
            found[x] = math.ldexp(much, -_DIGITS)
    if not found.any():
        raise FormatError("the certificate has no weights of values.", "It was changed.")
    return found, sum(map(Fraction, found.tolist()), Fraction(0))


def _unit(cost: FloatArray, digits: int) -> float:
    """The unit of amounts: a power of 2, of which the largest cost has a number with so many digits."""
    return math.ldexp(1.0, math.frexp(float(cost.max()))[1] - digits)


def _above(budget: float, k: int) -> float:
    """No less than the sum of up to k budgets that was computed in floats."""
    return math.nextafter(budget * (1 + k * 2.0**-52), math.inf) if budget else 0.0


def _below(x: Fraction) -> float:
    """A float that is no larger."""
    found = float(x)
    return found if Fraction(found) <= x else math.nextafter(found, -math.inf)
