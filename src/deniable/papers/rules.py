"""How a claim is decided: by a rule over what is measured, written down before anything is measured.

A rule is data: what must be true of the measured numbers if the statement holds as printed, and what must be true if
the correction holds that is given instead. `decide` is the one function that makes a verdict of a rule and of numbers;
no claim has another way to one. Numbers that were drawn have standard errors (`evidence.Sampled`), and a comparison of
one is decided only beyond what chance explains.
"""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from deniable.errors import ParameterError, require
from deniable.papers.evidence import Evidence, Plain, Sampled, as_plain

__all__ = [
    "ALPHA",
    "EXACT",
    "VERDICTS",
    "Condition",
    "Rule",
    "Value",
    "Verdict",
    "decide",
    "read_rule",
]

VERDICTS = ("reproduced", "corrected", "refuted", "not tested")
"""It holds; it does not, but what holds instead is known and was checked; it does not; nothing is known."""

EXACT = 1e-9
"""Relative deviation up to which two formulas count as the same; rounding of floats stays far below."""

ALPHA = 1e-3
"""Chance that numbers that were drawn decide a claim wrongly, over all comparisons of the claim together."""

Value: TypeAlias = str | int | float | Mapping[str, str | int | float]
"""What a paper says: a text, a number, or numbers by name."""

_RELATIONS: Mapping[str, tuple[Callable[[float, float], bool], str]] = {
    "<": (operator.lt, "is below"),
    "<=": (operator.le, "is at most"),
    ">": (operator.gt, "is above"),
    ">=": (operator.ge, "is at least"),
    "==": (operator.eq, "is"),
    "!=": (operator.ne, "is not"),
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check found. Everything but `reproduced` says in `note` why."""

    verdict: str
    measured: Plain | None = None
    note: str = ""

    def __post_init__(self) -> None:
        require(self.verdict in VERDICTS, "verdict", self.verdict, f"one of {', '.join(VERDICTS)}")
        explained = self.verdict == "reproduced" or bool(self.note)
        require(explained, "note", self.note, f"given, because the verdict is {self.verdict}")
        known = self.measured is not None or self.verdict == "not tested"
        require(known, "measured", self.measured, "given if it was tested")
        try:
            json.dumps(self.measured, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"measured must be text, finite numbers, or a mapping of them: {error}.") from error


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that is true of measured numbers, or not.

    `quantity` is the name of a number; with a star it stands for all whose names fit, and the condition must be true of
    each. The bound is a number, or the name of another quantity, in which a star stands for the same text.
    """

    quantity: str
    relation: str
    bound: float | str
    noisy: bool = False
    """Whether the number was drawn, so that there is a standard error of it."""

    def __post_init__(self) -> None:
        require(self.relation in _RELATIONS, "relation", self.relation, f"one of {', '.join(_RELATIONS)}")
        ok = not self.noisy or (self.relation[0] in "<>" and not isinstance(self.bound, str))
        require(ok, "noisy", self.noisy, "given for <, <=, > and >= with a number only")

    def __str__(self) -> str:
        name = f"every '{self.quantity}'" if "*" in self.quantity else f"'{self.quantity}'"
        bound = f"'{self.bound}'" if isinstance(self.bound, str) else f"{self.bound:g}"
        return f"{name} {self._says()} {bound}{' beyond chance' if self.noisy else ''}"

    def _says(self) -> str:
        """The relation in words; of numbers that were drawn, "not above" is all that can be seen of "at most"."""
        weak = {"<=": "is not above", ">=": "is not below"} if self.noisy else {}
        return weak.get(self.relation, _RELATIONS[self.relation][1])

    def names(self, evidence: Evidence) -> dict[str, str | float]:
        """The quantities that are compared, each with its bound: a number, or the name of another quantity."""
        pattern = re.compile(re.escape(self.quantity).replace(r"\*", "(.+)"))
        fits = {name: found for name in evidence if (found := pattern.fullmatch(name))}
        names = {
            name: self.bound.replace("*", found.group(1))
            if isinstance(self.bound, str) and found.groups()
            else self.bound
            for name, found in fits.items()
        }
        require(bool(names), "measured", ", ".join(evidence), f"numbers that have '{self.quantity}' among them")
        return names

    def state(self, evidence: Evidence, margin: float) -> bool | None:
        """Whether it is true of all these numbers; None if it is false of none, but chance may explain some.

        `margin` is how many standard errors chance explains.
        """
        states = [self._one(evidence, name, bound, margin) for name, bound in self.names(evidence).items()]
        return False if False in states else None if None in states else True

    def _one(self, evidence: Evidence, name: str, bound: str | float, margin: float) -> bool | None:
        limit = _number(evidence, bound) if isinstance(bound, str) else bound
        value = _number(evidence, name)
        if not self.noisy:
            return _RELATIONS[self.relation][0](value, limit)
        away = (value - limit) * (1 if self.relation.startswith(">") else -1)
        reach = margin * _error(evidence, name)
        if self.relation.endswith("="):
            return not away < -reach
        return True if away > reach else False if away < -reach else None

    def faults(self, evidence: Evidence, margin: float, most: int = 3) -> str:
        """The numbers of which it is not true, the first ones by name."""
        seen = [
            f"'{name}' is {_number(evidence, name):.4g}"
            for name, bound in self.names(evidence).items()
            if self._one(evidence, name, bound, margin) is not True
        ]
        return ", ".join(seen[:most]) + (f" and {len(seen) - most} more" if len(seen) > most else "")


def _number(evidence: Evidence, name: str) -> float:
    found = evidence.get(name)
    value = found.value if isinstance(found, Sampled) else found
    if not isinstance(value, (int, float)):
        raise ParameterError(f"measured must have the number '{name}', got {', '.join(evidence)}.")
    return value


def _error(evidence: Evidence, name: str) -> float:
    found = evidence.get(name)
    if not isinstance(found, Sampled):
        raise ParameterError(f"measured must have '{name}' with a standard error, got {found!r}.")
    return found.error


@dataclass(frozen=True, slots=True)
class Rule:
    """When a statement counts as reproduced, and when as corrected; else it is refuted.

    Where it does not hold as printed and chance may explain what was measured of the correction, nothing is decided.

    `alpha` is the chance that a statement which holds is not reproduced because of what was drawn: 0 where nothing is.
    """

    holds: tuple[Condition, ...]
    """True of what is measured if the statement holds as printed."""
    instead: tuple[Condition, ...] = ()
    """True if the correction holds; without any there is none."""
    why: str = ""
    """What is wrong, and what holds instead."""
    note: str = ""
    """What is said whatever the verdict is."""
    alpha: float = 0.0

    def __post_init__(self) -> None:
        require(bool(self.holds), "holds", self.holds, "at least one condition")
        noisy = any(condition.noisy for condition in self.conditions)
        require(not noisy or self.alpha > 0, "alpha", self.alpha, "above 0 where numbers are drawn")
        require(bool(self.why or not self.instead), "why", self.why, "given: it says what holds instead")

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """All of them."""
        return self.holds + self.instead

    def __str__(self) -> str:
        told = f"reproduced if {' and '.join(map(str, self.holds))}"
        if self.instead:
            told += f"; else corrected if {' and '.join(map(str, self.instead))}"
        return told


def read_rule(told: Mapping[str, Any]) -> Rule:
    """A rule as it is written down: a condition has a quantity, a relation, a bound and, if it was drawn, chance.

    >>> str(read_rule({"holds": [["lost", "==", 0], ["gain, *", ">", 0.1, "beyond chance"]]}))
    "reproduced if 'lost' is 0 and every 'gain, *' is above 0.1 beyond chance"
    """
    holds, instead = (tuple(_condition(*given) for given in told.get(key, ())) for key in ("holds", "instead"))
    drawn = any(condition.noisy for condition in holds + instead)
    return Rule(**{"alpha": ALPHA if drawn else 0.0, **told, "holds": holds, "instead": instead})


def _condition(quantity: str, relation: str, bound: float | str, chance: str = "") -> Condition:
    require(chance in ("", "beyond chance"), "chance", chance, "'beyond chance', or left out")
    return Condition(quantity, relation, bound, noisy=bool(chance))


def decide(rule: Rule, evidence: Evidence) -> Verdict:
    """The verdict that follows from a rule and from what was measured: the only place where one is made."""
    margin, measured = _margin(rule, evidence), as_plain(evidence)
    printed = _all(condition.state(evidence, margin) for condition in rule.holds)

    def _faults(conditions: tuple[Condition, ...]) -> str:
        return "; ".join(filter(None, (condition.faults(evidence, margin) for condition in conditions)))

    if printed is None:
        return Verdict(
            "not tested", measured, _told(f"not decided, as chance may explain: {_faults(rule.holds)}", rule.note)
        )
    if printed:
        return Verdict("reproduced", measured, rule.note)
    if not rule.instead:
        return Verdict("refuted", measured, _told(rule.why or _faults(rule.holds), rule.note))
    instead = _all(condition.state(evidence, margin) for condition in rule.instead)
    if instead:
        return Verdict("corrected", measured, _told(rule.why, rule.note))
    if instead is None:
        told = f"not decided, as chance may explain: {_faults(rule.instead)}"
        return Verdict("not tested", measured, _told(f"{told}; not as printed: {_faults(rule.holds)}", rule.note))
    told = f"not even what is given instead holds: {_faults(rule.instead)}"
    return Verdict("refuted", measured, _told(_faults(rule.holds), told, rule.note))


def _all(states: Iterable[bool | None]) -> bool | None:
    """Three values: false if any is, else unknown if any is."""
    seen = list(states)
    return False if False in seen else None if None in seen else True


def _told(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _margin(rule: Rule, evidence: Evidence) -> float:
    """Standard errors that chance explains: by Student's law of the runs, all comparisons of the rule together.

    One that is asked for by the statement and by its correction is one comparison.
    """
    noisy = [c for c in rule.conditions if c.noisy]
    compared = len({(name, c.relation, bound) for c in noisy for name, bound in c.names(evidence).items()})
    if not compared:
        return 0.0
    from scipy.stats import norm, t

    chance, runs = rule.alpha / compared, evidence.get("runs")
    if runs is None:
        return float(norm.isf(chance))
    runs = _number(evidence, "runs")
    return float(t.isf(chance, runs - 1)) if runs > 1 else math.inf
