"""A survey tried on people whose answers are known: how far estimates are from the truth, over many runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from deniable.core.circle import Circle
from deniable.core.domain import Ticks
from deniable.core.grid import Grid
from deniable.core.types import FloatArray, IntArray
from deniable.errors import InWords, is_whole, require
from deniable.mechanisms.base import Mechanism
from deniable.plan.survey import Survey
from deniable.randomness import Stream, simulation

__all__ = ["made_up", "simulate"]

_RUNS_MOST = 100_000
_LEVEL = 0.95


def made_up(survey: Survey, n: int, seed: int) -> dict[str, list[Any]]:
    """Answers of n made-up people to every question that is asked: the first answers are common, the last ones rare.

    Numbers are more often low than high; people tick and have what is common more often. Answers to different questions
    have nothing to do with each other.
    """
    kinds = {question.name: question.mechanism for question in survey.questions}
    each = zip(survey.asked, simulation(seed).spawn(len(survey.asked)), strict=True)
    return {name: _answers(kinds[name], n, rng) for name, rng in each}


def _answers(m: Any, n: int, rng: Stream) -> list[Any]:
    """Made-up answers to one question."""
    if m.takes == "key-value pairs":
        low, high = m.range
        names = m.domain.decode(_falling(m.k, n, rng))
        values = low + (high - low) * _numbers(n, 3, rng)
        return [[(key, float(value))] for key, value in zip(names.tolist(), values, strict=True)]
    if isinstance(m.domain, Ticks):
        count = m.domain.options.k
        held = _uniform(n * count, rng).reshape(n, count) < 0.6 / np.arange(1, count + 1) ** 0.5
        held &= held.cumsum(axis=1) <= m.domain.most
        names = m.domain.options.decode(np.arange(count)).tolist()
        return [[names[i] for i in np.flatnonzero(row)] for row in held]
    if isinstance(m.domain, Grid | Circle):
        return list(m.domain.low + (m.domain.high - m.domain.low) * _numbers(n, 6, rng))
    items: list[Any] = m.domain.decode(_falling(m.k, n, rng)).tolist()
    return [(item, m.levels[0]) for item in items] if m.takes == "values with levels" else items


def _uniform(n: int, rng: Stream) -> FloatArray:
    """Numbers from 0 to 1."""
    return np.asarray(rng.draw(64, n) / 2.0**64)


def _numbers(n: int, of: int, rng: Stream) -> FloatArray:
    """The second smallest of so many numbers from 0 to 1, for each person."""
    return np.asarray(np.sort(_uniform(n * of, rng).reshape(n, of), axis=1)[:, 1])


def _falling(k: int, n: int, rng: Stream) -> IntArray:
    """Answers, each less common than those before it."""
    ends = np.cumsum(1 / np.arange(1, k + 1))
    return np.asarray(np.minimum(np.searchsorted(ends, _uniform(n, rng) * ends[-1], side="right"), k - 1))


def _truths(m: Mechanism, answers: list[Any]) -> dict[str, FloatArray]:
    """What is true of these people, by the names of what is estimated."""
    own: Any = m
    if m.takes == "key-value pairs":
        pairs = [pair for cell in answers for pair in cell]
        keys = m.domain.encode([key for key, _ in pairs]) if pairs else np.zeros(0, np.int64)
        counts = np.bincount(keys, minlength=m.k)
        sums = np.bincount(keys, [float(value) for _, value in pairs], minlength=m.k)
        middle = (own.range[0] + own.range[1]) / 2  # of keys that nobody has
        return {
            "frequency": counts / len(answers),
            "mean": np.where(counts > 0, sums / np.maximum(counts, 1), middle),
        }
    if isinstance(m.domain, Ticks):
        return {"frequency": np.asarray(m.domain.members(m.domain.encode(answers)).mean(axis=0))}
    if isinstance(m.domain, Circle):
        turn = np.exp(1j * m.domain.angles[m.domain.encode(answers)]).mean()
        whole = m.domain.high - m.domain.low
        return {"mean": np.array([m.domain.turned(m.domain.low + np.angle(turn) / (2 * np.pi) * whole)])}
    if isinstance(m.domain, Grid):
        items = m.domain.encode(answers)
        shares = np.bincount(items, minlength=m.k) / items.size if m.k <= 1 << 20 else np.zeros(0)
        return {"mean": np.array([np.mean(m.domain.decode(items))]), "frequency": shares}
    plain = [cell[0] for cell in answers] if m.takes == "values with levels" else answers
    return {"frequency": np.bincount(m.domain.encode(plain), minlength=m.k) / len(plain)}


def simulate(
    survey: Survey,
    people: Mapping[str, list[Any]],
    *,
    runs: int = 20,
    seed: int = 1,
    progress: Callable[[float], None] | None = None,
) -> dict[str, dict[str, Any]]:
    """Deal and privatise these people's answers `runs` times: by question, how far estimates are from the truth.

    `rmse`: root of the mean squared error over runs and answers; `stderr`: what estimates say of themselves (for the
    population), the same way; `covered`: share of 95 % intervals for the population that hold what is true of them;
    `stderr` is None where variances that few people leave uncertain add up to less than 0;
    `rare`: of how many means too few people have the key, which are left out. Parts are dealt anew in every run.
    """
    require(is_whole(runs, 1, _RUNS_MOST), "runs", runs, f"a whole number from 1 to {_RUNS_MOST:,}")
    sizes = {name: len(answers) for name, answers in people.items()}
    same = len(set(sizes.values())) == 1
    require(same, "people", InWords(str(sizes)), "as many answers to every question", "Everybody has one to each.")
    n = next(iter(sizes.values()))
    kinds = {question.name: question.mechanism for question in survey.questions}
    true = {name: _truths(kinds[name], people[name]) for name in people}
    sums: dict[str, list[FloatArray]] = {}
    streams = simulation(seed).spawn(runs)
    for run, stream in enumerate(streams):
        deal, draw = stream.spawn(2)
        assigned = None if survey.scheme == "split" or len(survey.parts) == 1 else survey.assign(n, deal)
        found = survey.estimate(survey.privatize(people, assigned=assigned, rng=draw))
        for name, estimate in found.items():
            for part, shares in true[name].items():
                if part in estimate.parts:
                    sums.setdefault(f"{name}: {part}", []).append(_one_run(estimate[part], shares))
        if progress is not None:
            progress((run + 1) / runs)
    return {label: _summary(np.array(rows)) for label, rows in sums.items()}


def _one_run(estimate: Any, true: FloatArray) -> FloatArray:
    """Squared errors, stated variances, whether intervals hold the truth, and whether anything can be said."""
    ends, part = estimate.interval(_LEVEL, target="population"), estimate.parts[next(iter(estimate.parts))]
    held = (ends.low <= true) & (true <= ends.high)
    rare = part.too_rare(_LEVEL)
    unsaid = np.zeros(true.size) if rare is None else rare.astype(np.float64)
    return np.array([(estimate.value - true) ** 2, part.variance("population"), held, unsaid])


def _summary(rows: FloatArray) -> dict[str, Any]:
    """Means over runs and answers, of what can be said."""
    said = rows[:, 3] == 0
    count = int(said.sum())
    means = [float(rows[:, i][said].mean()) if count else None for i in range(3)]
    squares, stated, covered = means
    return {
        "rmse": None if squares is None else squares**0.5,
        "stderr": None if stated is None or stated < 0 else stated**0.5,
        "covered": covered,
        "runs": len(rows),
        "rare": int(rows[:, 3].sum()),
    }
