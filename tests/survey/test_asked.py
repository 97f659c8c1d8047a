"""What parts of a survey tell that are counted one by one: single questions, boxes, cells of two, and effects."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.tally import Tally
from deniable.errors import ParameterError
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.survey.asked import AskedPart, Told, tell
from deniable.mechanisms.survey.independence import Independence
from deniable.mechanisms.survey.laws import most_information

A, B, C = ("no", "yes"), ("low", "mid", "high"), ("x", "y")


def ss(k: Any, epsilon: float = 2.0) -> Mechanism:
    return dn.mechanism("ss", epsilon=epsilon, **({"k": k} if isinstance(k, int) else {"labels": k}))


def effects(*sizes: int, epsilon: float = 2.0) -> Mechanism:
    return dn.mechanism("interaction", epsilon=epsilon, sizes=sizes)


def counted(part: AskedPart, counts: Any, seed: int = 1) -> Tally:
    m = part.mechanism
    return m.tally(m.privatize_items(np.repeat(np.arange(m.k), counts), dn.simulation(seed)))


def told(*rows: tuple[AskedPart, Any]) -> Told:
    tallies = {i: counted(part, counts, i) for i, (part, counts) in enumerate(rows) if counts is not None}
    return tell([part for part, _ in rows], tallies)


ONE = AskedPart(("a",), (A,), ss(2))
OTHER = AskedPart(("b",), (B,), ss(3))
BOTH = AskedPart(("a", "b"), (A, B), ss(6))
WITH_C = AskedPart(("a", "c"), (A, C), ss(4))
EFFECTS = AskedPart(("a", "b"), (A, B), effects(2, 3))
CELLS = [400, 300, 200, 100, 300, 500]


def test_a_question_has_the_labels_that_people_read_unless_its_mechanism_has_its_own() -> None:
    assert told((ONE, [40, 60])).questions["a"].labels == A
    own = AskedPart(("a",), (A,), ss(["nein", "ja"]))
    assert told((own, [40, 60])).questions["a"].labels == ("nein", "ja")
    bare = AskedPart(("a",), ((),), ss(2))
    assert told((bare, [40, 60])).questions["a"].labels == ("0", "1")


def test_parts_without_reports_are_as_if_they_had_not_been_asked() -> None:
    found = tell([ONE, OTHER, BOTH], {0: counted(ONE, [40, 60]), 1: OTHER.mechanism.empty()})
    assert list(found.questions) == ["a"]
    assert (found.tables, found.tests, found.lacking) == ({}, {}, {})
    assert tell([ONE], {}).questions == {}


def test_questions_come_in_the_order_in_which_parts_ask_them() -> None:
    box = AskedPart(("d", "c"), (A, B), dn.mechanism("box", epsilon=2.0, sizes=(2, 3)))
    many = [10] * 6
    assert list(told((BOTH, CELLS), (box, many), (AskedPart(("e",), (A,), ss(2)), [9, 9])).questions) == list("abdce")
    assert list(told((OTHER, [9, 9, 9]), (ONE, [9, 9])).questions) == ["b", "a"]


def test_a_question_that_several_parts_ask_is_pooled_by_their_reports() -> None:
    again = AskedPart(("a",), (A,), ss(2, 1.0))
    rows = [(ONE, [40, 160]), (again, [500, 500])]
    found = told(*rows).questions["a"]
    each = [part.mechanism.estimate(counted(part, counts, i)) for i, (part, counts) in enumerate(rows)]
    assert found.value == pytest.approx((200 * each[0].value + 1000 * each[1].value) / 1200)
    assert found.n == 1200


def test_a_box_tells_each_of_its_questions() -> None:
    box = AskedPart(("a", "b"), (A, B), dn.mechanism("box", epsilon=2.0, sizes=(2, 3)))
    found, tally = told((box, CELLS)), counted(box, CELLS, 0)
    each = box.mechanism.questions(tally, (A, B))  # type: ignore[attr-defined]
    for name, wanted in zip("ab", each, strict=True):
        assert found.questions[name].value.tolist() == wanted.value.tolist()
        assert found.questions[name].labels == wanted.labels
    assert (found.tables, box.way) == ({}, "box")


def test_cells_of_two_tell_a_table_its_margins_and_a_test() -> None:
    """Of questions asked alone too the estimate is that of the reports about them; of others the table's margin."""
    found, tally = told((BOTH, CELLS), (ONE, [500, 100])), counted(BOTH, CELLS, 0)
    cells = BOTH.mechanism.estimate(tally).value.reshape(2, 3)
    table = found.tables["a", "b"]
    assert table.value == pytest.approx(cells)
    assert (table.questions, table.rows, table.columns) == (("a", "b"), A, B)
    assert found.questions["b"].value == pytest.approx(cells.sum(axis=0))
    assert found.questions["b"].labels == B
    alone = ONE.mechanism.estimate(counted(ONE, [500, 100], 1))
    assert found.questions["a"].value.tolist() == alone.value.tolist()
    assert found.questions["a"].n == 600
    test = found.tests["a", "b"]
    assert isinstance(test, Independence)
    assert test.degrees == 2
    assert found.lacking == {}


def test_margins_of_several_tables_are_weighed_by_what_their_reports_tell() -> None:
    """With the largest epsilon of the parts, a report tells cells/(cells - 1) V(cells)/other of a question."""
    weak = AskedPart(("a", "c"), (A, C), ss(4, 0.5))
    rows = [(BOTH, CELLS), (weak, [900, 100, 400, 600])]
    found = told(*rows)
    six, four = (part.mechanism.estimate(counted(part, counts, i)).value for i, (part, counts) in enumerate(rows))
    tells = [n * k / (k - 1) * most_information(k, 2.0) / other for n, k, other in ((1800, 6, 3), (2000, 4, 2))]
    wanted = (tells[0] * six.reshape(2, 3).sum(axis=1) + tells[1] * four.reshape(2, 2).sum(axis=1)) / sum(tells)
    assert found.questions["a"].value == pytest.approx(wanted)
    for pair in (("a", "b"), ("a", "c")):
        assert found.tables[pair].value.sum(axis=1) == pytest.approx(wanted)
    assert list(found.questions) == ["a", "b", "c"]


def test_a_test_that_cannot_be_made_says_why() -> None:
    why = told((BOTH, [1, 0, 0, 0, 0, 5])).tests["a", "b"]
    assert isinstance(why, str)
    assert "cannot be tested: a margin must be at least 3 times its standard error" in why


@pytest.mark.parametrize(("order", "silent"), [((EFFECTS, ONE), "b"), ((OTHER, EFFECTS), "a"), ((EFFECTS,), "a")])
def test_what_two_have_in_common_tells_a_table_only_beside_both_of_them(
    order: tuple[AskedPart, ...], silent: str
) -> None:
    counts = {ONE: [300, 300], OTHER: [200, 200, 200], EFFECTS: CELLS}
    found = told(*((part, counts[part]) for part in order))
    assert found.tables == found.tests == {}
    assert found.lacking["a", "b"].endswith(f"without reports about {silent} alone")


def test_effects_and_both_questions_are_put_together_in_any_order() -> None:
    rows = [(EFFECTS, CELLS), (OTHER, [700, 600, 500]), (ONE, [900, 900])]
    found = told(*rows)
    table = found.tables["a", "b"]
    common, b, a = (part.mechanism.estimate(counted(part, counts, i)).value for i, (part, counts) in enumerate(rows))
    own = common.reshape(2, 3)
    own = own - own.mean(axis=0) - own.mean(axis=1, keepdims=True) + own.mean()
    assert table.value == pytest.approx(own + a[:, None] / 3 + b / 2 - 1 / 6)
    assert table.n == 1800 * 3
    assert found.questions["a"].value.tolist() == a.tolist()
    assert isinstance(found.tests["a", "b"], Independence)
    assert list(found.questions) == ["a", "b"]
    assert math.isclose(table.value.sum(), 1.0)


def test_cells_and_effects_stand_beside_each_other() -> None:
    rows = [(WITH_C, [9, 9, 9, 9]), (EFFECTS, CELLS), (OTHER, [70, 60, 50]), (ONE, [90, 90])]
    found = told(*rows)
    assert set(found.tables) == {("a", "c"), ("a", "b")}
    assert list(found.questions) == ["a", "c", "b"]


def test_parts_about_two_questions_need_a_mechanism_that_tells_a_table() -> None:
    for names, m in ((("a", "b", "c"), ss(12)), (("a", "b", "c"), effects(2, 3, 2))):
        with pytest.raises(ParameterError, match=rf"3 of them in a part of {m.name}"):
            AskedPart(names, ((),) * 3, m)
    with pytest.raises(ParameterError, match="one that tables of two questions can be read from"):
        AskedPart(("a", "b"), (A, A), dn.mechanism("brr", epsilon=1.0, k=4))
    assert [part.way for part in (ONE, BOTH, EFFECTS)] == ["one", "pairs", "effects"]
