"""Every row of the registry goes through the conformance suite: a new row is tested without new code here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import deniable as dn
from deniable.testing import CHECKS, conformance
from deniable.testing.sampling import untestable
from tiers import few_of_each, slow

ALPHA = 1e-6
"""False alarm rate of each mechanism below; of all of them together: below 1e-3."""

STATISTICAL = ("sampler", "power")
QUIET = [name for name in CHECKS if name not in STATISTICAL]

SMALL = [(name, case) for name, entry in dn.MECHANISMS.items() for case in entry.small]
LARGE: list[tuple[str, Mapping[str, Any]]] = [
    ("grr", {"k": 300, "epsilon": 4.0}),
    ("grr", {"k": 1000, "epsilon": 8.0}),
    ("ss", {"k": 100, "epsilon": 1.0}),
    ("ss", {"k": 1000, "epsilon": 2.0, "rounding": "best"}),
    ("ss", {"k": 65, "epsilon": 1.0, "size": 60}),
    ("ue", {"k": 129, "epsilon": 2.0, "p": 0.7}),
    ("sue", {"k": 64, "epsilon": 0.5}),
    ("oue", {"k": 1000, "epsilon": 1.0}),
    ("blh", {"k": 100, "epsilon": 1.0}),
    ("lh", {"k": 40, "epsilon": 1.0, "g": 300}),
    ("olh", {"k": 1000, "epsilon": 2.0}),
    ("olh", {"k": 50, "epsilon": 10.0, "rounding": "best"}),
    ("oue", {"labels": ["never", "sometimes", "often"], "epsilon": 1.0}),
]


def named(name: str, case: Mapping[str, Any]) -> str:
    return "-".join([name, *(f"{key}={value}" for key, value in case.items() if key != "labels")])


def some(cases: list[tuple[str, Mapping[str, Any]]], places: tuple[int, ...]) -> list[Any]:
    """Of every mechanism the cases at these places; the others in the full tier."""
    return few_of_each(cases, lambda case: case[0], places, name=lambda case: named(*case))


@pytest.mark.parametrize(("name", "case"), some(SMALL + LARGE, (0, -1)))
def test_exact_checks(name: str, case: Mapping[str, Any]) -> None:
    """Everything is looked at: what is small is enumerated, and nothing that has an unbiased estimate is left out."""
    outcomes = dict(conformance(dn.mechanism(name, **case), alpha=ALPHA, checks=QUIET))
    assert list(outcomes) == QUIET
    if (name, case) in SMALL:
        assert "outputs sum to 1" in outcomes["rows"]
        assert "by enumeration" in outcomes["privacy"]
        assert "best guess under 6 priors" in outcomes["closed_forms"]
        refused = outcomes["unbiased"].startswith("does not apply")
        assert ("moments do not apply: " if refused else "all moments of ") in outcomes["closed_forms"]


def test_errors_of_noisy_vectors_are_those_of_all_their_steps() -> None:
    """The small cases of `she` have too short a reach for estimates; this one is long enough, and still enumerable."""
    m = dn.mechanism("she", k=2, epsilon=4.0, grid=0, reach=16)
    assert "all moments of frequency" in dict(conformance(m, checks=["closed_forms"]))["closed_forms"]


LARGER, SMALLER = (
    [case for case in SMALL + LARGE if (case[1].get("epsilon", 1.0) <= 0.5) == smaller] for smaller in (False, True)
)
"""Seeing more of a small epsilon takes many reports."""


@pytest.mark.stat
@pytest.mark.turns(2)
@pytest.mark.parametrize(("name", "case"), [*some(LARGER, (0,)), *slow(SMALLER, name=lambda case: named(*case))])
def test_sampler_follows_the_law_and_more_epsilon_would_be_seen(name: str, case: Mapping[str, Any]) -> None:
    """Alpha 1e-6 each; the number of reports comes from a power computation (chance to miss: at most alpha too).

    10 % more epsilon would be seen; up to epsilon 0.5, where that takes nine times the reports, 30 %.
    """
    m = dn.mechanism(name, **case)
    outcomes = dict(conformance(m, alpha=ALPHA, checks=STATISTICAL))
    if untestable(m) is not None:
        assert all(outcome.startswith("does not apply") for outcome in outcomes.values())
        return
    assert "follow the law" in outcomes["sampler"]
    hidden = m.proof.ratio == 1 or not getattr(m, "sensitive", True)  # nothing is protected, so epsilon has no say
    assert ("does not apply" if hidden else "are rejected") in outcomes["power"]


def test_every_row_of_the_registry_has_small_cases() -> None:
    assert [name for name, entry in dn.MECHANISMS.items() if len(entry.small) < 3 and entry.kind == "mechanism"] == []
