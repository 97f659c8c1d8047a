"""Ten thousand devices of each family answer a task as their ledgers do; what the collector counts holds the truth."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable_client.kernels import KERNELS
from deniable_client.ledger.memory import Derived
from deniable_client.questions import Question
from deniable_client.task import Task
from js.families import FAMILIES, MORE, SEED, Family, task_of

DEVICES = 10_000
ALL = (*FAMILIES, *MORE)
ALPHA = 1e-6
"""That any estimate of all families is outside of its interval, if all is right."""


@pytest.mark.turns(3)
@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize("family", ALL, ids=lambda family: family.name)
def test_estimates_are_within_their_intervals(family: Family) -> None:
    """Family-wise alpha 1e-6; answers and devices' secrets are fixed. The same intervals exclude another truth."""
    m = family.mechanism()
    values = family.people(np.random.default_rng(SEED), DEVICES)
    design = json.loads(json.dumps(dict(m.design)))
    task = Task.load(task_of(m, design=design, questions=[[{"name": "q", "text": "Which?", "none": None}]]))
    rows = _rows(task, task.questions[0], family, values)
    assert {len(row) for row in rows} == {task.width}
    estimate = m.estimate(m.tally(dn.Reports.from_rows(m.design, m.fields, rows, simulated=False)))
    assert estimate.n == DEVICES
    told_apart = False
    for part, truth in family.truth(m, values).items():
        found = estimate[part].interval(level=1 - ALPHA / (2 * len(ALL)), simultaneous=True)
        assert ((found.low <= truth) & (truth <= found.high)).all(), (part, truth, found.low, found.high)
        other = np.roll(truth, 1) if len(truth) > 1 else 1 - truth
        told_apart |= bool(((other < found.low) | (other > found.high)).any())
    assert told_apart, "the intervals are so wide that they say nothing"


@pytest.mark.slow
def test_every_kernel_of_the_client_has_a_crowd() -> None:
    """But those whose reports have no unbiased estimate of shares, rarer forms of what is here, and deals of these."""
    found = set(re.findall(r'"kind": "([a-z-]+)"', json.dumps([dict(family.mechanism().design) for family in ALL])))
    no_estimate, rare = {"constant", "recode"}, {"bit", "neighbours", "signed-interval", "told-key", "whole"}
    assert set(KERNELS) - found == no_estimate | rare | {"dealt"}


def _rows(task: Task, question: Question, family: Family, values: list[Any]) -> list[bytes]:
    """A report of each person, whose device draws all from a secret of its own."""
    device = question.device(family.harmless)
    levels = family.levels or [None]
    rows = []
    for person, value in enumerate(values):
        answer, level = device.answer(value), levels[person % len(levels)]
        chosen = None if level is None else device.levels.index(level)
        words = Derived(person.to_bytes(32, "big")).report_words(question.key, answer, chosen, task.id, 0)
        rows.append(task.body(question, device.randomise(answer, words, level=level)))
    return rows
