"""Domains and what is refused at the door: each message names the parameter, what was given and what is allowed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import deniable as dn
from deniable.core.domain import Domain
from deniable.errors import FormatError, ParameterError

NUMBERS = Domain.of(4)
COIN = Domain.of(2)
LABELS = Domain.of(["never", "often", "no answer", "other"])
TOLERANT = Domain.of(LABELS.labels, missing="no answer", other="other")


# ---- parameters of a mechanism


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"k": 1}, "k must be an integer >= 2, got 1"),
        ({"k": 0}, "k must be an integer >= 2, got 0"),
        ({"k": -3}, "k must be an integer >= 2, got -3"),
        ({"k": True}, "k must be an integer >= 2, got True"),
        ({"k": 2**33}, "k must be at most 4,294,967,296, got 8589934592. Group the values"),
        ({"k": 2.5}, r"k must be an integer >= 2, got 2\.5"),
        ({"k": math.nan}, "k must be an integer >= 2, got nan"),
        ({"k": "4"}, "k must be an integer >= 2, got '4'"),
        ({}, "domain must be given by exactly one of k, labels and domain, got"),
        ({"k": 3, "labels": ["a", "b", "c"]}, "domain must be given by exactly one of k, labels and domain"),
        ({"labels": ["a"]}, "labels must be a list of at least 2 labels"),
        ({"labels": []}, "labels must be a list of at least 2 labels"),
        ({"labels": ["a", "b", "a"]}, "labels must be different from each other"),
        ({"labels": ["a", ""]}, "labels must be text that is not empty"),
        ({"labels": ["a", "\ud800"]}, "labels must be text that is not empty and can be stored"),
        ({"labels": "abc"}, "labels must be a list of labels, got 'abc'"),
    ],
)
@pytest.mark.parametrize("name", ["grr", "ss", "oue", "olh"])
def test_bad_domains_are_refused(name: str, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        dn.mechanism(name, epsilon=1.0, **arguments)


@pytest.mark.parametrize("name", sorted(dn.MECHANISMS))
def test_bad_epsilons_are_refused(name: str) -> None:
    for epsilon in (0, 0.0, -1, -0.5, math.nan, math.inf, "1", True, [1.0]):
        with pytest.raises(ParameterError, match="epsilon must be a finite number > 0, got"):
            dn.mechanism(name, **(dict(dn.MECHANISMS[name].small[0]) | {"epsilon": epsilon}))


def test_epsilon_must_be_given() -> None:
    with pytest.raises(ParameterError, match="epsilon must be given"):
        dn.mechanism("grr", epsilon=None, k=4)


@pytest.mark.parametrize("name", ["grr", "ss", "sue", "oue", "blh", "olh"])
def test_epsilon_beyond_exact_sampling_is_refused_when_reports_are_drawn(name: str) -> None:
    m = dn.mechanism(name, epsilon=40.5, k=4)
    assert m.properties()["p"] > 0.4
    with pytest.raises(dn.PrivacyError, match=r"epsilon must be at most 40 to draw reports, got 40\.5"):
        m.privatize([1])
    assert m.refusal is not None


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("grr", {"size": 2}, "grr has no option 'size'; it has none of its own"),
        ("grr", {"eps": 1.0}, "Did you mean epsilon"),
        ("grr", {"K": 3}, "Did you mean k"),
        ("ss", {"size": 0}, "size must be an integer from 1 to k-1 = 3, got 0"),
        ("ss", {"size": 4}, "size must be an integer from 1 to k-1 = 3, got 4"),
        ("ss", {"size": 1.5}, r"size must be an integer from 1 to k-1 = 3, got 1\.5"),
        ("ss", {"size": "2"}, "size must be an integer from 1 to k-1 = 3, got '2'"),
        ("ss", {"rounding": "up"}, "rounding must be one of paper, best, got 'up'"),
        ("ue", {}, "ue needs its own parameter p"),
        ("ue", {"p": 0}, "p must be between 0 and 1, got 0"),
        ("ue", {"p": 1}, "p must be between 0 and 1, got 1"),
        ("ue", {"p": math.nan}, "p must be between 0 and 1, got nan"),
        ("ue", {"p": "0.5"}, "p must be between 0 and 1, got '0.5'"),
        ("lh", {}, "lh needs its own parameter g"),
        ("lh", {"g": 1}, "g must be an integer >= 2, got 1"),
        ("lh", {"g": 2.5}, r"g must be an integer >= 2, got 2\.5"),
        ("grrr", {}, "mechanism must be one of grr, ss"),
    ],
)
def test_bad_options_are_refused(name: str, options: dict[str, Any], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        dn.mechanism(name, epsilon=1.0, k=4, **options)


def test_levels_are_refused_where_there_is_one() -> None:
    with pytest.raises(ParameterError, match="grr has one privacy level for all"):
        dn.mechanism("grr", epsilon=1.0, k=4).privatize([1], levels=["high"])


# ---- values


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([0, 4], r"values must be from 0 to 3, got 4 at position 1 \(1 of 2 values are outside\)"),
        ([0, -1, 9], r"values must be from 0 to 3, got -1 at position 1 \(2 of 3 values are outside\)"),
        (np.array([0, 200], np.uint8), "values must be from 0 to 3, got 200 at position 1"),
        (np.array([2**64 - 1], np.uint64), "values must be from 0 to 3, got 18446744073709551615"),
        ([10**30], "values must be from 0 to 3, got one beyond 64 bits"),
        ([0.0, 1.0], r"values must be integers from 0 to 3, got 0\.0 at position 0"),
        ([1, 2.0], r"values must be integers from 0 to 3, got 2\.0 at position 1"),
        (np.array([0.0, 1.0]), "values must be integers from 0 to 3, got an array of dtype float64"),
        (np.array([1.5, np.nan]), "values must be integers from 0 to 3, but the value nan at position 1 is missing"),
        ([True, False], "values must be integers from 0 to 3, got True at position 0"),
        (np.array([True, False]), "values must be integers from 0 to 3, got an array of dtype bool"),
        ([1, None], "values must be integers from 0 to 3, but the value None at position 1 is missing"),
        (["1", "2"], "values must be integers from 0 to 3, got '1' at position 0"),
        (np.array(["1"]), "values must be integers from 0 to 3, got an array of dtype <U1"),
        (None, "values must be integers from 0 to 3, but the value None at position 0 is missing"),
        (math.nan, "values must be integers from 0 to 3, but the value nan at position 0 is missing"),
        ([], "values must be at least one value, got none"),
        (np.array([], np.int64), "values must be at least one value"),
        (np.array([[0, 1]]), r"values must be one-dimensional, got an array of shape \(1, 2\)"),
        (np.ma.array([0, 1], mask=[0, 1]), "but the value None at position 1 is missing"),
        (object(), "values must be a list, an array, a series, or a frame with column=NAME, got object"),
        (pl.Series([0, None, 1]), "values must be integers from 0 to 3, but the value None at position 1 is missing"),
        (pl.Series([0.5]), r"values must be integers from 0 to 3, got 0\.5 at position 0"),
        (np.array(["2024-01-01"], "datetime64[D]"), "values must be integers from 0 to 3, got an array of dtype"),
    ],
)
def test_bad_values_are_refused_and_nothing_is_coerced(values: object, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        NUMBERS.encode(values)
    with pytest.raises(ParameterError, match=says):
        dn.mechanism("grr", epsilon=1.0, k=4).privatize(values)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (["never", "sometimes"], r"the value 'sometimes' at position 1 is not one of the labels \(1 of 2\)"),
        (["never", None], r"the value None at position 1 is missing \(1 of 2\). .*missing=LABEL"),
        (["never", math.nan], "is missing"),
        (["", "never"], "the value '' at position 0 is missing"),
        ([0, 1], "the value 0 at position 0 is not one of the labels"),
        (["Never"], "is not one of the labels.*Did you mean never.*other=LABEL"),
        (["xyz"], r"is not one of the labels \(1 of 1\). Correct it"),
        (["offen", None, "offen"], r"the value None at position 1 is missing \(1 of 3\). Correct it"),
        ([" never"], "is not one of the labels"),
        (pl.Series(["often", None]), "at position 1 is missing"),
    ],
)
def test_unknown_and_missing_labels_are_refused_unless_declared(values: object, says: str) -> None:
    with pytest.raises(ParameterError, match=r"values must be one of the 4 labels \(never, often, no answer, other\)"):
        LABELS.encode(values)
    with pytest.raises(ParameterError, match=says):
        LABELS.encode(values)
    TOLERANT.encode(values)


def test_whole_numbers_that_come_as_floats_are_their_labels() -> None:
    """So they do in columns in which something is missing."""
    grades = Domain.of(["-1", "1", "2", "none"], missing="none")
    assert grades.encode([2.0, None, -1.0, math.nan, 1.0]).tolist() == [2, 3, 0, 3, 1]
    for wrong in (1.5, 3.0, math.inf):
        with pytest.raises(ParameterError, match="is not one of the labels"):
            grades.encode([1.0, wrong])


def test_rows_without_the_column_are_named_by_their_place() -> None:
    rows = [{"a": "never"}, {"a": "often", "b": 1}, {"b": 2}, {"c": 3}]
    with pytest.raises(ParameterError, match="the row at position 2 has no 'a'"):
        LABELS.encode(rows, "a")
    with pytest.raises(ParameterError, match="the row at position 0 has no 'b'"):
        LABELS.encode(rows, "b")


def test_declared_labels_take_the_missing_and_the_unknown_and_nothing_else() -> None:
    values = ["never", None, "sometimes", math.nan, "", "other", "no answer", 7]
    assert TOLERANT.encode(values).tolist() == [0, 2, 3, 2, 2, 3, 2, 3]
    only_missing = Domain.of(LABELS.labels, missing="no answer")
    assert only_missing.encode(["often", None]).tolist() == [1, 2]
    with pytest.raises(ParameterError, match="is not one of the labels"):
        only_missing.encode(["sometimes"])


@pytest.mark.parametrize("choice", ["missing", "other"])
def test_a_declared_label_must_be_in_the_list(choice: str) -> None:
    with pytest.raises(ParameterError, match=f"{choice} must be one of the labels, got 'gone'"):
        Domain.of(["a", "b"], **{choice: "gone"})
    with pytest.raises(ParameterError, match=f"{choice} must be one of the labels"):
        Domain(3, None, **{choice: "a"})


@pytest.mark.parametrize(
    "values",
    [
        [3, 0],
        (3, 0),
        np.array([3, 0], np.uint8),
        np.array([3, 0], np.int32),
        pl.Series([3, 0]),
        iter([3, 0]),
        [np.int64(3), 0],
        np.array([3, 0], object),
    ],
    ids=lambda value: type(value).__name__,
)
def test_lists_arrays_and_series_of_integers_are_taken(values: object) -> None:
    found = NUMBERS.encode(values)
    assert found.tolist() == [3, 0]
    assert found.dtype == np.int64


def test_one_value_is_a_batch_of_one() -> None:
    assert NUMBERS.encode(2).tolist() == [2]
    assert LABELS.encode("often").tolist() == [1]
    assert NUMBERS.encode(np.int64(2)).tolist() == [2]


def test_yes_and_no_may_be_booleans() -> None:
    for values in ([True, False], np.array([True, False]), pl.Series([True, False])):
        assert COIN.encode(values).tolist() == [1, 0]


def test_encoding_does_not_change_the_callers_array() -> None:
    values = np.array([1, 2, 3], np.int64)
    NUMBERS.encode(values)[0] = 0
    assert values.tolist() == [1, 2, 3]


def test_documents_round_trip() -> None:
    for domain in (NUMBERS, LABELS, TOLERANT):
        assert Domain.from_document(domain.document()) == domain
    assert NUMBERS.labels_or_numbers == ("0", "1", "2", "3")
    for bad in ({}, {"labels": None}, {"k": None}):
        with pytest.raises((FormatError, ParameterError)):
            Domain.from_document(bad)


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (["1", "l"], '"1" and "l" look alike'),
        (["Yes", "no", "yes"], '"Yes" and "yes" sound alike'),
        (["ill", "very ill", "ill\U000e0100"], "U\\+E0100, which people cannot see"),
        (["not ill", "\u202elli ton"], "U\\+202E"),
        (["yes", "\u0443es"], "letters of Cyrillic and Latin in one word"),
    ],
)
def test_labels_that_devices_refuse_are_refused_by_name_with_what_to_do(labels: list[str], told: str) -> None:
    with pytest.raises(ParameterError, match=told) as caught:
        Domain.of(labels)
    assert "Reword a label" in caught.value.hint
