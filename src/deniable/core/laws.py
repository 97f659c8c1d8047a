"""Support probabilities of the basic families: the one home of their p and q.

All are functions of w = e^-epsilon and v = 1 - e^-epsilon, given separately so that nothing cancels for small
epsilon and nothing overflows for large epsilon. They are rational functions: with floats they give the ideal
parameters, with fractions (w = 1/ratio of the integers that are sampled) the exact effective ones, with arrays a
whole family at once.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from deniable.core.support import Support

__all__ = ["epsilon_to", "hashing", "ratio_to", "response", "subset", "unary"]


def epsilon_to(epsilon: float) -> tuple[float, float]:
    """(w, v) of an ideal epsilon."""
    return math.exp(-epsilon), -math.expm1(-epsilon)


def ratio_to(ratio: Fraction) -> tuple[Fraction, Fraction]:
    """(w, v) of an exact likelihood ratio."""
    return 1 / ratio, 1 - 1 / ratio


def response(w: Any, v: Any, k: Any) -> Support[Any]:
    """Generalised randomised response: p = e/(e+k-1), q = 1/(e+k-1) [AdaptiveLDP Eq. 5]. One item per report."""
    p = 1 / (1 + (k - 1) * w)
    return Support(p, w * p, v * p, (k - 1) * w * p, (1 + (k - 2) * w) * p, p * 0, p * 0)


def subset(w: Any, v: Any, k: Any, size: Any) -> Support[Any]:
    """Subset selection of `size` out of k items: p = size e/D, D = size e + k - size [AdaptiveLDP Sec. IV-B].

    Given that the own item is in (probability p), size-1 of the k-1 others are; else size of them.
    """
    rest = k - size
    scale = size + rest * w
    p, p_not = size / scale, rest * w / scale
    q = size * ((size - 1) + rest * w) / ((k - 1) * scale)
    q_not = rest * (size + (rest - 1) * w) / ((k - 1) * scale)
    pairs = (k - 1) * (k - 2) if k > 2 else 1
    none = (p * (size - 1) * (size - 2) + p_not * size * (size - 1)) / pairs
    return Support(p, q, size * rest * v / ((k - 1) * scale), p_not, q_not, p * (size - 1) / (k - 1), none)


def unary(p: Any, p_not: Any, w: Any, v: Any) -> Support[Any]:
    """Independent bits: q = p/(e(1-p)+p), so that p(1-q)/((1-p)q) = e [AdaptiveLDP Sec. IV-C]."""
    scale = p_not + p * w
    q = p * w / scale
    return Support(p, q, p * p_not * v / scale, p_not, p_not / scale, p * q, q * q)


def hashing(w: Any, v: Any, g: Any, collision: Any = None) -> Support[Any]:
    """Local hashing into g values: p = e/(e+g-1), and q the chance 1/g of a collision [AdaptiveLDP Sec. IV-D].

    Two other items collide with the reported value independently: exact for a uniformly random function.
    """
    p = 1 / (1 + (g - 1) * w)
    q = 1 / g if collision is None else collision
    gap = (g - 1) * v * p / g if collision is None else p - q
    return Support(p, q, gap, (g - 1) * w * p, 1 - q, p * q, q * q)
