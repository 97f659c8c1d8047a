"""What reports tell, from exact numbers: how sure somebody can become, how often answers are named, in which words.

All words for people are those of `texts/english.json`, in which every sentence stands once for all clients, with places
for its parts; of two texts the first is for one (a `count` of 1), the other for several.

Whoever thought two answers equally likely, and sees reports that are at most r times as likely for one of them as for
the other, can become r/(1 + r) sure of it. The words for protection go by this share alone (`GRADES`); everything is
compared in whole numbers and rounded against us.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from pkgutil import get_data

__all__ = [
    "GRADES",
    "HARDLY_ANY",
    "Telling",
    "at_least_once",
    "certainty",
    "level",
    "number",
    "percent",
    "phrase",
    "power",
    "say",
    "sure_of",
    "times",
]

_TEXTS: Mapping[str, Mapping[str, str | list[str]]] = json.loads(
    get_data("deniable_client.texts", "english.json") or ""
)
_SENTENCES = {name: text for part in _TEXTS.values() for name, text in part.items()}


def say(name: str, /, **parts: object) -> str:
    """A sentence, or a part of one, by its name; what is filled in stays as it is.

    >>> say("days", count=1), say("days", count=7)
    ('a day', '7 days')
    """
    text = _SENTENCES[name]
    return (text if isinstance(text, str) else text[parts["count"] != 1]).format(**parts)


GRADES = tuple((Fraction(most, 1000), say(f"grade_{most}")) for most in (570, 670, 750, 900, 983))
"""Words for protection: how sure somebody at even odds can become at most, and what that is called."""

HARDLY_ANY = say("grade_1000")
"""What it is called beyond the last grade."""

_BITS = 192
"""Binary digits after the point of powers."""


@dataclass(frozen=True, slots=True)
class Telling:
    """What a number of reports tell together, each drawn anew."""

    reports: int
    ratio: Fraction
    """All of them together are at most this many times as likely for a protected answer as for another one."""
    sure: Fraction
    """How sure of a protected answer somebody can become who thought it and another one equally likely."""
    named: Fraction
    """Chance that at least one of them names an answer that is not protected; the largest there is."""
    phrase: str
    """The word for that much protection."""
    text: str

    def __str__(self) -> str:
        return self.text


# ---- numbers


def sure_of(ratio: Fraction) -> Fraction:
    """How sure somebody can become who thought two answers equally likely.

    >>> sure_of(Fraction(3))
    Fraction(3, 4)
    """
    return Fraction(ratio.numerator, ratio.numerator + ratio.denominator)


def power(ratio: Fraction, reports: int) -> Fraction:
    """The ratio of several reports; of more than one in `_BITS` binary digits after the point, rounded up.

    >>> power(Fraction(3, 2), 2)
    Fraction(9, 4)
    """
    return ratio if reports == 1 else _power(ratio, reports, up=1)


def at_least_once(chance: Fraction, reports: int) -> Fraction:
    """Chance that something happens in at least one of several reports, rounded up in the same way.

    >>> at_least_once(Fraction(1, 2), 3)
    Fraction(7, 8)
    """
    return chance if reports == 1 else 1 - _power(1 - chance, reports, up=0)


def _power(base: Fraction, exponent: int, *, up: int) -> Fraction:
    factor = ((base.numerator << _BITS) + up * (base.denominator - 1)) // base.denominator
    more = up * ((1 << _BITS) - 1)
    found = 1 << _BITS
    for digit in f"{exponent:b}":
        found = (found * found + more) >> _BITS
        if digit == "1":
            found = (found * factor + more) >> _BITS
    return Fraction(found, 1 << _BITS)


# ---- words


def phrase(sure: Fraction) -> str:
    """The word for protection that leaves somebody this sure.

    >>> phrase(Fraction(3, 4)), phrase(Fraction(99, 100))
    ('good protection', 'hardly any protection (weak)')
    """
    return next((words for most, words in GRADES if sure <= most), HARDLY_ANY)


def certainty(sure: Fraction, of: str = "one") -> str:
    """How sure of one of them, or of it, somebody can become, rounded up to a tenth of a percent.

    >>> certainty(Fraction(3, 4)), certainty(Fraction(9999, 10000), "it")
    ('at most 75.0 % sure of one of them', 'practically certain of it (more than 99.9 % sure)')
    """
    return _percentage("sure", sure, one=say(of))


def times(ratio: Fraction) -> str:
    """A ratio, rounded up to three digits, or to a power of ten if it is large.

    >>> times(Fraction(2719, 1000)), times(Fraction(10**20))
    ('2.72', '10^21')
    """
    if ratio >= 10**15:
        return f"10^{_up(ratio).bit_length() * 30103 // 100000 + 1}"
    digits = 2 if ratio < 10 else 1 if ratio < 100 else 0
    scaled = f"{_up(ratio * 10**digits)}"
    return f"{scaled[:-digits]}.{scaled[-digits:]}" if digits else scaled


def percent(chance: Fraction) -> str:
    """A chance that is less than 1, rounded up to a tenth of a percent.

    >>> percent(Fraction(1, 3)), percent(Fraction(9999, 10000))
    ('33.4 % of the cases', 'nearly all cases')
    """
    return _percentage("cases", chance)


def _percentage(name: str, share: Fraction, **parts: str) -> str:
    tenths = _up(1000 * share)
    if tenths == 1000:
        return say(f"{name}_nearly", **parts)
    return say(name, percent=f"{tenths // 10}.{tenths % 10}", **parts)


def level(epsilon: float, reports: int = 1) -> str:
    """The level of some reports together, rounded up to four digits.

    >>> level(0.1), level(0.1, 12)
    ('0.1001', '1.201')
    """
    together = Context(prec=4, rounding=ROUND_CEILING).multiply(Decimal(epsilon), Decimal(reports))
    return f"{together.normalize():f}"


def number(x: float) -> str:
    """A number in as few digits as tell it from every other one.

    >>> number(30.0), number(0.1), number(1e15 + 0.125)
    ('30', '0.1', '1000000000000000.1')
    """
    return repr(float(x) + 0.0).removesuffix(".0")


def _up(x: Fraction) -> int:
    return -(-x.numerator // x.denominator)
