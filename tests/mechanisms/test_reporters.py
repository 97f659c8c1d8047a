"""What closed forms say of n reporters: errors and their bounds are in proportion to 1/n, and nothing else is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import deniable as dn
from deniable.mechanisms.registry import MECHANISMS

ERRORS = ("mse", "variance", "bound")
"""How the names of errors begin, of frequencies and of means; losses of single reports are none of them."""
OF_ALL = ("certificate value", "certificate bound")
"""The same in certificates of means; those of channels are for one report."""


def flat(told: Mapping[str, Any], beside: str = "") -> dict[str, Any]:
    """All numbers by their names, those of lists one by one."""
    found: dict[str, Any] = {}
    for name, value in told.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{beside}{name} ")
        elif isinstance(value, list | tuple):
            found |= {f"{beside}{name} {i}": one for i, one in enumerate(value)}
        else:
            found[beside + name] = value
    return found


@pytest.mark.parametrize("name", [*MECHANISMS])
def test_errors_of_n_reporters_are_an_nth_and_all_else_stays(name: str) -> None:
    row = MECHANISMS[name]
    for case in (row.small[0], row.small[len(row.small) // 2], row.small[-1]):
        m = dn.mechanism(name, **case)
        for told in (m.properties, m.effective):
            one, many = flat(told()), flat(told(16))
            assert list(one) == list(many)
            for what, value in one.items():
                error = what.startswith(ERRORS) and "loss" not in one
                error |= what in OF_ALL and row.question in ("mean", "direction")
                if isinstance(value, float):
                    assert many[what] == pytest.approx(value / 16 if error else value, rel=1e-9, abs=1e-12), what
                else:
                    assert many[what] == value, what
