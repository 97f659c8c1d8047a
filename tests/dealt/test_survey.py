"""A survey of four families: privatised, counted and estimated, with every number within its stated error."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import deniable as dn
from deniable.core.types import FloatArray
from deniable.mechanisms.dealt.base import Dealt, dealt

ALPHA = 1e-5
"""False alarm rate of all numbers together (Bonferroni)."""


def survey(epsilon: float = 1.0) -> Dealt:
    """Shares at this epsilon, hours at epsilon 1: reports look the same at 1 and at 1.25."""
    parts = {
        "home": dn.mechanism("ss", epsilon=epsilon, k=16),
        "word": dn.mechanism("olh", epsilon=epsilon, k=32),
        "hours": dn.mechanism("hm", epsilon=1.0, interval=(0, 24)),
        "shop": dn.mechanism("oue", epsilon=epsilon, k=24),
    }
    return dealt(parts, [2, 3, 1, 2])


def people(n: int, seed: int) -> dict[str, FloatArray]:
    """Answers that hang together; nobody is asked for more than one of them."""
    rng = dn.simulation(seed).generator()
    home = np.minimum(rng.geometric(0.2, n) - 1, 15)
    hours = np.clip(rng.normal(4 + home / 2, 2, n), 0, 24)
    return {"home": home, "word": (home + rng.integers(0, 24, n)) % 32, "hours": hours, "shop": rng.integers(0, 24, n)}


def deviations(read: Dealt, reports: dn.Reports, frame: dict[str, FloatArray]) -> FloatArray:
    """All estimates minus what is true of those who got the part, in standard errors."""
    found, numbers = read.estimate(read.tally(reports)), reports.columns["part"]
    out = []
    for i, (name, estimate) in enumerate(found.items()):
        own, k = frame[name][numbers == i], read.mechanisms[i].k
        true = [own.mean()] if name == "hours" else np.bincount(own, minlength=k) / own.size
        out.append((estimate.value - true) / estimate.stderr)
    return np.concatenate(out)


@pytest.mark.stat
@pytest.mark.parametrize("n", [20_000, pytest.param(400_000, marks=pytest.mark.slow)])
def test_a_survey_of_four_families(n: int) -> None:
    m, frame = survey(), people(n, 1)
    reports = m.privatize(frame, rng=dn.simulation(2))
    assert reports.row_bytes == m.kernel.width == 1 + 9
    found = deviations(m, reports, frame)
    assert found.size == 16 + 32 + 1 + 24
    limit = float(norm.isf(ALPHA / 2 / found.size))
    assert np.abs(found).max() < limit
    shares = m.tally(reports).cells["n"] / n
    assert np.abs(shares - np.array([2, 3, 1, 2]) / 8).max() < 5 * np.sqrt(0.25 / n)
    if n > 100_000:
        wrong = survey(1.25).privatize(frame, rng=dn.simulation(2))
        told = dn.Reports(m.design, m.fields, wrong.columns, simulated=True)
        assert np.abs(deviations(m, told, frame)).max() > limit, "another epsilon is not seen"
