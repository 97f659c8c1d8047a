"""Certified bounds of e^epsilon and the integer thresholds that stay below them.

A privacy decision is a comparison of a uniform `WORD_BITS`-bit integer with an integer threshold. Everything
here is integer or rational arithmetic on the exact value of the float that was given, so that "the likelihood
ratio is at most e^epsilon" is a proved statement about the numbers that are sampled, not about their ideals.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from numbers import Real

from deniable_client.errors import PrivacyError, require

__all__ = [
    "EPSILON_MAX",
    "EPSILON_MIN",
    "WORD",
    "WORD_BITS",
    "check_epsilon",
    "exp_bounds",
    "flip_threshold",
    "fraction_of",
    "keep_threshold",
    "keep_within",
    "log_upper",
    "two_level_lift",
    "two_level_ratio",
    "unary_ratio",
]

WORD_BITS = 64
"""Size of the random words that decide; a threshold is an integer between 0 and 2**WORD_BITS."""
WORD = 1 << WORD_BITS
"""How many such words there are."""

EPSILON_MAX = 40.0
"""Samplers refuse more: the rarer answer's probability would approach 2**-64, the least a threshold can say."""

EPSILON_MIN = 1e-12
"""Less is refused: errors would be beyond any number of people, and thresholds could not tell it from 0."""

_GUARD_BITS = 192
_WRITTEN = re.compile(r"[+-]?([0-9]+/[0-9]+|([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,3})?)", re.IGNORECASE)


def fraction_of(text: str) -> Fraction:
    """The number that a text writes: 3, 3/4, 0.75, 1e-3. `ValueError` for all else, and for exponents of four digits:
    a few bytes could write a number that no memory holds.

    >>> fraction_of("3/4"), fraction_of("1e-3")
    (Fraction(3, 4), Fraction(1, 1000))
    """
    if not _WRITTEN.fullmatch(text.strip()):
        raise ValueError("it is not written as 3, 3/4, 0.75 or 1e-3")
    return Fraction(text.strip())


def check_epsilon(epsilon: float, *, sampling: bool = False) -> float:
    """Return `epsilon` as a float after checking it (formulas: up to 700; samplers: up to `EPSILON_MAX`)."""
    number = epsilon.is_finite() if isinstance(epsilon, Decimal) else isinstance(epsilon, Real)
    ok = number and not isinstance(epsilon, bool) and 0 < epsilon < math.inf
    require(ok, "epsilon", epsilon, "a finite number > 0")
    require(
        epsilon >= EPSILON_MIN,
        "epsilon",
        epsilon,
        f"at least {EPSILON_MIN:g}",
        "With less, reports would be pure noise.",
    )
    require(epsilon <= 700, "epsilon", epsilon, "at most 700", "Beyond that e^epsilon is not a float.")
    if sampling and epsilon > EPSILON_MAX:
        raise PrivacyError(
            f"epsilon must be at most {EPSILON_MAX:g} to draw reports, got {epsilon!r}.",
            "A 64-bit threshold cannot express rarer answers; closed-form properties work up to 700.",
        )
    return float(epsilon)


@lru_cache(maxsize=4096)
def exp_bounds(x: float) -> tuple[Fraction, Fraction]:
    """Rationals (low, high) with low <= e^x <= high, for 0 <= x <= 700, about 190 bits apart from each other.

    The Taylor series in fixed point: the partial sum with terms rounded down is the lower bound; with terms
    rounded up, and the remainder bounded by twice the last term once n > 2x, it is the upper one.

    >>> low, high = exp_bounds(1.0)
    >>> low < high and float(low) == float(high) == 2.718281828459045
    True
    """
    require(0 <= x <= 700, "x", x, "between 0 and 700")
    top, bottom = Fraction(x).as_integer_ratio()
    one = 1 << (_GUARD_BITS + math.ceil(1.45 * x))
    low = high = down = up = one
    n = 0
    while n <= 2 * x or up > 1:
        n += 1
        down = down * top // (bottom * n)
        up = -(-up * top // (bottom * n))
        low += down
        high += up
    return Fraction(low, one), Fraction(high + 2 * up, one)


def log_upper(ratio: Fraction) -> float:
    """The least float found that is certainly >= ln(ratio), for ratio >= 1.

    If ratio <= e^x for some float x, the answer is at most x.
    """
    require(ratio >= 1, "ratio", ratio, "at least 1")
    excess, most = ratio - 1, exp_bounds(700.0)[0]
    if excess < Fraction(1, 1 << 100):  # ln(1 + t) <= t, and nearer to it than floats are to each other
        return float(excess) if Fraction(float(excess)) >= excess else math.nextafter(float(excess), 1.0)
    if ratio > most:
        return math.nextafter(700 + log_upper(ratio / most), math.inf)
    guess = min(math.log1p(float(excess)), 700.0)
    while exp_bounds(guess)[0] >= ratio:
        guess = math.nextafter(guess, 0.0)
    while exp_bounds(guess)[0] < ratio:
        guess = math.nextafter(guess, math.inf)
    return guess


def keep_threshold(epsilon: float, own: int, rest: int, *, bits: int = WORD_BITS) -> int:
    """Largest T such that keeping with probability T/2**bits stays within e^epsilon.

    The sampler answers uniformly among `own` favoured answers with probability T/2**bits, and uniformly among the
    `rest` otherwise, so that the likelihood ratio is `two_level_ratio(T, own, rest)`. Instances: randomised
    response (1, k-1), subset selection (size, k-size), hashing to g (1, g-1).

    >>> two_level_ratio(keep_threshold(1.0, 1, 9), 1, 9) <= exp_bounds(1.0)[0]
    True
    """
    return keep_within(exp_bounds(check_epsilon(epsilon, sampling=True))[0], own, rest, bits=bits)


def keep_within(limit: Fraction, own: int, rest: int, *, bits: int = WORD_BITS) -> int:
    """`keep_threshold` for a likelihood ratio that is given itself, e.g. one that sampling amplifies."""
    word = 1 << bits
    top, bottom = limit.as_integer_ratio()
    threshold = word * own * top // (own * top + rest * bottom)
    if not 0 < threshold < word or threshold * rest <= (word - threshold) * own:
        near = f"a likelihood ratio of {float(limit)!r}"
        raise PrivacyError(f"{near} with {own} of {own + rest} answers needs more than {bits}-bit words.")
    return threshold


def two_level_lift(keep: int, own: int, rest: int, *, bits: int = WORD_BITS) -> Fraction:
    """How many times as likely each of the own answers is as each of the rest, in `keep_threshold`'s sampler.

    Below 1 where the threshold is so low that the own answers are the rarer ones: the direction counts wherever
    likelihoods are mixed.
    """
    return Fraction(keep * rest, ((1 << bits) - keep) * own)


def two_level_ratio(keep: int, own: int, rest: int, *, bits: int = WORD_BITS) -> Fraction:
    """Exact likelihood ratio of the same sampler, at least 1: the larger of both directions."""
    lift = two_level_lift(keep, own, rest, bits=bits)
    return max(lift, 1 / lift)


def flip_threshold(epsilon: float, keep: int, *, bits: int = WORD_BITS) -> int:
    """Least U so that bits that are 1 with chance keep/2**bits (own) or U/2**bits (other) stay within e^epsilon."""
    low = exp_bounds(check_epsilon(epsilon, sampling=True))[0]
    word = 1 << bits
    top, bottom = low.as_integer_ratio()
    numerator, denominator = keep * word * bottom, top * (word - keep) + keep * bottom
    flip = -(-numerator // denominator)
    if not 0 < flip < keep:
        raise PrivacyError(f"epsilon {epsilon!r} with p = {keep / word!r} needs more than {bits}-bit words.")
    return flip


def unary_ratio(keep: int, flip: int, *, bits: int = WORD_BITS) -> Fraction:
    """Exact likelihood ratio p(1-q)/((1-p)q) of independent bits with p = keep/2**bits, q = flip/2**bits."""
    word = 1 << bits
    return Fraction(keep * (word - flip), (word - keep) * flip)
