"""What is foreseen of a questionnaire, number by number: rounding, words, changes, what would help; by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from deniable.service.questionnaire import kinds, outlook, telling
from deniable.service.questionnaire.document import Group, Item, Questionnaire, read
from deniable.service.questionnaire.kinds import can_join, can_skip, labels_of, relevant, words_of
from deniable.service.questionnaire.outlook import GRADES, OFFERED, Crossed, Known, Outlook, level_of, sure
from deniable.service.texts.catalogue import texts

EN, AR = texts("build", "en"), texts("build", "ar")
WORDS = words_of(Questionnaire(), "en")


def known(half: float, relevant: float = 0.1, question: str = "q1", reports: float = 100.0) -> Known:
    return Known(question, reports, half, relevant)


def item(name: str = "q1", kind: str = "one", **more: Any) -> Item:
    return Item(name=name, kind=kind, text=f"{name}?", **more)


HOURS = item("q2", "number", low=-2.0, high=22.0, unit="h")


def foreseen(*each: Known, items: tuple[Item, ...] = (), crossed: tuple[Crossed, ...] = (), **more: Any) -> Outlook:
    """An outlook of which this is known; costs are all 1, and every question is asked of everybody."""
    names = dict.fromkeys(one.question for one in each)
    own = items or tuple(item(name) for name in names)
    asked = Questionnaire(questions=own, people=more.pop("people", 100), **more)
    survey: Any = None
    found = Outlook(
        asked=asked, survey=survey, costs=dict.fromkeys(names, 1.0), later=0, min_batch=10, chance=0.0, chance_half=0.0
    )
    cached: dict[str, Any] = {"known": each, "crossed": crossed, "shares": dict.fromkeys(names, 1.0)}
    found.__dict__.update(cached)
    return found


# ---- how well something is known


@pytest.mark.parametrize(
    ("half", "rounded"),
    [
        (0.001, 0.005), (0.005, 0.005), (0.00501, 0.01), (0.0151, 0.02), (0.0199, 0.02), (0.02, 0.02), (0.0201, 0.03),
        (0.0225, 0.03), (0.03, 0.03), (0.0301, 0.04), (0.3055, 0.31), (1.2, 1.2), (0.07 + 1e-15, 0.07),
    ],
)  # fmt: skip
def test_points_are_rounded_up_to_halves_below_two_and_to_whole_ones_above(half: float, rounded: float) -> None:
    assert known(half).rounded == pytest.approx(rounded, rel=1e-12)


@pytest.mark.parametrize(
    ("ratio", "grade"),
    [
        (0.1, "good"),
        (0.5, "good"),
        (0.501, "usable"),
        (1.0, "usable"),
        (1.001, "coarse"),
        (2.0, "coarse"),
        (2.001, "vain"),
        (90.0, "vain"),
    ],
)
def test_words_for_errors_hold_up_to_their_ends(ratio: float, grade: str) -> None:
    assert known(ratio * 0.08, 0.08).grade == grade
    assert list(GRADES) == ["good", "usable", "coarse", "vain"]


def test_the_whole_is_as_good_as_its_worst_question_or_table() -> None:
    good, coarse = known(0.04, 0.1), known(0.9, 0.6, "q2")
    assert foreseen(good, coarse).worst == coarse
    assert foreseen(known(0.2, 0.1), coarse).worst.question == "q1", "by what is of use, not by the width alone"
    assert foreseen(good, coarse).grade == "coarse"
    table = Crossed("q1", 50.0, 0.5, 0.1, "q2", 4)
    assert foreseen(good, coarse, crossed=(table,)).grade == "vain"
    assert foreseen(good, coarse, crossed=(replace(table, half=0.01),)).grade == "coarse"


def test_answers_needed_make_every_question_and_every_table_usable() -> None:
    assert foreseen(known(0.2, 0.1), known(0.3, 0.1, "q2")).people_needed == 900, "a third of the error: nine times"
    assert foreseen(known(0.2, 0.1), response=0.5).people_needed == 200, "of 50 expected"
    table = Crossed("q1", 50.0, 0.5, 0.1, "q2", 4)
    assert foreseen(known(0.2, 0.1), crossed=(table,)).people_needed == 2500
    assert foreseen(known(0.1000001, 0.1)).people_needed == 101


@pytest.mark.parametrize(("response", "invited"), [(None, 100), (1.0, 100), (0.5, 200), (0.3, 334), (0.07, 1429)])
def test_more_people_are_invited_than_answer(response: float | None, invited: int) -> None:
    assert foreseen(known(0.1), response=response)._invited(100) == invited


@pytest.mark.parametrize(
    ("each", "items", "half"),
    [
        (known(0.2, reports=400.0), (), 1.96 * 0.5 / 20),
        (known(9.0, 2.4, "q2", 300.0), (HOURS,), 1.96 * math.sqrt(24**2 / 12 / 300)),
    ],
)
def test_without_any_protection_the_spread_of_the_people_is_left(each: Known, items: Any, half: float) -> None:
    """The largest of a share is that of one half; of numbers it is that of numbers that are spread evenly."""
    assert foreseen(each, items=items).noise_free == pytest.approx(half, rel=1e-12)


# ---- changes


@pytest.mark.parametrize("windows", [2, 3, 5, 12])
def test_changes_that_are_noticed_are_those_of_a_difference_and_of_a_slope(windows: int) -> None:
    """Of the last less the first, and of the straight line by least squares, in its standard errors: (1.96 + 0.84)²."""
    found = foreseen(known(0.196), known(1.96, 2.4, "q2"), items=(item(), HOURS), windows=windows)
    times = np.arange(windows, dtype=float)
    slope = 1 / math.sqrt(((times - times.mean()) ** 2).sum())
    errors = math.sqrt(7.848)
    for question, stderr in (("q1", 0.1), ("q2", 1.0)):
        ends, trend = found.change[question]
        assert ends == pytest.approx(errors * math.sqrt(2) * stderr, rel=1e-4)
        assert trend == pytest.approx(errors * slope * (windows - 1) * stderr, rel=1e-4)
    assert found.least_change == found.change["q1"][0], "of shares; numbers have a unit of their own"


def test_without_a_second_time_no_change_is_foreseen() -> None:
    assert foreseen(known(0.2)).change == {}
    assert foreseen(known(0.2)).least_change == 0.0
    assert foreseen(known(2.0, 2.4, "q2"), items=(HOURS,), windows=3).least_change == 0.0
    two = foreseen(known(0.1), known(0.3, question="q3"), windows=2)
    assert two.least_change == two.change["q3"][0], "of the question that is known worst"


# ---- budgets


@pytest.mark.parametrize(
    ("windows", "protection", "later", "expected", "fits", "possible"),
    [
        (1, 1.0, None, 1, True, True),
        (1, 1.01, None, 0, True, True),
        (2, 0.5, None, 1, True, True),
        (2, 1.0, None, 0, True, True),
        (2, 1.0, 1, 1, False, True),
        (1, 0.5, 3, 3, True, True),
        (1, 0.5, 4, 4, False, True),
        (3, 1.0, None, 0, False, False),
        (20, 0.1, None, 0, True, True),
    ],
)
def test_a_second_survey_is_planned_for_where_it_fits(
    windows: int, protection: float, later: int | None, expected: int, fits: bool, possible: bool
) -> None:
    """A device gives one collector 2 in a year."""
    found = outlook._bare(
        Questionnaire(questions=(item(kind="yes-no"),), people=900, windows=windows, protection=protection, later=later)
    )
    assert found.later == expected
    assert found.cost == pytest.approx(windows * protection)
    assert (found.fits, found.possible) == (fits, possible)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [((), [1 / 3] * 3), ((0.5, 0.25, 0.25), [0.5, 0.25, 0.25]), ((0.2, 0.2, 0.1), [0.4, 0.4, 0.2])],
)
def test_parts_of_the_people_add_up_to_one(shares: tuple[float, ...], expected: list[float]) -> None:
    assert outlook.group_shares(("a", "b", "c"), shares) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("epsilon", "level", "percent"),
    [
        (0.01, 1, 51), (0.28, 1, 57), (0.2801, 2, 57), (0.7, 2, 67), (0.7001, 3, 67), (1.0, 3, 74), (1.09, 3, 75),
        (1.0901, 4, 75), (2.19, 4, 90), (2.1901, 5, 90), (4.05, 5, 99), (4.0501, 6, 99), (8.0, 6, 100),
        (math.log(3), 4, 75), (math.log(3) + 1e-6, 4, 76), (math.log(1.5), 2, 60),
    ],
)  # fmt: skip
def test_protections_are_told_in_six_words_and_in_per_cent_that_are_rounded_up(
    epsilon: float, level: int, percent: int
) -> None:
    assert level_of(epsilon) == level
    assert sure(epsilon) == pytest.approx(percent / 100)
    assert telling.level(epsilon, EN) == EN("edit.level", level=EN(f"level.{level}"), percent=f"{percent}%")


# ---- what would help


def one(k: int, number: int, **more: Any) -> Item:
    return item(f"q{number}", options=tuple(f"a{i}" for i in range(k)), skip=False, **more)


MIXED = Questionnaire(questions=(one(10, 1), one(2, 2), one(4, 3)), people=5000, protection=0.5)


def test_the_questions_that_could_stay_are_the_longest_beginning_by_cost() -> None:
    found = outlook._bare(MIXED)
    assert found.grade not in ("good", "usable")
    order = sorted(MIXED.questions, key=lambda one: found.costs[one.name] / found._known(one).relevant ** 2)
    assert [one.name for one in order] == ["q2", "q3", "q1"]
    usable = [
        n for n in (1, 2) if outlook._bare(MIXED.asking(one.name for one in order[:n])).grade in ("good", "usable")
    ]
    assert usable == [1]
    assert found.fewer == ("q2",)
    more = outlook._bare(replace(MIXED, people=9000))
    assert more.grade == "coarse"
    assert more.fewer == ("q2", "q3"), "in the order in which they are asked"
    assert outlook._bare(replace(MIXED, people=100)).fewer == ()


@pytest.mark.parametrize(("people", "windows"), [(4000, 1), (4000, 3), (900, 1), (120, 1)])
def test_the_least_protection_that_would_do_is_found_among_those_that_are_offered(people: int, windows: int) -> None:
    """Tried one after the other: a device gives 2 in a year, for all windows together."""
    asked = Questionnaire(questions=(one(4, 1), one(2, 2)), people=people, windows=windows, protection=0.25)
    found = outlook._bare(asked)
    enough = [
        epsilon
        for epsilon in OFFERED
        if epsilon > 0.25
        and epsilon * windows <= 2
        and outlook._bare(replace(asked, protection=epsilon)).grade in ("good", "usable")
    ]
    assert found.protection_needed == (enough[0] if enough else None)
    assert bool(enough) == (people >= 900 and windows == 1)


def test_a_group_that_is_known_too_badly_is_named() -> None:
    groups = (
        Group(name="g1", title="Where?", values=("a", "b"), shares=(0.99, 0.01)),
        Group(name="g2", values=("c", "d")),
        Group(name="g3", values=("e", "f"), shares=(0.01, 0.99)),
    )
    found = outlook._bare(Questionnaire(questions=(one(2, 1),), people=3000, groups=groups))
    assert found.grade == "good"
    assert found.suggestions == [("groups", {"names": ("Where?", "g3")})]
    assert outlook._bare(replace(found.asked, groups=groups[1:2])).suggestions == []


def test_a_group_has_its_part_of_the_answers() -> None:
    found = outlook._bare(Questionnaire(questions=(one(2, 1),), people=4000, response=0.25))
    assert found.answers == 1000
    whole, part = found.of_group(found.asked.questions[0], 1.0), found.of_group(found.asked.questions[0], 0.25)
    assert (whole.reports, part.reports) == (1000, 250)
    assert part.half == pytest.approx(2 * whole.half)
    assert whole.half == pytest.approx(1.96 * math.sqrt(found.costs["q1"] / 1000))
    assert outlook._bare(replace(found.asked, people=None, response=None)).answers == 1


def test_cells_of_tables_are_of_use_up_to_their_number() -> None:
    """Ten points, or the share that each cell has if all are alike; with the reports of those who are asked both."""
    asked = Questionnaire(
        questions=(one(2, 1), one(3, 2), one(4, 3), one(2, 4)), people=90_000, together=(("q1", "q2", "q3"),)
    )
    found = outlook._bare(asked)
    told = {(each.question, each.other): each for each in found.crossed}
    cells = {("q1", "q2"): 6, ("q1", "q3"): 8, ("q2", "q3"): 12}
    assert {pair: each.cells for pair, each in told.items()} == cells
    parts = {
        tuple(found.survey.about(part)): share
        for part, share in zip(found.survey.parts, found.survey.shares, strict=True)
    }
    for pair, each in told.items():
        assert each.relevant == pytest.approx(min(0.1, 1 / cells[pair]))
        assert each.reports == pytest.approx(90_000 * parts[pair])
        assert each.half == pytest.approx(1.96 * math.sqrt(found.survey.worst.cells[pair] / 90_000))
    small = outlook._bare(replace(asked, together=(("q1", "q4"),)))
    assert small.crossed[0].relevant == 0.1


# ---- what is said


@pytest.mark.parametrize(
    ("value", "rounded"),
    [
        (1.264, 1.3),
        (1.2, 1.2),
        (1.21, 1.3),
        (0.0991, 0.1),
        (0.0123, 0.013),
        (9.91, 10.0),
        (1234, 1300.0),
        (100.0, 100.0),
    ],
)
def test_numbers_are_told_in_two_digits_rounded_up(value: float, rounded: float) -> None:
    assert telling.rounded_up(value) == rounded


def test_how_close_is_told_in_points_or_in_the_unit() -> None:
    assert telling.half(known(0.0151), item(), EN) == "2 points"
    assert telling.half(known(0.0051), item(), EN) == "1 points"
    assert telling.half(known(1.264), HOURS, EN) == "1.3 h"
    assert telling._about(known(0.0125), item(), EN) == "Shares to within about 1.5 points, 19 times in 20."
    assert telling._about(known(1.264), HOURS, EN) == "The mean to within about 1.3 h, 19 times in 20."


SMALL = outlook.outlook(Questionnaire(title="T", who="W", why="Y", questions=(one(2, 1),), people=2000))


@pytest.mark.parametrize(("batch", "rough"), [(None, False), (99, True), (100, False), (101, False)])
def test_intervals_of_fewer_than_a_hundred_answers_are_called_rough(batch: int | None, rough: bool) -> None:
    told = telling.lines(SMALL, batch)
    assert (EN("out.rough") in told["cautions"]) == rough
    assert f"Results are published from {batch or SMALL.min_batch} answers on." in told["told"]
    assert (told["grade"], told["possible"]) == (SMALL.grade, True)


def test_all_windows_together_are_told_where_there_are_several() -> None:
    twice = outlook.outlook(replace(SMALL.asked, windows=4, protection=0.5))
    lines = telling.lines(twice)["told"]
    level = EN("level.4")
    assert f"All 4 reports of a person together: {level}, at most 89%." in lines
    assert any("this uses 2." in line for line in lines)
    assert not any("together" in line for line in telling.lines(SMALL)["told"])
    assert EN("out.later", count=1, n=1) in telling.lines(SMALL)["told"]
    assert EN("out.later.none") in lines
    spent = outlook.outlook(replace(SMALL.asked, later=2))
    assert EN("out.later.none") in telling.lines(spent)["told"], "they do not fit"


@pytest.mark.parametrize(("gain", "said"), [(0.0, None), (0.0099, None), (0.01, "1%"), (0.0999, "9%"), (0.25, "25%")])
def test_what_asking_together_would_gain_is_rounded_down(
    monkeypatch: pytest.MonkeyPatch, gain: float, said: str | None
) -> None:
    found = outlook.outlook(replace(SMALL.asked, questions=(one(2, 1), one(2, 2))))
    found.__dict__["gain"] = gain
    lines = [line for line in telling.lines(found)["told"] if line.startswith("Asked together in one report")]
    assert [line.partition("errors ")[2].partition(" smaller")[0] for line in lines] == ([said] if said else [])


def test_a_block_is_told_by_its_worst_table_and_its_worst_question() -> None:
    asked = Questionnaire(
        questions=(one(2, 1), one(3, 2), one(4, 3), one(2, 4)), people=90_000, together=(("q1", "q2", "q3"),)
    )
    found = outlook._bare(asked)
    block, price = telling._crossed(found, EN)
    worst = max(found.crossed, key=lambda each: each.half * max(10, each.cells))
    assert (worst.question, worst.other) == ("q2", "q3")
    points = f"each of the 12 cells to within about {100 * worst.rounded:g} points ({EN('out.grade.' + worst.grade)})"
    assert points in block
    assert "(q1?, q2?, and q3?): you also get 3 tables" in block
    own = max(each.rounded for each in found.known if each.question != "q4")
    apart = max(each.rounded for each in found.apart(("q1", "q2", "q3")))
    assert (
        f"to within about {100 * own:g} points; dealt one by one, without the table, to within about {100 * apart:g}."
        in price
    )


def test_what_somebody_wrote_stands_by_itself_in_sentences_of_the_other_direction() -> None:
    assert telling._isolated("Copied?", "en", EN) == "Copied?"
    assert telling._isolated("Copied?", "en", AR) == "\u2068Copied?\u2069"
    assert telling._isolated("\u0643?", "ar", AR) == "\u0643?"
    assert telling._isolated("\u0643?", "ar-EG", EN) == "\u2068\u0643?\u2069"


# ---- kinds of questions


@pytest.mark.parametrize(
    ("made", "skips", "joins"),
    [
        (item(kind="yes-no"), True, True),
        (item(kind="one", options=("a", "b")), True, True),
        (item(kind="rating"), True, True),
        (item(kind="several", options=("a", "b")), False, False),
        (item(kind="ordered", options=tuple("abcdefg")), True, True),
        (item(kind="ordered", options=tuple("abcdefgh")), False, False),
        (HOURS, False, False),
        (item(kind="time"), False, False),
        (item(kind="yes-no", sensitive=("Yes",)), True, False),
        (item(kind="yes-no", mechanism="grr"), True, False),
        (item(kind="yes-no", weight=2.0), True, False),
    ],
)
def test_which_kinds_can_be_skipped_and_asked_together(made: Item, skips: bool, joins: bool) -> None:
    assert (can_skip(made), can_join(made)) == (skips, joins)


@pytest.mark.parametrize(
    ("made", "labels"),
    [
        (item(kind="yes-no"), ["Yes", "No", "I prefer not to say"]),
        (item(kind="yes-no", skip=False, other=True), ["Yes", "No"]),
        (item(options=("a", "b"), other=True), ["a", "b", "Something else", "I prefer not to say"]),
        (item(options=("a", "b"), other=True, skip=False), ["a", "b", "Something else"]),
        (item(kind="several", options=("a", "b"), other=True), ["a", "b", "Something else"]),
        (item(kind="ordered", options=("a", "b", "c"), other=True), ["a", "b", "c", "I prefer not to say"]),
        (item(kind="ordered", options=tuple("abcdefgh")), list("abcdefgh")),
        (item(kind="rating", points=3), ["1", "2", "3", "I prefer not to say"]),
        (HOURS, []),
        (item(kind="time", slots=4), ["00:00", "06:00", "12:00", "18:00"]),
        (item(kind="time", slots=7), ["00:00", "03:25", "06:50", "10:15", "13:40", "17:05", "20:30"]),
        (item(kind="time", slots=24), [f"{hour:02}:00" for hour in range(24)]),
        (item(kind="time", slots=48), [f"{hour:02}:{half}" for hour in range(24) for half in ("00", "30")]),
    ],
)
def test_answers_that_people_read(made: Item, labels: list[str]) -> None:
    assert labels_of(made, {**WORDS, "other": "Something else"}) == labels


def test_answers_of_another_language_take_the_place_of_the_own() -> None:
    words = {"yes": "Ja", "no": "Nein", "skip": "Keine Angabe", "other": "Anderes"}
    asked = item(options=("a", "b"), other=True)
    assert labels_of(asked, words, ("x", "y")) == ["x", "y", "Anderes", "Keine Angabe"]
    assert labels_of(item(kind="yes-no"), words, ("x", "y")) == ["Ja", "Nein", "Keine Angabe"]


def test_words_for_answers_are_ones_own_or_those_of_the_catalogue() -> None:
    given: Any = {"questionnaire": 1, "language": "de", "words": {"yes": "Jawohl", "no": ""}}
    asked = read({**given, "translations": {"fr-CH": {"words": {"skip": "Rien"}}, "rm": {"words": {"no": "Na"}}}})
    usual = words_of(Questionnaire(language="de"), "de")
    assert dict(words_of(asked, "de")) == {**usual, "yes": "Jawohl"}
    assert dict(words_of(asked, "fr-CH")) == {**words_of(Questionnaire(language="fr"), "fr"), "skip": "Rien"}
    assert dict(words_of(asked, "rm")) == {"yes": "", "no": "Na", "skip": "", "other": ""}


@pytest.mark.parametrize(
    ("made", "answers", "error"),
    [
        (item(kind="yes-no"), 2, 0.1), (item(), 10, 0.1), (item(), 11, 1 / 11), (item(), 40, 0.025), (item(), 0, 0.1),
        (HOURS, 0, 2.4), (item(kind="number"), 0, 0.0),
        (item(kind="time"), 24, 0.1),
        (item(kind="ordered"), 7, 0.1), (item(kind="ordered"), 20, 0.1),
        (item(kind="several", options=tuple("abcd"), most=0), 4, 0.1),
        (item(kind="several", options=tuple(map(str, range(40))), most=2), 40, 0.05),
        (item(kind="several", options=tuple(map(str, range(39))), most=2, other=True), 40, 0.05),
        (item(kind="several", most=2), 0, 0.1),
    ],
)  # fmt: skip
def test_errors_are_of_use_up_to_ten_points_or_one_answer_among_all(made: Item, answers: int, error: float) -> None:
    assert relevant(made, answers) == pytest.approx(error)


def test_questions_are_described_as_surveys_take_them() -> None:
    labels = ["a", "b", "I prefer not to say"]
    skips: Mapping[str, Any] = {"missing": "I prefer not to say"}
    cases: list[tuple[Item, dict[str, Any]]] = [
        (HOURS, {"interval": (-2.0, 22.0)}),
        (item(kind="time", slots=2), {"ordinal": ["00:00", "12:00"]}),
        (item(kind="ordered", options=tuple("abcdefgh")), {"ordinal": list("abcdefgh")}),
        (item(kind="ordered", options=tuple("abcdefg"), skip=False), {"labels": list("abcdefg")}),
        (item(kind="several", options=("a", "b"), most=1), {"several": ["a", "b"], "most": 1}),
        (item(kind="several", options=("a", "b")), {"several": ["a", "b"], "most": None}),
        (item(options=("a", "b")), {"labels": labels, **skips}),
        (item(options=("a", "b"), skip=False), {"labels": ["a", "b"]}),
        (item(options=("a", "b"), sensitive=("b",)), {"labels": labels, **skips, "sensitive": labels[1:]}),
        (item(options=("a", "b"), sensitive=("a",), skip=False), {"labels": ["a", "b"], "sensitive": ["a"]}),
    ]
    for made, told in cases:
        assert kinds._described(made, WORDS) == told


def test_a_chosen_mechanism_must_be_one_that_can_ask() -> None:
    asked = item(options=("a", "b"), mechanism="grr")
    assert kinds.described(asked, WORDS, 1.0).name == "grr"
    assert kinds.described(asked, WORDS, 1.0).epsilon == 1.0
    assert kinds.described(replace(asked, mechanism=""), WORDS, 1.0) == kinds._described(asked, WORDS)
    assert kinds.candidates(item(kind="time"), WORDS, 1.0) == {}
    assert kinds.candidates(item(kind="several", options=("a", "b")), WORDS, 1.0) == {}
    with pytest.raises(ValueError, match=r"one of none"):
        kinds.described(item(kind="time", mechanism="grr"), WORDS, 1.0)
    with pytest.raises(ValueError, match=r"mechanism must be one of .*grr"):
        kinds.described(replace(asked, mechanism="duchi"), WORDS, 1.0)


@pytest.mark.parametrize(("k", "epsilon"), [(2, 1.0), (3, 0.5), (10, 1.0), (4, 3.0)])
def test_the_cost_of_a_share_is_that_of_the_best_size_at_the_worst_share(k: int, epsilon: float) -> None:
    """A set of so many answers that holds one's own with the chance p, and another one with q: by all its sets."""
    found = []
    for size in range(1, k):
        inside, outside = math.comb(k - 1, size - 1) * math.exp(epsilon), math.comb(k - 1, size)
        p = inside / (inside + outside)
        q = p * (size - 1) / (k - 1) + (1 - p) * size / (k - 1)
        variance = {f: (q + f * (p - q)) * (1 - q - f * (p - q)) / (p - q) ** 2 for f in (1 / k, 0.5)}
        found.append((variance[1 / k], max(variance.values())))
    assert kinds.subset_cost(k, epsilon) == pytest.approx(min(found)[1], rel=1e-12)
