"""Noisy vectors that no device can have sent are refused, on either side, and change nothing."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.collect.reports import Reports
from deniable.errors import FormatError

REACH = 40


def forged(numbers: list[int]) -> Reports:
    """A report of `she` with these numbers of steps."""
    m = dn.mechanism("she", epsilon=1.0, k=2, grid=2, reach=REACH)
    row = (np.array(numbers) + (1 << 31)).astype("<u4").tobytes()
    return Reports.from_rows(m.design, m.fields, [row], simulated=False)


@pytest.mark.parametrize("numbers", [[REACH, -REACH], [0, 0], [-REACH, 3]])
def test_numbers_within_the_reach_are_counted(numbers: list[int]) -> None:
    m = dn.mechanism("she", epsilon=1.0, k=2, grid=2, reach=REACH)
    assert m.tally(forged(numbers)).cells["sum"].tolist() == [numbers]


@pytest.mark.parametrize("numbers", [[REACH + 1, 0], [0, -REACH - 1], [(1 << 31) - 1, 0], [-(1 << 31), 0]])
def test_numbers_beyond_the_reach_are_refused(numbers: list[int]) -> None:
    m = dn.mechanism("she", epsilon=1.0, k=2, grid=2, reach=REACH)
    with pytest.raises(FormatError, match=f"a number beyond {REACH} steps"):
        m.tally(forged(numbers))


def test_what_is_drawn_stays_within_the_reach() -> None:
    m = dn.mechanism("she", epsilon=0.1, k=2, grid=2, reach=REACH)
    steps = m.bulk.steps(m.privatize_items(np.zeros(2000, np.int64), dn.simulation(1)).columns)
    assert np.abs(steps).max() == REACH
