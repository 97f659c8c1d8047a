"""The exponential mechanism, exactly: no float decides who is chosen.

A candidate is drawn uniformly and accepted with probability exp(-rate (best - utility)); the first accepted one has
probability proportional to exp(rate utility) [McSherry07]. Whether a uniform number is below exp(-x) is decided by
integers: its first 64 bits are compared with certified bounds, and with further bits and tighter bounds only where
the first ones leave it open.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from deniable.core.types import IntArray
from deniable.errors import PrivacyError, require
from deniable.kernels.sampling import below
from deniable.randomness import Stream
from deniable_client.exact import WORD, WORD_BITS, exp_bounds

__all__ = ["accepts", "choose"]

_BITS_MOST = 3 * WORD_BITS
"""Bits of the uniform number after which the bounds of e^x, 190 bits apart, can no longer decide."""
_BATCH = 64
"""Candidates that are drawn together."""
_FAR = 700
"""The largest exponent with bounds; beyond it the first words that are not 0 decide."""


def choose(stream: Stream, utilities: IntArray, rate: Fraction) -> int:
    """Index i with probability proportional to exp(rate * utilities[i]), exactly.

    With rate = epsilon / (2 sensitivity) that is epsilon-differentially private.
    """
    require(utilities.ndim == 1 and utilities.size > 0, "utilities", utilities.shape, "a list of at least one number")
    require(rate >= 0, "rate", rate, "at least 0")
    best, (top, bottom) = int(utilities.max()), rate.as_integer_ratio()
    while True:
        picks = below(stream, utilities.size, _BATCH)
        words = stream.draw(WORD_BITS, _BATCH).tolist()
        for pick, gap, word in zip(picks.tolist(), (best - utilities[picks]).tolist(), words, strict=True):
            if accepts(top * gap, bottom, word, stream):
                return int(pick)


def accepts(top: int, bottom: int, word: int, stream: Stream) -> bool:
    """True with probability exactly exp(-top/bottom); `word` holds the first 64 bits of the uniform number."""
    if top == 0:
        return True
    whole = min(top // bottom, 46)
    if word >= _thresholds(whole)[1]:
        return False
    if word < _thresholds(whole + 1)[0]:
        return True
    return _accepts_closely(Fraction(top, bottom), word, stream)


def _accepts_closely(x: Fraction, word: int, stream: Stream) -> bool:
    """The same with more bits, and bounds of e^x itself."""
    low, high = exp_bounds(x) if x <= _FAR else (exp_bounds(_FAR)[0], None)
    bits = WORD_BITS
    while bits <= _BITS_MOST:
        if word * low.numerator >= low.denominator << bits:  # the number is at least word/2^bits >= 1/low >= e^-x
            return False
        if high is not None and (word + 1) * high.numerator <= high.denominator << bits:
            return True
        word = word << WORD_BITS | int(stream.draw(WORD_BITS, 1)[0])
        bits += WORD_BITS
    raise PrivacyError(
        f"{_BITS_MOST} random bits did not decide a coin of exp(-{float(x)!r}); nothing was chosen.",
        "This is expected once in 2^180 times; run it again.",
    )


@cache
def _thresholds(whole: int) -> tuple[int, int]:
    """Integers around 2^64 exp(-whole): words below the first are surely below it, words from the second on above."""
    if whole > 45:  # e^-46 < 2^-64
        return 0, 1
    low, high = exp_bounds(float(whole))
    return int(WORD // high), -int(-WORD // low)
