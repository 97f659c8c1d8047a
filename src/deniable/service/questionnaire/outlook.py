"""What a questionnaire will bring: how close, how likely, what it takes; (Q1) to (Q9) of docs/howto/questionnaire.md.

Nothing here looks at an answer: everything follows from how many people are asked what, when, under which protection.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any

from deniable.plan.survey import Survey, survey
from deniable.service.questionnaire.document import Item, Questionnaire
from deniable.service.questionnaire.kinds import cost, described, relevant, words_of
from deniable.service.tasks import DEVICE_YEAR

__all__ = ["GRADES", "OFFERED", "Crossed", "Known", "Outlook", "level_of", "noncentrality", "outlook", "sure"]

Z = 1.96
CAUTION = 0.7
"""The share of the expected answers that minimum batches are planned for: policy, no theorem."""
_BATCHES = (10, 100)
_CHANCE = 0.01
"""That something is withheld, at most, over all that is to be published."""
GRADES = {"good": 0.5, "usable": 1.0, "coarse": 2.0, "vain": math.inf}
"""Words for the error relative to what is of use, up to these (Q8)."""
_LEVELS = (0.28, 0.70, 1.09, 2.19, 4.05, math.inf)
"""Up to which epsilon each of the six words for protection holds."""
OFFERED = (0.1, 0.15, 0.2, 0.25, 0.35, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
"""The protections that pages offer, and that are suggested: what cannot be chosen would not help."""
_FAR = 10**10
_TICKS = 5
"""More answers than these are not suggested as the most that people may tick."""


@dataclass(frozen=True, slots=True)
class Known:
    """How well something will be known: a question, of everybody or of a group."""

    question: str
    reports: float
    """That are expected in a window."""
    half: float
    """Half the width of an interval that holds 19 times in 20 (Q2): a share, or in the unit of numbers."""
    relevant: float

    @property
    def grade(self) -> str:
        """The word for it."""
        return next(name for name, most in GRADES.items() if self.half <= most * self.relevant * (1 + 1e-12))

    @property
    def rounded(self) -> float:
        """`half` for people: of shares whole points, half points below 2, rounded up."""
        points = 100 * self.half
        step = 0.5 if points < 2 else 1.0
        return math.ceil(points / step - 1e-9) * step / 100


@dataclass(frozen=True, slots=True)
class Crossed(Known):
    """How well a cell of the table of two questions will be known; `question` is the first of them."""

    other: str
    cells: int


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """What will come of a questionnaire; made by `outlook`."""

    asked: Questionnaire
    survey: Survey
    costs: Mapping[str, float]
    """(Q1), by question."""
    later: int
    """Further surveys that the same people can be asked within a year."""
    min_batch: int
    chance: float
    """That something is withheld, at seven tenths of the expected answers."""
    chance_half: float
    """The same at half of them."""
    groups: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @cached_property
    def shares(self) -> Mapping[str, float]:
        """The share of the people whose reports tell of each question (Q3)."""
        found: Mapping[str, float] = self.survey.properties()["shares"]
        return found

    @property
    def answers(self) -> float:
        """Reports that are expected in a window."""
        return _answers(self.asked)

    @cached_property
    def known(self) -> tuple[Known, ...]:
        """How well each question will be known, in one window."""
        return tuple(self._known(item) for item in self.asked.questions)

    def _known(self, item: Item, part: float = 1.0) -> Known:
        reports = self.answers * self.shares[item.name] * part
        answers = self.survey.questions[self.survey.names.index(item.name)].k
        half = Z * math.sqrt(self.costs[item.name] / reports)
        return Known(item.name, reports, half, relevant(item, answers))

    def of_group(self, item: Item, part: float) -> Known:
        """How well a question will be known for a part of the people."""
        return self._known(item, part)

    def alone(self, known: Known) -> Known:
        """How well a question would be known if it were the only one."""
        found: Known = _bare(self.asked.asking([known.question])).known[0]
        return found

    @cached_property
    def crossed(self) -> tuple[Crossed, ...]:
        """How well the cells of each table of two questions will be known, in one window."""
        shares = dict(zip(self.survey.parts, self.survey.shares, strict=True))
        sizes, found = {question.name: question.k for question in self.survey.questions}, []
        for (one, two), variance in self.survey.worst.cells.items():
            cells = sizes[one] * sizes[two]
            about = next(share for part, share in shares.items() if set(self.survey.about(part)) == {one, two})
            half = Z * math.sqrt(variance / self.answers)
            found.append(Crossed(one, self.answers * about, half, min(0.1, 1 / cells), two, cells))
        return tuple(found)

    def apart(self, names: Sequence[str]) -> tuple[Known, ...]:
        """How well these questions would be known if they were not asked together."""
        blocks = tuple(block for block in self.asked.together if not set(block) & set(names))
        return tuple(each for each in _bare(replace(self.asked, together=blocks)).known if each.question in names)

    @cached_property
    def gain(self) -> float:
        """The part of the errors that would go if some were asked in one report, without tables; 0 if none."""
        if self.asked.together:
            return 0.0
        words = words_of(self.asked, self.asked.language)
        items = {item.name: described(item, words, self.asked.protection) for item in self.asked.questions}
        weights = {item.name: item.weight for item in self.asked.questions}
        totals = survey(items, epsilon=self.asked.protection, weights=weights).alternatives
        return 1 - math.sqrt(min(totals.values()) / totals["one"])

    @property
    def worst(self) -> Known:
        """The question that will be known worst."""
        return max(self.known, key=lambda each: each.half / each.relevant)

    @property
    def grade(self) -> str:
        """The word for the whole: that of the worst question, or of the worst table."""
        return max((self.worst, *self.crossed), key=lambda each: each.half / each.relevant).grade

    # ---- budgets (Q6): what a device spends on one collector in a year is a place

    @property
    def cost(self) -> float:
        """What all windows cost one person."""
        return self.asked.protection * self.asked.windows

    @property
    def fits(self) -> bool:
        """Whether a device that has spent nothing takes it up, for all windows, and the surveys that come later."""
        return _fits((1 + self.later) * self.cost)

    @property
    def possible(self) -> bool:
        """Whether a device takes it up at all, as devices are set."""
        return _fits(self.cost)

    @property
    def ways_out(self) -> Mapping[str, float]:
        """What would fit: the protection of a report for as many windows, or so many windows with this protection.

        0 where none of those that are offered fits.
        """
        times = 1 + self.later
        windows = math.floor(DEVICE_YEAR / (times * self.asked.protection) + 1e-9)
        fitting = [epsilon for epsilon in OFFERED if _fits(times * self.asked.windows * epsilon)]
        return {"protection": max(fitting, default=0.0), "windows": windows}

    @property
    def then(self) -> Mapping[str, tuple[int, Known]]:
        """The ways out with what they bring: how many people are asked each time, and the question known worst.

        Fewer times; more protection; or other people each time, as many as now in all.
        """
        asked, people = self.asked, self.asked.people or 1
        fewer = people // asked.windows
        more = self._with(self.ways_out["protection"] or OFFERED[0])
        each = _bare(replace(asked, windows=1, people=max(1, fewer)))
        return {"windows": (people, self.worst), "protection": (people, more.worst), "apart": (fewer, each.worst)}

    # ---- changes (Q7)

    @cached_property
    def change(self) -> Mapping[str, tuple[float, float]]:
        """By question the change that is noticed 80 times in 100: from first to last, and as a trend."""
        windows = self.asked.windows
        if windows < 2:
            return {}
        power = noncentrality(1)
        trend = (windows - 1) * math.sqrt(12 * power / (windows * (windows**2 - 1)))
        return {each.question: (math.sqrt(2 * power) * each.half / Z, trend * each.half / Z) for each in self.known}

    @property
    def least_change(self) -> float:
        """The smallest change of a share from first to last that is noticed, of the question known worst; 0 if none."""
        shares = [each for each in self.known if self.asked.item(each.question).kind != "number"]
        return max((self.change[each.question][0] for each in shares), default=0.0) if self.change else 0.0

    def chance_of(self, batch: int, part: float = CAUTION) -> float:
        """That something is withheld with a minimum batch, if such a part of the expected answers comes."""
        return _chance(self, batch, part)

    # ---- what it takes (Q9)

    @cached_property
    def people_needed(self) -> int:
        """Answers in a window with which every question is usable, and every table, dealt as they are."""
        worst = max((each.half / each.relevant) ** 2 for each in (*self.known, *self.crossed))
        return math.ceil(self.answers * worst - 1e-9)

    @cached_property
    def noise_free(self) -> float:
        """Half the width of the interval of the worst question, if nobody needed protection."""
        each = self.worst
        item = self.asked.item(each.question)
        spread = ((item.high or 0) - (item.low or 0)) ** 2 / 12 if item.kind == "number" else 0.25
        return Z * math.sqrt(spread / each.reports)

    @property
    def protection_needed(self) -> float | None:
        """The least of what is offered with which all is usable, at most what fits; None if there is none."""
        if self.noise_free > self.worst.relevant:
            return None
        most = DEVICE_YEAR / self.asked.windows
        weaker = [epsilon for epsilon in OFFERED if self.asked.protection < epsilon <= most]
        return next((epsilon for epsilon in weaker if self._with(epsilon).grade in ("good", "usable")), None)

    def _with(self, epsilon: float) -> Outlook:
        """The same with another protection of each report."""
        return _bare(replace(self.asked, protection=epsilon))

    @property
    def fewer(self) -> tuple[str, ...]:
        """The questions that would be usable if nothing else were asked: the longest beginning of them, by cost."""
        order = sorted(self.asked.questions, key=lambda item: self.costs[item.name] / self._known(item).relevant ** 2)
        for count in range(len(order) - 1, 0, -1):
            few = self.asked.asking(item.name for item in order[:count])
            if _bare(few).grade in ("good", "usable"):
                return tuple(item.name for item in few.questions)
        return ()

    @property
    def fewer_ticks(self) -> Mapping[str, int]:
        """By question how many answers people may tick so that it is usable; at least 2."""
        found = {}
        for item in self.asked.questions:
            if item.kind != "several" or self._known(item).grade in ("good", "usable"):
                continue
            for most in range(min(item.most or len(item.options) + item.other, _TICKS + 1) - 1, 1, -1):
                asked = tuple(replace(each, most=most) if each is item else each for each in self.asked.questions)
                known = _bare(replace(self.asked, questions=asked))
                if known._known(known.asked.item(item.name)).grade in ("good", "usable"):
                    found[item.name] = most
                    break
        return found

    @cached_property
    def suggestions(self) -> list[tuple[str, dict[str, Any]]]:
        """What would make it usable, in the order in which it is to be tried; each a name with its numbers."""
        found: list[tuple[str, dict[str, Any]]] = []
        if self.grade not in ("good", "usable"):
            if self.asked.together and _bare(replace(self.asked, together=())).grade in ("good", "usable"):
                found.append(("apart", {"names": tuple(name for block in self.asked.together for name in block)}))
            if len(self.asked.questions) > 1 and self.fewer:
                found.append(("questions", {"names": self.fewer}))
            found += [("ticks", {"names": (name,), "n": most}) for name, most in self.fewer_ticks.items()]
            whole = _bare(
                replace(self.asked, windows=1, people=min(_FAR, (self.asked.people or 1) * self.asked.windows))
            )
            if self.asked.windows > 1 and whole.grade in ("good", "usable"):
                found.append(("windows", {"half": whole.worst}))
            found.append(("people", {"n": self.people_needed, "invited": self._invited(self.people_needed)}))
            if (epsilon := self.protection_needed) is not None:
                found.append(("protection", {"epsilon": epsilon}))
        small = [item for item in self.asked.groups if self._vain(item.name)]
        if small:
            found.append(("groups", {"names": tuple(group.title or group.name for group in small)}))
        return found

    def _vain(self, group: str) -> bool:
        """Whether some value of a grouping will be known too badly to be of use."""
        each = [self.of_group(item, part).grade for item in self.asked.questions for part in self.groups[group]]
        return "vain" in each

    def _invited(self, answers: int) -> int:
        return math.ceil(answers / (self.asked.response or 1.0))


def outlook(asked: Questionnaire) -> Outlook:
    """What will come of a questionnaire that is complete."""
    found = _bare(asked)
    batch, chance = _min_batch(found, CAUTION)
    return replace(found, min_batch=batch, chance=chance, chance_half=_chance(found, batch, 0.5))


def _bare(asked: Questionnaire) -> Outlook:
    """Everything but minimum batches."""
    words = words_of(asked, asked.language)
    items = {item.name: described(item, words, asked.protection) for item in asked.questions}
    weights = {item.name: item.weight for item in asked.questions}
    made = _survey(asked, items, weights)
    later = asked.later
    if later is None:
        later = int(_fits(2 * asked.protection * asked.windows))
    return Outlook(
        asked=asked,
        survey=made,
        costs=_costs(made),
        later=later,
        min_batch=_BATCHES[0],
        chance=0.0,
        chance_half=0.0,
        groups={group.name: group_shares(group.values, group.shares) for group in asked.groups},
    )


def _survey(asked: Questionnaire, items: Mapping[str, Any], weights: Mapping[str, float]) -> Survey:
    """Who is asked what: one question, or two of those that are asked together."""
    tables = [pair for block in asked.together for pair in combinations(block, 2)]
    how: dict[str, Any] = {"tables": tables} if tables else {"scheme": "one"}
    return survey(items, epsilon=asked.protection, weights=weights, **how)


def _costs(made: Survey) -> dict[str, float]:
    """(Q1), by question; of those that are asked together from what all reports tell of them."""
    found = {question.name: cost(question) for question in made.questions}
    shares = made.properties()["shares"]
    return found | {name: shares[name] * variance for name, variance in made.worst.questions.items()}


def group_shares(values: Sequence[str], shares: Sequence[float]) -> tuple[float, ...]:
    """The shares of the people in the values of a grouping, which add up to 1."""
    given = shares or [1.0] * len(values)
    return tuple(share / math.fsum(given) for share in given)


def _fits(cost: float) -> bool:
    """Whether a device spends so much on one collector in a year."""
    return cost <= DEVICE_YEAR * (1 + 1e-12)


def _answers(asked: Questionnaire) -> float:
    return (asked.people or 1) * (1.0 if asked.response is None else asked.response)


# ---- minimum batches (Q4, Q5)


def _cells(found: Outlook) -> list[float]:
    """The shares of the people in everything that is to be published in a window: parts, and their groups."""
    parts = [1.0, *(part for each in found.groups.values() for part in each)]
    return [share * part for share in found.survey.shares for part in parts]


def _chance(found: Outlook, batch: int, caution: float) -> float:
    """That something is withheld, at most: the sum over all cells of all windows (Q4)."""
    from scipy.stats import binom, poisson

    asked, cells = found.asked, _cells(found)
    if asked.response is None:
        each = [float(poisson.cdf(batch - 1, _answers(asked) * caution * cell)) for cell in cells]
    else:
        each = [float(binom.cdf(batch - 1, asked.people or 1, asked.response * caution * cell)) for cell in cells]
    return min(1.0, asked.windows * math.fsum(each))


def _min_batch(found: Outlook, caution: float) -> tuple[int, float]:
    """The largest minimum batch with which something is withheld in 1 of 100 cases at most (Q5), and its chance."""
    low, high = _BATCHES
    if _chance(found, low, caution) > _CHANCE:
        return low, _chance(found, low, caution)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _chance(found, middle, caution) <= _CHANCE else (low, middle - 1)
    return low, _chance(found, low, caution)


# ---- words


def level_of(epsilon: float) -> int:
    """The number of the word for a protection: 1, very strong, to 6, hardly any."""
    return next(i for i, most in enumerate(_LEVELS, start=1) if epsilon <= most)


def sure(epsilon: float) -> float:
    """How sure a report makes somebody, at most, who was undecided between two answers; whole per cent, rounded up."""
    return math.ceil(100 / (1 + math.exp(-epsilon)) - 1e-9) / 100


def noncentrality(df: int, *, level: float = 0.05, power: float = 0.8) -> float:
    """How far off something must be, in squared standard errors, for a chi-square test to find it so often (Q7).

    >>> [round(noncentrality(df), 2) for df in (1, 2, 3, 4)]
    [7.85, 9.63, 10.9, 11.94]
    """
    from scipy.optimize import brentq
    from scipy.stats import chi2, ncx2

    most = chi2.isf(level, df)
    return float(brentq(lambda shift: ncx2.sf(most, df, shift) - power, 1e-6, 1000.0))
