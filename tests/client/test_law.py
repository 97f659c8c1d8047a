"""Bulk and scalar randomisers: the same law, and rows that the collecting side takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collect.reports import Reports
from deniable.mechanisms.support import SupportMechanism
from deniable.testing import StreamWords, law_pvalue, reports_needed, stronger, watched_values
from tiers import every

CASES: list[tuple[str, dict[str, Any]]] = [
    ("grr", {"k": 4, "epsilon": 1.0}),
    ("ss", {"k": 5, "epsilon": 1.0, "size": 2}),
    ("ss", {"k": 6, "epsilon": 1.0, "size": 4}),
    ("sue", {"k": 3, "epsilon": 1.0}),
    ("oue", {"k": 4, "epsilon": 1.0}),
    ("blh", {"k": 3, "epsilon": 1.0}),
    ("olh", {"k": 4, "epsilon": 1.0}),
]
ALPHA = 1e-4
"""False alarm rate of each case: exact binomial p-values of all sets of items, and of two pooled counts."""


def from_devices(m: SupportMechanism, n: int, seed: int) -> dict[int, Any]:
    batches = {}
    for x, stream in zip(watched_values(m.k), dn.simulation(seed).spawn(len(watched_values(m.k))), strict=True):
        words = StreamWords(stream)
        rows = [m.kernel.randomise(x, words) for _ in range(n)]
        batches[x] = Reports.from_rows(m.design, m.fields, rows, simulated=True).columns
    return batches


@pytest.mark.stat
@pytest.mark.parametrize(("name", "case"), every(3, CASES))
def test_a_device_follows_the_law_of_the_bulk_sampler(name: str, case: dict[str, Any]) -> None:
    """And it would be seen if it sampled 60 % more epsilon: a device is slow, so n is small."""
    m = dn.mechanism(name, **case)
    assert isinstance(m, SupportMechanism)
    n = 3000
    assert reports_needed(m, alpha=ALPHA, miss=ALPHA, excess=1.6) <= n
    assert law_pvalue(m, from_devices(m, n, seed=31)) > ALPHA
    wrong = stronger(m, 1.6)
    assert isinstance(wrong, SupportMechanism)
    assert law_pvalue(m, from_devices(wrong, n, seed=32)) < ALPHA


@pytest.mark.parametrize(("name", "case"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_rows_of_devices_are_tallied_like_bulk_reports(name: str, case: dict[str, Any]) -> None:
    m = dn.mechanism(name, **case)
    bulk = m.privatize(np.arange(300) % m.k, rng=dn.simulation(33))
    rows = [bulk.row(i) for i in range(len(bulk))]
    again = Reports.from_rows(m.design, m.fields, rows, simulated=True)
    assert dn.dump(m.tally(again)) == dn.dump(m.tally(bulk))
    device = [m.kernel.randomise(x % m.k, StreamWords(dn.simulation(x))) for x in range(60)]
    mixed = m.tally(again) + m.tally(Reports.from_rows(m.design, m.fields, device, simulated=True))
    assert mixed.n == 360
    assert mixed.simulated, "one simulated part marks the whole"
