"""What pages and tables take from releases, piece by piece, from estimates that are made by hand."""

from __future__ import annotations

import asyncio
import math
from datetime import date, timedelta
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from deniable.errors import ParameterError
from deniable.service.http.problems import Problem
from deniable.service.release import OPEN, PUBLISHED, WITHHELD
from deniable.service.results import flat, joint, public, reading, view
from deniable.service.results.view import Cell, GroupView, Moment, QuestionView
from deniable.service.texts.catalogue import texts
from deniable_client.questions import Single

EN = texts("see", "en")
ONE: Any = SimpleNamespace(name="q", kind="one", labels=("a", "b", "c"), none=None, together=(), text="Which?")
SINGLE = Single("q", "Which?", ("a", "b", "c"), None, "one", None, None)
OPENS = date(2026, 3, 2)
TASK: Any = SimpleNamespace(
    id="1" * 64, opens=OPENS, closes=OPENS + timedelta(28), days=7, count=4, min_batch=40, strata={}, translations={},
    questions=[ONE],
)  # fmt: skip


def found(value: list[float], variance: float = 0.01, covariance: float = 0.0, **more: Any) -> Any:
    """An estimate of shares with the same spread of each, and of each two."""
    k = len(value)
    spread = np.full((k, k), covariance) + (variance - covariance) * np.eye(k)
    usual = {"range": None, "labels": tuple("abcdefghij"[:k])}
    return SimpleNamespace(value=np.array(value), covariance=lambda target: spread, **{**usual, **more})


def part(name: str = "q", state: str = PUBLISHED, **more: Any) -> dict[str, Any]:
    return {"question": name, "text": "Which?", "reports": 90, "state": state, **more}


# ---- which answers are close


@pytest.mark.parametrize(
    ("estimate", "close"),
    [
        (found([0.5, 0.4, 0.1]), (0, 1)),
        (found([0.1, 0.4, 0.5]), (2, 1)),
        (found([0.5, 0.4, 0.35]), (0, 1, 2)),
        (found([0.9, 0.1, 0.0]), (0,)),
        (found([0.5, 0.45, 0.13], covariance=-0.005), (0, 1, 2)),
        (found([0.5, 0.45, 0.13]), (0, 1)),
        (found([0.5, 0.225]), (0, 1)),
        (found([0.5, 0.22]), (0,)),
        (found([0.5, 0.225, 0.0]), (0, 1)),
        (found([0.5, 0.1, 0.0]), (0,)),
        (found([0.5, 0.49], variance=0.0), (0,)),
        (found([0.5, 0.5]), (0, 1)),
        (found([0.5, 0.4], range=(0.0, 1.0)), ()),
        (found([1.0]), ()),
    ],
)
def test_answers_are_close_that_cannot_be_told_from_the_largest(estimate: Any, close: tuple[int, ...]) -> None:
    """Two-sided tests of differences with their covariance, corrected by Holm: 2 * 0.14 for one, 2.3 for two."""
    assert view._close({"found": estimate}, ONE) == close


def test_what_has_no_covariance_has_no_answers_that_are_close() -> None:
    def refused(target: str) -> Any:
        raise ParameterError("there is none.")

    assert view._close({"found": SimpleNamespace(covariance=refused)}, ONE) == ()


# ---- windows


@pytest.mark.parametrize(
    ("own", "told", "expected"),
    [
        (None, None, (OPEN, "", False, 0, False)),
        (part(state=WITHHELD, why="too few", reports=39), None, (WITHHELD, "too few", True, 0, False)),
        (part(state=WITHHELD, why="elsewhere", reports=40), None, (WITHHELD, "elsewhere", False, 0, False)),
        (part(reports=39), None, (PUBLISHED, "", False, 0, False)),
        (
            part(reports=39, why="no"),
            {"value": [0.5], "low": [0.4], "high": [0.6], "stderr": [0.1]},
            (PUBLISHED, "", False, 39, True),
        ),
    ],
)
def test_a_window_has_its_days_and_says_why_it_is_not_shown(own: Any, told: Any, expected: tuple[Any, ...]) -> None:
    window: Any = SimpleNamespace(number=2)
    made = view._moment(TASK, window, own, told)
    assert (made.number, made.first, made.last) == (2, date(2026, 3, 16), date(2026, 3, 22))
    assert (made.state, made.why, made.few, made.reports, bool(made.cells)) == expected


def test_what_is_no_number_is_told_as_nothing() -> None:
    told = {"value": [0.5, math.nan], "low": [None, -math.inf], "high": [0.6, math.inf], "stderr": [0.1, 0.0]}
    assert view._cells(told) == (Cell(0.5, None, 0.6, 0.1), Cell(None, None, None, 0.0))


def test_a_trend_is_over_the_windows_that_are_published(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(view, "trend", lambda *given: seen.append(given) or "trend")
    known: Any = [(SimpleNamespace(number=n), {"found": f"estimate {n}"}) for n in (0, 1, 4)]
    assert view._trend(ONE, known) == "trend"  # type: ignore[comparison-overlap]
    assert seen == [(["estimate 0", "estimate 1", "estimate 4"], [0.0, 1.0, 4.0])]
    assert view._trend(ONE, known[:1]) is None
    assert len(seen) == 1


class Compared:
    """An estimate that is compared by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def compare(self, other: Compared) -> str:
        return f"{self.name} - {other.name}"


def groups(names: str, **more: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(name, {"found": Compared(name), "estimate": {"n": 1}} | more.get(name, {})) for name in names]


def test_each_two_groups_are_compared_and_corrected_for_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "equality", lambda estimates: [each.name for each in estimates])
    told = view._compared(groups("abcd", c={"estimate": None}), ONE)
    assert told["equal"] == ["a", "b", "d"]
    assert told["pairs"] == (("a", "b", "a - b", 3.0), ("a", "d", "a - d", 3.0), ("b", "d", "b - d", 3.0))
    assert view._compared(groups("ab"), ONE)["pairs"] == (("a", "b", "a - b", 1.0),)
    assert view._compared(groups("ab", b={"estimate": None}), ONE) == {}
    many = view._compared(groups("abcdefghijklmnopqrstuvwxyz"), ONE)
    assert (len(many["equal"]), len(many["pairs"])) == (24, 24 * 23 // 2)


# ---- of what is shown


def shown(cells: int, windows: int = 1, **more: Any) -> QuestionView:
    """A question with so many answers, of which the first is the rarest, in so many windows that are published."""
    each = tuple(Cell((i + 1) / 100, i / 100, (i + 2) / 100) for i in range(cells))
    moments = tuple(
        Moment(i, OPENS + timedelta(7 * i), OPENS + timedelta(7 * i + 6), PUBLISHED, "", False, 90, each)
        for i in range(windows)
    )
    usual: dict[str, Any] = {
        "question": SINGLE, "text": "Which?", "unit": None, "labels": tuple(f"l{i}" for i in range(cells)),
        "numbers": False, "circular": False, "several": False, "span": None, "target": "population", "level": 0.95,
        "moments": moments,
    }  # fmt: skip
    return QuestionView(**{**usual, **more})


@pytest.mark.parametrize(
    ("cells", "more", "mirrored", "charts"),
    [
        (2, {}, True, 1),
        (2, {"numbers": True}, False, 2),
        (2, {"several": True}, False, 2),
        (3, {}, False, 3),
        (1, {}, False, 1),
    ],
)
def test_of_two_answers_that_mirror_each_other_one_is_shown(cells: int, more: Any, mirrored: bool, charts: int) -> None:
    own = shown(cells, **more)
    assert (own.mirrored, len(own.shown)) == (mirrored, charts)


@pytest.mark.parametrize(("cells", "windows", "charts"), [(5, 2, 1), (6, 2, 6), (2, 2, 1), (5, 1, 0), (4, 3, 1)])
def test_up_to_five_answers_share_a_chart_over_time(
    monkeypatch: pytest.MonkeyPatch, cells: int, windows: int, charts: int
) -> None:
    drawn: list[tuple[list[int], int]] = []
    monkeypatch.setattr(public.svg, "lines", lambda own, scale, t, chosen, height: drawn.append((list(chosen), height)))
    own = shown(cells, windows)
    made = public.charts_of(TASK, own, [own], EN)
    assert len(made["trend"]) == len(drawn) == charts
    if charts == 1:
        assert (made["trend"][0][0], drawn[0]) == ("", (list(own.shown), 240))
    if charts > 1:
        assert [label for label, _ in made["trend"]] == list(own.labels)
        assert drawn == [([i], 130) for i in range(cells)]


def test_very_many_answers_are_charted_from_the_largest_and_tables_have_all() -> None:
    forty, more = (public.charts_of(TASK, own, [own], EN) for own in (shown(40), shown(41)))
    assert [label for label, _, _ in forty["rows"]] == [f"l{i}" for i in range(40)]
    assert [label for label, _, _ in more["rows"]] == [f"l{i}" for i in range(40, 0, -1)]
    ((_, table),) = more["tables"]
    assert len(table) == 41
    assert table[0] == ("l0", "1%", "0%", "2%")


def test_tables_of_windows_stand_with_the_newest_first_and_gaps_are_said() -> None:
    own = shown(2, 3)
    gap = Moment(1, OPENS + timedelta(7), OPENS + timedelta(13), WITHHELD, "few", True, 0)
    own = shown(2, moments=(own.moments[0], gap, own.moments[2]))
    made = public.charts_of(TASK, own, [own], EN)
    assert [moment.number for moment, _ in made["tables"]] == [2, 0]
    assert len(made["gaps"]) == 1
    assert "fewer than 40 reports" in made["gaps"][0]
    none = shown(0, moments=(gap,))
    empty = public.charts_of(TASK, none, [none], EN)
    assert (empty["rows"], empty["tables"], empty["trend"], len(empty["gaps"])) == ([], [], [], 1)


def test_groups_are_shown_from_two_on_and_by_the_answers_of_charts() -> None:
    cells = shown(2).moments[0].cells
    two = tuple(GroupView(name, 9, cells, False) for name in ("x", "y"))
    scale: Any = SimpleNamespace(ticks=(), at=lambda value: value)
    assert public._grouped(shown(2, groups=two[:1]), scale, EN) == []
    ((label, rows),) = public._grouped(shown(2, groups=two), scale, EN)
    assert label == "l0"
    assert [(name, said) for name, said, _ in rows] == [("x", "1% (0% to 2%)"), ("y", "1% (0% to 2%)")]


@pytest.mark.parametrize(("numbers", "differences"), [(False, ["25", "-12.5"]), (True, ["0.3", "-0.1"])])
def test_differences_of_groups_are_corrected_for_all_pairs(numbers: bool, differences: list[str]) -> None:
    compared: Any = SimpleNamespace(value=[0.25, -0.125, 0.0], pvalue_adjusted=[0.01, 0.4, 0.1])
    own = shown(3, numbers=numbers, pairs=(("x", "y", compared, 3.0),))
    ((first, second, told),) = public._pairs(own, EN)
    assert (first, second) == ("x", "y")
    assert [label for label, _, _ in told] == ["l0", "l1", "l2"]
    assert [difference for _, difference, _ in told] == [*differences, "0"]
    assert [p for _, _, p in told] == ["=\u00a00.03", "=\u00a01", "=\u00a00.3"]


@pytest.mark.parametrize(
    ("ratio", "sure"), [(None, None), ("3/1", "75%"), ("1/1", "50%"), ("3001/1000", "75.1%"), ("2/1", "66.7%")]
)
def test_certificates_say_how_sure_a_report_makes_somebody_rounded_up(ratio: str | None, sure: str | None) -> None:
    made = {"ratio": ratio, "mechanism": "grr", "epsilon": 1.0986123, "asked": "Which?", "reports": 1234}
    told = public._certified(made, EN)
    assert (told["sure"], told["reports"], told["text"], told["epsilon"]) == (sure, "1,234", "Which?", "1.098612")


@pytest.mark.parametrize(
    ("gains", "said"),
    [([0.0123], "1.3"), ([0.012, 0.0301], "3.1"), ([0.02], "2"), ([None], ""), ([None, 0.01], "1"), ([], "")],
)
def test_what_forged_reports_can_add_is_that_of_the_weakest_question_rounded_up(
    monkeypatch: pytest.MonkeyPatch, gains: list[float | None], said: str
) -> None:
    monkeypatch.setattr(public, "forged", lambda m: {"gain": m.gain})
    monkeypatch.setattr(public, "question_of", lambda name: SimpleNamespace(name=name))
    made = [SimpleNamespace(name=public.FREQUENCY, gain=gain) for gain in gains]
    known: Any = SimpleNamespace(intake=SimpleNamespace(mechanisms=[*made, SimpleNamespace(name="mean", gain=9.0)]))
    assert public._forged(known, EN) == said


def test_days_of_results_are_those_of_windows_that_are_published() -> None:
    two = shown(2, 3)
    later = shown(2, moments=two.moments[1:])
    assert public._days(TASK, [later]) == (date(2026, 3, 9), date(2026, 3, 22))
    assert public._days(TASK, [later, shown(2, 1)]) == (OPENS, date(2026, 3, 22))
    gap = Moment(0, OPENS, OPENS + timedelta(6), OPEN, "", False, 0)
    assert public._days(TASK, [shown(0, moments=(gap,))]) == (OPENS, date(2026, 3, 8))
    assert public._days(TASK, [shown(0, moments=())]) == (TASK.opens, TASK.closes)


def test_commands_do_the_same_for_each_question() -> None:
    told = public._commands(TASK, "https://x.org").split("\n")
    assert told == [
        f"curl -O https://x.org/v1/tasks/{TASK.id}",
        f"deniable-client show {TASK.id}",
        "",
        f"curl -O https://x.org/r/{TASK.id}/q.tally",
        "deniable estimate q.tally --target population",
    ]


@pytest.mark.parametrize(
    ("id", "state", "results", "there"),
    [
        ("1" * 64, "open", "public", True), ("1" * 64, "closed", "public", True), ("1" * 64, "draft", "public", False),
        ("1" * 64, "open", "private", False), ("1" * 63, "open", "public", False),
        ("\u0661" * 64, "open", "public", False),
    ],
)  # fmt: skip
def test_results_are_public_if_the_task_says_so_and_is_no_draft(id: str, state: str, results: str, there: bool) -> None:
    known = SimpleNamespace(
        row=SimpleNamespace(state=state), intake=SimpleNamespace(task=SimpleNamespace(results=results))
    )

    async def task(_: str) -> Any:
        return known

    collector: Any = SimpleNamespace(task=task)
    request: Any = SimpleNamespace(path_params={"id": id})
    if there:
        assert asyncio.run(public._public(collector, request)) is known
    else:
        with pytest.raises(Problem, match="no public results"):
            asyncio.run(public._public(collector, request))


def test_counts_are_told_of_what_is_published_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = {"n": np.array([3]), "a": np.array([1, 2])}
    monkeypatch.setattr(public, "tally_in", lambda told: SimpleNamespace(cells=cells))
    head = {"task": "t", "window": 1, "from": "f", "to": "t", "min_batch": 40}
    told = {**head, "state": PUBLISHED, "questions": [part(state=WITHHELD), part("r")]}
    expected = head | {"questions": [part("r") | {"counts": {"a": [1, 2], "n": [3]}}]}
    assert public._counted(told) == expected
    assert public._counted({**told, "questions": [part(state=WITHHELD)]}) is None
    assert public._counted({**head, "state": OPEN}) is None


# ---- reading


def test_estimates_are_as_published_or_for_the_target_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_shown", lambda tally, labels, target: (tally, labels, target))
    told = {"value": [0.5]}
    assert reading.estimated({"estimate": None}, ONE, "population") is None
    assert reading.estimated({}, ONE, "population") is None
    own = {"estimate": told, "tally": "t"}
    assert reading.estimated(own, ONE, "reporters") is told
    assert reading.estimated(own, ONE, "population") == ("t", ("a", "b", "c"), "population")  # type: ignore[comparison-overlap]
    aimed = {"estimate": told | {"target": "population"}, "tally": "t"}
    assert reading.estimated(aimed, ONE, "population") is aimed["estimate"]
    assert reading.estimated(aimed, ONE, "reporters") == ("t", ("a", "b", "c"), "reporters")  # type: ignore[comparison-overlap]
    assert reading.estimated(own | {"found": object()}, ONE, "population") is told

    def refused(*_: object) -> Any:
        raise ParameterError("only for those who answered.")

    monkeypatch.setattr(reading, "_shown", refused)
    assert reading.estimated(own, ONE, "population") is told


def test_targets_are_known_by_their_names() -> None:
    assert reading.TARGETS == ("reporters", "population")
    assert [reading.check_target(name) for name in reading.TARGETS] == list(reading.TARGETS)
    with pytest.raises(ParameterError, match="target must be one of reporters, population"):
        reading.check_target("all")


def test_published_parts_are_those_of_the_question() -> None:
    documents: list[Any] = [
        {"questions": [part("r"), part("q", reports=1)]}, None, {"questions": [part("q", WITHHELD), part("r")]},
        {"questions": [part("q", reports=2)]}, {},
    ]  # fmt: skip
    made: list[Any] = [SimpleNamespace(number=i, document=each) for i, each in enumerate(documents)]
    assert [(window.number, own["reports"]) for window, own in reading.published(made, "q")] == [(0, 1), (3, 2)]


def test_groups_are_called_by_their_name_or_by_what_they_have() -> None:
    strata = [{"country": "DE", "age": "old"}, {"country": "FR"}]
    assert reading.strata_of({"name": "all others", "strata": strata}) == "all others"
    assert reading.strata_of({"strata": strata}) == "DE, old; FR"


@pytest.mark.parametrize(("count", "named"), [(3, True), (4, True), (5, False)])
def test_up_to_four_values_that_are_left_are_named(count: int, named: bool) -> None:
    values = ["first", *(f"v{i}" for i in range(count))]
    task: Any = SimpleNamespace(strata={"g": tuple(values)}, translations={})
    told = [{"strata": [{"g": "first"}]}, {"strata": [{}]}]
    names = reading.group_names(task, told, EN)
    assert names == ["first", "; ".join(values[1:]) if named else "all others"]


# ---- asked together


def table(cells: Any = None, **more: Any) -> dict[str, Any]:
    return {"questions": ["one", "two"], "cells": cells, "reports": 80, "independence": None, **more}


WORDS: Any = {"one": ("One?", ("a", "b")), "two": ("Two?", ("x", "y", "z"))}
CELLS = {"value": list(range(6)), "low": list(range(10, 16)), "high": list(range(20, 26))}


@pytest.mark.parametrize(
    ("test", "pvalue"), [(None, None), ({"pvalue": 0.25}, 0.25), ({"pvalue": math.nan}, None), ({"pvalue": 0.0}, 0.0)]
)
def test_tables_of_two_have_a_row_for_each_answer_to_the_first(test: Any, pvalue: float | None) -> None:
    found = joint._crossing(table(CELLS, independence=test), 3, WORDS)
    assert (found.texts, found.rows, found.columns) == (("One?", "Two?"), ("a", "b"), ("x", "y", "z"))
    assert found.cells == (((0, 10, 20), (1, 11, 21), (2, 12, 22)), ((3, 13, 23), (4, 14, 24), (5, 15, 25)))
    assert (found.reports, found.window, found.pvalue) == (80, 3, pvalue)
    none = joint._crossing(table(independence=test), 3, WORDS)
    assert (none.cells, none.reports, none.pvalue) == ((), 0, None)


def test_tables_are_those_of_the_last_window_that_has_some() -> None:
    documents: list[Any] = [{"tables": [table(CELLS)]}, {"tables": [table(CELLS), table()]}, {"tables": []}, {}, None]
    made: list[Any] = [SimpleNamespace(number=i, document=each) for i, each in enumerate(documents)]
    assert [each.window for each in joint.crossings(TASK, made, WORDS)] == [1, 1]
    assert [each.window for each in joint.crossings(TASK, made[:1], WORDS)] == [0]
    assert joint.crossings(TASK, made[2:], WORDS) == []


def test_a_question_of_withheld_parts_has_the_reports_of_the_smallest(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = (SimpleNamespace(name=name, text=f"{name}?") for name in ("one", "two"))
    task: Any = SimpleNamespace(questions=[
        SimpleNamespace(name="one", text="one?", together=()), SimpleNamespace(name="p", together=(one, two)),
        SimpleNamespace(name="s", text="s?", together=()),
    ])  # fmt: skip
    document = {"questions": [
        part("one", WITHHELD, reports=30, why="few"), part("p", WITHHELD, reports=20, why="fewer"),
        part("s", reports=70, tally="t"),
    ]}  # fmt: skip
    own = {"reports": 70, "estimate": {}, "found": "estimate"}
    monkeypatch.setattr(joint, "_read", lambda task, tallies, target: {"s": own, "": {"tables": [tallies]}})
    told = joint._apart(task, document, "population")
    assert told["questions"] == [
        {"question": "one", "text": "one?", "reports": 20, "state": WITHHELD, "why": "fewer"},
        {"question": "two", "text": "two?", "reports": 20, "state": WITHHELD, "why": "fewer"},
        {"question": "s", "text": "s?", "state": PUBLISHED, **own},
    ]
    assert told["tables"] == [{2: "t"}], "only what is published is read"
    assert [one.name for one in joint.asks(task)] == ["one", "two", "s"]


def test_tasks_without_questions_asked_together_are_read_as_they_are() -> None:
    windows: Any = [SimpleNamespace(document={"questions": []})]
    assert joint.by_question(TASK, windows, "population") == windows


# ---- the flat table


def rows(windows: list[Any], *questions: Any) -> list[dict[str, Any]]:
    task: Any = SimpleNamespace(questions=list(questions) or [ONE])
    return flat.flat(task, windows)


def estimate(n: int = 90, **more: Any) -> dict[str, Any]:
    numbers = {name: [i / 10 + n, i / 10] for i, name in enumerate(("value", "stderr", "low", "high"))}
    whole = {"labels": ["a", "b"], "level": 0.95, "target": "population", "n": n, "simulated": False}
    return {**whole, **numbers, **more}


def window(number: int, *parts: dict[str, Any]) -> Any:
    days = {"from": f"day {number}", "to": f"end {number}"}
    return SimpleNamespace(number=number, document={"questions": list(parts)}, told=lambda task: days)


def test_rows_stand_by_window_then_by_question_then_by_group() -> None:
    other: Any = SimpleNamespace(name="r", text="Other?", together=(), labels=None)
    groups = [
        {"found": 1, "name": "x", "strata": [], "estimate": estimate(5)},
        {"found": 1, "name": "y", "strata": [], "estimate": None},
    ]
    own = part(found=1, estimate=estimate(), groups=groups)
    found = rows([window(0, own, part("r", found=1, estimate=estimate(7))), window(1, own)], ONE, other)
    told = [(row["window"], row["question"], row["group"], row["answer"], row["reports"]) for row in found]
    assert told == [
        (0, "q", "", "a", 90), (0, "q", "", "b", 90), (0, "q", "x", "a", 5), (0, "q", "x", "b", 5),
        (0, "r", "", "a", 7), (0, "r", "", "b", 7),
        (1, "q", "", "a", 90), (1, "q", "", "b", 90), (1, "q", "x", "a", 5), (1, "q", "x", "b", 5),
    ]  # fmt: skip
    first = found[0]
    assert list(first) == [name for name in flat.COLUMNS if name not in ("mean", "mean_low", "mean_high", "too_rare")]
    assert (first["from"], first["to"], first["text"], found[4]["text"]) == ("day 0", "end 0", "Which?", "Other?")
    assert (first["value"], first["stderr"], first["low"], first["high"]) == (90, 90.1, 90.2, 90.3)
    assert (first["level"], first["target"], first["simulated"]) == (0.95, "population", False)


def test_columns_of_means_are_there_where_one_question_has_keys() -> None:
    keys = {"mean": [0.5, None], "mean_low": [0.4, None], "mean_high": [0.6, None], "too_rare": [False, True]}
    other: Any = SimpleNamespace(name="r", text="Other?", together=(), labels=None)
    found = rows(
        [window(0, part(found=1, estimate=estimate()), part("r", found=1, estimate=estimate(**keys)))], ONE, other
    )
    assert {tuple(row) for row in found} == {tuple(flat.COLUMNS)}
    assert [row["too_rare"] for row in found] == [None, None, False, True]
    assert [row["mean"] for row in found] == [None, None, 0.5, None]


def test_tables_of_two_have_a_row_for_each_two_answers_of_everybody_and_of_groups() -> None:
    cells = {
        "one": ["a", "a"],
        "two": ["x", "y"],
        "value": [0.25, 0.75],
        "stderr": [1, 2],
        "low": [3, 4],
        "high": [5, 6],
    }
    whole = {"level": 0.95, "target": "population", "simulated": True}
    told = {"questions": [], "tables": [table(cells, **whole), table(None)]}
    survey = {**told, "groups": [{**told, "name": "x", "strata": []}]}
    both: Any = SimpleNamespace(together=tuple(SimpleNamespace(name=name, text=f"{name}?") for name in ("one", "two")))
    own: Any = SimpleNamespace(number=2, document={}, told=lambda task: {"from": "f", "to": "t", "survey": survey})
    found = rows([own], both)
    assert [(row["group"], row["answer"], row["value"], row["high"]) for row in found] == [
        ("", "a, x", 0.25, 5), ("", "a, y", 0.75, 6), ("x", "a, x", 0.25, 5), ("x", "a, y", 0.75, 6),
    ]  # fmt: skip
    assert {(row["question"], row["text"], row["reports"], row["simulated"]) for row in found} == {
        ("one x two", "one? / two?", 80, True)
    }
    empty: Any = SimpleNamespace(number=0, document=None, told=lambda task: {"from": "f", "to": "t"})
    assert rows([empty], both) == []


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_no_file_is_made_of_nothing(kind: str) -> None:
    _, write = flat.FORMS[kind]
    with pytest.raises(ParameterError, match="nothing is published yet"):
        write([])
    assert write([{"a": 1}]).decode().strip() in ("a\n1", "a\r\n1", '[\n {\n  "a": 1\n }\n]')
