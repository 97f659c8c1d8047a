"""Lower bounds of the variance that any unbiased mechanism for means has, in fractions (docs/maths/mean-optimum.md).

A certificate is a list of points x with whole numbers P >= 0, A and B. It proves (O1) for every mechanism that is
epsilon-LDP and unbiased on the interval, whatever its reports are; nobody has to trust the solver that found it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from deniable.errors import FormatError
from deniable_client.exact import exp_bounds

__all__ = ["LIMIT_ONE", "LIMIT_TWO", "Certificate", "least_at_centre", "least_worst"]

LIMIT_ONE, LIMIT_TWO = 0.712285430923659, 1.3930279723393
"""Up to where the least worst variance is (I), and (II); beyond the second (O2) is still a bound."""
_FINE = 30
"""Places are looked at in steps of 2**-30 of the half interval."""

Row = tuple[int, int, int, int, int]
"""X, D, P, A, B: the point x = X/D with its three numbers."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """Points with whole numbers that prove a bound. If `mirrored`, each of them, 0 too, counts with its mirror: -x, -B.

    >>> round(float(Certificate(((0, 1, 1, 8, 0), (1, 1, 0, -16, 16))).bound(math.log(2))), 9)
    8.0
    """

    rows: tuple[Row, ...]
    mirrored: bool = True

    def all_rows(self) -> list[Row]:
        """The points, and their mirrors where they count."""
        again = [(-X, D, P, A, -B) for X, D, P, A, B in self.rows] if self.mirrored else []
        return [*self.rows, *again]

    def bound(self, epsilon: float) -> Fraction:
        """The least mean of the variances, weighted by P, that (O1) proves at epsilon; units of the half interval.

        sum P Var >= sum (A + B x - P x^2) - max(0, max H), H(y) = sum G(g_x(y)), G(t) = max(t, e t), where
        g_x(y) = A + B y - P y^2.
        """
        rows = self.all_rows()
        weight = sum(P for _, _, P, _, _ in rows)
        if weight <= 0 or any(P < 0 or D <= 0 or abs(X) > D for X, D, P, _, _ in rows):
            told = "points from -1 to 1 with weights >= 0, not all of them 0"
            raise FormatError(f"a certificate needs {told}.", "It proves nothing as it is.")
        top, bottom = exp_bounds(epsilon)[1].as_integer_ratio()
        total = sum(A + Fraction(B * X, D) - Fraction(P * X * X, D * D) for X, D, P, A, B in rows)
        highest = _highest([(A, B, P) for _, _, P, A, B in rows], top, bottom)
        return (total - max(Fraction(0), highest)) / weight


Curve = tuple[int, int, int]
"""a + b u - p u^2."""


def _highest(curves: Sequence[Curve], top: int, bottom: int) -> Fraction:
    """An upper bound of the largest sum over the curves of max(g, e g), e = top/bottom, and the very maximum but for
    the short cells around roots where several curves change their sign.

    Between roots the sum is one concave quadratic, whose maximum is known. The curves are looked at on whole multiples
    of 2^-_FINE, so that a root lies in a cell between two of them; there either branch may hold.
    """
    one = 1 << _FINE
    fine = [(a * one * one, b * one, p) for a, b, p in curves]
    cells: dict[int, list[int]] = {}
    for i, curve in enumerate(fine):
        for cell in _roots(curve):
            cells.setdefault(cell, []).append(i)
    positive = [_far_left(curve) for curve in fine]
    sums = [0, 0, 0]
    for curve, up in zip(fine, positive, strict=True):
        _add(sums, curve, top if up else bottom)
    best, left = [Fraction(0)], None
    for cell, changing in sorted(cells.items()):
        best.append(_peak(sums, left, cell))
        best.append(_unsure(sums, [(fine[i], positive[i]) for i in changing], cell, top, bottom))
        for i in changing:
            _add(sums, fine[i], (bottom - top) if positive[i] else (top - bottom))
            positive[i] = not positive[i]
        left = cell + 1
    return max(*best, _peak(sums, left, None)) / (bottom * one * one)


def _add(sums: list[int], curve: Curve, factor: int) -> None:
    for i, coefficient in enumerate(curve):
        sums[i] += factor * coefficient


def _roots(curve: Curve) -> list[int]:
    """The cells [c, c + 1) in which a curve changes its sign; twice the same one where it is positive inside only."""
    a, b, p = curve
    if p == 0:
        return [-a // b] if b else []
    square = b * b + 4 * p * a
    if square <= 0:
        return []
    root = math.isqrt(square)
    first, last = -((root - b) // (2 * p)) - 1, (b + root) // (2 * p)
    while first < last and _at(curve, first + 1) <= 0:
        first += 1
    while last > first and _at(curve, last) <= 0:
        last -= 1
    return [first, last]


def _at(curve: Curve, u: int) -> int:
    a, b, p = curve
    return a + b * u - p * u * u


def _far_left(curve: Curve) -> bool:
    """Whether a curve is positive before its first root."""
    a, b, p = curve
    return p == 0 and (b < 0 or (b == 0 and a > 0))


def _peak(sums: Sequence[int], left: int | None, right: int | None) -> Fraction:
    """The largest value of a concave quadratic, or of a line, between two places."""
    a, b, p = sums
    if p == 0:
        return Fraction(max(a + b * end for end in (left, right) if end is not None))
    summit = Fraction(b, 2 * p)
    if left is not None:
        summit = max(summit, Fraction(left))
    if right is not None:
        summit = min(summit, Fraction(right))
    return a + b * summit - p * summit * summit


def _unsure(sums: Sequence[int], changing: Sequence[tuple[Curve, bool]], cell: int, top: int, bottom: int) -> Fraction:
    """A bound of the sum in the cell where some curves change their sign: each as large as it is anywhere there."""
    own, extra = list(sums), Fraction(0)
    for curve, up in changing:
        if up:
            _add(own, curve, bottom - top)
        extra += (top - bottom) * max(Fraction(0), _peak(curve, cell, cell + 1))
    return _peak(own, cell, cell + 1) + extra


# ---- closed forms


def least_worst(epsilon: float) -> float:
    """The least worst variance of any unbiased epsilon-LDP mechanism on [-1, 1]: (I), (II), beyond them a bound (O2).

    >>> round(least_worst(0.5), 6), round(least_worst(1.0), 6)
    (16.0028, 3.990666)
    """
    if epsilon <= LIMIT_ONE:
        tau = math.tanh(epsilon / 2)
        return 1 / (tau * math.tanh(tau)) - 1
    e = math.exp(epsilon)
    if epsilon > 30:
        return 0.0
    core = e - (e + 1) * math.log1p(2 / e) / 2
    return max(0.0, (e * (e + 2) / core - (e - 2)) / (e - 1))


def least_at_centre(epsilon: float) -> float:
    """The least variance at the middle of [-1, 1] that any unbiased epsilon-LDP mechanism has there.

    >>> least_at_centre(math.log(2))
    8.0
    """
    e = math.exp(epsilon)
    return min(4 * e, 2 * (e + 2)) / math.expm1(epsilon) ** 2
