"""The ends of what is allowed in domains, intervals, spaces and promises, and the words and digits at them."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import deniable as dn
from deniable.core.circle import Circle
from deniable.core.codes import Codes
from deniable.core.domain import Domain, Ticks, _number_meant
from deniable.core.exact import exact_end
from deniable.core.grid import Grid, check_interval, numbers_of
from deniable.core.intervals import count_interval, score_interval
from deniable.core.laws import response
from deniable.core.promise import Promise
from deniable.core.promise.paths import closed
from deniable.core.promise.ranges import joined, others, ranges_of, refined, sensitive_ranges, size
from deniable.core.protection import Protection, explained, times, weakest
from deniable.core.same import agree
from deniable.core.selection import Preference, SelectionWarning, select
from deniable.core.space import Space
from deniable.core.values import cells_of, columns_of, is_missing, labels_of
from deniable.errors import EnumerationError, FormatError, ParameterError

INF = math.inf


# ---- answers


def test_as_many_answers_as_there_may_be_and_one_more() -> None:
    assert Domain.of(1 << 32).k == 1 << 32
    with pytest.raises(ParameterError, match="k must be at most 4,294,967,296"):
        Domain.of((1 << 32) + 1)
    told = [_number_meant(x) for x in (2.0, 1.0, 4294967296.0, 4294967297.0, 2.5, True, None)]
    usual = "For a yes/no question use k=2."
    assert told == ["Write k=2.", usual, "Write k=4294967296.", usual, usual, usual, usual]


def test_six_labels_are_named_and_of_seven_it_is_said_that_there_are_more() -> None:
    six, seven = Domain.of(list("abcdef")), Domain.of(list("abcdefg"))
    assert six.allowed == "one of the 6 labels (a, b, c, d, e, f)"
    assert seven.allowed == "one of the 7 labels (a, b, c, d, e, f, ...)"
    for domain, shown in ((six, r"\(a, b, c, d, e, f\)"), (seven, r"\(a, b, c, d, e, f, ...\)")):
        with pytest.raises(
            ParameterError, match=f"sensitive must be among the .* labels of the domain {shown}, got 'z'"
        ):
            sensitive_ranges("z", domain)
    assert Domain.of(3).allowed == "whole numbers from 0 to 2"


def test_whole_numbers_come_as_floats_and_others_are_no_labels() -> None:
    domain = Domain.of(["1", "2", "none", "rest"], missing="none", other="rest")
    found = domain.encode([1.0, 2, "2", 2.5, 1e300, None, "", float("nan"), "x", True])
    assert found.tolist() == [0, 1, 1, 3, 3, 2, 2, 2, 3, 3]
    strict = Domain.of(["1", "2"])
    with pytest.raises(ParameterError, match=r"the value 2\.5 at position 1 is not one of the labels \(2 of 3\)"):
        strict.encode([1, 2.5, "x"])
    with pytest.raises(ParameterError, match=r"the value None at position 2 is missing \(1 of 3\)"):
        strict.encode([1, 2, None])
    with pytest.raises(ParameterError, match=r"from 0 to 2, got 3 at position 1 \(2 of 4 values are outside\)"):
        Domain.of(3).encode([2, 3, 0, -1])


def test_ticks_are_counted_and_named() -> None:
    two = Ticks.over(["a", "b", "c"], 2)
    assert two.encode([["a", "b"], "c; a", "", []]).tolist() == [4, 5, 0, 0]
    for wrong, said in (
        (["a", "b", "c"], "of at most 2 options"),
        (["a", "a"], "every option at most once, but not so at position 1"),
        (["1"], "is not one of the labels"),
        (7, "but not so at position 1"),
    ):
        with pytest.raises(ParameterError, match=said):
            two.encode([[], wrong])
    numbers = Ticks.over(["2", "1"])
    assert numbers.decode(numbers.encode(["1", "2;1"])).tolist() == [["1"], ["2", "1"]], "labels that are numbers"
    assert Ticks.over(3).decode(Ticks.over(3).encode(["2;0"])).tolist() == [[0, 2]]
    assert (two.allowed, numbers.allowed) == (
        "lists of at most 2 of the 3 labels (a, b, c)",
        "lists of any of the 2 labels (2, 1)",
    )
    every = Ticks.over(5, 3)
    assert every.k == 1 + 5 + 10 + 10
    sets = every.members(np.arange(every.k))
    assert [list(np.flatnonzero(row)) for row in sets] == every.decode(np.arange(every.k)).tolist()
    assert len({tuple(row) for row in sets.tolist()}) == every.k
    for most in (0, 4):
        with pytest.raises(ParameterError, match="most must be a whole number from 1 to the number of options, 3"):
            Ticks.over(3, most)


# ---- numbers


@pytest.mark.parametrize("width", [1e-100, 1e100])
def test_intervals_may_be_so_narrow_and_so_wide(width: float) -> None:
    assert check_interval((0.0, width)) == (0.0, width)
    with pytest.raises(ParameterError, match="interval must be from 1e-100 to 1e"):
        check_interval((0.0, width * 0.999 if width < 1 else width * 1.001))


@pytest.mark.parametrize("wrong", [(1, 0), (1, 1), (0, INF), (math.nan, 1), "1", "1,2,3", 7, ("a", 2), (-1e308, 1e308)])
def test_intervals_that_are_none_are_refused(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="interval must be two"):
        check_interval(wrong)
    assert check_interval(" 1 , 5") == (1.0, 5.0)


def test_a_number_in_the_middle_counts_as_the_lower_point() -> None:
    """Of cells the border is the lower one's; the lowest number is in the first, the highest in the last."""
    cells, ends = Grid.of(0, 8, 4), Grid.of(0, 8, 5, layout="endpoints")
    numbers = [0, 1.99, 2, 2.01, 4, 6, 8]
    assert cells.encode(numbers).tolist() == [0, 0, 0, 1, 1, 2, 3]
    assert ends.encode([0, 0.99, 1, 1.01, 3, 7, 8]).tolist() == [0, 0, 0, 1, 1, 3, 4]
    assert (cells.step, ends.step) == (2.0, 2.0)
    assert cells.at(np.array([-1, 0, 3, 4])).tolist() == [-1.0, 1.0, 7.0, 9.0]
    assert Codes.over(0, 8, [0, 2, 8]).encode([0, 1, 1.01, 5, 5.01, 8]).tolist() == [0, 0, 1, 1, 2, 2]
    around = Circle.around(0, 8, 4)
    assert around.encode([0, 0.99, 1, 3, 6.99, 7, 8]).tolist() == [0, 0, 1, 2, 3, 0, 0], "the later one in a tie"
    assert around.distances().tolist() == [[0, 2, 4, 2], [2, 0, 2, 4], [4, 2, 0, 2], [2, 4, 2, 0]]


def test_what_is_outside_is_refused_or_taken_as_the_nearer_end_and_infinity_never() -> None:
    free = Grid.of(0, 1, 4, clip=True)
    assert free.encode([-5, 7]).tolist() == [0, 3]
    for domain, wrong, said in (
        (free, INF, "got inf at position 0"),
        (free, math.nan, "got nan at position 0"),
        (Grid.of(0, 1, 4), 1.0001, r"numbers from 0 to 1, got 1\.0001 at position 0 \(1 of 2\)"),
        (Circle.around(0, 1, 4), -0.0001, r"got -0\.0001 at position 0"),
        (Codes.over(0, 1, [0.2, 0.4]), 2, "got 2 at position 0"),
    ):
        with pytest.raises(ParameterError, match=said):
            domain.encode([wrong, 0.5])
    with pytest.raises(ParameterError, match="values must be numbers, got 'x' at position 1"):
        numbers_of(np.array([1, "x", None], object))
    assert numbers_of(np.array(["1.5", 2], object)).tolist() == [1.5, 2.0]


def test_points_are_named_with_as_many_digits_as_tell_them_apart() -> None:
    assert Grid.of(-1, 1, 5, layout="endpoints").labels_or_numbers == ("-1", "-0.5", "0", "0.5", "1")
    beside = Grid.of(-0.3, 0.6, 4, layout="endpoints")
    assert (beside.points[1] != 0, beside.labels_or_numbers[1]) == (True, "0"), "not what rounding left of it"
    assert Grid.of(1000, 1001, 5).labels_or_numbers == ("1000.1", "1000.3", "1000.5", "1000.7", "1000.9")
    assert Circle.around(0, 360, 8).labels_or_numbers == ("0", "45", "90", "135", "180", "225", "270", "315")
    assert Codes.over(0, 1, [1 / 3, 2 / 3]).labels_or_numbers == ("0.333333", "0.666667")
    assert len(set(Grid.of(0, 1, 100_000).labels_or_numbers)) == 100_000


def test_directions_turn_around_and_two_are_none() -> None:
    around = Circle.around(10, 34, 24)
    assert [around.turned(x) for x in (10, 33.5, 34, 35, 9, -15)] == pytest.approx([10, 33.5, 10, 11, 33, 33])
    assert Circle.around(0, 1, 3).turned(-1e-20) == 0.0, "what rounding takes to the end is the beginning"
    assert around.at(np.array([0, 23, 24])).tolist() == [10.0, 33.0, 34.0]
    for points in (2, (1 << 20) + 1, 3.0):
        with pytest.raises(ParameterError, match="points must be an integer from 3 to 1048576"):
            Circle.around(0, 1, points)  # type: ignore[arg-type]
    assert Domain.from_document(around.document()) == around
    with pytest.raises(FormatError, match="a circle needs two ends and points"):
        Domain.from_document({"circle": [0, 1]})


def test_codes_may_stand_at_the_ends_and_rise() -> None:
    assert Codes.over(0, 1, [0, 1]).cells.tolist() == [0.0, 0.5, 1.0]
    for wrong in ([0.5, 0.5], [0.6, 0.5], [-0.1, 1], [0, 1.1], [0, INF]):
        with pytest.raises(ParameterError, match="codes must be 2 rising numbers from 0 to 1"):
            Codes.over(0, 1, wrong)


# ---- spaces


def test_places_at_the_ends_of_the_earth() -> None:
    poles = Space.places([[90, 180], [-90, -180], [0, 0], [0, 180]])
    half = math.pi * 6371.0088
    assert poles.matrix()[0] == pytest.approx([0, half, half / 2, half / 2])
    assert poles.matrix()[2, 3] == pytest.approx(half)
    assert poles.unit == "km"
    where = poles.coordinates()
    assert where is not None
    assert where[0] == pytest.approx([math.pi, math.pi]), "the map of web tiles ends before the pole"
    assert where[1] == pytest.approx([-math.pi, -math.pi])
    for row, place in (((90.01, 0), r"\(90.01, 0.0\)"), ((0, -180.01), r"\(0.0, -180.01\)")):
        with pytest.raises(ParameterError, match=f"got {place} at position 1"):
            Space.places([[0, 0], row])


def test_losses_of_every_kind_by_hand() -> None:
    points = [[0, 0], [3, 4], [-1, 2]]
    assert Space.vectors(points).matrix()[0] == pytest.approx([0, 5, math.sqrt(5)])
    assert Space.vectors(points, norm="manhattan").matrix()[0].tolist() == [0, 7, 3]
    assert Space.vectors(points, norm="chebyshev").matrix()[0].tolist() == [0, 4, 2]
    assert Space.integers([1, 2, 4]).matrix()[0] == pytest.approx([0, 1 - 2 / 3, 1 - 4 / 13])
    sets = Space.sets([["a", "b"], ["b", "c", "d"], [], []])
    assert sets.matrix() == pytest.approx(np.array([[0, 0.75, 1, 1], [0.75, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]]))
    assert Space.similarities([[5, 1, 0], [2, 3, 4]]).matrix().tolist() == [[0, 4, 5], [3, 2, 1]]
    wide = Space.losses([[0, 1, 2], [2, 1, 0]], labels=["a", "b"])
    assert wide.outputs == 3
    assert wide.decode(np.array([2, 0])).tolist() == [2, 0], "reports are other things than answers"
    assert Space.vectors(points, ["x", "y", "z"]).decode(np.array([2])).tolist() == ["z"]
    assert Space.vectors(points).nearest([[1.5, 2], [-1, 1]]).tolist() == [0, 2], "the first of several"
    for act, said in (
        (lambda: Space.integers([1, 0]), r"integers must be > 0, got 0\.0 at position 1"),
        (lambda: Space.losses([[0, -1], [1, 0]]), r"losses must be >= 0, got -1\.0 at position 0, column 1"),
        (lambda: Space.losses([[0], [1]]), "points must be longer rows"),
        (lambda: Space.vectors([[0, 1], [2]]), "got 2 numbers at position 0 and 1 at position 1"),
        (lambda: Space.vectors([[0, INF], [2, 1]]), "points must be finite numbers, got inf at position 0, column 1"),
        (lambda: Space.vectors(points, norm="cosine"), "norm must be one of euclidean, manhattan, chebyshev"),
        (lambda: sets.nearest([["a"]]), "kind must be one whose points have coordinates"),
        (lambda: Space.vectors(points).nearest([[1, 2, 3]]), "points must be rows of 2 numbers"),
    ):
        with pytest.raises(ParameterError, match=said):
            act()


# ---- values


def test_cells_that_hold_nothing() -> None:
    empty = [None, "", math.nan, np.float64("nan"), np.datetime64("NaT")]
    assert [is_missing(x) for x in empty] == [True] * 5
    assert [is_missing(x) for x in (0, False, " ", "nan", 0.0, [], np.zeros(2))] == [False] * 7


def test_columns_are_listed_up_to_twelve_and_two_of_a_name_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    for count, more in ((12, ""), (13, ", ...")):
        names = [f"c{i}" for i in range(count)]
        frame = pandas.DataFrame([range(count)], columns=names)
        shown = re.escape(", ".join(map(repr, names[:12])) + more)
        with pytest.raises(ParameterError, match=rf"got a pandas DataFrame with the columns {shown}\. Say which"):
            cells_of(frame)
        with pytest.raises(ParameterError, match=rf"the frame has no column 'x'; it has {shown}\."):
            columns_of(frame, ["c0", "x"])
    with pytest.raises(ParameterError, match="columns must have different names, but two are called 'a'"):
        cells_of(pandas.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]), "b")
    gap = pandas.Series([1, None, 3], dtype="Int64")
    assert [is_missing(x) for x in cells_of(gap).tolist()] == [False, True, False]
    masked = np.ma.array([1, 2, 3], mask=[False, True, False])
    assert cells_of(masked).tolist() == [1, None, 3]
    assert cells_of([{"a": 1, "b": 2}, {"a": 3}], "a").tolist() == [1, 3]
    with pytest.raises(ParameterError, match="the row at position 1 has no 'b'"):
        cells_of([{"a": 1, "b": 2}, {"a": 3}], "b")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (3, "A number of answers without labels is k=3"),
        ({"a", "b"}, "A set has another order in every run"),
        ({"a": 1}, r"Of a mapping give list\(its keys\)"),
        ("ab", "labels must be a list of labels, got 'ab'"),
        (["a", ""], "labels must be text that is not empty"),
        (["a", ["b"]], "labels must be single texts or numbers"),
        ([b"a", "b"], "Bytes are decoded first"),
    ],
)
def test_labels_that_are_none_are_refused_with_what_was_meant(given: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        labels_of(given)
    assert labels_of([1, "b", 2.5]) == ("1", "b", "2.5")


# ---- promises


def test_budgets_of_forty_are_given_and_infinity_is_spelt_in_any_way() -> None:
    made = dn.promise(budgets=[[0, 40], [" INF ", 0]])
    assert made.budgets.tolist() == [[0, 40], [INF, 0]]
    assert dn.promise(epsilon=40, k=2).epsilon == 40
    assert dn.promise(points=[0, 40], epsilon=1).between(0, 1) == 40
    with pytest.raises(
        ParameterError, match=r"points|distances must give budgets of at most 40, got 40\.1 between the values 0 and 1"
    ):
        dn.promise(points=[0, 40.1], epsilon=1)
    own = dn.promise(space=Space.vectors([[0], [2]], labels=["a", "b"]), epsilon=1, labels=["x", "y"])
    assert own.between("x", "y") == 2.0, "other labels than those of the space"
    path = dn.promise(graph=[(0, 1), (2, 1)], epsilon=1, k=4)
    assert path.budgets[0].tolist() == path.budgets[:, 0].tolist() == [0, 1, 2, INF]
    sizes = dn.promise(blocks=[1, 2], inside=1, across=3)
    assert sizes.budgets.tolist() == [[0, 3, 3], [3, 0, 1], [3, 1, 0]]


def test_promises_of_one_answer_more_are_too_large_to_write_out() -> None:
    assert Promise.plain(1.0, 2048).budgets.shape == (2048, 2048)
    with pytest.raises(EnumerationError, match="a matrix of 2,049 inputs is too large"):
        _ = Promise.plain(1.0, 2049).budgets
    with pytest.raises(EnumerationError, match="a matrix of 2,050 inputs is too large"):
        _ = Promise.plain(1.0, 1025).with_levels((1.0, 2.0), 1.0, 3.0).budgets
    many = Promise.by_class(257, [(i, i + 1) for i in range(257)], [1.0] * 257)
    with pytest.raises(EnumerationError, match="shortest paths over 1,028 inputs are too many"):
        closed(many.with_levels((1.0, 2.0, 3.0, 4.0), 1.0, 3.0))


def test_inputs_are_numbered_level_by_level() -> None:
    made = Promise.plain(1.0, 3, ("a", "b", "c")).with_levels((0.5, 2.0), 0.25, 1.5)
    assert [made.number(x) for x in (("a", 0.5), ("c", 0.5), ("a", 2.0), ("c", 2.0), 5, "b")] == [0, 2, 3, 5, 5, 1]
    assert [made.name(x) for x in (0, 5)] == ["a at level 0.5", "c at level 2"]
    assert made.between(("a", 0.5), ("b", 0.5)) == 0.5
    assert made.between(("a", 2.0), ("b", 2.0)) == 2.0
    assert made.between(("a", 0.5), ("a", 2.0)) == 0.25
    assert made.between(("a", 0.5), ("b", 2.0)) == 1.5
    assert (made.inputs, made.value_budgets) == (6, {0.5, 2.0})
    assert Promise.plain(1.0, 3, ("a", "b", "c")) != Promise.plain(1.0, 3, ("a", "b", "d"))
    assert [(n * Promise.plain(0.5, 2)).epsilon for n in range(1, 9)] == [n / 2 for n in range(1, 9)]
    lone = Promise.of_matrix(np.array([[0, 1, 3], [2, 0, 1], [1, 1, 0.0]]))
    assert lone.own == [3, 2, 1], "of a class of one what it is given at most"


def test_what_a_value_hears_is_in_the_order_of_the_budgets_and_names_six() -> None:
    matrix = np.full((9, 9), 2.0)
    matrix[0, 1], matrix[0, 2], matrix[1, 0] = 3.0, 1.0, 3.0
    np.fill_diagonal(matrix, 0)
    told = explained(Promise.of_matrix(matrix), 0)
    assert told == (
        "Whatever is sent for 0 is at most e^1 = 2.72 times as likely as for 2; at most e^2 = 7.39 times as likely as "
        "for 3, 4, 5, 6, 7, 8; at most e^3 = 20.1 times as likely as for 1, whatever is known already."
    )
    assert explained(Promise.plain(1.0, 7), 0).endswith("as for 1, 2, 3, 4, 5, 6, whatever is known already.")
    assert explained(Promise.plain(1.0, 8), 0).endswith("as for 1, 2, 3, 4, 5, 6, ..., whatever is known already.")


def test_sets_of_numbers_are_half_open_ranges() -> None:
    for some in product((False, True), repeat=5):
        numbers = [x for x in range(5) if some[x]]
        ends = ranges_of(numbers)
        assert size(ends) == len(numbers)
        assert others(ends, 5) == ranges_of(x for x in range(5) if not some[x])
        assert joined([ends, others(ends, 5)]) == (0, 5)
    assert refined(((0, 3), (3, 6)), ((0, 1, 5, 6), (1, 5))) == (
        ((0, 1), (1, 3), (3, 5), (5, 6)), [0, 0, 1, 1], [0, 1, 1, 0],
    )  # fmt: skip
    five = Domain.of(list("abcde"))
    assert [sensitive_ranges(x, five) for x in (" 3 ", 0, 5, "b, d".replace(" ", ""), {"e"}, np.int64(2))] == [
        (0, 3), (), (0, 5), (1, 2, 3, 4), (4, 5), (0, 2),
    ]  # fmt: skip
    for wrong in (6, -1, True, 2.5):
        with pytest.raises(ParameterError, match="sensitive must be"):
            sensitive_ranges(wrong, five)


# ---- words


def test_factors_are_rounded_up_and_left_out_where_they_are_huge() -> None:
    told = [times(x) for x in (0.0, 0.0001, 0.5, 13.8, 13.816, 49.0, 50.0, 700.0)]
    assert told == [
        "e^0 = 1 times", "e^0.001 = 1.01 times", "e^0.5 = 1.65 times", "e^13.8 = 985000 times", "e^13.816 times",
        "e^49 times", "e^50 times", "e^700 times",
    ]  # fmt: skip
    assert times(1.00001) == "e^1.001 = 2.73 times"


def test_the_weakest_claim_has_the_largest_numbers_wherever_it_stands() -> None:
    def claim(epsilon: float, disclosed: Fraction, sensitive: int) -> Protection:
        classes = ((0, sensitive), (sensitive, 6))
        made = Promise.by_class(6, classes, (epsilon, INF), strict=epsilon)
        return Protection(promise=made, epsilon=epsilon, disclosed=disclosed)

    one, two = claim(1.0, Fraction(1, 2), 2), claim(2.0, Fraction(1, 3), 2)
    for both in ([one, two], [two, one]):
        found = weakest(both)
        assert (found.epsilon, found.disclosed) == (2.0, Fraction(1, 2))
        assert found.promise == two.promise
    plain = [Protection(promise=Promise.plain(e, 4), epsilon=e) for e in (3.0, 1.0, 2.0)]
    assert [weakest(order).promise.epsilon for order in (plain, plain[::-1])] == [3.0, 3.0]
    assert one.document()["disclosed"] == 0.5
    third = replace(one, disclosed=Fraction(1, 3))
    assert Fraction(third.document()["disclosed"]) >= Fraction(1, 3), "rounded up, be it by the last bit"
    assert third.text.endswith("Harmless answers are disclosed with a chance of up to 33.4 %.")
    assert third.beside(one) == "Harmless answers are disclosed with a chance of up to 33.4 %."
    assert one.beside(two) == one.text


def test_what_is_not_a_number_equals_itself_and_names_count() -> None:
    assert agree(np.array([math.nan, 1.0]), np.array([math.nan, 1.0]))
    assert not agree(np.array([1.0]), np.array([2.0]))
    assert not agree({"a": 1}, {"a": 1, "b": 2})
    assert not agree({"a": 1, "b": 2}, {"a": 1})
    assert agree({"a": np.ones(2)}, {"a": np.ones(2)})


# ---- choices on a trade-off

ASR, MSE = np.array([0.5, 0.1, 0.3, 0.9]), np.array([0.25, 2.0, 0.5, 0.1])


@pytest.mark.parametrize(
    ("how", "index"),
    [
        (Preference("epsilon-constraint", limit=0.3), 2),
        (Preference("epsilon-constraint", limit=0.2999), 1),
        (Preference("epsilon-constraint", limit=0.1), 1),
        (Preference("hypervolume", reference=(1.0, 1.0)), 0),
        (Preference("hypervolume", reference=(0.2, 3.0)), 1),
        (Preference("elbow"), 2),
        (Preference("weighted", "none", weight=1.0), 1),
        (Preference("weighted", "none", weight=0.0), 3),
        (Preference("weighted", "log", weight=0.7), 1),
        (Preference("weighted", "log", weight=0.5), 3),
        (Preference("tchebycheff", "none", weight=0.5), 0),
    ],
)
def test_selectors_choose_by_their_definition_in_any_order(how: Preference, index: int) -> None:
    """The points are in no order; the index is that of the point that was given."""
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]):
        assert order[select(ASR[order], MSE[order], how).index] == index


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (Preference("epsilon-constraint", limit=0.09), r"no design has an ASR of at most 0\.09 \(the least is 0\.1\)"),
        (Preference("hypervolume", reference=(1.0, 0.1)), r"every MSE is at least 0\.1, so no design covers"),
        (Preference("hypervolume", reference=(0.1, 1.0)), r"no design is below ASR 0\.1 and MSE 1, so no design"),
    ],
)
def test_where_nothing_fits_the_nearest_to_nothing_is_chosen_and_told(how: Preference, words: str) -> None:
    with pytest.warns(SelectionWarning, match=words):
        found = select(ASR, MSE, how)
    assert found.index == int(np.argmin(np.hypot(ASR, MSE))) == 0


def test_of_two_there_is_no_elbow_and_of_equal_ones_the_first_is_taken() -> None:
    assert select(ASR[:2], MSE[:2], Preference("elbow")).index == 0
    assert select(np.array([0.5, 0.5]), np.array([1.0, 1.0]), Preference("utopia")).index == 0
    anchored = select(ASR, MSE, Preference(weight=0.5), anchor=(0.9, 0.1))
    assert anchored.index == int(np.argmin(ASR / 0.9 + MSE / 0.1))


# ---- intervals of few reports


@pytest.mark.parametrize("count", range(9))
def test_intervals_of_eight_reporters_are_the_shares_that_the_count_does_not_reject(count: int) -> None:
    """Beyond the score interval as far as whole people go; the chances are made by two binomials, once more."""
    n, alpha = 8, 0.1
    support = response(Fraction(1, 3), Fraction(2, 3), 2).map(float)
    p, q = support.p, support.q

    def unlikely(holders: int) -> float:
        law = np.convolve(binom.pmf(range(holders + 1), holders, p), binom.pmf(range(n - holders + 1), n - holders, q))
        below, above = law[: count + 1].sum(), law[count:].sum()
        own = min(below, above)
        rest = [law[x:].sum() for x in range(n + 1)] if below < above else [law[: x + 1].sum() for x in range(n + 1)]
        return float(own + max((t for t in rest if t <= own * (1 + 1e-12)), default=0.0))

    kept = [h / n for h in range(n + 1) if unlikely(h) > alpha]
    share = np.array([count / n])
    plain = score_interval(share, support, n, level=0.9, target="reporters")
    found = count_interval(share, support, n, level=0.9, target="reporters")
    value = float(support.unbias(share)[0])
    first, last = float(plain.low[0]), float(plain.high[0])
    assert found.low[0] == pytest.approx(min([first, value, *(h for h in kept if h < first)]))
    assert found.high[0] == pytest.approx(max([last, value, *(h for h in kept if h > last)]))
    assert found.note.startswith("labels with few reports: at least the level")


def test_an_end_beyond_which_all_is_rejected_stays_where_it_is() -> None:
    given = (3, 10, 0.75, 0.25, 0.5)
    assert exact_end(*given, 0.9, "population", 0.6, 0.3) == 0.6
    assert exact_end(*given, 0.05, "population", 1.2, 0.5) == 1.2, "nothing is beyond one"
    assert 0.2 < exact_end(*given, 0.05, "population", 0.2, 0.7) < 0.9
