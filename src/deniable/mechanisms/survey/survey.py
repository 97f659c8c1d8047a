"""A survey: several questions under one budget, as one mechanism for devices, files and the collector."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from deniable.collect.reports import Design, Reports
from deniable.collect.tally import Tally
from deniable.core.protection import times
from deniable.core.support import check_n
from deniable.core.types import IntArray
from deniable.errors import InWords, ParameterError, is_whole, meant, require
from deniable.estimate.pooled import pool
from deniable.estimate.result import Estimate
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.dealt.base import dealt
from deniable.mechanisms.dealt.estimates import Estimates
from deniable.mechanisms.dealt.records import columns_by_part
from deniable.mechanisms.fitting import check_tally
from deniable.mechanisms.survey.blocks import Block, Goal, shares_of
from deniable.mechanisms.survey.bounds import least_sum, simple_bound
from deniable.mechanisms.survey.box import Box
from deniable.mechanisms.survey.foreseen import Worst
from deniable.mechanisms.survey.independence import Independence
from deniable.mechanisms.survey.joined import TwoWay
from deniable.mechanisms.survey.tables import refuse_association
from deniable.randomness import Stream, stream_of
from deniable_client.errors import within
from deniable_client.grammar import SHARE_MAX

__all__ = ["SCHEMES", "Question", "Survey"]

SCHEMES: Mapping[str, str] = {
    "one": "each person answers one question",
    "box": "some questions are asked together, in one report",
    "pairs": "each person answers two questions at once, for tables of two questions",
    "effects": "each person answers one question, or says what two have in common, for tables of two questions",
    "split": "everybody answers every question with a part of the budget: a baseline, for comparison",
}
"""Ways to ask, and what they are."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the mechanism that asks it alone, and what one report of it costs (uniform population)."""

    name: str
    mechanism: Mechanism
    noise: float
    """Variance of one report, the people being given."""
    spread: float
    """What drawing the people adds."""
    unit: float = 1.0
    """What variances are divided by before they are weighed: the square of an interval's length."""
    plain: bool = False
    """Whether shares of answers are asked, every answer being protected: then the bound is about it."""
    least: float | None = None
    """What any report that tells 1 of it costs at least (Y1); None where that is not known, or where it is plain."""
    free: bool = False
    """Whether it may be asked together with others: its mechanism was not prescribed."""

    @property
    def cost(self) -> float:
        """Variance of one report, the drawing of people included."""
        return self.noise + self.spread

    @property
    def k(self) -> int:
        """Number of answers."""
        return self.mechanism.k


@dataclass(frozen=True, slots=True, repr=False)
class SurveyEstimates(Estimates):
    """The estimate of every question, each from the reports about it; see `deniable.mechanisms.dealt.estimates`."""

    silent: tuple[str, ...] = ()
    """Questions that nobody was asked: there is no number for them."""
    reports: int = 0

    @property
    def n(self) -> int:
        """Number of reports; one may be about several questions."""
        return self.reports

    def __getitem__(self, name: str) -> Estimate:
        if name in self.silent:
            raise ParameterError(f"{name} was not asked: no report is about it.", "Give it a weight, or more people.")
        return super(SurveyEstimates, self).__getitem__(name)


@dataclass(frozen=True, kw_only=True, repr=False)
class Survey:
    """Questions, who is asked which of them, and what comes of it. Made by `deniable.survey`; it does not change.

    `mechanism` is the whole survey as a mechanism: one question, or a deal of parts (docs/maths/dealt.md), some of
    which may be several questions at once (`box`). A split budget has none: `mechanisms` has one for each question.
    """

    questions: tuple[Question, ...]
    epsilon: float
    scheme: str
    blocks: tuple[Block, ...]
    """Questions that are asked, in the parts of the deal; of a split budget every question is a part."""
    goal: Goal
    mechanisms: tuple[Mechanism, ...]
    """The mechanism of each block."""
    whole: tuple[int, ...] = ()
    """The shares of a design that was made before, as whole numbers; nothing: they follow from `shares`."""
    alternatives: Mapping[str, float] = field(default_factory=dict, compare=False)
    """What each way of asking would come to: the weighted sum of variances of one report, or the people it takes."""

    # ---- what it is

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the questions."""
        return tuple(question.name for question in self.questions)

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts of the deal: those of the questions that are asked together."""
        return tuple("+".join(self.names[j] for j in block.members) for block in self.blocks)

    def about(self, part: str) -> tuple[str, ...]:
        """The questions that a part is about."""
        found = next((block for name, block, _ in self._each() if name == part), None)
        return () if found is None else tuple(self.names[j] for j in found.members)

    @property
    def tables(self) -> tuple[tuple[str, str], ...]:
        """The pairs of questions that have a table: none, unless some were wanted."""
        return ()

    @cached_property
    def worst(self) -> Worst:
        """The largest errors of questions with tables, and of cells, from one person (docs/howto/questionnaire.md)."""
        return Worst({}, {})

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """The share of the people that each part is asked of, before it is made a quotient of whole numbers."""
        return (1.0,) * len(self.blocks) if self.scheme == "split" else tuple(shares_of(self.blocks))

    @cached_property
    def mechanism(self) -> Mechanism:
        """The survey as one mechanism."""
        if self.scheme == "split":
            hint = "Ask in one report with scheme='one' or 'box'; each question of a split is in `mechanisms`."
            raise ParameterError("a split budget is a baseline without a design: every question is one.", hint)
        if len(self.parts) == 1:
            return self.mechanisms[0]
        if self.whole:
            return dealt(dict(zip(self.parts, self.mechanisms, strict=True)), self.whole)
        top = max(self.shares)
        whole = [max(1, round(share / top * SHARE_MAX)) for share in self.shares]
        shares = [share // math.gcd(*whole) for share in whole]
        return dealt(dict(zip(self.parts, self.mechanisms, strict=True)), shares)

    def design(self) -> Design:
        """The design document: what devices check, and what report files, tallies and tasks carry."""
        return self.mechanism.design

    def __repr__(self) -> str:
        asked = ", ".join(self.parts)
        return (
            f"<Survey of {len(self.questions)} questions (epsilon = {self.epsilon:g}, scheme {self.scheme}): {asked}>"
        )

    @property
    def record(self) -> float:
        """The epsilon of all answers of a person together: the largest of the parts, or the sum of a split budget."""
        each = [m.epsilon for m in self.mechanisms]
        return math.fsum(each) if self.scheme == "split" else max(each)

    @property
    def needed(self) -> int | None:
        """How many people the wanted standard errors take (Y6); None where none are wanted."""
        return math.ceil(self.goal.total([b.people for b in self.blocks]) * (1 - 1e-12)) if self.goal.stderr else None

    # ---- who is asked what

    def assign(self, n: int, rng: Stream | None = None) -> IntArray:
        """The number of the part of each of n people, dealt out by the collector: shares are exact, not by chance.

        The numbers of people are those of the largest remainders, in a random order. Nothing but n is looked at, and
        nothing else may be: whoever saw an answer before dealing would break the promise. Without a deal beforehand,
        each device draws its part by the shares. Either way a person answers one part; two parts cost two epsilons.
        """
        require(is_whole(n, 1), "n", n, "an integer >= 1", "It is the number of people.")
        require(self.scheme != "split", "scheme", self.scheme, "one that deals parts out", "Here everybody gets all.")
        counts = _largest_remainders(int(n), self.shares)
        numbers = np.repeat(np.arange(len(counts)), counts)
        return numbers[np.argsort(stream_of(rng).draw(64, numbers.size), kind="stable")]

    # ---- from answers to estimates

    def privatize(
        self, values: object, *, column: Any = None, assigned: object = None, rng: Stream | None = None
    ) -> Any:
        """One report for each person, from a frame or mapping with a column for each question, or rows in their order.

        `assigned`: what `assign` dealt out; without it each part is drawn. Of a split budget, reports by question.
        """
        asked = self.asked
        if len(self.questions) == 1 and not isinstance(values, Mapping):
            return self.mechanism.privatize(values, column=column, rng=rng)
        given = dict(zip(asked, columns_by_part(values, asked, column), strict=True))
        if self.scheme == "split":
            require(assigned is None, "assigned", assigned, "left out: everybody answers every question")
            each = zip(asked, self.mechanisms, stream_of(rng).spawn(len(asked)), strict=True)
            return {name: m.privatize(given[name], rng=own) for name, m, own in each}
        told = self._told(given)
        if len(self.parts) == 1:
            return self.mechanism.privatize(told[self.parts[0]], rng=rng)
        return self.mechanism.privatize(told, coins=assigned, rng=rng)

    @property
    def asked(self) -> list[str]:
        """The names of the questions that are asked, in the order of the parts."""
        return [self.names[j] for block in self.blocks for j in block.members]

    def _told(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What each part is given of people's answers."""
        return {name: self._column(block, m, given) for name, block, m in self._each()}

    def _each(self) -> list[tuple[str, Block, Mechanism]]:
        """The blocks, with the names and mechanisms of their parts."""
        last = len(self.parts) - len(self.blocks)
        return list(zip(self.parts[last:], self.blocks, self.mechanisms[last:], strict=True))

    def _column(self, block: Block, m: Mechanism, given: Mapping[str, Any]) -> Any:
        """What a part is given: the answers to its question, or the number of those to all of its questions."""
        names = [self.names[j] for j in block.members]
        if not block.shape:
            return given[names[0]]
        encoded = []
        for j, name in zip(block.members, names, strict=True):
            with within(name):
                encoded.append(self.questions[j].mechanism.domain.encode(given[name]))
        return m.domain.decode(_box(m).numbers(encoded))

    def tally(self, reports: Any) -> Any:
        """Count reports of this survey; of a split budget, those of each question."""
        if self.scheme != "split":
            return self.mechanism.tally(reports)
        self._check_split(reports)
        each = zip(self.names, self.mechanisms, strict=True)
        return {name: m.tally(reports[name]) for name, m in each}

    def estimate(self, tally: Any) -> SurveyEstimates:
        """An estimate of each question; a question that no report is about has none, and says so when asked for."""
        apart = self.apart(tally)
        found = self._found(apart)
        require(bool(found), "tally", InWords("no reports"), "a tally of at least one report")
        kept = {name: found[name] for name in self.names if name in found}
        silent = tuple(name for name in self.names if name not in found)
        return SurveyEstimates(kept, self._title, silent, sum(own.n for own in apart.values()))

    def _found(self, apart: Mapping[str, Tally]) -> dict[str, Estimate]:
        """Estimates of the questions that reports are about."""
        found: dict[str, Estimate] = {}
        for part, block, m in self._each():
            if apart[part].n == 0:
                continue
            names = [self.names[j] for j in block.members]
            with within(part):
                if block.shape:
                    labels = [self.questions[j].mechanism.domain.labels_or_numbers for j in block.members]
                    each = _box(m).questions(apart[part], labels)
                else:
                    each = [m.estimate(apart[part])]
            found |= dict(zip(names, each, strict=True))
        return found

    def apart(self, tally: Any) -> dict[str, Tally]:
        """The tally of each part, from that of the survey or from its reports."""
        if self.scheme == "split":
            counted = self.tally(tally) if isinstance(tally, Mapping) and _are_reports(tally) else tally
            self._check_split(counted)
            return {name: counted[name] for name in self.names}
        m: Any = self.mechanism
        counted = m.tally(tally) if isinstance(tally, Reports) else tally
        if len(self.parts) > 1:
            return dict(m.apart(counted))
        check_tally(m, counted)
        return {self.parts[0]: counted}

    def table(self, *given: Any, pooled: bool = True) -> TwoWay:
        """The table of two questions, by their names, from a tally or reports: with shares of all pairs of answers.

        Refused, with the reason, where no reports are about both of them.
        """
        one, two, _ = self._pair(given)
        return refuse_association(one, two)

    def independence(self, *given: Any) -> Independence:
        """The test whether two questions are independent, by their names, from a tally or reports."""
        one, two, _ = self._pair(given)
        return refuse_association(one, two)

    def _pair(self, given: Sequence[Any]) -> tuple[str, str, Any]:
        """Two names of questions, and what is counted."""
        names = [each for each in given if isinstance(each, str)]
        counted = [each for each in given if not isinstance(each, str)]
        hint = "For example survey.table('smokes', 'age', tally)."
        fits = len(names) == 2 and len(counted) == 1
        require(fits, "given", InWords(f"{len(names)} names and {len(counted)} tallies"), "two names and a tally", hint)
        for name in names:
            require(name in self.names, "question", name, f"one of {', '.join(self.names)}", meant(name, self.names))
        return names[0], names[1], counted[0]

    def _check_split(self, given: Any) -> None:
        fits = isinstance(given, Mapping) and set(given) == set(self.names)
        require(fits, "reports", InWords(type(given).__name__), f"a mapping with {', '.join(self.names)}")

    @property
    def _title(self) -> Design:
        """What estimates say they are of."""
        return {"mechanism": "split", "epsilon": self.epsilon} if self.scheme == "split" else self.design()

    def pooled(self, tallies: Mapping[str, Any], weights: Mapping[str, float] | None = None) -> SurveyEstimates:
        """Estimates for several public groups of people as one, each with its weight; by its reports unless given.

        Weights are the groups' shares of those whom the survey is about, in proportion. Groups must be public: of
        groups that people keep to themselves, the group is a question.
        """
        require(len(tallies) > 0, "tallies", InWords("none"), "a tally of each group")
        told = None if weights is None else [_weight(weights, group) for group in tallies]
        each = [self.estimate(tally) for tally in tallies.values()]
        silent = tuple(name for name in self.names if any(name in found.silent for found in each))
        kept = [name for name in self.names if name not in silent]
        require(bool(kept), "tallies", InWords("none about a question"), "reports of every group about some question")
        whole = {name: pool([found[name] for found in each], told) for name in kept}
        return SurveyEstimates(whole, self._title, silent, sum(found.n for found in each))

    # ---- promises and closed forms

    def guarantee(self) -> dict[str, Any]:
        """What is promised of all answers of a person together, and of the answer to each question alone."""
        each = {question.name: question.mechanism.epsilon for question in self.questions}
        for _, block, m in self._each():
            each |= {self.names[j]: m.epsilon for j in block.members}
        if self.scheme == "split":
            exact = math.fsum(m.epsilon_exact for m in self.mechanisms)
            told = (
                f"no reports of a person together are more than {times(self.record)} as likely for one set of answers"
            )
            text = f"Protects all answers of a person together: {told} as for another."
        else:
            exact, text = self.mechanism.epsilon_exact, self.mechanism.protection.text
        return {"record": self.record, "record_exact": exact, "answers": each, "text": text}

    def properties(self, n: float = 1) -> dict[str, Any]:
        """Closed forms for n people, at the uniform population, by question (docs/maths/survey.md).

        `mse`: variance averaged over the answers, for the people who take part (reporters), None of what is not asked;
        `stderr`: root of the variance for the population behind them; `bound`: what the weighted sum of `mse` is at
        least, whatever is done, and `gap` how far above it this survey is, on errors for the population.
        """
        n = check_n(n)
        shares, errors = self._errors()
        spread = {question.name: question.spread for question in self.questions}
        mse = {name: (error - spread[name]) / n for name, error in errors.items()}
        stderr = {name: math.sqrt(error / n) for name, error in errors.items()}
        told: dict[str, Any] = {"scheme": self.scheme, "epsilon": self.epsilon, "n": n}
        told["shares"] = {name: shares.get(name, 0.0) for name in self.names}
        told |= {name: {q: numbers.get(q) for q in self.names} for name, numbers in (("mse", mse), ("stderr", stderr))}
        told |= {"needed": self.needed} if self.goal.stderr else {}
        told |= self._distance(n, errors)
        return told | {"parts": dict(zip(self.parts, self.shares, strict=True))} | self._size()

    def _errors(self) -> tuple[dict[str, float], dict[str, float]]:
        """The share of people whom each question is asked, and its variance from one person, drawing included."""
        shares, errors = {}, {}
        for (_, block, _), share in zip(self._each(), self.shares[-len(self.blocks) :], strict=True):
            for j, cost in zip(block.members, block.costs, strict=True):
                shares[self.names[j]], errors[self.names[j]] = share, cost / share
        return shares, errors

    def _distance(self, n: float, errors: Mapping[str, float]) -> dict[str, Any]:
        """Weighted sums: that of this survey, and the least that any has, where that is known."""
        weights = self.goal.weights or tuple(1 / question.unit for question in self.questions)
        asked = [(w, q) for w, q in zip(weights, self.questions, strict=True) if q.name in errors]
        whole = math.fsum(w * errors[q.name] for w, q in asked)
        drawn = math.fsum(w * q.spread for w, q in asked)
        told: dict[str, Any] = {"mse_sum": (whole - drawn) / n}
        if not all(q.plain or q.least is not None for _, q in asked):
            return told
        if all(q.plain for _, q in asked):
            bound = least_sum(self.record, [q.k for _, q in asked], [w for w, _ in asked])
        else:  # what one report tells of all questions adds up to at most I
            each = (((q.k - 1) / q.k) ** 2 if q.least is None else q.least for _, q in asked)
            roots = math.fsum(math.sqrt(w * c) for (w, _), c in zip(asked, each, strict=True))
            bound = roots**2 / simple_bound(self.record)
        return told | {"bound": (bound - drawn) / n, "gap": whole / bound - 1}

    def _size(self) -> dict[str, float]:
        """Bits and bytes of what one person sends."""
        if any(m.refusal for m in self.mechanisms):
            return {}
        if self.scheme == "split":
            each = [m.bulk for m in self.mechanisms]
            return {"bits": sum(b.outputs for b in each), "bytes": sum(b.row_bytes for b in each)}
        bulk = self.mechanism.bulk
        return {"bits": bulk.outputs, "bytes": bulk.row_bytes}

    @property
    def bound(self) -> float | None:
        """See `properties`, for one person; None where it is not known."""
        return self.properties().get("bound")

    @property
    def gap(self) -> float | None:
        """See `properties`; None where the bound is not known."""
        return self.properties().get("gap")


def _box(m: Any) -> Box:
    """The mechanism of several questions at once."""
    box: Box = m
    return box


def _are_reports(given: Mapping[str, Any]) -> bool:
    return all(isinstance(each, Reports) for each in given.values())


def _weight(weights: Mapping[str, float], group: str) -> float:
    require(group in weights, "weights", sorted(weights), f"with a number for the group {group!r}")
    number = weights[group]
    good = isinstance(number, int | float) and not isinstance(number, bool) and 0 <= number < math.inf
    require(good, f"weight of {group}", number, "a number >= 0")
    return float(number)


def _largest_remainders(n: int, shares: Sequence[float]) -> list[int]:
    """Whole numbers in proportion to shares, with the sum n: rounded down, then up where most is missing."""
    exact = [n * share for share in shares]
    counts = [math.floor(x + 1e-9) for x in exact]
    order = sorted(range(len(shares)), key=lambda j: (counts[j] - exact[j], j))
    for j in order[: n - sum(counts)]:
        counts[j] += 1
    return counts
