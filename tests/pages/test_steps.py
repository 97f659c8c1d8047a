"""From "send" to the request the page's modules do the same, whatever the answer: counted block by block, and timed.

What is sent then was made before, and what the ledger keeps of an answer has one length, so there is nothing that could
depend on it; the tests would notice if there were.
"""

from __future__ import annotations

import json
import subprocess
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.types import FloatArray
from pages.asks import task
from pages.ranks import permutation
from tiers import every

OPENS = date(2026, 11, 16)
"""The day of the clock that devices have."""
STEPS = Path(__file__).with_name("steps.js")
LABELS = ["no", "yes", "I would rather not say, and this answer is much longer than the others"]
ALPHA = 1e-4
DELAY = 0.5
"""Milliseconds that are planted to see that they are noticed."""


def _done(node: str, m: Any, people: list[dict[str, Any]], *, count: bool) -> list[dict[str, Any]]:
    given = {"task": task([m], opens=OPENS), "people": people, "count": count}
    plain = ["--no-opt"] if count else []  # calls of functions that were merged into others are not counted
    done = subprocess.run([node, *plain, str(STEPS)], input=json.dumps(given), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    assert len(found) == len(people)
    return found


def _asked() -> dict[str, tuple[Any, list[dict[str, Any]]]]:
    """A design of each kind of question, and all that people can say."""
    own = {"levels": [0.5, 1.0, 2.0], "level_epsilon": 1.0, "epsilon": 2.0, "base": "lh"}
    some = {"sensitive": LABELS[1:], "labels": LABELS}
    ratings = [[], [["a", -1.0]], [["a", 0.123456], ["a longer key", 1.0]]]
    return {
        "choice": (dn.mechanism("olh", epsilon=2.0, labels=LABELS), [{"value": each} for each in LABELS]),
        "sensitive": (
            dn.mechanism("uss", epsilon=2.0, **some),
            [{"value": each, "harmless": LABELS[:1]} for each in LABELS],
        ),
        "level": (
            dn.mechanism("pldp", labels=LABELS, **own),
            [{"value": value, "level": level} for value in LABELS for level in own["levels"]],
        ),
        "number": (
            dn.mechanism("sw", epsilon=2.0, interval=(30, 200)),
            [{"value": each} for each in (30, 99.123456789, 200)],
        ),
        "ratings": (
            dn.mechanism("kv-ss", epsilon=2.0, labels=["a", "a longer key", "b"], length=2),
            [{"value": each} for each in ratings],
        ),
    }


@pytest.mark.parametrize("kind", every(3, _asked()))
def test_every_answer_takes_the_same_steps(node: str, kind: str) -> None:
    """Every block of every module is run as often for each answer, ten times; requests have one length."""
    m, people = _asked()[kind]
    found = _done(node, m, people * 10, count=True)
    assert len({each["steps"] for each in found}) == 1
    assert len({each["sent"] for each in found}) == 1


def test_other_steps_would_be_noticed(node: str) -> None:
    """A hundredth of a millisecond more of work for one of the answers."""
    m, people = _asked()["choice"]
    found = _done(node, m, [people[0], people[0], {**people[1], "delay": 0.01}], count=True)
    assert found[0]["steps"] == found[1]["steps"] != found[2]["steps"]


def _times(node: str, n: int, delay: float = 0.0) -> tuple[FloatArray, Any]:
    """Times from "send" to the request of people with two answers in random order, without the first hundred."""
    m, (first, second, _) = _asked()["choice"]
    others = np.random.default_rng(6).permutation(np.arange(n) % 2 == 1)
    people = [first] * 100 + [{**second, "delay": delay} if other else first for other in others]
    return np.array([each["spent"] for each in _done(node, m, people, count=False)])[100:], others


@pytest.mark.slow
def test_times_do_not_depend_on_the_answer(node: str) -> None:
    """4,000 answers: permutation test of the mean ranks, alpha 1e-4; half a millisecond for one of them is noticed.

    Answers come in random order, so the test is exact whatever else the machine does.
    """
    times, others = _times(node, 4000)
    p = permutation(times, others)
    shifted = permutation(times + np.where(others, DELAY, 0.0), others)
    late, whose = _times(node, 400, DELAY)
    planted = permutation(late, whose)
    print(
        f"{len(times)} answers, median {np.median(times):.3f} ms: p = {p:.2g}; {DELAY} ms: {shifted:.2g}, {planted:.2g}"
    )
    assert p >= ALPHA
    assert max(shifted, planted) < ALPHA
