"""Numbers as people write them: with points, commas or spaces, in the digits of any script; doubtful ones are asked."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

__all__ = ["Doubt", "read_number"]

_LONGEST = 40
_SAME = {"\u066b": ".", "\u066c": ",", "\u2212": "-", "\u2019": "'", "\u02bc": "'", "\uff0e": ".", "\uff0c": ","}
"""Signs that mean the same as another one: of Arabic numbers, minus, apostrophes, wide ones."""
_BLANKS = " \u00a0\u2007\u2009\u202f'"
"""What may stand between groups of digits and means nothing else."""
_GROUPED = re.compile(r"\d{1,3}(?:[,.']\d{3})+")


@dataclass(frozen=True, slots=True)
class Doubt:
    """A number that can be read in two ways."""

    text: str
    large: float
    """If the sign stands between thousands."""
    small: float
    """If it begins a fraction."""


def read_number(text: str) -> float | Doubt | None:
    """The number in a text; a `Doubt` where there are two, None where there is none.

    >>> read_number("2,000.5"), read_number("2.000,5"), read_number("\u0662\u0660\u0660\u0660"), read_number("12,5")
    (2000.5, 2000.5, 2000.0, 12.5)
    >>> read_number("1.000")
    Doubt(text='1.000', large=1000.0, small=1.0)
    >>> read_number("many") is None
    True
    """
    if len(text) > _LONGEST:
        return None
    plain = "".join(_ascii(sign) for sign in text.strip())
    sign = -1.0 if plain.startswith("-") else 1.0
    plain = plain[1:] if plain[:1] in ("+", "-") else plain
    for blank in _BLANKS:
        if blank in plain.strip():
            plain = plain.strip().replace(blank, "'")
    parts = [mark for mark in plain if mark in ".,"]
    if not re.fullmatch(r"[\d.,']*\d[\d.,']*", plain, re.ASCII):
        return None
    kinds = set(parts)
    if len(kinds) == 2 or ("'" in plain and parts):
        return _both(plain, sign)
    if "'" in plain or len(parts) > 1:
        return sign * float(re.sub("[,.']", "", plain)) if _GROUPED.fullmatch(plain) else None
    if parts and _GROUPED.fullmatch(plain) and plain[0] != "0":
        return Doubt(text.strip(), sign * float(re.sub("[,.]", "", plain)), sign * float(plain.replace(",", ".")))
    return sign * float(plain.replace(",", "."))


def _ascii(sign: str) -> str:
    """A digit of any script as ours; other signs as they are."""
    found = unicodedata.decimal(sign, None)
    return str(found) if found is not None else _SAME.get(sign, sign)


def _both(plain: str, sign: float) -> float | None:
    """A number with signs of both kinds: the last one begins the fraction, and stands once."""
    mark = max(".,", key=plain.rfind)
    whole, _, rest = plain.rpartition(mark)
    grouped = _GROUPED.fullmatch(whole) is not None and len({part for part in whole if part in ".,'"}) == 1
    return (
        sign * float(f"{re.sub('[,.]', '', whole.replace(chr(39), ''))}.{rest}") if grouped and rest.isdigit() else None
    )
