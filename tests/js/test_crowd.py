"""What devices in JavaScript send is counted by the library, and the estimates are right."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from js.families import FAMILIES, SEED, Family, task_of

CROWD = Path(__file__).resolve().parents[2] / "clients" / "js" / "test" / "crowd.js"
PEOPLE = 10_000
ALPHA = 1e-6
"""That any estimate of all families is outside of its interval, if all is right."""


def sent(node: str, task: dict[str, Any], family: Family, values: list[Any]) -> list[bytes]:
    """The reports that a collector has: one of each device."""
    given = {"task": task, "values": values, "harmless": family.harmless, "levels": family.levels}
    done = subprocess.run([node, str(CROWD)], input=json.dumps(given), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len({name for name, _ in lines}) == len(values)
    return [base64.b64decode(report) for _, report in lines]


@pytest.mark.slow
@pytest.mark.turns(3)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_estimates_of_a_crowd_are_within_their_intervals(node: str, family: Family) -> None:
    """10,000 devices with system randomness, family-wise alpha 1e-6; the same intervals exclude another truth."""
    m = family.mechanism()
    values = family.people(np.random.default_rng(SEED), PEOPLE)
    rows = sent(node, task_of(m), family, values)
    tally = m.tally(dn.Reports.from_rows(m.design, m.fields, rows, simulated=False))
    assert tally.n == PEOPLE
    estimate = m.estimate(tally)
    told_apart = False
    for part, truth in family.truth(m, values).items():
        found = estimate[part].interval(level=1 - ALPHA / (2 * len(FAMILIES)), simultaneous=True)
        assert ((found.low <= truth) & (truth <= found.high)).all(), (part, truth, found.low, found.high)
        other = np.roll(truth, 1) if len(truth) > 1 else 1 - truth
        told_apart |= bool(((other < found.low) | (other > found.high)).any())
    assert told_apart, "the intervals are so wide that they say nothing"
