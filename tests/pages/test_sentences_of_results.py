"""Every sentence about results, from views made by hand: which one is said, with which numbers, and at its ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest

from deniable.service.results import words
from deniable.service.results.joint import Crossing
from deniable.service.results.view import Cell, GroupView, Moment, QuestionView, clear
from deniable.service.texts.catalogue import texts

EN = texts("see", "en")
FIRST, LAST = date(2026, 3, 2), date(2026, 3, 8)


def moment(*cells: Cell, number: int = 0, state: str = "published", why: str = "", few: bool = False) -> Moment:
    return Moment(number, FIRST, LAST, state, why, few, 100, cells)


def view(*cells: Cell, kind: str = "one", **more: Any) -> QuestionView:
    """A question of shares with a window that has these cells; no window without any."""
    usual: dict[str, Any] = {
        "text": "Which?",
        "unit": None,
        "labels": tuple("abcdefghijkl"[: len(cells)]),
        "numbers": False,
        "circular": False,
        "several": False,
        "span": None,
        "target": "population",
        "level": 0.95,
        "moments": (moment(*cells),) if cells else (),
    }
    question: Any = SimpleNamespace(kind=kind, name="q")
    return QuestionView(question=question, **{**usual, **more})


def plain(lines: Any) -> list[str]:
    return [line.striptags() for line in lines]


SOME = Cell(0.6, 0.5, 0.7)
REST = Cell(0.4, 0.3, 0.5)
FEW = Cell(0.0, 0.0, 0.1)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (view(), []),
        (view(SOME, REST), ["About 60 in 100 answered “a” (50 to 70)."]),
        (view(REST, SOME, FEW, kind="yes-no"), ["About 40 in 100 answered “a” (30 to 50)."]),
        (view(REST, SOME, FEW), []),
        (view(REST, SOME, FEW, close=(1,)), ["Most: “b”, about 60 in 100 (50 to 70)."]),
        (view(REST, SOME, FEW, close=(1, 0)), ["Too close to call: b and a."]),
        (view(*[REST] * 6, close=(4, 0, 1, 2, 3)), ["Too close to call: e, a, b, c, and d."]),
        (view(*[REST] * 6, close=(4, 0, 1, 2, 3, 5)), []),
        (
            view(REST, SOME, Cell(None, None, None), several=True, close=(1,)),
            [
                "About 60 in 100 answered “b” (50 to 70).",
                "People could tick several answers: shares do not add up to 100.",
            ],
        ),
        (view(REST, SOME, several=True), ["About 60 in 100 answered “b” (50 to 70).", EN("say.several")]),
        (view(Cell(6.254, 4.0, 9.996), numbers=True, unit="h", span=(0, 24)), ["The mean is 6.25 h (4 to 10)."]),
        (view(Cell(6.254, 4.0, 9.5), numbers=True, span=(0, 24)), ["The mean is 6.25 (4 to 9.5)."]),
        (view(Cell(None, None, None), numbers=True, unit="h", span=(0, 24)), ["No direction can be told."]),
        (
            view(Cell(24.5, 22.0, 27.0), numbers=True, circular=True, unit="h", span=(0, 24)),
            ["The mean is 0.5 h (22 to 3)."],
        ),
        (view(Cell(12.0, 0.0, 24.0), numbers=True, circular=True, span=(0, 24)), ["No direction can be told."]),
        (
            view(REST, SOME, FEW, close=(1,), rating=Cell(2.345, 0.5, 3.5), ends=("a (bad)", "c (good)"), points=3),
            ["The mean rating is 2.35 (1 to 3), of those who gave one, from a (bad) to c (good)."],
        ),
        (
            view(REST, SOME, FEW, close=(1,), middle=("b", "a", "c")),
            ["The middle answer is “b” (a to c): half of those who gave one chose it or one before it."],
        ),
    ],
)
def test_each_kind_of_result_has_its_own_sentence(found: QuestionView, said: list[str]) -> None:
    assert plain(words.sentences(found, EN)) == said


def test_the_sentence_is_about_the_last_window_that_is_published() -> None:
    later = (moment(SOME, REST), moment(REST, SOME, number=1), moment(number=2, state="open"))
    assert plain(words.sentences(view(SOME, REST, moments=later), EN)) == ["About 40 in 100 answered “a” (30 to 50)."]
    assert plain(words.sentences(view(SOME, REST, moments=later[2:]), EN)) == []


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (Cell(0.0049, -0.01, 0.011), "“x” is too rare to measure: at most 2 in 100."),
        (Cell(-0.2, -0.4, -0.1), "“x” is too rare to measure: at most 0 in 100."),
        (Cell(0.001, -0.01, 0.01), "“x” is too rare to measure: at most 1 in 100."),
        (Cell(0.001, None, None), "“x” is too rare to measure: at most 0 in 100."),
        (Cell(0.005, -0.01, 0.016), "About 0 in 100 answered “x” (0 to 2)."),
        (Cell(0.994, 0.986, 1.2), "About 99 in 100 answered “x” (99 to 100)."),
        (Cell(None, None, None), "About 0 in 100 answered “x” (0 to 0)."),
    ],
)
def test_shares_are_told_within_0_and_100_and_rare_ones_by_their_end(cell: Cell, said: str) -> None:
    assert words._share("x", cell, EN).striptags() == said


@pytest.mark.parametrize(
    ("pvalue", "said"),
    [(0.0, "< 0.001"), (0.00099, "< 0.001"), (0.001, "= 0.001"), (0.0499, "= 0.05"), (0.2346, "= 0.235"), (1.0, "= 1")],
)
def test_chances_have_three_digits_and_a_sign(pvalue: float, said: str) -> None:
    assert words.chance(pvalue, EN) == said.replace(" ", "\u00a0")


def test_numbers_of_tables_are_points_or_in_the_unit() -> None:
    shares, numbers = view(SOME, REST), view(Cell(6.254, 4.0, 9.5), numbers=True)
    assert [words.number(shares, value, EN) for value in (None, 0.12345, -0.0004, 1.0)] == ["–", "12.3%", "0%", "100%"]
    assert words.number(shares, 0.12345, EN, 0) == "12%"
    assert [words.number(numbers, value, EN) for value in (None, 6.254, 1234.5)] == ["–", "6.25", "1,234.5"]
    assert words.number(numbers, 6.254, EN, 0) == "6.25", "numbers have two digits everywhere"


@pytest.mark.parametrize(
    ("span", "cell", "told"),
    [
        ((0.0, 24.0), Cell(23.0, 22.0, 25.0, 0.5), Cell(23.0, 22.0, 1.0, 0.5)),
        ((0.0, 24.0), Cell(-1.0, -2.0, 0.5, 0.5), Cell(23.0, 22.0, 0.5, 0.5)),
        ((6.0, 30.0), Cell(31.0, 5.0, 37.0, 0.5), None),
        ((6.0, 30.0), Cell(31.0, 29.0, 37.0, 0.5), Cell(7.0, 29.0, 13.0, 0.5)),
        ((0.0, 24.0), Cell(12.0, 0.001, 24.0, 0.5), Cell(12.0, 0.001, 0.0, 0.5)),
        ((0.0, 24.0), Cell(12.0, 0.0, 24.0, 0.5), None),
        ((0.0, 24.0), Cell(12.0, -1.0, 25.0, 0.5), None),
        ((0.0, 24.0), Cell(12.0, None, 25.0, 0.5), None),
        ((0.0, 24.0), Cell(12.0, 1.0, None, 0.5), None),
        (None, Cell(12.0, 11.0, 13.0, 0.5), None),
    ],
)
def test_directions_are_within_one_turn_or_cannot_be_told(span: Any, cell: Cell, told: Cell | None) -> None:
    found = words.shown(view(cell, numbers=True, circular=True, span=span), cell)
    assert found == (told or Cell(None, None, None))
    assert words.shown(view(cell, numbers=True, span=span), cell) is cell, "straight lines have no turns"


@pytest.mark.parametrize(
    ("state", "why", "few", "said"),
    [
        ("withheld", "too few", True, "not published, because fewer than 40 reports came."),
        ("withheld", "elsewhere", False, "not published, because its reports are counted elsewhere."),
        ("open", "", False, "still open."),
    ],
)
def test_a_window_that_is_not_shown_says_why(state: str, why: str, few: bool, said: str) -> None:
    task: Any = SimpleNamespace(min_batch=40)
    told = words.gap(moment(state=state, why=why, few=few), task, EN)
    assert told == f"March 2, 2026 to March 8, 2026: {said}"


# ---- claims


def changed(values: list[float], stderrs: list[float], **more: Any) -> QuestionView:
    """A view of two windows: from the first to the last each answer changes so much, from 20 in 100 on."""
    low = [value - 0.1 for value in values]
    high = [value + 0.2 for value in values]
    ends = {0.95: SimpleNamespace(low=low, high=high)}
    change: Any = SimpleNamespace(value=values, stderr=stderrs, interval=lambda level: ends[level])
    two = [moment(*(Cell(0.2 + share, None, None) for share in each)) for each in ([0.0] * len(values), values)]
    cells = [Cell(0.2, None, None)] * len(values)
    return view(
        *cells,
        moments=(two[0], moment(number=1, state="withheld"), two[1]),
        trend=SimpleNamespace(change=change),
        **more,
    )


def test_a_trend_is_told_with_the_changes_that_are_largest_by_their_errors() -> None:
    values, stderrs = [0.01, 0.09, -0.30, 0.02, 0.10, -0.06, 0.05], [0.01, 0.10, 0.10, 0.01, 0.20, 0.01, 0.01]
    told = plain(words.trend_claim(changed(values, stderrs, pvalue=0.01), EN, 1))
    assert told[0] == "There is a trend (p = 0.01)."
    ratios = sorted(range(7), key=lambda i: -abs(values[i] / stderrs[i]))[:5]
    assert [line[1] for line in told[1:]] == ["abcdefg"[i] for i in sorted(ratios)] == list("acdfg")
    assert told[2] == "“c”: 20% to -10%. First to last -30 points (-40 to -10)."
    assert told[5] == "“g”: 20% to 25%. First to last +5 points (-5 to +25)."
    few = plain(words.trend_claim(changed(values[:5], stderrs[:5], pvalue=0.05), EN, 3))
    assert few[0] == "No trend can be told (p = 0.05)."
    assert few[1] == "Corrected for the tests of all questions: 3."
    assert [line[1] for line in few[2:]] == list("abcde")
    assert words.trend_claim(view(SOME, REST), EN, 1) == []


def test_a_trend_of_two_answers_is_told_by_the_first_and_one_of_a_mean_in_its_unit() -> None:
    told = plain(words.trend_claim(changed([0.1, -0.1], [0.01, 0.01]), EN, 1))
    assert told[1:] == ["“a”: 20% to 30%. First to last +10 points (0 to +30)."]
    (_, mean) = plain(words.trend_claim(changed([0.5], [0.1], numbers=True), EN, 1))
    assert mean == "From 0.2 to 0.7. First to last +0.5 (+0.4 to +0.7)."


@pytest.mark.parametrize(
    ("pvalue", "says"),
    [
        (0.04999, "The groups differ (p = 0.05)."),
        (0.05, "No difference between the groups can be told (p = 0.05)."),
    ],
)
def test_groups_differ_below_five_in_a_hundred(pvalue: float, says: str) -> None:
    equal: Any = SimpleNamespace(pvalue=pvalue)
    groups = tuple(GroupView(name, 50, (SOME, REST), name != "North") for name in ("North", "East", "South; West"))
    assert plain(words.group_claim(view(SOME, REST, equal=equal, groups=groups), EN)) == [
        says,
        "Groups too small to stand alone are shown together: East and South; West.",
    ]
    assert plain(words.group_claim(view(SOME, REST, equal=equal, groups=groups[:1]), EN)) == [says]
    assert words.group_claim(view(SOME, REST, groups=groups[:1]), EN) == []
    assert clear(pvalue) is (pvalue < 0.05)


# ---- for papers


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (None, "–"),
        ("3/1", "3"),
        ("20001/10000", "2.0001"),
        ("200001/100000", "2.0001"),
        ("1/3", "0.3334"),
        ("2/1", "2"),
    ],
)
def test_ratios_in_sentences_are_rounded_up(ratio: str | None, said: str) -> None:
    assert words._ratio_text({"ratio": ratio}, EN) == said


def test_people_are_dealt_in_parts_of_the_whole() -> None:
    def dealt(*shares: int) -> list[str]:
        task: Any = SimpleNamespace(questions=[SimpleNamespace(share=share) for share in shares])
        return words._dealt(task, EN)

    assert dealt(2, 1, 1) == ["50%", "25%", "25%"]
    assert dealt(1, 2) == ["33.3%", "66.7%"]
    assert dealt(7) == ["100%"]


def test_a_data_set_is_cited_by_the_year_of_its_last_day() -> None:
    def cited(closes: date, collector: str | None) -> str:
        task: Any = SimpleNamespace(closes=closes, collector=collector, id="0123456789abcdef")
        return words.citation(task, "Sleep", EN, "https://x.org/r")

    version = words.software()
    told = f"Sleep [data set]. Deniable {version}, task 0123456789ab. https://x.org/r"
    assert cited(date(2027, 1, 1), "Us") == f"Us (2026). {told}"
    assert cited(date(2027, 1, 2), None) == f" (2027). {told}"


TABLE = Crossing(
    texts=("One?", "Two?"),
    rows=("a", "b"),
    columns=("x", "y", "z"),
    cells=(
        ((0.1, 0.05, 0.15), (0.2, 0.1, 0.3), (0.0, -0.0123, 0.01)),
        ((0.3, 0.2, 0.4), (0.25, 0.2, 0.3), (0.15, 0.1, 0.2)),
    ),
    reports=90,
    window=2,
    pvalue=0.0499,
)


@pytest.mark.parametrize(
    ("pvalue", "claim"),
    [
        (0.0499, "The answers to the two have to do with each other (p\u00a0=\u00a00.05)."),
        (0.05, "No connection between the answers to the two can be told (p\u00a0=\u00a00.05)."),
        (None, EN("cross.rough")),
    ],
)
def test_tables_of_two_claim_what_their_test_says(pvalue: float | None, claim: str) -> None:
    told = words.crossed(replace(TABLE, pvalue=pvalue), EN)
    assert told["claim"] == claim
    assert [label for label, _ in told["rows"]] == ["a", "b"]
    assert told["rows"][0][1] == [("10%", "5% to 15%"), ("20%", "10% to 30%"), ("0%", "-1.2% to 1%")]
    assert [value for value, _ in told["rows"][1][1]] == ["30%", "25%", "15%"]
    none = words.crossed(replace(TABLE, cells=(), pvalue=pvalue), EN)
    assert (none["claim"], none["rows"]) == (EN("cross.lacking"), [])
