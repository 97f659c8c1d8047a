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

import numpy as np

from deniable.core.support import Support

__all__ = [
    "balanced",
    "epsilon_to",
    "hadamard",
    "hashing",
    "projective",
    "ratio_to",
    "response",
    "subset",
    "thresholded",
    "unary",
    "wheel",
]


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


def thresholded(epsilon: float, theta: Any) -> Support[Any]:
    """One-hot plus Laplace noise of scale 2/epsilon, cut at theta from 0 to 1 [AdaptiveLDP Eq. 18 and 19]."""
    own, other = epsilon * (theta - 1) / 2, -epsilon * theta / 2
    exp, expm1 = (np.exp, np.expm1) if isinstance(theta, np.ndarray) else (math.exp, math.expm1)
    p_not, q = exp(own) / 2, exp(other) / 2
    p, q_not = 1 - p_not, 1 - q
    return Support(p, q, -(expm1(own) + expm1(other)) / 2, p_not, q_not, p * q, q * q)


def hashing(w: Any, v: Any, g: Any, collision: Any = None) -> Support[Any]:
    """Local hashing into g values: p = e/(e+g-1), and q the chance 1/g of a collision [AdaptiveLDP Sec. IV-D].

    Two other items collide with the reported value independently: exact for a uniformly random function.
    """
    p = 1 / (1 + (g - 1) * w)
    q = (p * 0 + 1) / g if collision is None else collision
    gap = (g - 1) * v * p / g if collision is None else p - q
    return Support(p, q, gap, (g - 1) * w * p, 1 - q, p * q, q * q)


def balanced(w: Any, v: Any, k: Any, g: Any) -> Support[Any]:
    """A random permutation cut into g blocks of k/g items, rounded down or up, and response on the block.

    Items meet in a block with probability c (two) and c3 (three), so q = p c + r (1-c), r = (1-p)/(g-1).
    """
    p = 1 / (1 + (g - 1) * w)
    small, more = k // g, k % g
    one = Fraction(1) if isinstance(w, Fraction) else 1.0
    pairs = (g - more) * small * (small - 1) + more * (small + 1) * small
    triples = (g - more) * small * (small - 1) * (small - 2) + more * (small + 1) * small * (small - 1)
    c, c3 = one * pairs / (k * (k - 1)), one * triples / (k * (k - 1) * max(k - 2, 1))
    q = p * c + w * p * (1 - c)
    return Support(p, q, v * p * (1 - c), (g - 1) * w * p, 1 - q, p * c, p * c3 + w * p * (c - c3))


def wheel(w: Any, v: Any, arc: Any) -> Support[Any]:
    """Items at random places of a ring; the arc, a share of the ring, from the own place on is favoured by e.

    p = arc e/(arc e + 1 - arc), q = arc [Wang20, ULDP App. B]: local hashing with the real range 1/arc.
    """
    rest = 1 - arc
    scale = arc + rest * w
    p = arc / scale
    return Support(p, arc, arc * rest * v / scale, rest * w / scale, rest, p * arc, arc * arc)


def hadamard(w: Any, v: Any) -> Support[Any]:
    """Hadamard response: p = e/(e+1), q = 1/2. Pair probabilities: of three rows that do not add up to zero."""
    p = 1 / (1 + w)
    half = p * 0 + 1
    return Support(p, half / 2, v * p / 2, w * p, half / 2, p / 2, half / 4)


def projective(w: Any, v: Any, prime: int, t: int) -> Support[Any]:
    """Projective-geometry response on PG(t-1, prime), for independent triples of points.

    c of the T points are orthogonal to a point, c2 to two, c3 to three independent ones: p = c e/D and
    q = (c2 e + c - c2)/D, D = c e + T - c.
    """
    total, c, c2, c3 = (max(0, (prime**i - 1) // (prime - 1)) if i >= 0 else 0 for i in (t, t - 1, t - 2, t - 3))
    scale = c + (total - c) * w
    q = (c2 + (c - c2) * w) / scale
    q_not = ((c - c2) + (total - 2 * c + c2) * w) / scale
    none = (c3 + (c2 - c3) * w) / scale
    return Support(c / scale, q, (c - c2) * v / scale, (total - c) * w / scale, q_not, c2 / scale, none)
