"""No row is below the bound that it states: random settings of every question, each with a row that answers it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.errors import DeniableError
from deniable.mechanisms.numeric.certificate import least_worst
from deniable.mechanisms.registry import MECHANISMS

Setting = dict[str, Any]
ROUNDED = 1e-9
"""What floats may take from an error, as a share of it."""
BATCH, BATCHES = 50, 20
"""Settings of a nightly case, and cases: 1,000 settings of each question."""
QUESTIONS = sorted({entry.question for entry in MECHANISMS.values()})
REACHED = {"frequency", "key-value", "release", "direction"}
"""Questions with a row that is the best there is, so that a bound that is too large would be noticed."""


def log_uniform(rng: Random, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def whole(rng: Random, low: int, high: int) -> int:
    return min(high, int(log_uniform(rng, low, high + 1)))


def levels(rng: Random) -> str:
    return ",".join(f"{level:.3g}" for level in sorted(log_uniform(rng, 0.1, 3) for _ in range(rng.randint(1, 3))))


def rows(rng: Random, k: int) -> list[list[int]]:
    return [[rng.randint(1, 9) for _ in range(k)] for _ in range(k)]


def even(made: list[list[int]]) -> list[list[int]]:
    """Rows with one sum."""
    most = max(map(sum, made))
    return [[*row[:-1], row[-1] + most - sum(row)] for row in made]


def budgets(rng: Random, k: int) -> Any:
    own = [[0 if x == z else round(log_uniform(rng, 0.2, 3), 2) for z in range(k)] for x in range(k)]
    return dn.promise(budgets=own)


OPTIONS: Mapping[str, Callable[[Random, int], Any]] = {
    "p": lambda rng, k: rng.uniform(0.05, 0.95),
    "g": lambda rng, k: whole(rng, 2, 30),
    "size": lambda rng, k: whole(rng, 1, max(1, k - 1)),
    "arc": lambda rng, k: rng.uniform(0.05, 0.6),
    "theta": lambda rng, k: rng.uniform(0.01, 0.99),
    "sensitive": lambda rng, k: rng.randint(1, max(1, k - 1)),
    "base": lambda rng, k: rng.choice(("ss", "sue", "oue", "lh", "plh", "grr", "affine", "hr")),
    "levels": lambda rng, k: levels(rng),
    "level_epsilon": lambda rng, k: log_uniform(rng, 0.1, 2),
    "sizes": lambda rng, k: f"{rng.randint(2, 6)},{rng.randint(2, 6)}",
    "mix": lambda rng, k: rng.random(),
    "length": lambda rng, k: rng.randint(1, 4),
    "tolerance": lambda rng, k: rng.choice((0.0, 0.003, 1.0)),
    "rule": lambda rng, k: rng.choice(("worst", "average")),
    "queries": lambda rng, k: rng.choice(("ranges", "cumulative")),
    "fanout": lambda rng, k: rng.randint(2, 5),
    "outputs": lambda rng, k: 1 << rng.randint(2, 6),
    "matrix": lambda rng, k: even(rows(rng, min(k, 5))),
    "promise": lambda rng, k: budgets(rng, min(k, 4)),
}
"""Options that are drawn, now and then or because they are needed."""


def setting(rng: Random, name: str) -> Setting:
    """Options of a row; those that do not go together are refused, and others drawn."""
    entry, k = MECHANISMS[name], whole(rng, 2, 60 if name in ("pldp", "upldp", "uue-levels") else 400)
    own = {option: draw(rng, k) for option, draw in OPTIONS.items() if option in entry.needed}
    for option in (option for option in OPTIONS if option in entry.options and option not in own):
        if rng.random() < 0.3:
            own[option] = OPTIONS[option](rng, k)
    if "item_epsilon" in entry.needed:
        own["item_epsilon"] = ",".join(f"{log_uniform(rng, 0.2, 3):.3g}" for _ in range(own["sensitive"]))
    if "levels" in entry.needed:
        own.setdefault("level_epsilon", 0.5)
    if entry.question == "mean" or name == "arc":
        own["interval"] = "0,24"
    if entry.question in ("release", "range", "direction") and "promise" not in own:
        own["points"] = min(k, 64) if entry.question == "release" else max(3, k)
    elif entry.question not in ("mean", "direction") and not {"sizes", "matrix", "promise"} & own.keys():
        own["k"] = k
    if not {"levels", "item_epsilon", "matrix", "promise"} & own.keys():
        own["epsilon"] = log_uniform(rng, 0.05, 6)
    return own


def drawn(question: str, number: int) -> tuple[str, Setting, Any]:
    """A mechanism that answers the question."""
    rng = Random(f"{question} {number}")
    names = [name for name, entry in MECHANISMS.items() if entry.question == question]
    for _ in range(200):
        name = rng.choice(names)
        own = setting(rng, name)
        try:
            return name, own, dn.mechanism(name, **own)
        except DeniableError:
            continue
    raise AssertionError(f"no setting of {question} fits")


def gap_of(question: str, m: Any) -> float | None:
    """How far the error is above the bound that the row states; None if it states none."""
    found = m.properties(1000)
    if "gap" in found:
        assert found["bound"] > 0
        return float(found["gap"])
    if question == "mean" and m.name != "sw":  # it is biased, and the bound is for unbiased ones
        first, last = m.grid.at(np.array([0, m.k - 1])).tolist()
        span = (last - first) / (m.grid.high - m.grid.low)  # midpoints do not reach the ends
        return float(found["variance_mean"] * 1000 / (least_worst(m.epsilon) * span**2) - 1)
    return None


def gaps(question: str, numbers: range) -> list[float]:
    """Of those settings that state a bound; the first one below it fails."""
    found = []
    for number in numbers:
        name, own, m = drawn(question, number)
        gap = gap_of(question, m)
        if gap is not None:
            assert gap >= -ROUNDED, f"{name} {own} is below its bound by {-gap:.3g}"
            found.append(gap)
    return found


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_row_is_below_its_bound(question: str) -> None:
    """Some settings here; a thousand of each question in the nightly tier."""
    number = {"mean": 4, "range": 6}.get(question, 12)
    found = gaps(question, range(number))
    assert len(found) >= number // 2, "too few rows state a bound"


@pytest.mark.slow
@pytest.mark.turns(20)
@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize("question", QUESTIONS)
def test_no_row_is_below_its_bound_in_a_thousand_settings(question: str, batch: int) -> None:
    found = gaps(question, range(batch * BATCH, (batch + 1) * BATCH))
    assert len(found) >= BATCH // 2, "too few rows state a bound"
    assert question not in REACHED or min(found) < 1e-3, "a bound that is too large would not be noticed"
