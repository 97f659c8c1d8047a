"""Parts of a task from the least to the most, each changed alone, as in a table that all clients share."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import pytest

from deniable_client import FormatError, ParameterError, PrivacyError
from deniable_client.domains import read_domain
from deniable_client.grammar import _CHECKS
from deniable_client.task import _characters, seal
from tasks import PRIVATE, vectors

FILE = vectors("limits")
KEY = PRIVATE.public_key().public_bytes_raw().hex()


def changed(case: dict[str, Any], value: object) -> None:
    """Seal the task with another part, which reads it as a device does."""
    made: Any = copy.deepcopy(FILE["document"]) | case.get("changes", {})
    made["collector"]["key"] = KEY
    part = made
    for step in case["place"][:-1]:
        part = part[step]
    part[case["place"][-1]] = value
    seal(made, PRIVATE.sign)


@pytest.mark.parametrize("case", FILE["cases"], ids=lambda case: ".".join(map(str, case["place"])))
def test_a_part_of_a_task_is_taken_from_its_least_to_its_most(case: dict[str, Any]) -> None:
    for value in case["taken"]:
        changed(case, value)
    for value in case["refused"]:
        with pytest.raises((FormatError, PrivacyError)):
            changed(case, value)


@pytest.mark.parametrize("case", FILE["domains"], ids=lambda case: next(iter(case["domain"])))
def test_values_have_the_answers_of_their_place(case: dict[str, Any]) -> None:
    borders = case["borders"]
    domain = read_domain(case["domain"], len(borders) - 1 if borders else case["domain"]["k"])
    for value, answer in case["values"]:
        if answer is None:
            with pytest.raises(ParameterError):
                domain.index(value)
        else:
            assert domain.index(value) == answer, value
    assert (domain.border is None) == (not borders)
    if domain.border is not None:
        assert [domain.border(i) for i in range(len(borders))] == borders


def part(given: Any) -> Any:
    """A kernel, or a part of one, from its document."""
    if isinstance(given, dict):
        return SimpleNamespace(**{name: part(own) for name, own in given.items()})
    if isinstance(given, list):
        return tuple(map(part, given))
    return int(given) if given.isdecimal() else given


@pytest.mark.parametrize("case", FILE["checks"], ids=[f"{row['check']} {row['words']}" for row in FILE["checks"]])
def test_parameters_are_what_their_rule_says(case: dict[str, Any]) -> None:
    check, words, kernel = _CHECKS[case["check"]], case["words"].split(), part(case["kernel"])
    design = {"epsilon": 2, "domain": {"ticks": 3, "most": 2}}
    for value in case["taken"]:
        assert check(value, words, kernel, design) == "", value
    for value in case["refused"]:
        assert check(value, words, kernel, design), value


def test_texts_are_counted_but_not_those_of_kernels() -> None:
    """However deep they are; names, numbers and what a kernel has are none."""
    assert _characters({"kernel": {"k": "xxxx"}, "b": ["yy", {"kernel": ["xxx"], "c": "z\u00e9"}], "longer": 17}) == 4
    assert _characters({"parts": [{"kernel": {"k": "x"}, "labels": ["a", "bc"]}] * 3}) == 9
    assert _characters([None, True, "", "kernel"]) == 6
