"""Who is protected from what: promises in words, one sentence for each kind.

A mechanism says its promise (`Mechanism.promise`, in words `protection`); commands, plans, pages and documents print
`text` and nothing of their own. `deniable.testing` holds every number against the enumerated channel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import reduce
from itertools import islice
from operator import or_
from typing import Any

import numpy as np

from deniable.core.promise import Promise
from deniable.core.promise.ranges import Ranges, members
from deniable.core.promise.value import LISTED, few
from deniable.core.types import FloatArray
from deniable.errors import require

__all__ = ["ANSWER", "ANSWERS", "NUMBER", "PAIR", "PAIRS", "VALUE", "Protection", "explained", "times", "weakest"]

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
_LOOKED_AT = 600
"""Answers that are compared two by two to name those without a limit."""
_TOLD = 1_000_000
"""Factors up to it are written out beside e^x."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Protection:
    """A promise in words; `text` says all of it, rounded against us where numbers are rounded.

    >>> Protection(promise=Promise.plain(1.0, 4), epsilon=1.0).text
    'Protects every answer: no report is more than e^1 = 2.72 times as likely for one answer as for another.'
    """

    promise: Promise
    epsilon: float
    """Reports that disclose nothing are at most e^epsilon times as likely for one input as for another."""
    subject: str = ANSWER
    disclosed: Fraction = Fraction(0)
    """The largest chance that a harmless answer is disclosed."""
    itemised: bool = False
    """Sensitive answers are told one by one, with the budgets that they have of their own."""
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
        if self.between:
            return "LDP with budgets between answers"
        words = [word for word, there in (("PLDP", self.levels), ("ULDP", self.sensitive is not None)) if there]
        return " and ".join(words or ["LDP"]) + (" with item budgets" if self.budgets else "")

    @property
    def between(self) -> bool:
        """Whether budgets are those of two answers each, whichever they are: neither one for all nor one of each."""
        if self.levels or self.itemised or self.promise.strict is not None:
            return False
        return len(self.promise.value_budgets) > 1 or bool(np.isinf(self.promise.pairs_of_classes).any())

    @property
    def sensitive(self) -> Ranges | None:
        """The answers that are never disclosed, as ends of half-open ranges; None: no answer is ever disclosed."""
        found = self.promise.sensitive
        return (0, self.promise.k) if found is None and self.itemised else found

    @property
    def items(self) -> Iterator[int]:
        """The numbers of the sensitive answers."""
        return members(self.sensitive or ())

    @property
    def budgets(self) -> tuple[float, ...]:
        """Of each sensitive answer, in order, where they have their own: the smaller of two counts."""
        if not self.itemised:
            return ()
        own = {x: b for ends, b in zip(self.promise.classes, self.promise.own, strict=True) for x in members(ends)}
        return tuple(own[x] for x in self.items)

    @property
    def levels(self) -> tuple[float, ...]:
        """What people choose from, where they do: at level L epsilon is L."""
        return self.promise.levels

    @property
    def level(self) -> float:
        """Reports are at most e^level times as likely at one level as at another, the answer being the same."""
        return 0.0 if self.promise.same is None else float(self.promise.same.max())

    @property
    def pair(self) -> float:
        """Reports that disclose nothing are at most e^pair times as likely for one answer and level as for others."""
        several = len(self.levels) > 1
        return float(self.promise.limits[0, len(self.promise.classes)]) if several else sum(self.levels)

    @property
    def text(self) -> str:
        """Who is protected from what, in a sentence or two."""
        told = self._between() if self.between else self._all() if self.sensitive is None else self._some()
        text = _STEPS[self.steps] + told
        if len(self.levels) > 1 and math.isinf(self.level):
            text += " About the level: everybody sees it, nothing is promised; it must not be chosen by the answer."
        elif len(self.levels) > 1:
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

    def _between(self) -> str:
        closed = self.promise.closed  # what follows from budgets is promised too
        finite = sorted(closed.value_budgets)
        if not finite:
            return "Protects nobody: there is no limit between any two answers."
        most = times(finite[-1]) if len(finite) == 1 else f"{times(finite[0])} to {times(finite[-1])}"
        text = (
            f"Protects answers by the budget between each two of them: no report is more than {most} as likely for one "
            "as for another that it has a limit against."
        )
        free = [x for x in range(closed.k) if np.isinf(closed.budgets[x]).any()] if self._few else []
        if np.isinf(closed.pairs_of_classes).any():
            named = f" ({self._names(iter(free))})" if free else ""
            text += f" Answers without a limit against some others{named} may be told from these for certain."
        return f"{text} {self._chance()}" if self.disclosed else text

    @property
    def _few(self) -> bool:
        """Whether the answers are few enough to look at each two of them."""
        return self.promise.k <= _LOOKED_AT

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
        named = f"Protects the sensitive answers ({self._names(self.items)})"
        if self.levels:
            levels = _listed(self.levels)
            return f"{named} at the level each person chose ({levels}): at level L {hidden} e^L times as likely " + (
                f"{between}.{chance}"
            )
        return f"{named}: {hidden} {times(self.epsilon)} as likely {between}.{chance}"

    def _names(self, items: Iterator[int]) -> str:
        return few(map(self.promise.label, items))

    def _by_budget(self) -> str:
        own = list(zip(self.items, self.budgets, strict=True))
        groups = {b: [i for i, budget in own if budget == b] for b in sorted(set(self.budgets))}
        shown = [f"{b:g} for {self._names(iter(items))}" for b, items in groups.items()]
        return "; ".join(shown[:LISTED]) + "; ..." * (len(groups) > LISTED)

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
        return replace(self, epsilon=epsilon, promise=self.promise.flat(epsilon), itemised=False)

    def same_but(self, other: Protection) -> bool:
        """Whether another promise is of the same kind to the same answers, whatever its epsilon is.

        Numbers of an interval may be points of grids that are not equally fine.
        """
        if self.kind == other.kind == "LDP":
            return (self.subject, self.steps) == (other.subject, other.steps)
        plain = not (self.levels or self.itemised)
        return (self.against(other.epsilon) if plain else replace(self, epsilon=other.epsilon)) == other

    def document(self) -> dict[str, Any]:
        """As plain data: the kind, the claims that it makes, and the text; None where there is no limit."""
        found: dict[str, Any] = {"kind": self.kind, "subject": self.subject, "epsilon": self.epsilon}
        if self.sensitive is not None:
            found |= {"sensitive": list(self.sensitive), "disclosed": _up(self.disclosed)}
        if self.budgets:
            found |= {"budgets": list(self.budgets)}
        if self.levels:
            limits = {"level": self.level, "pair": self.pair}
            found |= {"levels": list(self.levels)} | {name: None if math.isinf(x) else x for name, x in limits.items()}
        return found | ({"steps": self.steps} if self.steps else {}) | {"text": self.text}


def weakest(claims: Sequence[Protection]) -> Protection:
    """What holds for every one of several that are of one kind: the first with the weakest numbers of all.

    >>> weakest([Protection(promise=Promise.plain(b, 4), epsilon=b) for b in (1.0, 2.0)]).text
    'Protects every answer: no report is more than e^2 = 7.39 times as likely for one answer as for another.'
    """
    most = {name: max(getattr(claim, name) for claim in claims) for name in ("epsilon", "disclosed")}
    found = max(claims, key=lambda claim: claim.epsilon).promise
    if claims[0].kind != "LDP":
        found = reduce(or_, (claim.promise for claim in claims))
    return replace(claims[0], promise=found, **most)


def explained(promise: Promise, number: int) -> str:
    """What is promised to an input, in a sentence or two: see `Promise.explain`."""
    closed, own = promise.closed, promise.name(number)
    groups = _against(closed, number, closed.table)
    finite = [f"at most {times(b)} as likely as for {names}" for b, names in groups if math.isfinite(b)]
    free = [names for b, names in groups if not math.isfinite(b)]
    text = f"Whatever is sent for {own} is {'; '.join(finite)}, whatever is known already." if finite else ""
    text += f" Against {free[0]} nothing is promised: a report may show that it was {own}." if free else ""
    if closed.strict is not None and free:
        hidden = _against(closed, number, closed.strict)
        told = "; ".join(f"at most {times(b)} as likely as for {names}" for b, names in hidden)
        text += f" A report that discloses nothing is {told}."
    return text.strip()


def _against(promise: Promise, number: int, table: FloatArray) -> list[tuple[float, str]]:
    """The other inputs by their budget, the smallest first, and what they are called; a few of each class."""
    found: dict[float, list[int]] = {}
    value, k = number % promise.k, promise.k
    for level in range(promise.inputs // k):
        some = [islice((x for x in members(ends) if x != value), LISTED + 1) for ends in promise.classes]
        for other in (level * k + x for x in sorted({value}.union(*some))):
            if other != number:
                found.setdefault(promise.entry(table, number, other), []).append(other)
    return [(b, few(map(promise.name, found[b]))) for b in sorted(found)]


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
