"""Least losses and errors under promises against every baseline, each of which keeps the same promise.

    python benchmarks/optimum.py     # computes, writes docs/data/optimum.csv (about a minute)

Releases on lines, grids and places; estimates of frequencies and of means under budgets of all kinds, against every row
of the registry that the planner finds for the promise, and against noise on a line with the best unbiased decoding.
Everything is an expectation of a channel in floats; the optimum is that of the whole numbers. Planar Laplace noise is
put on the nearest place by a fine grid of the plane. An attacker who knows that all places are equally likely guesses
the place that the report makes likeliest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from measure import write_csv

import deniable as dn
from deniable.mechanisms.metric.baselines import exponential, geometric
from deniable.mechanisms.optimal.goal import Goal, Worth

CAPITALS: Mapping[str, tuple[float, float]] = {
    "Amsterdam": (52.37, 4.90),
    "Athens": (37.98, 23.73),
    "Berlin": (52.52, 13.40),
    "Brussels": (50.85, 4.35),
    "Copenhagen": (55.68, 12.57),
    "Lisbon": (38.72, -9.14),
    "London": (51.51, -0.13),
    "Madrid": (40.42, -3.70),
    "Paris": (48.86, 2.35),
    "Prague": (50.08, 14.44),
    "Rome": (41.90, 12.50),
    "Vienna": (48.21, 16.37),
    "Warsaw": (52.23, 21.01),
}
"""Well-known coordinates in degrees, latitude and longitude, rounded to a hundredth."""

_FINE = 400
"""Cells of the plane along each side, for planar Laplace noise."""


def planar(points: np.ndarray, epsilon: float) -> np.ndarray:
    """Planar Laplace noise, density epsilon^2/(2 pi) e^(-epsilon distance), put on the nearest point."""
    reach = 12 / epsilon
    low, high = points.min(axis=0) - reach, points.max(axis=0) + reach
    axes = [np.linspace(a, b, 2 * _FINE + 1)[1::2] for a, b in zip(low, high, strict=True)]
    plane = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    nearest = ((plane[:, None] - points[None]) ** 2).sum(axis=2).argmin(axis=1)
    rows = []
    for at in points:
        density = np.exp(-epsilon * np.sqrt(((plane - at) ** 2).sum(axis=1)))
        rows.append(np.bincount(nearest, density, len(points)))
    table = np.array(rows)
    return table / table.sum(axis=1, keepdims=True)


def calibrated(loss: np.ndarray, budgets: np.ndarray) -> np.ndarray:
    """The exponential mechanism with the largest factor for which every pair is within its budget."""

    def kept(scale: float) -> tuple[bool, np.ndarray]:
        law = np.exp(-scale * loss)
        law /= law.sum(axis=1, keepdims=True)
        worst = (np.log(law)[:, None] - np.log(law)[None]).max(axis=2)
        return bool((worst <= budgets + 1e-12).all()), law

    low, high = 0.0, 64.0 * float(np.nanmax(np.where(loss > 0, budgets / np.where(loss > 0, loss, 1), 0)))
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if kept(middle)[0] else (low, middle)
    return kept(low)[1]


Case = tuple[str, dn.Promise, np.ndarray, Mapping[str, Callable[[], np.ndarray]]]


def cases() -> Iterator[Case]:
    """Settings: a name, the promise, losses, and baselines that keep the promise."""
    for step in (0.2, 0.4):
        numbers = np.arange(20.0)
        loss = np.abs(numbers[:, None] - numbers[None])
        p = dn.promise(points=numbers.tolist(), epsilon=step)
        yield (
            f"line of 20, {step:g} a step",
            p,
            loss,
            {
                "geometric": lambda s=step: geometric(20, 19 * s),
                "exponential, printed": lambda s=step, x=loss: exponential(x, 19 * s, calibrated=False),
                "exponential, calibrated": lambda x=loss, q=p: calibrated(x, q.budgets),
            },
        )
    grid = np.array([(i / 3, j / 3) for i in range(4) for j in range(4)])
    for epsilon in (2.0, 4.0, 8.0):
        yield _plane(f"4 x 4 grid, {epsilon:g} a unit", grid, epsilon)
    turn = np.array([[lat, lon] for lat, lon in CAPITALS.values()])
    flat = np.stack([turn[:, 1] * math.cos(math.radians(turn[:, 0].mean())), turn[:, 0]], axis=1) * 111.195
    for epsilon in (0.001, 0.002, 0.004):
        yield _plane(f"13 capitals, {epsilon:g} a km", flat, epsilon)


def _plane(name: str, points: np.ndarray, epsilon: float) -> Case:
    loss = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    p = dn.promise(points=points.tolist(), epsilon=epsilon)
    half = loss * epsilon / 2
    ways = {
        "planar Laplace": lambda: planar(points, epsilon),
        "exponential, printed": lambda: np.exp(-half) / np.exp(-half).sum(axis=1, keepdims=True),
        "exponential, calibrated": lambda: calibrated(loss, p.budgets),
    }
    return name, p, loss, ways


def measure() -> list[dict[str, object]]:
    """All settings: the optimum, each baseline as it is and taken for the best answer, and the attacker's success."""
    rows: list[dict[str, object]] = []
    for name, p, loss, ways in cases():
        best = dn.mechanism("optimal", promise=p, objective="release", loss=loss.tolist())
        least = best.properties()
        rows.append(_row(name, "optimum", best.matrix(), loss[:, list(best.points)], least["loss"]))
        for way, make in ways.items():
            law = make()
            rows.append(_row(name, way, law, loss, least["loss"]))
            taken = (law.T @ loss).argmin(axis=1)
            rows.append(_row(name, f"{way}, remapped", law, loss[:, taken], least["loss"]))
    return rows


def _row(name: str, way: str, law: np.ndarray, loss: np.ndarray, least: float) -> dict[str, object]:
    found = float((law * loss).sum(axis=1).mean())
    guess = float(law.max(axis=0).sum() / len(law))
    return {
        "question": "release", "setting": name, "way": way, "loss": found, "above": found / least - 1, "guess": guess,
    }  # fmt: skip


# ---- estimates

_SHOWN = ("optimal", "ss", "grr", "oue", "uue-levels", "uss", "ussmix", "urr", "uhr")
"""Rows of the registry that are shown, as far as they keep a promise; `ss` is the best of one epsilon."""

Asked = tuple[str, dict[str, Any], dict[str, Any]]


def promises() -> Iterator[Asked]:
    """Settings: a name, the arguments of the promise, and what else the planner is told."""
    yield "5 answers, smaller of .5, 1, 1, 1, 1", {"item_epsilon": [0.5, 1, 1, 1, 1], "rule": "min"}, {}
    yield "5 answers, own .5, 1, 1, 1, 1", {"item_epsilon": [0.5, 1, 1, 1, 1], "rule": "own"}, {}
    yield "4 answers, smaller of 1, 2, 3, 4", {"item_epsilon": [1, 2, 3, 4], "rule": "min"}, {}
    yield "4 answers, own 1, 2, 3, 4", {"item_epsilon": [1, 2, 3, 4], "rule": "own"}, {}
    levels = {"item_epsilon": [1, 1, 2, 2, "inf", "inf"], "rule": "min"}
    yield "smaller of 1, 1, 2, 2 and 2 harmless", levels, {"theta": 0.5}
    yield "3 sensitive at 1, 2 harmless", {"epsilon": 1.0, "k": 5, "sensitive": 3}, {"theta": 0.95}
    yield "8 answers, epsilon 1", {"epsilon": 1.0, "k": 8}, {}
    for k, step in ((5, 0.5), (8, 0.5), (8, 1.0)):
        yield f"line of {k}, {step:g} a step", {"points": list(range(k)), "epsilon": step}, {}
    yield "cycle of 8, 1 a step", {"graph": [(i, (i + 1) % 8) for i in range(8)], "epsilon": 1.0, "k": 8}, {}
    star = {"graph": [(0, i) for i in range(1, 7)], "epsilon": 1.0, "k": 7}
    yield "star of 7, 1 a step", star, {}
    for across in (2.0, "inf"):
        yield f"4 + 4 answers, inside 1, across {across}", {"blocks": [4, 4], "inside": 1.0, "across": across}, {}


def estimates() -> Iterator[dict[str, object]]:
    """Frequencies, summed squared errors of one report: the optimum, the registry, and noise on a line."""
    for name, said, told in promises():
        p = dn.promise(**said)
        found = dn.plan(promise=p, n=1, given=told)
        errors: dict[str, tuple[float, float]] = {}
        for d in found.designs:
            way = "optimum" if d.name == "optimal" else d.name
            if d.name in _SHOWN and way not in errors:
                errors[way] = (d.mse * p.k, d.asr)
        for way, law in _noise(said, p).items():
            errors[way] = (
                Worth(Goal(np.full(p.k, 1 / p.k), np.eye(p.k)), law).error,
                float(law.max(axis=0).sum() / p.k),
            )
        least = errors["optimum"][0]
        for way, (error, guess) in errors.items():
            yield {
                "question": "frequency", "setting": name, "way": way, "loss": error, "above": error / least - 1,
                "guess": guess,
            }  # fmt: skip


def means() -> Iterator[dict[str, object]]:
    """The mean of numbers from -1 to 1, the mean squared error of one report, all numbers being equally likely."""
    cases: list[tuple[str, dict[str, Any]]] = [
        (f"mean of 8 numbers, epsilon {e:g}", {"epsilon": e, "k": 8}) for e in (1.0, 3.0)
    ]
    cases.append(("mean of 6 numbers, 0.6 a step", {"points": list(range(6)), "epsilon": 0.6}))
    for name, said in cases:
        p = dn.promise(**said)
        numbers = np.linspace(-1, 1, p.k)
        best = dn.mechanism("optimal", promise=p, objective="mean", values=numbers.tolist())
        goal = Goal(np.full(p.k, 1 / p.k), numbers[None])
        ways = {"optimum": best.bulk.matrix} | (
            _noise(said, p) if "points" in said else {"two points": _two(numbers, said)}
        )
        for way, law in ways.items():
            error = best.worth_error if way == "optimum" else _mean_error(law, goal)
            guess = float(law.max(axis=0).sum() / p.k)
            above = error / best.worth_error - 1
            yield {"question": "mean", "setting": name, "way": way, "loss": error, "above": above, "guess": guess}


def _mean_error(law: np.ndarray, goal: Goal) -> float:
    """With the best unbiased scores: least squares weighed by how often outputs occur."""
    chance, numbers = goal.prior @ law, goal.functionals[0]
    root = np.sqrt(chance)
    scores = np.linalg.lstsq(law / root, numbers, rcond=None)[0] / root
    return float((law * (scores[None] - numbers[:, None]) ** 2).sum(axis=1) @ goal.prior)


def _two(numbers: np.ndarray, said: Mapping[str, Any]) -> np.ndarray:
    """Duchi's two outputs."""
    e = math.exp(said["epsilon"])
    up = (1 + numbers * (e - 1) / (e + 1)) / 2
    return np.stack([up, 1 - up], axis=1)


def _noise(said: Mapping[str, Any], p: dn.Promise) -> dict[str, np.ndarray]:
    """Noise that knows the distances: geometric on a line, exponential by the largest factor that keeps the promise."""
    if "points" not in said and "graph" not in said:
        return {}
    found = {"exponential, calibrated": calibrated(p.budgets, p.closed.budgets)}
    return found | ({"geometric": geometric(p.k, (p.k - 1) * said["epsilon"])} if "points" in said else {})


if __name__ == "__main__":
    write_csv("optimum", [*measure(), *estimates(), *means()])
