"""Numbers on a grid: points, the nearest of them, and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.core.codes import Codes
from deniable.core.domain import Domain
from deniable.core.grid import Grid, check_interval
from deniable.errors import FormatError, ParameterError


def test_points_of_both_layouts() -> None:
    assert Grid.of(0, 10, 5).points.tolist() == [1.0, 3.0, 5.0, 7.0, 9.0]
    assert Grid.of(0, 10, 5, layout="endpoints").points.tolist() == [0.0, 2.5, 5.0, 7.5, 10.0]
    assert (Grid.of(0, 10, 5).step, Grid.of(0, 10, 5, layout="endpoints").step) == (2.0, 2.5)


@pytest.mark.parametrize("layout", ["midpoints", "endpoints"])
@given(
    low=st.integers(-100, 100),
    size=st.integers(1, 64),
    points=st.sampled_from([2, 3, 4, 5, 8, 17, 33]),
    share=st.fractions(0, 1, max_denominator=128),
)
def test_the_nearest_point_is_taken_and_the_lower_one_of_two(
    layout: str, low: int, size: int, points: int, share: Fraction
) -> None:
    """Against fractions, for numbers that floats hold exactly."""
    value = low + Fraction(round(share * size * 64), 64)
    cells, shift = (points, Fraction(1, 2)) if layout == "midpoints" else (points - 1, Fraction(0))
    exact = [low + (j + shift) / cells * size for j in range(points)]
    distance = [abs(point - value) for point in exact]
    wanted = distance.index(min(distance))
    found = int(Grid.of(low, low + size, points, layout=layout).encode([float(value)])[0])
    second = sorted(distance)[1] - min(distance)
    tie = second == 0 and cells & (cells - 1)  # a tie whose place floats cannot hold may fall to either side
    assert found == wanted or (tie and distance[found] == min(distance))


def test_ties_go_to_the_lower_point() -> None:
    assert Grid.of(0, 4, 4).encode([0.0, 1.0, 2.0, 3.0, 4.0]).tolist() == [0, 0, 1, 2, 3]
    assert Grid.of(0, 4, 5, layout="endpoints").encode([0.5, 1.5, 3.5]).tolist() == [0, 1, 3]


def test_numbers_come_as_arrays_lists_or_text() -> None:
    grid = Grid.of(0, 10, 5)
    assert grid.encode(np.array([0.5, 9.5])).tolist() == [0, 4]
    assert grid.encode(np.array([1, 9])).tolist() == [0, 4]
    assert grid.encode(["0.5", " 9.5 ", "5e0"]).tolist() == [0, 4, 2]
    assert grid.encode(np.array(["0.5", "9.5"])).tolist() == [0, 4]
    assert grid.encode(5).tolist() == [2]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, float("nan")], "got nan at position 1"),
        ([float("inf")], "got inf at position 0"),
        ([1.0, 2.0, 10.5], r"numbers from 0 to 10, got 10.5 at position 2 \(1 of 3\)"),
        (np.array([-1, 3, -2]), r"got -1 at position 0 \(2 of 3\)"),
        (["1", "ten"], "must be numbers, got 'ten' at position 1"),
        (["1", ""], "must be numbers, got '' at position 1"),
        ([None], "must be numbers, got None at position 0"),
        ([True], "must be numbers, got True at position 0"),
        ([1, [2]], "must be numbers, got "),
        ([], "at least one value"),
        (np.ones((2, 2)), "one-dimensional"),
    ],
)
def test_what_is_no_number_of_the_interval_is_refused(values: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Grid.of(0, 10, 5).encode(values)


def test_clipping_is_an_open_choice_and_not_for_nan() -> None:
    grid = Grid.of(0, 10, 5, clip=True)
    assert grid.encode([-3, 99, 5]).tolist() == [0, 4, 2]
    for bad in ([float("nan")], [float("inf")]):
        with pytest.raises(ParameterError, match="values must be numbers from 0 to 10"):
            grid.encode(bad)


@pytest.mark.parametrize(
    ("args", "more", "message"),
    [
        ((0, 1, 1), {}, "points must be an integer from 2"),
        ((0, 1, 2.0), {}, "points must be an integer from 2"),
        ((0, 1, 1 << 31), {}, "points must be an integer from 2"),
        ((1, 1, 5), {}, "interval must be two finite numbers, the lower one first"),
        ((2, 1, 5), {}, "interval must be two finite numbers, the lower one first"),
        ((0, float("inf"), 5), {}, "interval must be two finite numbers"),
        ((-1e308, 1e308, 5), {}, "interval must be two finite numbers"),
        ((float("nan"), 1, 5), {}, "interval must be two finite numbers"),
        ((0, 1, 5), {"layout": "corners"}, "layout must be one of midpoints, endpoints"),
        ((0, 1, 5), {"clip": 1}, "clip must be True or False"),
        ((1e16, 1e16 + 2, 1000), {}, "points must be so few that floats tell"),
    ],
)
def test_impossible_grids_are_refused(args: tuple[float, float, int], more: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Grid.of(*args, **more)  # type: ignore[arg-type]


def test_documents_round_trip_through_json() -> None:
    for grid in (Grid.of(0, 1, 7), Grid.of(-0.1, 3e5, 10**9, layout="endpoints", clip=True)):
        assert Domain.from_document(json.loads(json.dumps(grid.document()))) == grid
    with pytest.raises(FormatError, match="a domain needs k, labels or an interval with points"):
        Domain.from_document({"interval": [0, 1]})


def test_a_grid_is_a_domain_and_differs_from_others() -> None:
    grid = Grid.of(0, 1, 5)
    assert Domain.of(grid) is grid
    assert grid != Domain.of(5)
    assert grid != Grid.of(0, 2, 5)
    assert hash(grid) == hash(Grid.of(0.0, 1.0, 5))


@pytest.mark.parametrize("grid", [Grid.of(0, 1, 1024), Grid.of(1e6, 1e6 + 1, 1000), Grid.of(-1, 1, 21)], ids=str)
def test_labels_tell_the_points_apart_and_are_near_to_them(grid: Grid) -> None:
    labels = grid.labels_or_numbers
    assert len(set(labels)) == grid.k
    assert np.abs(np.array(labels, float) - grid.points).max() < grid.step / 10


def test_labels_are_short() -> None:
    assert Grid.of(-1, 1, 21, layout="endpoints").labels_or_numbers[9:12] == ("-0.1", "0", "0.1")
    across = Grid.of(-0.1, 0.5, 7, layout="endpoints")
    assert across.points[1] != 0, "the case shows it: floats miss the zero"
    assert across.labels_or_numbers[1] == "0"


def test_codes_may_stand_at_the_ends_of_their_interval_and_not_beyond() -> None:
    assert Codes.over(0, 1, [0, 0.5, 1]).encode([0, 0.25, 0.26, 1]).tolist() == [0, 0, 1, 2]
    for codes in ([-0.1, 1], [0, 1.1], [0.5, 0.5], [0.6, 0.5], [0.5, float("nan")]):
        with pytest.raises(ParameterError, match="codes must be 2 rising numbers from 0 to 1"):
            Codes.over(0, 1, codes)


def test_a_billion_points_are_not_listed() -> None:
    grid = Grid.of(0, 1, 10**9)
    assert grid.encode([0.0, 0.5, 1.0]).tolist() == [0, 499_999_999, 999_999_999]
    with pytest.raises(ParameterError, match=r"at most .* to be listed"):
        _ = grid.points


@pytest.mark.parametrize("given", ["1,5", (1, 5), [1.0, "5"]])
def test_intervals_may_be_text(given: object) -> None:
    assert check_interval(given) == (1.0, 5.0)


@pytest.mark.parametrize("given", ["1", "1,2,3", "a,b", 5, None, (1,), "1;5"])
def test_what_is_no_interval_is_refused(given: object) -> None:
    with pytest.raises(ParameterError, match="interval must be two numbers"):
        check_interval(given)
