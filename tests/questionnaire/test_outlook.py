"""What a questionnaire will bring: golden cases, laws that hold for all, and what devices and releases do with it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, poisson

import deniable as dn
from deniable.errors import ParameterError
from deniable.service.access.identity import Identity
from deniable.service.groups import groups
from deniable.service.questionnaire.document import Questionnaire, read
from deniable.service.questionnaire.kinds import subset_cost
from deniable.service.questionnaire.opening import task_of
from deniable.service.questionnaire.outlook import GRADES, OFFERED, Outlook, Z, level_of, noncentrality, outlook, sure
from deniable.service.questionnaire.telling import lines
from deniable.service.tasks import DEVICE_YEAR
from deniable_client.ledger import Ledger
from deniable_client.task import Task

TODAY = date(2026, 12, 1)
SELF = Identity(bytes(32))


def yes_no(skip: bool = False) -> dict[str, Any]:
    return {"kind": "yes-no", "text": "Did you?", "skip": skip}


def one(k: int, number: int = 0) -> dict[str, Any]:
    return {"kind": "one", "text": f"Which, {number}?", "options": [f"answer {i}" for i in range(k)], "skip": False}


def asked(questions: Sequence[dict[str, Any]], **more: Any) -> Questionnaire:
    head = {"questionnaire": 1, "title": "Exams", "who": "Uni Bern", "why": "To plan exams."}
    return read({**head, "questions": list(questions), **more})


def points(found: Outlook) -> list[float]:
    return [round(100 * each.half, 1) for each in found.known]


# ---- golden cases


def test_sixty_people_are_warned_and_still_published() -> None:
    """G1; sixty people with a silent minimum batch of 100 got nothing."""
    found = outlook(asked([yes_no()], people=60, response=0.8))
    assert (found.answers, found.min_batch, points(found), found.grade) == (48, 25, [30.6], "vain")
    assert (round(found.chance, 4), round(found.chance_half, 2)) == (0.0092, 0.56)
    assert (found.people_needed, round(100 * found.noise_free, 1), found.protection_needed) == (450, 14.1, None)
    assert [name for name, _ in found.suggestions] == ["people"], "no epsilon helps, so none is offered"
    told = lines(found)
    assert "Results are published from 25 answers on." in told["told"]
    assert any("even without any" in line for line in told["cautions"])
    assert Task.load(task_of(found.asked, SELF, today=TODAY)).min_batch == 25


def test_two_thousand_answers() -> None:
    """G2"""
    found = outlook(asked([yes_no()], people=2000))
    assert (round(100 * found.known[0].half, 2), found.known[0].rounded, found.grade) == (4.74, 0.05, "good")
    assert found.min_batch == 100
    assert found.chance < 1e-9
    assert points(outlook(asked([yes_no(skip=True)], people=2000))) == [5.9]


def test_six_questions() -> None:
    """G3"""
    six = asked([one(k, i) for i, k in enumerate([2, 2, 4, 5, 5, 10])], people=2000, response=0.5)
    found = outlook(six)
    assert [round(share, 3) for share in found.shares.values()] == [0.128, 0.128, 0.170, 0.185, 0.185, 0.205]
    assert points(found) == [18.8, 18.8, 23.4, 25.2, 25.2, 25.4]
    assert [each.grade for each in found.known] == ["coarse", "coarse", "vain", "vain", "vain", "vain"]
    assert (found.min_batch, round(found.chance, 4)) == (67, 0.0098)
    assert round(found.chance_of(100, 1.0), 5) == 0.00751
    assert found.people_needed == 6468
    assert found.fewer == ("q1", "q2")
    assert lines(found) == lines(found), "saying it changes nothing of it"
    two = outlook(asked([one(2, 0), one(2, 1)], people=2000, response=0.5))
    assert points(two) == [9.5, 9.5]
    weaker = outlook(
        asked([one(k, i) for i, k in enumerate([2, 2, 4, 5, 5, 10])], people=2000, response=0.5, protection=2)
    )
    assert (min(points(weaker)), max(points(weaker))) == (10.3, 16.2)
    task = Task.load(task_of(six, SELF, today=TODAY))
    total = sum(question.share for question in task.questions)
    assert [round(question.share / total, 3) for question in task.questions] == [
        0.128,
        0.128,
        0.17,
        0.185,
        0.185,
        0.205,
    ]


def test_what_helps_asks_for_more_people_than_are_asked_and_is_enough() -> None:
    """Of six questions of unlike cost 6,301 answers were said to be enough where 7,200 were expected and too few."""
    several = {"kind": "several", "text": "Which?", "options": ["a", "b", "c", "d"]}
    hours = {"kind": "number", "text": "How long?", "low": 0, "high": 14, "unit": "hours"}
    mixed = [yes_no(skip=True), one(5, 1), several, hours]
    found = outlook(asked(mixed, people=7000, response=0.6))
    assert found.grade == "coarse"
    assert found.people_needed > found.answers
    assert outlook(asked(mixed, people=found.people_needed)).grade == "usable"
    assert outlook(asked(mixed, people=int(0.98 * found.people_needed))).grade == "coarse"


def test_protections_that_are_suggested_can_be_chosen() -> None:
    """1.05 and 0.166 were suggested, and the page offers neither; they are named as they are there."""
    coarse = outlook(asked([one(4, 0), one(5, 1)], people=2000))
    assert coarse.protection_needed in OFFERED
    assert outlook(replace(coarse.asked, protection=coarse.protection_needed)).grade == "usable"
    before = max(e for e in OFFERED if e < (coarse.protection_needed or 0))
    assert before == coarse.asked.protection or outlook(replace(coarse.asked, protection=before)).grade == "coarse"
    percent = math.ceil(100 / (1 + math.exp(-(coarse.protection_needed or 0))))
    named = f"Protect each answer less. “{percent}%: limited protection” is enough; people are promised less then."
    assert named in lines(coarse)["cautions"]
    for windows in (3, 8, 12, 20, 21, 200):
        out = outlook(asked([yes_no()], people=90_000, windows=windows)).ways_out["protection"]
        assert out in (0.0, *OFFERED)
        assert windows * out <= 2
        assert bool(out) == (windows <= 20)
    far = lines(outlook(asked([yes_no()], people=90_000, windows=21)))["cautions"]
    assert not any(line.startswith("Protect each answer more") for line in far)


def test_weekly_windows() -> None:
    """G4; the budgets of its time are places now: 2 in a year, for all windows together."""
    four = {"people": 12_500, "response": 0.8, "windows": 4}
    found = outlook(asked([one(4, 0), one(4, 1)], **four))
    assert ([round(each.reports) for each in found.known], points(found), found.min_batch) == (
        [5000] * 2,
        [4.3] * 2,
        100,
    )
    assert [round(100 * x, 1) for x in found.change["q1"]] == [8.7, 8.3]
    assert (found.cost, found.possible, dict(found.ways_out)) == (4, False, {"protection": 0.5, "windows": 2})
    with pytest.raises(ParameterError, match="such that all windows cost 2 at most") as refused:
        task_of(found.asked, SELF, today=TODAY)
    assert "2 windows, or with protection 0.5" in (refused.value.hint or "")
    assert outlook(asked([one(4, 0), one(4, 1)], **four, protection=0.5)).possible
    ways = lines(found)["cautions"]
    assert ways[-3:] == [
        "Ask 2 times only, in longer windows: then to within about 5 points each time.",
        "Protect each answer more, and ask as often. Choose “63%: strong protection”: then to within about 9 points "
        "each time.",
        "Or make a questionnaire of its own for each time and ask other people each time. With as many people in all, "
        "3,125 each time: to within about 9 points; with as many each time, as close as now.",
    ], "three ways out, each with what it brings"
    assert points(outlook(asked([one(4, 0), one(4, 1)], **four, protection=0.5)))[0] == 8.5
    weak = outlook(asked([one(4, 0)], people=2000, windows=3, protection=1.5))
    once = f"Ask once only, in one longer window: then to within about {100 * weak.worst.rounded:g} points."
    assert once in lines(weak)["cautions"]
    strong = lines(outlook(asked([one(4, 0)], people=2000, protection=4.0)))["cautions"]
    assert not any("questionnaire of its own" in line for line in strong), "it would not fit either"


def test_what_is_told_to_fit_fits_and_nothing_beyond_it_would() -> None:
    """The next that is offered, or one window more, would cost more than a device gives in a year: exactly."""
    survey: Any = None  # budgets are worked out without it
    found = Outlook(asked=asked([]), survey=survey, costs={}, later=0, min_batch=10, chance=0.0, chance_half=0.0)
    for windows, protection, later in product((1, 2, 3, 4, 6, 7, 9, 11, 30, 52), (0.1, 0.3, 0.5, 0.7, 1.5), (0, 1, 2)):
        other = replace(found, asked=replace(found.asked, windows=windows, protection=protection), later=later)
        ways, cost = other.ways_out, windows * (1 + later)
        fitting = [number for number in OFFERED if Fraction(str(number)) * cost <= DEVICE_YEAR]
        assert ways["protection"] == (fitting[-1] if fitting else 0)
        each = Fraction(str(protection)) * (1 + later)
        assert ways["windows"] * each <= DEVICE_YEAR < (ways["windows"] + 1) * each
        assert not fitting or replace(other, asked=replace(other.asked, protection=ways["protection"])).fits
        assert replace(other, asked=replace(other.asked, windows=int(ways["windows"]))).fits


@pytest.mark.parametrize(
    ("windows", "protection", "hint", "told"),
    [
        (3, 1, "Ask in 2 windows, or with protection 0.5 or less.", ["2 times only", "Choose “63%: strong", "Or make"]),
        (1, 4, "Ask with protection 2 or less.", ["Choose “89%: limited"]),
        (
            20,
            0.25,
            "Ask in 8 windows, or with protection 0.1 or less.",
            ["8 times only", "Choose “53%: very", "Or make"],
        ),
        (21, 0.25, "Ask in 8 windows.", ["8 times only", "Or make"]),
        (201, 0.25, "Ask in 8 windows.", ["8 times only", "Or make"]),
        (1000, 2, "Ask in 1 window.", ["once only", "Or make"]),
        (201, 4, "Choose a smaller number for protection, and fewer windows.", []),
    ],
)
def test_a_way_out_is_told_if_it_can_be_gone(windows: int, protection: float, hint: str, told: list[str]) -> None:
    """A daily survey of a year was told to take a protection of 0.005, which no questionnaire can have."""
    found = outlook(asked([yes_no()], people=2000, windows=windows, protection=protection))
    first, *ways = lines(found)["cautions"]
    assert "would all decline" in first
    assert [text for text, way in zip(told, ways, strict=True) if text in way] == told
    with pytest.raises(ParameterError) as refused:
        task_of(found.asked, SELF, today=TODAY, found=found)
    assert refused.value.hint == hint


def test_groups() -> None:
    """G5"""
    shares = [0.4, 0.3, 0.15, 0.1, 0.05]
    places = {"title": "Where?", "values": list("abcde"), "shares": shares}
    found = outlook(asked([one(4)], people=3000, response=0.4, groups=[places]))
    assert (points(found), found.grade, found.min_batch, round(found.chance, 4)) == ([8.8], "usable", 28, 0.0087)
    item = found.asked.questions[0]
    assert [round(100 * found.of_group(item, b).half, 1) for b in found.groups["g1"]] == [13.9, 16.1, 22.8, 27.9, 39.4]
    assert round(found.chance_of(43, 1.0), 4) == 0.0085
    assert [name for name, _ in found.suggestions] == ["groups"]


def test_hours() -> None:
    """G6; the planner has a better mechanism than the one of the golden case, which costs a little more."""
    found = outlook(asked([{"kind": "number", "text": "Hours?", "low": 0, "high": 24, "unit": "h"}], people=1500))
    assert (round(found.known[0].half, 2), round(found.known[0].relevant, 2), found.grade) == (1.26, 2.4, "usable")
    older = dn.mechanism("hm", epsilon=1.0, interval=(0, 24)).properties(1500)["variance_worst"] + 576 / 12 / 1500
    assert (round(math.sqrt(older), 3), round(Z * math.sqrt(older), 2)) == (0.664, 1.30)
    assert found.known[0].half <= Z * math.sqrt(older)


def test_words_by_thresholds() -> None:
    assert [level_of(e) for e in (0.28, 0.29, 0.70, 1.0, 1.09, 2.0, 2.19, 4.0, 4.05, 4.06)] == [
        *(1, 2, 2, 3, 3, 4, 4, 5, 5, 6)
    ]
    assert [sure(e) for e in (0.5, 1.0, 2.0, 4.0)] == [0.63, 0.74, 0.89, 0.99]
    assert [round(noncentrality(df), 2) for df in (1, 2, 3, 4)] == [7.85, 9.63, 10.90, 11.94]


# ---- laws


SEVERAL: Any = {"kind": "several", "options": ["tea", "pills", "wine"], "most": 2}
NUMBER: Any = {"kind": "number", "low": 0, "high": 24, "unit": "h"}
CASES = st.fixed_dictionaries(
    {
        "people": st.one_of(st.integers(1, 200), st.integers(200, 200_000)),
        "response": st.one_of(st.none(), st.floats(0.02, 1.0)),
        "windows": st.integers(1, 12),
        "protection": st.sampled_from([0.1, 0.25, 0.5, 1.0, 2.0]),
        "groups": st.lists(
            st.integers(2, 6).map(lambda n: {"title": "Where?", "values": [f"v{i}" for i in range(n)]}), max_size=2
        ),
        "together": st.booleans(),
        "memory": st.sampled_from([0, 1, None]),
    }
)
"""Audience, windows, protection, groups, whether what can be is asked together, and what ledgers remember: surveys that
the same people have answered before."""


SIZES = st.lists(st.sampled_from([2, 3, 4, 6, SEVERAL, NUMBER]), min_size=1, max_size=4)


def kind_of(size: Any, number: int) -> dict[str, Any]:
    """A question: a number of answers to choose from, or one of the other kinds."""
    return one(size, number) if isinstance(size, int) else {**size, "text": f"What, {number}?"}


@settings(max_examples=8, deadline=None)
@given(case=CASES, sizes=SIZES)
def test_nothing_is_withheld_or_silent_without_being_told_before(case: dict[str, Any], sizes: list[Any]) -> None:
    check_told_before(case, sizes)


@pytest.mark.slow
@pytest.mark.turns(3)
@settings(max_examples=25, deadline=None)
@given(case=CASES, sizes=SIZES)
def test_nothing_is_withheld_or_silent_in_many_cases(case: dict[str, Any], sizes: list[Any]) -> None:
    check_never_silent(*check_told_before(case, sizes))


def check_never_silent(*tasks: Task) -> None:
    """A device that has spent nothing answers in every window of every task, whatever it answers."""
    moment = [0.0]
    with TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger", clock=lambda: moment[0])
        for task in tasks:
            start = (task.opens - date(1970, 1, 1)) / timedelta(1) * 86400.0
            for window in range(task.count):
                moment[0] = start + window * task.days * 86400 + 3600
                receipt = ledger.answer(task, None, url="https://collect.example.org")
                assert (receipt.window, receipt.new, receipt.cost) == (window, True, task.epsilon)


def check_told_before(case: dict[str, Any], sizes: list[Any]) -> list[Task]:
    """Either it cannot be opened and says why, or devices take all windows and the chance of silence is told.

    The tasks that a device is promised to answer: this one, and the later ones that are said to fit.
    """
    later, joint = case["memory"], [f"q{i}" for i, size in enumerate(sizes, start=1) if isinstance(size, int)]
    case = {name: part for name, part in case.items() if name != "memory"} | {"later": later}
    case |= {"groups": [{**each, "name": f"g{i}"} for i, each in enumerate(case["groups"])]}
    case |= {"together": [joint] if case["together"] and len(joint) > 1 else []}
    made = asked([kind_of(size, i) for i, size in enumerate(sizes)], **case)
    found = outlook(made)
    told = lines(found)
    if not found.possible:
        assert made.protection * made.windows > DEVICE_YEAR
        assert any("They would all decline." in line for line in told["cautions"])
        with pytest.raises(ParameterError, match="windows"):
            task_of(made, SELF, today=TODAY)
        return []
    task = Task.load(task_of(made, SELF, today=TODAY))
    assert task.epsilon * task.count <= min(DEVICE_YEAR, task.most)
    assert found.fits or found.asked.later is not None
    assert 10 <= task.min_batch <= 100
    assert found.chance <= 0.01 or task.min_batch == 10
    assert found.chance == found.chance_of(task.min_batch)
    if task.min_batch < 100:
        assert found.chance_of(task.min_batch + 1) > 0.01
    assert task.memory == "fresh", "what is remembered goes silent where answers change"
    (chance,) = [line for line in told["told"] if "held back for want of answers" in line]
    said = math.ceil(100 * found.chance - 1e-9)
    assert ("below 1%" if found.chance < 0.01 else f"{said}%") in chance
    likely = found.answers * min(found.survey.shares) * min((min(each) for each in found.groups.values()), default=1.0)
    assert likely > task.min_batch or said > 1, "what will hardly come is never told as sure"
    assert found.grade in GRADES
    assert all(each.half > 0 for each in (*found.known, *found.crossed))
    asked_in = {one.name for part in task.questions for one in part.together or (part,)}
    assert asked_in == {item.name for item in made.questions}, "every question is asked of somebody"
    more = found.later if found.fits else 0
    said = f"{more} more survey{'s' * (more > 1)} like this" if more else "No further survey fits"
    assert any(said in line for line in told["told"])
    days = [TODAY + timedelta(made.days * made.windows * i) for i in range(1, more + 1)]
    again = (replace(made, title=f"Exams of {day}", opens=day.isoformat()) for day in days)
    return [task, *(Task.load(task_of(other, SELF, today=TODAY)) for other in again)]


def test_what_one_question_each_costs_is_said_and_what_together_would_gain() -> None:
    """Six questions get a sixth of the people each; from epsilon 1.3 on, asking some together is better."""
    questions = [one(2, i) for i in range(6)]
    weak, strong = (outlook(asked(questions, people=6000, protection=e)) for e in (1.0, 2.0))
    assert strong.gain > 0.02
    assert weak.gain == 0
    told = lines(weak)["told"]
    alone = outlook(asked(questions[:1], people=6000)).known[0]
    assert weak.alone(weak.worst).half == pytest.approx(alone.half)
    price = f"known to within about {100 * alone.rounded:g} points instead of {100 * weak.worst.rounded:g} points"
    assert any(price in line for line in told), told
    assert not any("Asked together" in line for line in told)
    arabic = [line for line in lines(weak, tag="ar")["told"] if "Which, 0?" in line]
    assert arabic
    assert all("\u2068Which, 0?\u2069" in line for line in arabic), "its question mark stays on its side"
    assert any("Asked together in one report" in line for line in lines(strong)["told"])
    assert not any("What that costs" in line for line in lines(outlook(asked(questions[:1], people=6000)))["told"])


def test_devices_answer_every_window_of_what_is_recommended(tmp_path: Path) -> None:
    """A changing number over eight weeks fell silent in the third; as recommended now, none is refused."""
    made = asked([one(4)], people=5000, windows=8, protection=0.25, days=7)
    assert outlook(made).fits
    task = Task.load(task_of(made, SELF, today=TODAY))
    moment = [0.0]
    start = (TODAY - date(1970, 1, 1)) / timedelta(1) * 86400.0
    ledger = Ledger(tmp_path / "ledger", clock=lambda: moment[0])
    for window in range(8):
        moment[0] = start + window * 7 * 86400 + 3600
        assert ledger.answer(task, f"answer {window % 4}", url="https://collect.example.org").answered
    eager = asked([one(4)], people=5000, windows=8)
    assert not outlook(eager).possible


@pytest.mark.stat
@pytest.mark.parametrize("windows", [1, 2, 12])
@pytest.mark.parametrize("response", [0.4, None])
def test_the_chance_is_that_of_all_groups_in_all_windows(windows: int, response: float | None) -> None:
    """(Q4) and (Q5) by hand: a sum over groups, times the windows; one more in the minimum batch would be too much."""
    places = {"title": "Where?", "values": ["a", "b"], "shares": [0.75, 0.25]}
    people = 1200 if response is None else 3000
    found = outlook(asked([one(4)], people=people, response=response, windows=windows, groups=[places], protection=0.1))

    def chance(batch: int, part: float) -> float:
        each = [1.0, 0.75, 0.25]
        if response is None:
            return windows * math.fsum(float(poisson.cdf(batch - 1, people * part * own)) for own in each)
        return windows * math.fsum(float(binom.cdf(batch - 1, people, response * part * own)) for own in each)

    batches = [10, 60, 90, 150, 170, 190, 230, 260, 300, 400, 500]
    for part in (0.5, 0.7, 1.0):
        expected = [min(1.0, chance(batch, part)) for batch in batches]
        assert [found.chance_of(batch, part) for batch in batches] == pytest.approx(expected, rel=1e-12)
        assert 0 < expected[0] < 1e-6
        assert expected[-1] > 0.99
    assert (found.chance, found.chance_half) == pytest.approx([chance(found.min_batch, part) for part in (0.7, 0.5)])
    assert found.chance <= 0.01
    assert found.min_batch == 100 or chance(found.min_batch + 1, 0.7) > 0.01


@pytest.mark.parametrize(
    ("chance", "told"),
    [
        (0.0, "below 1%"),
        (0.00999, "below 1%"),
        (0.01, "1%"),
        (0.0101, "2%"),
        (0.042, "5%"),
        (0.05, "5%"),
        (0.07 + 1e-15, "7%"),  # no more than rounding of a number
        (0.9901, "100%"),
        (1.0, "100%"),
    ],
)
def test_a_chance_is_told_in_whole_per_cent_rounded_up(
    chance: float, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against us, as all numbers in sentences; at seven tenths of the answers and at half of them."""
    found = outlook(asked([yes_no()], people=60))
    for part in (0.7, 0.5):
        monkeypatch.setattr(Outlook, "chance_of", lambda _, batch, at=0.7, part=part: chance if at == part else 0.5)
        said = [line for line in lines(found)["told"] if "for want of answers: " in line or "If only half" in line]
        shares = [re.findall(r": ((?:below )?\d+%)", line) for line in said]
        assert shares == ([[told], ["50%"]] if part == 0.7 else [["50%"], [told]])


def test_the_chance_is_the_one_of_releases() -> None:
    """Withheld groups of 20,000 simulated windows against the chance that is told (seed 3, six standard errors)."""
    shares, batch, runs = np.array([0.4, 0.3, 0.15, 0.1, 0.05]), 43, 20_000
    places = {"title": "Where?", "values": list("abcde"), "shares": shares.tolist()}
    found = outlook(asked([one(4)], people=3000, response=0.4, groups=[places]))
    told = found.chance_of(batch, 1.0)
    rng = np.random.default_rng(3)
    counts = rng.multinomial(3000, [*(0.4 * shares), 0.6], size=runs)[:, :5]

    class Counted:
        """As much of a tally as `groups` looks at."""

        def __init__(self, n: int) -> None:
            self.n = n

        def __add__(self, other: Counted) -> Counted:
            return Counted(self.n + other.n)

    lost = 0
    for row in counts[counts.min(axis=1) < batch].tolist():
        cells: Any = {(i + 1,): Counted(n) for i, n in enumerate(row)}
        lost += len(groups(cells, batch, [6])) < 5
    spread = math.sqrt(told * (1 - told) / runs)
    assert abs(lost / runs - told) < 6 * spread
    assert 2 * told - told > 6 * spread, "a chance twice as large would be noticed"


@pytest.mark.parametrize("name", ["grr", "olh", "hr", "she", "ue"])
def test_a_mechanism_that_was_chosen_is_told_with_its_own_error(name: str) -> None:
    """At the uniform population it errs by what it says itself; never less is told."""
    found = outlook(asked([one(4) | {"mechanism": name}], people=2000))
    (m,) = found.survey.mechanisms
    assert m.name == name
    own = m.properties(2000)["mse"] + 3 / 16 / 2000
    assert own <= (found.known[0].half / 1.96) ** 2 * (1 + 1e-9) < 1.5 * own


@pytest.mark.stat
@pytest.mark.parametrize(("options", "most"), [(4, 0), (8, 2), (20, 3)])
def test_ticked_answers_are_known_as_well_as_told(options: int, most: int) -> None:
    """The error that is told against that of an estimate where half of the people tick an option (seed 7)."""
    names = [f"o{i}" for i in range(options)]
    made = asked([{"kind": "several", "text": "Which?", "options": names, "most": most}], people=40_000)
    found = outlook(made)
    (m,) = found.survey.mechanisms
    values = [[names[0]], []] * 20_000
    estimate = m.estimate(m.tally(m.privatize(values, rng=dn.simulation(7))))
    told = found.known[0].half / 1.96
    assert math.sqrt(estimate.variance("population")[0]) == pytest.approx(told, rel=0.03)
    spread = estimate.value[0] - 0.5
    assert abs(spread) < 5 * told, "alpha 1e-6"
    assert 20 * told < 0.5, "a share of 0, or of 1, would be noticed"


@pytest.mark.slow
@pytest.mark.stat
def test_protected_answers_are_known_at_least_as_well_as_told() -> None:
    """Where others are harmless, the error that is told is that of a design which protects all (seed 5)."""
    for k, few, f in ((3, 1, 0.1), (4, 2, 0.5), (8, 3, 0.3)):
        labels = [f"a{i}" for i in range(k)]
        m = dn.survey({"q": {"labels": labels, "sensitive": labels[:few]}}, epsilon=1.0).mechanisms[0]
        counts = np.full(k, 0)
        counts[0] = round(20_000 * f)
        counts[1:] = (20_000 - counts[0]) // (k - 1)
        found = m.estimate(m.simulate_tally(counts, dn.simulation(5)))
        errors = found.stderr("population") if callable(getattr(found, "stderr", None)) else found.stderr
        worst = float(np.max(errors))
        assert worst <= 1.02 * math.sqrt(subset_cost(k, 1.0) / counts.sum())
