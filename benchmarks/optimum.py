"""Least losses under promises against every baseline: lines, grids and places, each baseline keeping the same promise.

    python benchmarks/optimum.py     # computes, writes docs/data/optimum.csv (about a minute)

Everything is an expectation of a channel in floats; the optimum is that of the whole numbers. Planar Laplace noise is
put on the nearest place by a fine grid of the plane. An attacker who knows that all places are equally likely guesses
the place that the report makes likeliest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from measure import write_csv

import deniable as dn
from deniable.mechanisms.metric.baselines import exponential, geometric

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
    return {"setting": name, "way": way, "loss": found, "above": found / least - 1, "guess": guess}


if __name__ == "__main__":
    write_csv("optimum", measure())
