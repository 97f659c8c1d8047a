"""Promises: the ways to say one, what follows from it, how two go together, and who decides whether it is kept."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable.core.channel import Channel, Proof, Witness
from deniable.core.promise.judge import Pair, breach, enumerated, proved
from deniable.core.promise.making import read_promise
from deniable.core.promise.ranges import members, ranges_of
from deniable.core.promise.value import Promise, add_up
from deniable.errors import EnumerationError, FormatError, ParameterError
from deniable_client.exact import exp_bounds

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "promise.json").read_text())
SETTINGS = settings(deadline=None, derandomize=True, max_examples=40)
INF = math.inf
VALUES, LEVELS = st.integers(2, 5), st.sampled_from([1, 1, 2, 3])
BUDGETS = st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, INF])


def matrix_of(rows: list[list[Any]]) -> np.ndarray[Any, Any]:
    return np.array([[float(b) for b in row] for row in rows])


@st.composite
def promises(draw: st.DrawFn, k: int, t: int, *, zeros: bool = True) -> Promise:
    """A few values in a few classes, at t levels (none if that is 1), with any budgets between them."""
    owner = [draw(st.integers(0, 2)) for _ in range(k)]
    kinds = list(dict.fromkeys(owner))
    classes = tuple(ranges_of(x for x in range(k) if owner[x] == c) for c in kinds)
    some = BUDGETS if zeros else BUDGETS.filter(bool)

    def table(*shape: int) -> Any:
        return np.array([draw(some) for _ in range(math.prod(shape))]).reshape(shape)

    every = table(len(kinds) * t, len(kinds) * t)
    strict = np.minimum(every, table(*every.shape)) if draw(st.booleans()) else None
    same = None
    if t > 1:
        same = table(len(kinds), t, t)
        same[:, np.arange(t), np.arange(t)] = 0.0
    names = tuple(float(i + 1) for i in range(t)) if t > 1 else ()
    return Promise(k, classes, every, strict, names, same)


def shortest(matrix: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Shortest paths by trying every step again and again; a budget of 0 makes the other direction 0."""
    found = matrix.copy()
    while True:
        new = np.minimum(found, (found[:, :, None] + found[None, :, :]).min(axis=1))
        new = np.where((new == 0).T, 0.0, new)
        if np.array_equal(new, found):
            return found
        found = new


# ---- ways to say one


@pytest.mark.parametrize("case", GOLDEN["matrices"], ids=lambda case: str(case["id"]))
def test_every_way_gives_the_matrix_of_the_specification(case: dict[str, Any]) -> None:
    made = dn.promise(**case["arguments"])
    assert np.allclose(made.budgets, matrix_of(case["B"]), rtol=1e-15, atol=0)


def test_labels_name_values_and_matrices_become_few_classes() -> None:
    p = dn.promise(item_epsilon=[1, 2], rule="own", labels=["well", "ill", "tired"], sensitive="ill,tired")
    assert (p.between("ill", "well"), p.between("tired", "ill"), p.between("well", "ill")) == (1.0, 2.0, INF)
    assert p.between(1, 0) == 1.0
    places = dn.Space.vectors([[0, 0], [3, 4], [0, 1]], labels=["a", "b", "c"])
    assert dn.promise(space=places, epsilon=0.5).between("a", "b") == 2.5
    assert dn.promise(budgets=np.ones((9, 9)) - np.eye(9)).classes == ((0, 9),)
    star = dn.promise(graph=[("a", "b"), ("a", "c")], labels=["a", "b", "c"], epsilon=2)
    assert star.classes == ((0, 1), (1, 3))
    assert dn.promise(distances=[[0, 1], [3, 0]], epsilon=1).between(1, 0) == 3.0


def test_a_million_answers_take_no_more_than_two() -> None:
    p = dn.promise(epsilon=1, k=1_000_000, sensitive=999_999)
    assert p.table.shape == (2, 2)
    assert (p.between(3, 999_999), p.between(999_999, 3)) == (1.0, INF)
    assert (p & p + p).closed.between(0, 5) == 1.0
    assert "and no limit for some" in repr(p)
    with pytest.raises(EnumerationError, match="a matrix of 1,000,000 inputs is too large"):
        _ = p.budgets


SQUARE = [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({}, "domain must be given"),
        ({"k": 3}, "epsilon must be given"),
        ({"k": 1, "epsilon": 1}, "k must be an integer >= 2"),
        ({"k": 3, "epsilon": -1}, "epsilon must be a number >= 0, got -1"),
        ({"k": 3, "epsilon": math.nan}, "epsilon must be a number >= 0, got nan"),
        ({"k": 3, "epsilon": True}, "epsilon must be a number >= 0, got True"),
        ({"k": 3, "epsilon": 41}, "epsilon must be at most 40, or inf, got 41"),
        ({"k": 3, "epsilon": 1, "sensitive": "x"}, "sensitive must be among the 3 labels"),
        ({"k": 3, "epsilon": 1, "rule": "own"}, "rule must be left out with epsilon, got 'own'. It goes with item_eps"),
        ({"budgets": [[0, 1], [1]]}, "budgets must be a square matrix"),
        ({"budgets": 3}, "budgets must be a square matrix"),
        ({"budgets": [[0, -1], [1, 0]]}, r"budgets\[0\]\[1\] must be a number >= 0, got -1"),
        ({"budgets": [[0, "x"], [1, 0]]}, r"budgets\[0\]\[1\] must be a number >= 0, got 'x'"),
        ({"budgets": [[0, 1], [1, 2]]}, r"budgets\[1\]\[1\] must be 0"),
        ({"budgets": [[0, 50], [1, 0]], "labels": ["a", "b"]}, 'got 50 between the values a and b. Use 40, or "inf"'),
        ({"budgets": SQUARE, "k": 3}, "k must be 2"),
        ({"budgets": SQUARE, "epsilon": 1}, "epsilon must be left out with budgets"),
        ({"budgets": SQUARE, "distances": SQUARE}, "in one way, got distances and budgets"),
        ({"item_epsilon": [1, 2]}, "rule must be own or min, got None"),
        ({"item_epsilon": [1, 2], "rule": "max"}, "rule must be own or min, got 'max'"),
        ({"item_epsilon": 1, "rule": "own"}, "item_epsilon must be a list of budgets"),
        ({"item_epsilon": [1, 2], "rule": "own", "k": 4, "sensitive": 3}, "item_epsilon must be 3 budgets, got 2"),
        ({"graph": [(0, 1, 2)], "k": 3, "epsilon": 1}, "graph must be pairs of values"),
        ({"graph": [(0, 3)], "k": 3, "epsilon": 1}, "graph must be made of labels, or numbers from 0 to 2, got 3"),
        ({"graph": [("a", "z")], "labels": ["a", "b"], "epsilon": 1}, "graph must be labels of the domain"),
        ({"points": [[0, 1], [2]], "epsilon": 1}, "points must be numbers, or rows of numbers"),
        ({"points": [0, math.inf], "epsilon": 1}, "points must be finite numbers"),
        ({"points": [0, 1]}, "epsilon must be given"),
        ({"space": 3, "epsilon": 1}, "space must be a dn.Space"),
        ({"blocks": [2, 2], "inside": 1}, "across must be given"),
        ({"blocks": [[0, 1], [1, 2]], "inside": 1, "across": 2, "k": 3}, "blocks that hold each of the 3 values once"),
        ({"blocks": "ab", "inside": 1, "across": 2}, "blocks must be lists of values"),
    ],
)
def test_what_is_no_promise_is_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        dn.promise(**wrong)


# ---- what follows


@pytest.mark.parametrize("case", GOLDEN["closures"])
def test_closed_promises_are_those_of_the_specification(case: dict[str, Any]) -> None:
    p = dn.promise(budgets=case["given"])
    assert np.allclose(p.closed.budgets, matrix_of(case["closed"]), rtol=1e-15, atol=0)
    assert {found.budget < found.given for found in p.implied} == {True}


def test_the_smaller_budget_is_never_worth_more_than_twice_the_smallest() -> None:
    p = dn.promise(item_epsilon=[1, 2, 3, 4], rule="min", labels=["a", "b", "c", "d"])
    assert p.closed.budgets.max() == 2.0
    assert p.implied[0]._asdict() == {
        "likely": "c",
        "unlikely": "d",
        "given": 3.0,
        "budget": 2.0,
        "path": ("c", "a", "d"),
    }


@SETTINGS
@given(st.data())
def test_closing_is_shortest_paths_for_classes_and_levels(data: st.DataObject) -> None:
    p = data.draw(promises(data.draw(VALUES), data.draw(LEVELS)))
    closed = p.closed
    assert np.array_equal(closed.budgets, shortest(p.budgets)), p.to_document()
    assert closed.closed == closed
    for found in p.implied:
        assert found.budget < found.given
        steps = list(zip(found.path[:-1], found.path[1:], strict=True))
        assert len(steps) == 1 or found.likely == steps[0][0]
    changed = {(p.name(x), p.name(z)) for x, z in np.argwhere(closed.budgets < p.budgets).tolist()}
    assert bool(changed) == bool(p.implied)
    assert {(found.likely, found.unlikely) for found in p.implied} <= changed


def test_values_that_no_report_tells_apart_become_one() -> None:
    p = dn.promise(budgets=[[0, 0, 1], [2, 0, 2], [3, 1, 0]], labels=["a", "b", "c"])
    assert p.closed.between("b", "a") == 0
    merged = p.merged()
    assert (merged.k, merged.labels) == (2, ("a or b", "c"))
    assert (merged.between("a or b", "c"), merged.between("c", "a or b")) == (1.0, 1.0)
    with pytest.raises(ParameterError, match="0 between all values"):
        dn.promise(epsilon=0, k=3).merged()
    same = dn.promise(epsilon=1, k=3)
    assert np.array_equal(same.merged().budgets, same.budgets)


# ---- how two go together


@SETTINGS
@given(st.data())
def test_promises_go_together_entry_by_entry(data: st.DataObject) -> None:
    k, t = data.draw(VALUES), data.draw(LEVELS)
    p, q = (data.draw(promises(k, t)) for _ in range(2))
    for made, op in ((p & q, np.minimum), (p | q, np.maximum), (p + q, np.add)):
        assert np.array_equal(made.budgets, op(p.budgets, q.budgets))
        hidden = [[[each.limit(x, z) for z in range(p.inputs)] for x in range(p.inputs)] for each in (made, p, q)]
        assert np.array_equal(hidden[0], op(np.array(hidden[1]), np.array(hidden[2])))
        assert sorted(x for ends in made.classes for x in members(ends)) == list(range(p.k))
    assert np.array_equal((3 * p).budgets, 3 * p.budgets)
    assert np.array_equal((p & q).closed.budgets, (p.closed & q.closed).closed.budgets)
    assert read_promise(json.loads(json.dumps((p & q).to_document()))) == (p & q)


def test_sums_are_rounded_up_and_parts_are_kept() -> None:
    tenth, whole = Promise.plain(0.1, 3), Promise.plain(1.0, 3)
    assert Fraction((tenth + whole).epsilon) >= Fraction(0.1) + 1
    some = np.random.default_rng(1).uniform(0, 3, (2, 500))
    exact = [Fraction(a) + Fraction(b) for a, b in some.T.tolist()]
    sums = [Fraction(x) for x in add_up(*some).tolist()]
    assert all(0 <= s - e < Fraction(1, 10**14) for s, e in zip(sums, exact, strict=True))
    assert any(s > e for s, e in zip(sums, exact, strict=True))
    m = dn.mechanism("pldp", k=4, levels="0.5,1", base="grr", level_epsilon=0.3)
    assert (m.promise + m.promise).parts == {"level report": 0.6}
    assert (m.promise | m.promise) == (m.promise & m.promise) == m.promise


def test_promises_to_other_values_do_not_go_together() -> None:
    with pytest.raises(ParameterError, match="about different inputs"):
        _ = Promise.plain(1.0, 3) & Promise.plain(1.0, 4)
    with pytest.raises(ParameterError, match="about different inputs"):
        _ = Promise.plain(1.0, 2, ("a", "b")) + Promise.plain(1.0, 2, ("a", "c"))
    with pytest.raises(ParameterError, match="a whole number >= 1"):
        _ = 0 * Promise.plain(1.0, 3)
    with pytest.raises(TypeError):
        _ = Promise.plain(1.0, 3) + 1  # type: ignore[operator]


# ---- who decides


@st.composite
def channels(draw: st.DrawFn, k: int, count: int) -> list[Channel]:
    outputs, made = draw(st.integers(1, 4)), []
    for _ in range(count):
        total = draw(st.integers(1, 30))
        columns = []
        for _ in range(k):
            cuts = sorted(draw(st.lists(st.integers(0, total), min_size=outputs - 1, max_size=outputs - 1)))
            columns.append([b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)])
        rows = tuple(tuple(column[o] for column in columns) for o in range(outputs))
        made.append(Channel(tuple(f"o{o}" for o in range(outputs)), rows, total))
    return made


def keeps(p: Promise, made: list[Channel]) -> bool:
    """The definition, for every output and every two inputs."""
    for o in range(len(made[0].outputs)):
        chance = [Fraction(c.weights[o][x], c.total) for c in made for x in range(p.k)]
        senders = {x % p.k for x, v in enumerate(chance) if v}
        free = [all(p.between(i * p.k + x, z) == INF for i in range(len(made)) for z in range(p.inputs) if z % p.k != x)
                for x in range(p.k)]  # fmt: skip
        shows = p.strict is not None and len(senders) == 1 and free[next(iter(senders))]
        for x, z in permutations(range(p.inputs), 2):
            b = p.limit(x, z)
            if b < INF and not (shows and x % p.k != z % p.k) and chance[x] > exp_bounds(b)[0] * chance[z]:
                return False
    return True


@settings(SETTINGS, max_examples=100)
@given(st.data())
def test_the_judge_is_the_definition(data: st.DataObject) -> None:
    p = data.draw(promises(data.draw(VALUES), data.draw(LEVELS), zeros=False))
    made = data.draw(channels(p.k, max(1, len(p.levels))))
    pairs = enumerated(p, made)
    assert (breach(pairs) is None) == keeps(p, made)
    assert [pair.kept for pair in pairs] == sorted(pair.kept for pair in pairs), "the worst comes first"


def two_outputs(total: int, *first: int) -> Channel:
    """The weights of one output; the other has the rest."""
    return Channel(("one", "other"), (first, tuple(total - w for w in first)), total)


def test_without_a_budget_for_a_step_what_no_path_leads_to_has_no_limit() -> None:
    p = dn.promise(graph=[(0, 1), (1, 2)], epsilon=0, k=4)
    assert p.budgets.tolist() == [[0, 0, 0, INF], [0, 0, 0, INF], [0, 0, 0, INF], [INF, INF, INF, 0]]


@pytest.mark.parametrize("name", ["uss", "uue", "urr"])
def test_one_epsilon_for_all_asks_what_a_mechanism_of_it_promises(name: str) -> None:
    """Values that need no protection stay so, and reports that disclose nothing are promised as much as before."""
    one, two = (dn.mechanism(name, epsilon=epsilon, k=5, sensitive="1,3").promise for epsilon in (1.0, 2.0))
    assert one.flat(2.0) == two
    assert one.flat(1.0) == one
    assert (one.flat(2.0).strict is None) == (one.strict is None)


def test_only_a_harmless_value_may_be_shown() -> None:
    p = Promise.by_class(3, ((0, 2), (2, 3)), (1.0, INF), strict=1.0)
    assert breach(enumerated(p, [two_outputs(4, 0, 0, 2)])) is None
    for shown in ((2, 0, 0), (0, 1, 2), (1, 1, 0)):
        found = breach(enumerated(p, [two_outputs(4, *shown)]))
        assert found is not None, shown
        assert (found.ratio, found.output) == (None, "one")
    loose = replace(p, strict=None)
    assert breach(enumerated(loose, [two_outputs(4, 0, 1, 2)])) is not None
    assert breach(enumerated(loose, [two_outputs(4, 0, 0, 2)])) is None


def test_levels_are_compared_for_one_value_and_for_two() -> None:
    low, high = two_outputs(10, 8, 7), two_outputs(10, 1, 6)
    p = Promise.plain(2.0, 2).with_levels((2.0, 3.0), level=3.0, pair=3.0)
    assert breach(enumerated(p, [low, high])) is None
    one = breach(enumerated(Promise.plain(2.0, 2).with_levels((2.0, 3.0), 2.0, 3.0), [low, high]))
    assert one is not None
    assert (one.likely, one.unlikely, one.ratio) == ("0 at level 2", "0 at level 3", 8)
    back = breach(enumerated(Promise.plain(2.0, 2).with_levels((2.0, 3.0), 2.0, 3.0), [high, low]))
    assert back is not None
    assert (back.likely, back.unlikely, back.ratio) == ("0 at level 3", "0 at level 2", 8), "in both directions"
    two = breach(enumerated(Promise.plain(2.0, 2).with_levels((2.0, 3.0), 3.0, 1.9), [low, high]))
    assert two is not None
    assert (two.likely, two.unlikely, two.ratio) == ("1 at level 2", "0 at level 3", 7), "not the likeliest with itself"


def test_no_rounding_is_forgiven_also_beyond_what_floats_have() -> None:
    low, high = exp_bounds(1.0)
    assert Pair("a", "b", 1.0, low, "o").kept
    for ratio in (low + Fraction(1, 1 << 300), high, None):
        assert not Pair("a", "b", 1.0, ratio, "o").kept
    far = exp_bounds(700.0)[0] ** 2 * exp_bounds(100.0)[0]
    assert Pair("a", "b", 1500.0, far, "o").kept
    assert not Pair("a", "b", 1500.0, far * 2, "o").kept


def test_a_proof_covers_every_budget_or_is_held_against_the_smallest() -> None:
    p = dn.promise(item_epsilon=[1, 2, 3], rule="own")
    three = Proof(Fraction(20), "argument", "", Witness("o", 2, 0))
    assert breach(proved(p, three)) is not None, "the ratio of all is above e^1"
    some = replace(three, ratios=((Fraction(2), Witness("o", 0, 1)), (Fraction(20), Witness("o", 2, 0))))
    (worst,) = [pair for pair in proved(p, some) if not pair.kept]
    assert worst.budget == 2.0, "nothing was said of the pairs that have 2"
    whole = replace(some, ratios=(*some.ratios, (Fraction(7), Witness("o", 1, 0))))
    assert breach(proved(p, whole)) is None
    part = replace(p, parts={"level report": 0.5})
    found = breach(proved(part, whole))
    assert found is not None
    assert found.output == "the level report"
    assert breach(proved(part, replace(whole, parts=(("level report", Fraction(3, 2)),)))) is None


def test_channels_of_other_values_are_refused() -> None:
    coin = Channel(("no", "yes"), ((3, 1), (1, 3)), 4)
    with pytest.raises(ParameterError, match="channels must be of 3 values each"):
        enumerated(Promise.plain(1.0, 3), [coin])
    with pytest.raises(ParameterError, match="channels must be 1"):
        enumerated(Promise.plain(1.0, 2), [coin, coin])


# ---- text and plain data


def test_a_value_hears_what_it_is_promised() -> None:
    labels = ["well", "flu", "hiv"]
    p = dn.promise(item_epsilon=[1, 0.5], rule="own", labels=labels, sensitive="flu,hiv")
    assert p.explain("hiv") == (
        "Whatever is sent for hiv is at most e^0.5 = 1.65 times as likely as for well, flu, whatever is known already."
    )
    assert p.explain("well") == ("Against flu, hiv nothing is promised: a report may show that it was well.")
    m = dn.mechanism("uss", epsilon=1.0, labels=labels, sensitive="flu,hiv")
    hidden = "A report that discloses nothing is at most e^1 = 2.72 times as likely as for flu, hiv."
    assert m.promise.explain("well").endswith(hidden)
    levels = dn.mechanism("pldp", k=3, levels="0.5,1", base="grr", level_epsilon=0.3)
    assert "at most e^0.5 = 1.65 times as likely as for 0 at level 0.5, 2 at level 0.5" in levels.promise.explain(
        (1, 0.5)
    )
    with pytest.raises(ParameterError, match="value must be one of well, flu, hiv, got 'x'"):
        p.explain("x")
    with pytest.raises(ParameterError, match=r"level must be one of 0\.5, 1\.0, got 2"):
        levels.promise.explain((1, 2))


@pytest.mark.parametrize(
    "wrong",
    [
        3,
        {},
        {"k": 3, "classes": [[0, 3]]},
        {"k": 3, "classes": [[0, 2]], "budgets": [[1]]},
        {"k": 3, "classes": [[0, 2], [1, 3]], "budgets": [[1, 1], [1, 1]]},
        {"k": 3, "classes": [[0, 3]], "budgets": [[-1]]},
        {"k": 3, "classes": [[0, 3]], "budgets": [["x"]]},
        {"k": 3, "classes": [[0, 3]], "budgets": [[1, 1]]},
        {"k": 3, "labels": ["a", "b", "c"], "classes": [[0, 3]], "budgets": [[1]]},
        {"labels": ["a", "a"], "classes": [[0, 2]], "budgets": [[1]]},
        {"k": 3, "classes": [[0, 3]], "budgets": [[1]], "levels": [1.0, 2.0]},
        {"k": 3, "classes": [[0, 3]], "budgets": [[1]], "more": 1},
        {"k": 3, "classes": 7, "budgets": [[1]]},
        {"k": 3, "classes": [["0", 3]], "budgets": [[1]]},
        {"k": 3, "classes": [[0, 3]], "budgets": [[1]], "parts": [1]},
    ],
)
def test_documents_of_something_else_are_refused(wrong: object) -> None:
    with pytest.raises(FormatError, match="promise"):
        read_promise(wrong)


def test_equal_promises_are_equal_values() -> None:
    one, two = (dn.promise(epsilon=1, labels=["a", "b"]) for _ in range(2))
    assert one == two
    assert hash(one) == hash(two)
    assert one not in (dn.promise(epsilon=1, k=2), dn.promise(epsilon=2, labels=["a", "b"]), "a")
    with pytest.raises(ValueError, match="read-only"):
        one.table[0, 0] = 0.5
    assert [len(list(product(p.budgets))) for p in (one, two)] == [2, 2]
