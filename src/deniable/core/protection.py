"""Who is protected from what: the claims of each kind of promise, and the one sentence that tells them.

A mechanism says its claims (`Mechanism.protection`); commands, plans, pages and documents print `text` and nothing of
their own. `deniable.testing` holds every claim against the enumerated channel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from itertools import chain, islice
from typing import Any

from deniable.errors import require

__all__ = ["ANSWER", "ANSWERS", "NUMBER", "PAIR", "PAIRS", "VALUE", "Protection", "times", "weakest"]

ANSWER, NUMBER, VALUE, PAIR, PAIRS = "answer", "number", "value", "pair", "set of pairs"
ANSWERS = "set of answers"
"""What one person hands in."""
_PROTECTED: Mapping[str, tuple[str, str]] = {
    ANSWER: ("every answer", "for one answer as for another"),
    NUMBER: ("every number of the interval", "for one number as for another, near or far"),
    VALUE: ("every value", "for one value as for another, near or far"),
    PAIR: ("key and value together", "for one pair of key and value as for another"),
    ANSWERS: ("all answers of a person together", "for one set of answers as for another"),
    PAIRS: ("all pairs of a person together", "for one set of pairs as for another, the empty set included"),
}
"""What is protected, and between what reports are compared, by what one person hands in."""
_STEPS: Mapping[str, str] = {
    "": "",
    "one": "Everybody answers one step only. ",
    "every": "Everybody answers every step, and all reports of a person together keep the promise. ",
}
_LISTED = 6
"""Answers that are named, of those that are sensitive."""
_TOLD = 1_000_000
"""Factors up to it are written out beside e^x."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Protection:
    """The claims of a promise; `text` says all of them, rounded against us where numbers are rounded.

    >>> Protection(epsilon=1.0).text
    'Protects every answer: no report is more than e^1 = 2.72 times as likely for one answer as for another.'
    """

    epsilon: float
    """Reports that disclose nothing are at most e^epsilon times as likely for one input as for another."""
    subject: str = ANSWER
    sensitive: tuple[int, ...] | None = None
    """The answers that are never disclosed, as ends of half-open ranges; None: no answer is ever disclosed."""
    names: Sequence[str] | None = None
    """The names of all answers; numbers from 0 where there are none."""
    disclosed: Fraction = Fraction(0)
    """The largest chance that a harmless answer is disclosed."""
    budgets: tuple[float, ...] = ()
    """Of each sensitive answer, in order, where they have their own: the smaller of two counts."""
    levels: tuple[float, ...] = ()
    """What people choose from, where they do: at level L epsilon is L."""
    level: float = 0.0
    """Reports are at most e^level times as likely at one level as at another, the answer being the same."""
    pair: float = 0.0
    """Reports that disclose nothing are at most e^pair times as likely for one answer and level as for others."""
    steps: str = ""
    """Whether a person answers `one` step of several, or `every` one; nothing if there is only one."""

    def __post_init__(self) -> None:
        require(self.subject in _PROTECTED, "subject", self.subject, f"one of {', '.join(_PROTECTED)}")
        require(self.steps in _STEPS, "steps", self.steps, "one, every or nothing")

    def __repr__(self) -> str:
        return f"<Protection, {self.kind}: {self.text}>"

    @property
    def kind(self) -> str:
        """The kind of promise: LDP, ULDP, PLDP, or two of them; with `item budgets` where answers have their own."""
        words = [word for word, there in (("PLDP", self.levels), ("ULDP", self.sensitive is not None)) if there]
        return " and ".join(words or ["LDP"]) + (" with item budgets" if self.budgets else "")

    @property
    def items(self) -> Iterator[int]:
        """The numbers of the sensitive answers."""
        ends = self.sensitive or ()
        return chain.from_iterable(map(range, ends[::2], ends[1::2]))

    @property
    def text(self) -> str:
        """Who is protected from what, in a sentence or two."""
        text = _STEPS[self.steps] + (self._all() if self.sensitive is None else self._some())
        if len(self.levels) > 1:
            hidden = ", if it discloses nothing," if self.disclosed else ""
            text += (
                f" About the level: a report is at most {times(self.level)} as likely at one level as at "
                f"another, and{hidden} at most {times(self.pair)} for answer and level together."
            )
        return text

    def _all(self) -> str:
        what, between = _PROTECTED[self.subject]
        if self.levels:
            return (
                f"Protects everybody at the level they chose ({_listed(self.levels)}): at level L no report is more "
                f"than e^L times as likely {between}."
            )
        return f"Protects {what}: no report is more than {times(self.epsilon)} as likely {between}."

    def _some(self) -> str:
        if not self.sensitive:
            return "Protects nobody: no answer is sensitive, and every report discloses its answer."
        between = _PROTECTED[self.subject][1]
        chance, hidden = "", "no report is more than"
        if self.disclosed:
            chance = f" {self._chance()}"
            hidden = "they are never disclosed, and a report that discloses nothing is at most"
        if self.budgets:
            return (
                f"Protects the sensitive answers, each by its own budget ({self._by_budget()}): {hidden} e^b times as "
                f"likely {between}, b being the smaller of their budgets (harmless answers have none).{chance}"
            )
        named = f"Protects the sensitive answers ({self._named()})"
        if self.levels:
            levels = _listed(self.levels)
            return f"{named} at the level each person chose ({levels}): at level L {hidden} e^L times as likely " + (
                f"{between}.{chance}"
            )
        return f"{named}: {hidden} {times(self.epsilon)} as likely {between}.{chance}"

    def _named(self) -> str:
        return self._names(islice(self.items, _LISTED + 1))

    def _names(self, items: Iterator[int]) -> str:
        found = [str(i) if self.names is None else self.names[i] for i in islice(items, _LISTED + 1)]
        return ", ".join(found[:_LISTED]) + ", ..." * (len(found) > _LISTED)

    def _by_budget(self) -> str:
        own = list(zip(self.items, self.budgets, strict=True))
        groups = {b: [i for i, budget in own if budget == b] for b in sorted(set(self.budgets))}
        shown = [f"{b:g} for {self._names(iter(items))}" for b, items in groups.items()]
        return "; ".join(shown[:_LISTED]) + "; ..." * (len(groups) > _LISTED)

    def beside(self, lead: Protection) -> str:
        """The text beside that of another: what differs, if that is no more than the chance of a disclosure."""
        same = bool(self.disclosed) and replace(self, disclosed=lead.disclosed) == lead
        return self._chance() if same else self.text

    def _chance(self) -> str:
        return f"Harmless answers are disclosed with a chance of up to {_percent(self.disclosed)}."

    def against(self, epsilon: float) -> Protection:
        """What is claimed if the promise is this epsilon for all, and not the own one with its levels or budgets."""
        if epsilon == self.epsilon:
            return self
        return replace(self, epsilon=epsilon, levels=(), level=0.0, pair=0.0, budgets=())

    def document(self) -> dict[str, Any]:
        """As plain data: the kind, the claims that it makes, and the text."""
        found: dict[str, Any] = {"kind": self.kind, "subject": self.subject, "epsilon": self.epsilon}
        if self.sensitive is not None:
            found |= {"sensitive": list(self.sensitive), "disclosed": _up(self.disclosed)}
        if self.budgets:
            found |= {"budgets": list(self.budgets)}
        if self.levels:
            found |= {"levels": list(self.levels), "level": self.level, "pair": self.pair}
        return found | ({"steps": self.steps} if self.steps else {}) | {"text": self.text}


def weakest(claims: Sequence[Protection]) -> Protection:
    """What holds for every one of several that are of one kind: the first with the weakest numbers of all.

    >>> weakest([Protection(epsilon=1.0), Protection(epsilon=2.0)]).text
    'Protects every answer: no report is more than e^2 = 7.39 times as likely for one answer as for another.'
    """
    most = {name: max(getattr(claim, name) for claim in claims) for name in ("epsilon", "disclosed", "level", "pair")}
    return replace(claims[0], **most)


def times(log: float) -> str:
    """e^log in words, rounded up.

    >>> times(1.0), times(0.1), times(30.0)
    ('e^1 = 2.72 times', 'e^0.1 = 1.11 times', 'e^30 times')
    """
    exponent = Decimal(repr(log)).quantize(Decimal("0.001"), ROUND_CEILING).normalize()
    short, factor = f"{exponent:f}", exponent.exp() if log < 50 else Decimal("Infinity")
    return f"e^{short} = {_rounded(factor)} times" if factor < _TOLD else f"e^{short} times"


def _rounded(x: Decimal) -> str:
    """Three digits, rounded up."""
    return f"{Context(prec=3, rounding=ROUND_CEILING).plus(x).normalize():f}"


def _percent(chance: Fraction) -> str:
    return f"{_rounded(Decimal(chance.numerator) * 100 / Decimal(chance.denominator))} %"


def _up(chance: Fraction) -> float:
    near = float(chance)
    return near if near >= chance else math.nextafter(near, 2)


def _listed(numbers: Sequence[float]) -> str:
    return ", ".join(f"{x:g}" for x in numbers)
