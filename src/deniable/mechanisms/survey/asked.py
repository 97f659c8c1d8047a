"""What the parts of a survey tell, counted one by one: estimates by question, and tables of two questions.

A collector counts every part by itself, and knows of a part which questions it asks. That is all that is needed: parts
about one question, boxes of several, cells of two (`pairs`), and what two have in common (`effects`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deniable.collect.tally import Tally
from deniable.core.domain import Domain
from deniable.errors import InWords, ParameterError, require
from deniable.estimate.pooled import pool
from deniable.estimate.result import Estimate
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.survey.independence import Independence, independence
from deniable.mechanisms.survey.joined import TwoWay
from deniable.mechanisms.survey.shares import Pair, Wanted
from deniable.mechanisms.survey.tables import EFFECTS, PAIRS, Tables, part_of

__all__ = ["AskedPart", "Told", "tell"]


@dataclass(frozen=True, slots=True)
class AskedPart:
    """A part of a survey: its questions, what people read for their answers, and the mechanism that asks them."""

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    """Of each question; nothing for one that has no labels."""
    mechanism: Mechanism

    def __post_init__(self) -> None:
        if self.way in (PAIRS, EFFECTS):
            few = InWords(f"{len(self.names)} of them in a part of {self.mechanism.name}")
            require(len(self.names) == 2, "questions", few, "two, or a box where there are more")
            known = self.way == EFFECTS or hasattr(self.mechanism, "support_effective")
            hint = "Ask them by box, interaction, or a mechanism of frequencies such as ss."
            require(known, "mechanism", self.mechanism.name, "one that tables of two questions can be read from", hint)

    @property
    def way(self) -> str:
        """How its questions are asked: `one`, `box`, `pairs` or `effects`."""
        if len(self.names) == 1:
            return "one"
        kernel: Any = self.mechanism.bulk.kernel
        return {"box": "box", "interaction": EFFECTS}.get(kernel.kind, PAIRS)


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a survey's questions."""

    questions: dict[str, Estimate]
    tables: dict[Pair, TwoWay] = field(default_factory=dict)
    tests: dict[Pair, Independence | str] = field(default_factory=dict)
    """Whether the questions of each table are independent, or why that cannot be tested."""
    lacking: dict[Pair, str] = field(default_factory=dict)
    """Tables that cannot be told, and why."""


def tell(parts: Sequence[AskedPart], tallies: Mapping[int, Tally]) -> Told:
    """What the tallies of some parts tell, by the parts' numbers; the others are as if they had not been asked."""
    there = {i: part for i, part in enumerate(parts) if i in tallies and tallies[i].n > 0}
    found: dict[str, list[Estimate]] = {}
    for i, part in there.items():
        for name, own in _estimates(part, tallies[i]):
            found.setdefault(name, []).append(own)
    told = Told({name: own[0] if len(own) == 1 else pool(own, None) for name, own in found.items()})
    for plan, each in _plans(there, tallies, told.lacking):
        for name in plan.want.mains if plan.scheme == PAIRS else ():
            if name not in told.questions:
                told.questions[name] = plan.margin(each, name)
        for pair in plan.tables:
            told.tables[pair] = plan.table(each, *pair)
            told.tests[pair] = _tested(plan, each, pair)
    order = list(dict.fromkeys(name for part in parts for name in part.names))
    return replace(told, questions={name: told.questions[name] for name in order if name in told.questions})


def _estimates(part: AskedPart, tally: Tally) -> list[tuple[str, Estimate]]:
    """Estimates of the questions that a part asks one by one."""
    made: Any = part.mechanism
    if part.way == "box":
        return list(zip(part.names, made.questions(tally, part.labels), strict=True))
    if part.way != "one":
        return []
    own, labels = made.estimate(tally), part.labels[0]
    plain = own.labels == tuple(map(str, range(len(labels))))
    return [(part.names[0], replace(own, labels=labels) if labels and plain else own)]


def _plans(
    there: Mapping[int, AskedPart], tallies: Mapping[int, Tally], lacking: dict[Pair, str]
) -> list[tuple[Tables, dict[str, Tally]]]:
    """Parts about two questions with what they need, as tables are read from them, and their tallies by name."""
    both = {i: part for i, part in there.items() if part.way == PAIRS}
    found = [_plan(PAIRS, both, tallies)] if both else []
    alone = {part.names[0]: i for i, part in there.items() if part.way == "one"}
    joined: dict[int, AskedPart] = {}
    for i, part in there.items():
        if part.way != EFFECTS:
            continue
        silent = [name for name in part.names if name not in alone]
        if silent:
            one, two = part.names
            lacking[one, two] = (
                f"what two questions have in common tells nothing without reports about {silent[0]} alone"
            )
            continue
        joined |= {alone[name]: there[alone[name]] for name in part.names} | {i: part}
    return [*found, _plan(EFFECTS, joined, tallies)] if joined else found


def _plan(scheme: str, parts: Mapping[int, AskedPart], tallies: Mapping[int, Tally]) -> tuple[Tables, dict[str, Tally]]:
    domains = {
        name: Domain.of(list(labels) or part.mechanism.k)
        for part in parts.values()
        for name, labels in zip(part.names, part.labels, strict=True)
    }
    pairs = tuple((part.names[0], part.names[1]) for part in parts.values() if len(part.names) == 2)
    ordered = sorted(parts.items(), key=lambda item: len(item[1].names))  # single questions first
    names = tuple(part.names[0] if len(part.names) == 1 else part_of(*part.names) for _, part in ordered)
    want = Wanted(domains, pairs, (1.0,) * len(pairs))
    mechanisms = tuple(part.mechanism for _, part in ordered)
    epsilon = max(m.epsilon for m in mechanisms)
    made = Tables(scheme, epsilon, want, names, mechanisms, (1 / len(names),) * len(names), 0.0)
    return made, {name: tallies[i] for name, (i, _) in zip(names, ordered, strict=True)}


def _tested(plan: Tables, each: Mapping[str, Tally], pair: Pair) -> Independence | str:
    try:
        return independence(plan, each, *pair)
    except ParameterError as error:
        return error.message
