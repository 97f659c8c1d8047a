"""Columns of reports and tallies: slicing, joining, adding, and what does not belong together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable.collect.reports import Field, Reports
from deniable.collect.tally import Tally
from deniable.errors import FormatError, MergeError

SETTINGS = settings(deadline=None, derandomize=True, max_examples=40)


def make(name: str = "oue", /, **arguments: Any) -> dn.Mechanism:
    arguments = {"epsilon": 1.0, "k": 10} | arguments
    return dn.mechanism(arguments.pop("name", name), **{key: v for key, v in arguments.items() if v is not None})


def test_rows_columns_and_slices_agree() -> None:
    for name in ("grr", "ss", "oue", "olh"):
        m = make(name)
        reports = m.privatize(np.arange(50) % 10, rng=dn.simulation(2))
        rows = [reports.row(i) for i in range(50)]
        assert {len(row) for row in rows} == {reports.row_bytes} == {m.bulk.row_bytes}
        assert reports.nbytes == 50 * m.bulk.row_bytes
        part = reports[10:20]
        assert len(part) == 10
        assert [part.row(i) for i in range(10)] == rows[10:20]
        back = Reports.from_rows(m.design, m.fields, rows, simulated=True)
        assert dn.dump(back) == dn.dump(reports)
        joined = reports[25:] + reports[:25]
        assert [joined.row(i) for i in range(50)] == rows[25:] + rows[:25]


@pytest.mark.parametrize("rows", ["a", 1.0, None, True, [0.5], [[0, 1]], ["a"]], ids=repr)
def test_what_names_no_reports_is_no_index(rows: Any) -> None:
    reports = dn.mechanism("grr", epsilon=1.0, k=4).privatize([0, 1, 2, 3])
    with pytest.raises(IndexError, match="reports are taken by a number, a slice, or a list of numbers"):
        reports[rows]
    assert [len(reports[some]) for some in ([], [0, 2], [True, False, False, True], np.array([1]))] == [0, 2, 2, 1]


def test_a_row_of_another_length_is_refused_by_number() -> None:
    m = make()
    with pytest.raises(FormatError, match="report 1 has 3 bytes, this design's reports have 2"):
        Reports.from_rows(m.design, m.fields, [b"\0\0", b"\0\0\0"], simulated=True)


@pytest.mark.parametrize(
    ("name", "row", "says"),
    [
        ("grr", b"\x0a", "report field 'value' has the value 10, the largest possible is 9"),
        ("grr", b"\xff", "report field 'value' has the value 255"),
        ("oue", b"\x00\x04", "a report has ones after its 10 bits"),
        ("oue", b"\x00\x80", "a report has ones after its 10 bits"),
        ("ss", b"\xff\x03", "a report is not a subset of 3 out of 10 items"),
        ("ss", b"\x03\x00", "a report is not a subset of 3 out of 10 items"),
        ("ss", b"\x03\x04", "a report is not a subset of 3 out of 10 items"),
        ("olh", b"\0\0\0\0\0\0\0\0\x04", "report field 'value' has the value 4, the largest possible is 3"),
    ],
)
def test_reports_that_no_device_can_have_sent_are_refused(name: str, row: bytes, says: str) -> None:
    m = make(name)
    good = m.privatize([0], rng=dn.simulation(1)).row(0)
    with pytest.raises(FormatError, match=says):
        m.tally(Reports.from_rows(m.design, m.fields, [good, row], simulated=True))


def test_columns_of_another_type_or_shape_are_refused() -> None:
    m = make("grr")
    for bad in (np.zeros(3, np.int64), np.zeros((3, 1), np.uint8)):
        with pytest.raises(FormatError, match=r"report field 'value' must be uint8 of shape \(3,\), got"):
            Reports(m.design, m.fields, {"value": bad})
    with pytest.raises(FormatError, match="got nothing"):
        Reports(m.design, m.fields, {"other": np.zeros(3, np.uint8)})


@pytest.mark.parametrize(("kind", "width"), [("uint", 3), ("uint", 0), ("bytes", 0), ("float", 8), ("uint", 16)])
def test_impossible_fields_are_refused(kind: str, width: int) -> None:
    with pytest.raises(FormatError, match="a report field is"):
        Field("value", kind, width)


def test_reports_of_different_designs_do_not_mix_and_the_difference_is_named() -> None:
    one, two = make().privatize([1]), make(epsilon=2.0).privatize([1])
    with pytest.raises(MergeError, match=r"reports of different designs do not mix: epsilon is 1\.0 in one and 2\.0"):
        one + two
    with pytest.raises(MergeError, match=r"these reports are of another design: epsilon is 2\.0 in one and 1\.0"):
        make(epsilon=2.0).tally(one)


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"epsilon": 2.0}, r"epsilon is 1\.0 in one and 2\.0 in the other"),
        ({"k": 11}, r"domain is \{'k': 10\} in one and \{'k': 11\} in the other"),
        ({"name": "sue"}, "mechanism is 'oue' in one and 'sue' in the other"),
        ({"k": None, "labels": list("abcdefghij")}, "domain is .* in one and .*labels.* in the other"),
    ],
)
def test_tallies_of_different_designs_do_not_add_up_and_the_difference_is_named(
    other: dict[str, Any], says: str
) -> None:
    one, two = make().empty(), make(**other).empty()
    with pytest.raises(MergeError, match=says):
        one + two
    with pytest.raises(MergeError, match=says):
        make().estimate(two)


def test_only_like_things_add() -> None:
    m = make()
    with pytest.raises(TypeError):
        m.empty() + 1
    with pytest.raises(TypeError):
        m.privatize([1]) + m.empty()
    for thing in (m.empty(), m.privatize([1])):
        assert 0 + thing == thing
        for other in (1, -1, 0.0, "", None):
            with pytest.raises(TypeError):
                other + thing  # type: ignore[operator]
    assert (m.empty() == 1) is False


@SETTINGS
@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=12), min_size=1, max_size=6), st.randoms())
def test_adding_in_any_order_and_grouping_gives_the_same_bytes(parts: list[list[int]], order: Any) -> None:
    m = make("ss")
    tallies = [m.tally(m.privatize(part, rng=dn.simulation(i))) for i, part in enumerate(parts)]
    straight = m.empty(simulated=True)
    for tally in tallies:
        straight = straight + tally
    pool = [*tallies, m.empty()]
    while len(pool) > 1:
        order.shuffle(pool)
        pool.append(pool.pop() + pool.pop())
    assert dn.dump(pool[0]) == dn.dump(straight)
    assert pool[0].n == sum(map(len, parts))


def test_a_tally_is_marked_if_any_part_is_simulated() -> None:
    m = make()
    real, seeded = m.tally(m.privatize([1])), m.tally(m.privatize([1], rng=dn.simulation(1)))
    assert [real.simulated, seeded.simulated] == [False, True]
    assert (real + seeded).simulated
    assert (seeded + real).simulated
    assert not (real + m.tally(m.privatize([1]))).simulated
    assert real != seeded


def test_merging_does_not_change_its_parts() -> None:
    m = make()
    one, two = (m.tally(m.privatize([i, 2], rng=dn.simulation(i))) for i in (1, 2))
    before = dn.dump(one), dn.dump(two)
    _ = one + two
    assert (dn.dump(one), dn.dump(two)) == before


def test_tallying_does_not_change_reports() -> None:
    for name in ("grr", "ss", "oue", "olh"):
        m = make(name)
        reports = m.privatize(np.arange(40) % 10, rng=dn.simulation(3))
        before = dn.dump(reports)
        m.tally(reports)
        m.estimate(m.tally(reports))
        assert dn.dump(reports) == before


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ({}, "a tally needs the cell 'n'"),
        ({"n": np.zeros((1, 2), np.int64)}, "a tally needs the cell 'n'"),
        ({"n": np.zeros(1, np.int32)}, "must be int64"),
        ({"n": np.zeros(2, np.int64)}, "with 1 strata"),
        ({"n": np.int64(3)}, "with 1 strata"),
    ],
)
def test_impossible_tallies_are_refused(cells: dict[str, Any], says: str) -> None:
    with pytest.raises(FormatError, match=says):
        Tally(make().design, ("all",), cells)
