"""Charts of results as they are drawn: axes, lines, gaps, bands, names and dots, from views that are made by hand."""

from __future__ import annotations

from datetime import date, timedelta
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from deniable.service.results import svg
from deniable.service.results.svg import Scale
from deniable.service.results.view import Cell, GroupView, Moment, QuestionView
from deniable.service.texts.catalogue import texts

EN = texts("see", "en")
BEGUN = date(2026, 2, 23)


def view(windows: list[list[Cell]], names: str = "abcdefghijkl", **more: Any) -> QuestionView:
    """A question over weeks; a window without cells is not published."""
    moments = []
    for i, cells in enumerate(windows):
        first = BEGUN + timedelta(7 * i)
        moments.append(Moment(i, first, first + timedelta(6), "published", "", False, 9, tuple(cells)))
    usual: dict[str, Any] = {"numbers": False, "circular": False, "several": False, "span": None, "unit": None}
    question: Any = SimpleNamespace(kind="one", name="q")
    labels = more.pop("labels", tuple(names))
    return QuestionView(
        question=question, text="?", labels=labels, target="population", level=0.95, moments=tuple(moments),
        **{**usual, **more},
    )  # fmt: skip


def at(value: float, half: float = 0.05) -> Cell:
    return Cell(value, value - half, value + half)


def tree(drawn: Any) -> ElementTree.Element:
    return ElementTree.fromstring(str(drawn))


def of_class(found: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [each for each in found.iter() if name in each.get("class", "").split()]


# ---- axes


@pytest.mark.parametrize(
    ("width", "step"),
    [
        (0.6, 0.1),
        (0.61, 0.2),
        (1.0, 0.2),
        (1.2, 0.2),
        (1.21, 0.5),
        (3, 0.5),
        (3.1, 1),
        (6, 1),
        (13, 5),
        (31, 10),
        (0.05, 0.01),
    ],
)
def test_steps_are_round_and_at_most_six_of_them_fit(width: float, step: float) -> None:
    assert svg._step(width) == pytest.approx(step, rel=1e-12)
    assert width / svg._step(width) <= 6 + 1e-9


@pytest.mark.parametrize(
    ("cells", "ends", "ticks"),
    [
        ([Cell(0.2, 0.1, 0.3)], (0.0, 0.3), [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3]),
        ([Cell(0.2, 0.1, 0.30001)], (0.0, 0.4), [0, 0.1, 0.2, 0.3, 0.4]),
        ([Cell(0.01, 0.0, 0.02)], (0.0, 0.1), [0, 0.02, 0.04, 0.06, 0.08, 0.1]),
        ([Cell(0.2, -0.01, 0.3)], (-0.05, 0.3), [0, 0.1, 0.2, 0.3]),
        ([Cell(0.2, -0.06, 0.3)], (-0.1, 0.3), [-0.1, 0, 0.1, 0.2, 0.3]),
        ([Cell(0.95, 0.8, 1.04)], (0.0, 1.1), [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        ([Cell(0.45, None, None), Cell(None, None, None)], (0.0, 0.5), [0, 0.1, 0.2, 0.3, 0.4, 0.5]),
        ([Cell(None, None, None)], (0.0, 0.1), [0, 0.02, 0.04, 0.06, 0.08, 0.1]),
    ],
)
def test_the_axis_of_shares_goes_from_0_to_the_next_ten(
    cells: list[Cell], ends: tuple[float, float], ticks: list[float]
) -> None:
    found = svg.scale_of(view([cells]), EN)
    assert (found.low, found.high) == pytest.approx(ends)
    assert list(found.ticks) == pytest.approx(ticks)
    assert found.write(0.05) == "5%"


def test_the_axis_holds_all_windows_and_all_groups() -> None:
    windows = [[at(0.5)], [], [at(0.2)]]
    assert svg.scale_of(view(windows), EN).high == pytest.approx(0.6)
    groups = (GroupView("x", 9, (at(0.2),), False), GroupView("y", 9, (Cell(0.7, -0.2, 0.85),), False))
    found = svg.scale_of(view(windows, groups=groups), EN)
    assert (found.low, found.high) == pytest.approx((-0.2, 0.9))


def test_the_axis_of_numbers_is_where_they_are_from() -> None:
    cells = [[Cell(6.0, -3.0, 40.0)]]
    hours = svg.scale_of(view(cells, numbers=True, span=(0.0, 24.0)), EN)
    assert (hours.low, hours.high, hours.ticks) == (0.0, 24.0, (0.0, 5.0, 10.0, 15.0, 20.0))
    weights = svg.scale_of(view(cells, numbers=True, span=(30.0, 230.0)), EN)
    assert weights.ticks == (30.0, 80.0, 130.0, 180.0, 230.0)
    assert [weights.write(value) for value in (30.0, 62.512)] == ["30", "62.51"]


SCALE = Scale(-0.1, 0.4, (-0.1, 0.0, 0.1, 0.2, 0.3, 0.4), lambda value: f"{100 * value:.0f}%")


def test_places_on_an_axis_do_not_leave_it() -> None:
    assert [SCALE.at(value) for value in (-0.2, -0.1, 0.15, 0.4, 0.5)] == pytest.approx([0, 0, 0.5, 1, 1])


def test_below_dots_every_second_of_many_ticks_has_its_number() -> None:
    told = [(each.text, each.get("x"), each.get("text-anchor")) for each in tree(svg.axis(SCALE))]
    assert told == [("-10%", "0.00%", "start"), ("10%", "40.00%", "middle"), ("30%", "80.00%", "middle")]
    few = Scale(0.0, 0.3, (0.0, 0.1, 0.2, 0.3), lambda value: f"{value:.1f}")
    anchors = [(each.text, each.get("text-anchor")) for each in tree(svg.axis(few))]
    assert anchors == [("0.0", "start"), ("0.1", "middle"), ("0.2", "middle"), ("0.3", "end")]
    five = Scale(0.0, 0.4, (0.0, 0.1, 0.2, 0.3, 0.4), lambda value: f"{value:.1f}")
    assert [each.text for each in tree(svg.axis(five))] == ["0.0", "0.2", "0.4"]


def test_a_dot_lies_on_its_interval_and_the_line_of_0_is_marked() -> None:
    found = tree(svg.bars(SCALE, Cell(0.15, 0.05, 0.9)))
    (wide,), (dot,) = of_class(found, "wide"), of_class(found, "dot")
    assert (wide.get("x1"), wide.get("x2"), dot.get("cx")) == ("30.00%", "100.00%", "50.00%")
    assert [each.get("x1") for each in of_class(found, "zero")] == ["20.00%"]
    assert len(of_class(found, "grid")) == 5
    alone = tree(svg.bars(SCALE, Cell(0.15, None, 0.3)))
    assert (of_class(alone, "wide"), len(of_class(alone, "dot"))) == ([], 1)
    nothing = tree(svg.bars(SCALE, Cell(None, None, None)))
    assert of_class(nothing, "wide") == of_class(nothing, "dot") == []


def test_answers_on_one_chart_look_different() -> None:
    looks = [svg._look(number) for number in range(6)]
    assert looks == ["c0 d0", "c1 d1", "c2 d2", "c3 d3", "c4 d0", "c5 d1"]
    assert [svg._look(number) for number in (6, 11, 12, 18, 24)] == ["c0 d1", "c5 d1", "c0 d2", "c0 d3", "c0 d0"]
    (line,), (dot,) = of_class(tree(svg.swatch(7)), "line"), of_class(tree(svg.swatch(7)), "dot")
    assert line.get("class") == "line c1 d1"
    assert dot.get("class") == "dot c1 d1"


# ---- over time

UNIT = Scale(0.0, 1.0, (0.0, 0.5, 1.0), lambda value: f"{100 * value:.0f}%")
HEIGHT = 134
"""With 10 pixels above and 24 below, the field has 100."""


def drawn(windows: list[list[Cell]], chosen: list[int], **more: Any) -> ElementTree.Element:
    return tree(svg.lines(view(windows, **more), UNIT, EN, chosen, height=HEIGHT))


def points(each: ElementTree.Element) -> list[tuple[float, float]]:
    found = [pair.split(",") for pair in (each.get("points") or "").split()]
    return [(float(x), float(y)) for x, y in found]


def test_a_line_goes_through_neighbours_that_are_published_with_its_band() -> None:
    found = drawn([[at(0.2)], [at(0.4)], [], [at(0.8)], []], [0])
    (line,), (band,) = of_class(found, "line"), of_class(found, "band")
    assert points(line) == [(100.0, 90.0), (300.0, 70.0)], "a tenth of 1000 is the middle of the first of five"
    assert points(band) == [(100.0, 95.0), (300.0, 75.0), (300.0, 65.0), (100.0, 85.0)], "along below, back above"
    dots = [(each.get("cx"), each.get("cy")) for each in of_class(found, "dot")]
    assert dots == [("10.00%", "90.0"), ("30.00%", "70.0"), ("70.00%", "30.0")]
    (reach,) = of_class(found, "reach")
    assert (reach.get("x1"), reach.get("x2"), reach.get("y1"), reach.get("y2")) == ("70.00%", "70.00%", "35.0", "25.0")
    gaps = [(each.get("x"), each.get("width"), each.get("y"), each.get("height")) for each in of_class(found, "gap")]
    assert gaps == [("40.00%", "20.00%", "10", "100"), ("80.00%", "20.00%", "10", "100")]
    titles = [each.text for each in found.iter("title")]
    assert titles[0] == "March 9, 2026 to March 15, 2026: not published"


def test_an_estimate_without_ends_is_a_dot_and_one_that_cannot_be_told_a_gap_in_its_line() -> None:
    found = drawn([[Cell(0.5, None, None)], [Cell(None, None, None)], [at(0.2)], [Cell(0.3, None, 0.4)]], [0])
    (line,) = of_class(found, "line")
    assert [x for x, _ in points(line)] == [625.0, 875.0]
    assert of_class(found, "band") == [], "one of two has both ends"
    (reach,) = of_class(found, "reach")
    assert (reach.get("y1"), reach.get("y2")) == ("60.0", "60.0"), "no further than its dot"
    assert of_class(found, "gap") == [], "the window is published"


def test_ticks_have_their_numbers_beside_the_field() -> None:
    found = drawn([[at(0.2)], [at(0.4)]], [0])
    scale = of_class(found, "scale")[0]
    assert [(each.text, each.get("y")) for each in scale] == [("0%", "114.0"), ("50%", "64.0"), ("100%", "14.0")]
    assert [each.get("y1") for each in of_class(found, "zero")] == ["110.0"]
    assert [each.get("y1") for each in of_class(found, "grid")] == ["60.0", "10.0"]


@pytest.mark.parametrize(
    ("windows", "shown"), [(2, [0, 1]), (6, [0, 1, 2, 3, 4, 5]), (7, [0, 2, 4, 6]), (13, [0, 3, 6, 9, 12])]
)
def test_at_most_six_days_stand_below(windows: int, shown: list[int]) -> None:
    field = of_class(drawn([[at(0.2)]] * windows, [0]), "field")[0]
    days = [each.text for each in field if each.tag == "text"]
    assert days == [f"{BEGUN + timedelta(7 * i):%m-%d}" for i in shown]


def test_names_stand_at_the_ends_of_lines_and_not_on_each_other() -> None:
    def names(values: list[float], **more: Any) -> list[tuple[str | None, float]]:
        cells = [at(value) for value in values]
        found = of_class(drawn([cells, cells], list(range(len(values))), **more), "name")
        return [(each.text, float(each.get("y", ""))) for each in found]

    assert names([0.2, 0.8]) == [("b", 34.0), ("a", 94.0)], "four pixels below the end of its line"
    assert names([0.5, 0.5, 0.45]) == [("a", 64.0), ("b", 79.0), ("c", 94.0)], "moved down in turn"
    low = names([0.0, 0.0, 0.02])
    assert low == [("c", 86.0), ("a", 101.0), ("b", 116.0)], "and up again, where they would leave the field"
    long = ("a" * 16, "b" * 17)
    assert [name for name, _ in names([0.9, 0.1], labels=long)] == ["a" * 16, "b" * 15 + "…"]
    assert of_class(drawn([[at(0.2), at(0.8)]] * 2, [1]), "names") == [], "a line alone needs no name"


def test_each_line_has_the_look_of_its_answer() -> None:
    found = drawn([[at(0.1), at(0.2), at(0.3)]] * 2, [0, 2])
    assert [each.get("class") for each in of_class(found, "line")] == ["line c0 d0", "line c2 d2"]
    assert [each.get("class") for each in of_class(found, "name")] == ["name c2 d2", "name c0 d0"]
