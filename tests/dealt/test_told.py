"""What is told of parts: who gets which, what is promised of each, and what is read of the answers to them."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.dealt.base import Dealt, dealt
from deniable.mechanisms.dealt.records import columns_by_part


def refused(words: str, fine: bool = False) -> Any:
    return nullcontext() if fine else pytest.raises(dn.ParameterError, match=words)


def made(shares: tuple[int, ...] = (1, 3)) -> Dealt:
    parts = {"a": dn.mechanism("grr", epsilon=2.0, k=3), "b": dn.mechanism("ss", epsilon=1.0, k=5, size=2)}
    return dealt(parts, shares)


def test_everybody_gets_a_part_by_its_share() -> None:
    m = made((1, 3))
    dealt_out = m.bulk.deal(4000, dn.simulation(1))
    found = Counter(dealt_out.tolist())
    assert set(found) == {0, 1}
    assert abs(found[0] - 1000) < 6 * np.sqrt(4000 * 3 / 16), "alpha 1e-8"
    assert made((1, 1)).bulk.deal(2000, dn.simulation(1)).max() == 1
    three = dealt([*made().mechanisms, dn.mechanism("grr", epsilon=1.0, k=2)], [1, 1_000_000, 1])
    assert set(three.bulk.deal(500, dn.simulation(2)).tolist()) == {1}
    assert m.chances == {"a": 0.25, "b": 0.75}


def test_numbers_that_are_told_are_those_of_parts_with_their_people() -> None:
    m = made()
    one, two = m.mechanisms
    told = m.properties(100)
    assert told["shares"] == {"a": 0.25, "b": 0.75}
    assert told["parts"] == {"a": one.properties(25), "b": two.properties(75)}
    assert m.effective(100)["parts"] == {"a": one.effective(25), "b": two.effective(75)}
    assert m.effective()["epsilon"] == m.epsilon_exact == one.epsilon_exact
    assert m.promise.parts == {"a": 2.0, "b": 1.0}
    assert m.bulk.channel_error == 0
    hashes = dealt([dn.mechanism("lh", epsilon=1.0, k=4, g=3), one])
    assert hashes.bulk.channel_error == hashes.mechanisms[0].bulk.channel_error > 0
    assert [m.at(1.0).mechanisms[i].epsilon for i in (0, 1)] == [1.0, 0.5]
    assert [m.at(4.0).mechanisms[i].epsilon for i in (0, 1)] == [4.0, 2.0]


def test_all_answers_are_guessed_from_the_one_that_is_told() -> None:
    m = made()
    one, two = m.mechanisms
    first, second = [0.5, 0.3, 0.2], [0.4, 0.3, 0.1, 0.1, 0.1]
    found = m.guess({"a": first, "b": second})
    wanted = 0.25 * one.guess(first).success * 0.4 + 0.75 * 0.5 * two.guess(second).success
    assert found.success == pytest.approx(wanted, rel=1e-12)
    assert found.blind == pytest.approx(0.2)
    together = m.guess(np.outer(first, second).ravel())
    assert together.success == pytest.approx(wanted, rel=1e-9)
    assert together.blind == pytest.approx(0.2)
    with refused("prior must be a mapping with a prior for each of a, b"):
        m.guess({"a": first})


@pytest.mark.parametrize(
    ("names", "fine"), [(("a", "b"), True), (("a", "a"), False), (("a",), False), (("a", ""), False), (("a", 1), False)]
)
def test_parts_have_names_of_their_own(names: Any, fine: bool) -> None:
    with refused("names must be 2 different names, one for each part", fine):
        dealt(made().mechanisms, names=names)


def test_there_are_from_two_to_the_most_parts() -> None:
    one = dn.mechanism("grr", epsilon=1.0, k=2)
    for count, fine in ((1, False), (2, True), (255, True), (256, False)):
        with refused(rf"parts must be from 2 to \d+ mechanisms, got {count} of them", fine):
            dealt([one] * count)
    with refused("parts must be mechanisms that are not made of parts themselves"):
        dealt([one, made()])
    with refused("names must be left out where parts are given by name"):
        dealt({"a": one, "b": one}, names=("c", "d"))
    with refused("parts must be mechanisms, got none"):
        dealt([])


def test_answers_are_rows_or_columns() -> None:
    rows = [[0, 4], [2, 1], [1, 3]]
    columns = [[0, 2, 1], [4, 1, 3]]
    assert [list(column) for column in columns_by_part(rows, ("a", "b"), None)] == columns
    assert [list(column) for column in columns_by_part(np.array(rows), ("a", "b"), None)] == columns
    assert [list(column) for column in columns_by_part({"b": columns[1], "a": columns[0]}, ("a", "b"), None)] == columns
    renamed = {"x": columns[1], "y": columns[0]}
    assert [list(column) for column in columns_by_part(renamed, ("a", "b"), ["y", "x"])] == columns
    for given, column, words in (
        (rows, ["a", "b"], "column must be left out for rows of answers"),
        (rows, ["a"], "column must be 2 names of columns, in the order of the parts"),
        (rows, "ab", "column must be 2 names of columns"),
        (np.zeros((3, 3)), None, r"values must be with 2 columns, got an array of shape \(3, 3\)"),
        ([[0, 1], [0]], None, "values must be rows with 2 answers each"),
        (["ab", "cd"], None, "values must be rows with 2 answers each"),
        ([], None, "values must be answers of at least one person"),
        ("ab", None, "values must be answers of at least one person"),
    ):
        with refused(words):
            columns_by_part(given, ("a", "b"), column)


def test_pairs_and_levels_are_in_their_cells() -> None:
    levels = dn.mechanism("pldp", base="grr", levels=[0.5, 1.0], level_epsilon=1.0, k=3)
    films = dn.mechanism("kv-ss2", epsilon=1.0, k=3, length=2)
    m = dealt({"income": levels, "films": films}, [1, 1])
    good = {"income": [(0, 0.5), (2, 1.0)], "films": [[(0, 0.5)], [(1, -1.0), (2, 0.0)]]}
    rng = dn.simulation(1)
    assert m.tally(m.privatize(good, rng=rng)).n == 2
    for name, wrong, words in (
        (
            "income",
            [(0, 0.5), (2, 1.0, 1)],
            "income: answers must be pairs of a value and a level, one for each person",
        ),
        ("income", [0, 1], "income: answers must be pairs of a value and a level"),
        ("films", [[(0, 0.5)], [(1, -1.0, 0.0)]], "films: pairs must be a key and a value each"),
        ("films", [[(0, 0.5)], [(1,)]], "films: pairs must be a key and a value each"),
        ("income", [(0, 0.5)], "columns of the same people"),
    ):
        with refused(words):
            m.privatize({**good, name: wrong}, rng=rng)


def test_a_collector_deals_numbers_of_parts() -> None:
    m = made()
    reports = m.privatize_items(np.array([[0, 1], [1, 2], [2, 3]]), dn.simulation(1), coins=[0, 1, 1])
    assert reports.columns["part"].tolist() == [0, 1, 1]
    by_number = m.privatize_items(np.array([1, 7, 13]), dn.simulation(1), coins=[0, 1, 1])
    assert by_number.columns["report"].tolist() == reports.columns["report"].tolist(), "the last part counts fastest"
    for coins in ([0, 1], [0, 1, 2], [0, 1, -1], [0.0, 1.0, 1.0]):
        with refused("coins must be 3 numbers of parts, from 0 to 1"):
            m.privatize_items(np.array([1, 7, 13]), dn.simulation(1), coins=coins)
    with refused("levels must be left out: a part with levels has them in its column"):
        m.privatize([[0, 1]], levels=[1.0])


def test_the_chances_of_parts_are_in_the_channel() -> None:
    m = made((2, 3))
    channel = m.channel()
    for i, share in ((0, Fraction(2, 5)), (1, Fraction(3, 5))):
        own = [row for name, row in zip(channel.outputs, channel.weights, strict=True) if name.startswith(f"part {i},")]
        assert [Fraction(sum(row[x] for row in own), channel.total) for x in range(15)] == [share] * 15


def test_answers_to_parts_are_described_one_by_one() -> None:
    m = made()
    one, two = (part.domain.allowed for part in m.mechanisms)
    assert m.domain.allowed == f"an answer for each part (a: {one}; b: {two})"
    assert m.domain.labels_or_numbers == ("a", "b")
    assert m.k == m.bulk.inputs == 15
