"""Ten thousand answers by the page's modules: intervals of 95 % cover 95 % of a thousand shares."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from js.families import Family, task_of
from js.test_crowd import sent

ITEMS, PEOPLE = 1000, 10_000


@pytest.mark.slow
@pytest.mark.stat
def test_intervals_cover_what_is_true(node: str) -> None:
    """Devices draw from the system, so the count of covering intervals is random: about binomial(1000, 0.95).

    It is at least 920 and at most 975, beyond which it falls by chance at most once in 5,000 runs (if intervals were
    independent; normal
    approximation with 6.9 a standard deviation: 4.3 and 3.6 of them). Intervals of half the width cover too few.
    """
    m = dn.mechanism("olh", epsilon=2.0, k=ITEMS)
    family = Family("olh", {"k": ITEMS}, lambda rng, n: [], lambda m, values: {})
    weights = 1 / np.arange(1, ITEMS + 1)
    values = np.random.default_rng(9).choice(ITEMS, PEOPLE, p=weights / weights.sum()).tolist()
    rows = sent(node, task_of(m, epsilon=2.0), family, values)
    estimate = m.estimate(m.tally(dn.Reports.from_rows(m.design, m.fields, rows, simulated=False)))
    truth = np.bincount(values, minlength=ITEMS) / PEOPLE
    found = estimate.interval(level=0.95)
    covered = int(((found.low <= truth) & (truth <= found.high)).sum())
    print(f"{covered} of {ITEMS} intervals of {PEOPLE} answers cover the truth")
    assert 920 <= covered <= 975
    half = (found.high - found.low) / 4
    middle = (found.high + found.low) / 2
    assert int((abs(middle - truth) <= half).sum()) < 900
