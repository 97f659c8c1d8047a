"""Ten thousand devices of each family draw as their ledgers do, and what the collector counts holds the truth."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable_client.ledger.memory import Derived
from deniable_client.task import Task
from tasks import document

DEVICES = 10_000
FAMILIES: list[tuple[str, dict[str, Any]]] = [
    ("grr", {"k": 4}),
    ("ss", {"k": 8}),
    ("oue", {"k": 4}),
    ("olh", {"k": 4}),
    ("hr", {"k": 4}),
    ("urr", {"k": 4, "sensitive": 2}),
]


@pytest.mark.slow
@pytest.mark.stat
@pytest.mark.parametrize(("name", "options"), FAMILIES, ids=[name for name, _ in FAMILIES])
def test_estimates_are_within_their_intervals(name: str, options: dict[str, Any]) -> None:
    """Five standard errors for each of k shares: alpha below 8 x 6e-7. Devices' secrets are fixed."""
    m = dn.mechanism(name, epsilon=1.0, **options)
    design = json.loads(json.dumps(dict(m.design)))
    task = Task.load(document(questions=[{"name": "q", "text": "?", "design": design, "share": 1}]))
    question = task.questions[0]
    device = question.device(question.explanation.harmless or None)
    k = options["k"]
    values = [0 if i % 2 else i // 2 % k for i in range(DEVICES)]
    rows = [task.body(question, _report(device, question.key, i, value)) for i, value in enumerate(values)]
    reports = dn.Reports.from_rows(m.design, m.fields, rows, simulated=False)
    estimate = m.estimate(m.tally(reports))
    truth = np.bincount(values, minlength=k) / DEVICES
    assert estimate.n == DEVICES
    assert np.all(np.abs(estimate.value - truth) < 5 * estimate.stderr)
    assert np.max(np.abs(np.roll(truth, 1) - truth)) > 5 * np.max(estimate.stderr), "wrong labels would pass"


def _report(device: Any, key: str, person: int, value: int) -> bytes:
    words = Derived(person.to_bytes(32, "big")).report_words(key, value, None, None)
    report: bytes = device.randomise(value, words)
    return report
