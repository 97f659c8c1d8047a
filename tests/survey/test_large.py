"""A survey of twenty questions of all kinds: quick for a million people, and its intervals cover what they say."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.types import FloatArray
from deniable.mechanisms.survey.survey import Survey

SIZES = {"k3": 3, "k4": 4, "k8": 8, "k16": 16, "k32": 32, "k100": 100}
ASKED: dict[str, Any] = {
    **{f"yes{i}": ["no", "yes"] for i in range(6)},
    **SIZES,
    **{f"number{i}": {"interval": (0, 100 * (i + 1))} for i in range(3)},
    **{f"illness{i}": {"k": 10, "sensitive": 3} for i in range(3)},
    "films": {"keys": 12},
    "apps": {"keys": 20},
}


def law(name: str) -> FloatArray:
    """How common the answers to a question are: falling; numbers have none."""
    k = 2 if name.startswith("yes") else 10 if name.startswith("illness") else {"films": 12, "apps": 20}.get(name, 0)
    falling = 1.0 / np.arange(2, 2 + (k or SIZES.get(name, 1)))
    return np.asarray(falling / falling.sum())


def people(n: int, seed: int) -> dict[str, Any]:
    rng, found = dn.simulation(seed).generator(), {}
    for name, given in ASKED.items():
        if isinstance(given, dict) and "interval" in given:
            found[name] = given["interval"][1] * rng.beta(2, 3, n)
            continue
        items = rng.choice(law(name).size, n, p=law(name))
        found[name] = np.array(["no", "yes"])[items] if name.startswith("yes") else items
        if isinstance(given, dict) and "keys" in given:
            values = rng.uniform(-1, 1, n).tolist()
            found[name] = [[pair] for pair in zip(items.tolist(), values, strict=True)]
    return found


def truth(name: str) -> FloatArray:
    return np.array([0.4 * ASKED[name]["interval"][1]]) if name.startswith("number") else law(name)


def covered(made: Survey, seed: int, n: int, width: float) -> list[bool]:
    """Which 95 % intervals of the population hold the truth, after their half widths were multiplied."""
    reports = made.privatize(people(n, seed), rng=dn.simulation(10_000 + seed))
    found = []
    for name, estimate in made.estimate(reports).items():
        ends, value = estimate.interval(0.95, "population"), estimate.value
        low, high = value - width * (value - ends.low), value + width * (ends.high - value)
        found += ((low <= truth(name)) & (truth(name) <= high)).tolist()
    return found


@pytest.mark.slow
@pytest.mark.stat
def test_intervals_cover_what_they_say() -> None:
    """30 runs of 240 intervals, the seed is fixed. Their share is off by more than 1 % with chance below 1e-3.

    The standard error of the share is 0.25 %: those of one run that are dependent (shares of one question) are so
    negatively. Intervals that are a tenth too narrow cover 92 %, and are seen.
    """
    made = dn.survey(ASKED, epsilon=2.0, scheme="one")
    runs = [(covered(made, seed, 12_000, 1.0), covered(made, seed, 12_000, 0.9)) for seed in range(30)]
    right = np.array([one for one, _ in runs])
    assert right.shape == (30, 12 + 163 + 3 + 30 + 32)
    assert 0.94 <= right.mean() <= 0.96
    assert np.mean([two for _, two in runs]) < 0.94, "a tenth too narrow would be seen"


@pytest.mark.slow
def test_a_million_people_are_quick() -> None:
    """In processor time: planned in 5 s, privatised and counted in 10 s."""
    begin = time.process_time()
    made = dn.survey(ASKED, epsilon=1.0)
    assert time.process_time() - begin < 5
    assert len(made.parts) == 20
    frame = people(1_000_000, 1)
    begin = time.process_time()
    tally = made.tally(made.privatize(frame, rng=dn.simulation(2)))
    assert time.process_time() - begin < 10
    found = made.estimate(tally)
    assert found.n == 1_000_000
    off = [np.abs(e.value - truth(name)).max() / np.sqrt(e.variance("population")).max() for name, e in found.items()]
    assert max(off) < 5
