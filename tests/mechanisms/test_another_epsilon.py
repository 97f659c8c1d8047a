"""`at`: a mechanism at another epsilon is the same one, with the same parameters of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import deniable as dn
from tiers import few_of_each

FOUND = ("matrix", "optimal", "optimal-release")
"""Rows whose parameters are the channel itself, which is another one at another epsilon."""
CASES = [(name, case) for name, entry in dn.MECHANISMS.items() if name not in FOUND for case in entry.small]
FOLLOW = {
    "base": "the base's own epsilon",
    "item_epsilon": "budgets of single items grow alike",
    "outputs": "as many as the best table has, at most those given",
    "certificate": "what is proved of the table",
}
"""Parameters that must follow epsilon, and why."""


def named(case: tuple[str, Mapping[str, Any]]) -> str:
    return "-".join([case[0], *(f"{key}={value}" for key, value in case[1].items())])


@pytest.mark.parametrize(("name", "case"), few_of_each(CASES, lambda case: case[0], (0, 2), name=named))
def test_another_epsilon_leaves_everything_else(name: str, case: Mapping[str, Any]) -> None:
    m = dn.mechanism(name, **case)
    other = m.at(1.25 * m.epsilon)
    assert (type(other), other.name, other.domain, other.epsilon) == (type(m), m.name, m.domain, 1.25 * m.epsilon)
    assert m.at(m.epsilon).design == m.design
    own, found = m.design["params"], other.design["params"]
    assert {**found, **{name: own[name] for name in FOLLOW if name in own}} == own
    if "item_epsilon" in own:
        assert found["item_epsilon"] == pytest.approx([1.25 * budget for budget in own["item_epsilon"]], rel=1e-15)
