"""Another epsilon, another number of people: what follows them, and that nothing else does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import deniable as dn
from tiers import few_of_each

FOUND = ("matrix", "optimal", "optimal-release")
"""Rows whose parameters are the channel itself, which is another one at another epsilon."""
ALL = [(name, case) for name, entry in dn.MECHANISMS.items() for case in entry.small]
CASES = [case for case in ALL if case[0] not in FOUND]
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


ERRORS = ("mse", "variance", "bound")
"""How the names of all numbers begin that fall with the number of people."""
LEVELS = ("pldp", "upldp")
"""Their properties have bounds of linear programmes, which take seconds."""


@pytest.mark.parametrize(("name", "case"), few_of_each(ALL, lambda case: case[0], (0,), name=named))
def test_four_times_the_people_have_a_quarter_of_every_variance(name: str, case: Mapping[str, Any]) -> None:
    """Losses are of one report, however many there are."""
    m = dn.mechanism(name, **case)
    for told in (m.properties, m.effective)[name in LEVELS :]:
        one, four = told(1), told(4)
        assert list(one) == list(four)
        pairs = [(key, one[key], four[key]) for key in one]
        if one.get("certificate", {}).get("bound", "") == one.get("bound"):  # otherwise it is of one report
            pairs += [("bound", one["certificate"][key], four["certificate"][key]) for key in ("value", "bound")]
        for key, single, many in pairs:
            falls = key.startswith(ERRORS) and "loss" not in one
            if not isinstance(single, int | float | list):
                continue
            if np.asarray(single).dtype.kind == "U":  # rows with a word in them, such as budgets without a limit
                assert not falls
                assert many == single, f"{told.__name__}: {key}"
            else:
                want = np.asarray(single) / (4 if falls else 1)
                assert many == pytest.approx(want, rel=1e-9), f"{told.__name__}: {key}"
