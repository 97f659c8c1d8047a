"""What a report tells about the level it was made at: largest log-ratios between two kernels, for any number of values.

Kernels of one form are compared, one for each of two levels. All quotients are taken in whole numbers and rounded up;
independent bits are maximised one by one.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from deniable_client.errors import ParameterError
from deniable_client.exact import WORD_BITS, log_upper
from deniable_client.kernels.basic import Response, Unary
from deniable_client.kernels.contract import Kernel
from deniable_client.kernels.seeded import Hashing
from deniable_client.kernels.utility import Utility

__all__ = ["add_up", "bit_ratio", "disclosure", "form_of", "other_value", "same_value"]

_WORD = 1 << WORD_BITS
_upper = lru_cache(maxsize=4096)(log_upper)
"""Levels are compared again and again, and each certified logarithm takes a tenth of a millisecond."""


def form_of(kernel: Kernel) -> tuple[object, ...]:
    """What a kernel's reports show of it: kernels of one form cannot be told apart by the form of a report."""
    if isinstance(kernel, Utility):
        beside = bool(kernel.attach)
        return Utility, kernel.k, kernel.sensitive, beside, kernel.blind, *(form_of(base) for base in kernel.base)
    return type(kernel), kernel.k, kernel.width, getattr(kernel, "g", 0)


def bit_ratio(a: int, b: int) -> float:
    """Largest log-ratio of a bit that is 1 with chance a/2**64 and one with b/2**64."""
    return _upper(max(Fraction(a, b), Fraction(_WORD - a, _WORD - b)))


def add_up(*terms: float) -> float:
    """A float at least as large as the exact sum of the terms; 0 if all of them are."""
    if not any(terms):
        return 0.0
    return math.fsum(terms) + 4 * math.ulp(max(map(abs, terms)))


def same_value(a: Kernel, b: Kernel) -> float:
    """Largest log-ratio of a report of kernel a and of kernel b for one value."""
    match a, b:
        case Utility(), Utility():
            return max(same_value(a.base[0], b.base[0]), disclosure(a, b), _hidden(a, b))
        case Unary(), Unary():
            return add_up(bit_ratio(a.keep, b.keep), (a.k - 1) * bit_ratio(a.flip, b.flip))
    own, other = _masses(a), _masses(b)
    return _upper(max(own[0] / other[0], own[1] / other[1]))


def other_value(a: Kernel, b: Kernel) -> float:
    """Largest log-ratio of a report of kernel a for one value and of kernel b for another one.

    Where values are disclosed: of reports that disclose nothing.
    """
    match a, b:
        case Utility(), Utility():
            mixed = (_against_blind(a.base[0], b), _blind_against(a, b.base[0]))
            return max(other_value(a.base[0], b.base[0]), _hidden(a, b), *mixed)
        case Unary(), Unary():
            own = (bit_ratio(a.keep, b.flip), bit_ratio(a.flip, b.keep))
            return add_up(*own, (a.k - 2) * bit_ratio(a.flip, b.flip))
    mine, its = _masses(a), _masses(b)
    third = [mine[1] / its[1]] if _answers(a) > 2 else []
    return _upper(max(mine[0] / its[1], mine[1] / its[0], *third))


# ---- harmless values


def disclosure(a: Utility, b: Utility) -> float:
    """Log-ratio of the chances that a harmless value is disclosed."""
    return _log(Fraction(a.plain, b.plain))


def _hidden(a: Utility, b: Utility) -> float:
    """Largest log-ratio of a report that hides a harmless value."""
    kept, one, two = a.kept / b.kept, a.base[0], b.base[0]
    if isinstance(one, Unary) and isinstance(two, Unary):
        return add_up(_log(kept), one.k * bit_ratio(one.flip, two.flip))
    return _log(kept)


def _against_blind(a: Kernel, b: Utility) -> float:
    """Largest log-ratio of a report of base kernel a for a sensitive value, and of b for a harmless one."""
    base = b.base[0]
    if isinstance(a, Unary) and isinstance(base, Unary):
        return add_up(bit_ratio(a.keep, base.flip), (a.k - 1) * bit_ratio(a.flip, base.flip), _log(1 / b.kept))
    return _log(max(_masses(a)) * _answers(a) / b.kept)


def _blind_against(a: Utility, b: Kernel) -> float:
    """Largest log-ratio of a report of a for a harmless value, and of base kernel b for a sensitive one."""
    base = a.base[0]
    if isinstance(base, Unary) and isinstance(b, Unary):
        return add_up(_log(a.kept), bit_ratio(base.flip, b.keep), (b.k - 1) * bit_ratio(base.flip, b.flip))
    return _log(a.kept / (min(_masses(b)) * _answers(b)))


def _log(ratio: Fraction) -> float:
    """A float that is at least ln(ratio), also below 0."""
    if ratio >= 1:
        return _upper(ratio)
    return math.nextafter(math.nextafter(-_upper(1 / ratio), math.inf), math.inf)


def _answers(kernel: Kernel) -> int:
    """How many answers there are (for hashing: given the seed); blind ones are uniform."""
    return kernel.g if isinstance(kernel, Hashing) else kernel.k


def _masses(kernel: Kernel) -> tuple[Fraction, Fraction]:
    """Probability of the own answer and of any other one (for hashing: given the seed)."""
    if not isinstance(kernel, Response | Hashing):
        raise ParameterError(f"what a {kernel.kind} kernel tells about the level is not known.")
    return Fraction(kernel.keep, _WORD), Fraction(_WORD - kernel.keep, _WORD * (_answers(kernel) - 1))
