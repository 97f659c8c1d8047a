"""Values that hold arrays are equal by what they tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import deniable as dn
from deniable.core.same import agree


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        (np.array([1.0, np.nan]), np.array([1.0, np.nan]), True),
        (np.array([1.0, 2.0]), np.array([1.0, 2.5]), False),
        (np.array([1, 2]), np.array([1.0, 2.0]), True),
        (np.array([1, 2]), np.array([1, 2, 3]), False),
        ({"a": np.zeros(2)}, {"a": np.zeros(2)}, True),
        ({"a": np.zeros(2)}, {"b": np.zeros(2)}, False),
        (None, np.zeros(1), False),
        ("a", "a", True),
    ],
)
def test_arrays_agree_entry_by_entry_and_mappings_by_name(one: object, two: object, same: bool) -> None:
    assert agree(one, two) is same
    assert agree(two, one) is same


def test_every_field_that_is_told_counts() -> None:
    m = dn.mechanism("grr", epsilon=1.0, k=3)
    reports = m.privatize([0, 1, 2] * 5, rng=dn.simulation(1))
    tally = m.tally(reports)
    ends = m.estimate(tally).interval()
    compared = m.estimate(tally).compare(m.estimate(m.tally(reports)))
    for found in (reports, tally, ends, compared):
        assert found == replace(found)
        assert found != "something else"
        with pytest.raises(TypeError, match="unhashable"):
            hash(found)
    assert ends != replace(ends, high=ends.high + 1)
    assert compared != replace(compared, stderr=compared.stderr * 2)
    assert tally != replace(tally, simulated=False)
    assert reports != replace(reports, columns={"value": reports.columns["value"][::-1]})
