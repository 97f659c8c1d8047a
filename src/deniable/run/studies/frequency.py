"""A study by simulation: privatise a population of known frequencies, estimate, compare with the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.domain import Domain
from deniable.core.types import FloatArray, IntArray
from deniable.datasets.population import Population
from deniable.datasets.spec import resolve
from deniable.datasets.tables import NAMES
from deniable.errors import require
from deniable.estimate.metrics import spread
from deniable.kernels.parallel import ahead
from deniable.mechanisms.base import Mechanism
from deniable.randomness import Simulation, Stream, simulation
from deniable.run.files import Progress
from deniable.run.local import chunk_size, with_streams
from deniable.run.results import Shares

__all__ = ["PEOPLE", "Study", "simulate", "tally_population"]

PEOPLE = 10_000
"""How many people a made-up population has unless told otherwise."""


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """What `runs` independent collections from one population gave; a row of the arrays is a run."""

    mechanism: Mechanism
    population: Population
    seed: int
    level: float
    mse: FloatArray
    mse_projected: FloatArray
    max_abs_error: FloatArray
    coverage: FloatArray
    shares: tuple[Shares, ...]
    """The estimates of every run, with the truth."""

    @property
    def predicted(self) -> float:
        """The error that the mechanism's own formulas promise, for the integers that are sampled."""
        return float(self.mechanism.effective(self.population.n)["mse"])

    def document(self) -> dict[str, Any]:
        """As plain data; standard errors over the runs are None where there is only one."""
        m, first = self.mechanism, self.shares[0].document()
        return {
            "mechanism": m.name,
            "epsilon": m.epsilon,
            "params": m.params,
            "data": self.population.name,
            "k": m.k,
            "n": self.population.n,
            "runs": len(self.shares),
            "seed": self.seed,
            "simulated": True,
            "mse": float(self.mse.mean()),
            "mse_predicted": self.predicted,
            "ratio": float(self.mse.mean()) / self.predicted,
            "ratio_stderr": spread(self.mse / self.predicted),
            "max_abs_error": float(self.max_abs_error.mean()),
            "level": self.level,
            "coverage": float(self.coverage.mean()),
            "coverage_stderr": spread(self.coverage),
            "mse_projected": float(self.mse_projected.mean()),
            "first": {key: first[key] for key in ("labels", "truth", "value", "stderr", "low", "high", "biased")},
        }

    def rows(self) -> list[dict[str, Any]]:
        """One row per run and label."""
        return [{"run": run, **row} for run, s in enumerate(self.shares, start=1) for row in s.rows()]


def simulate(
    data: str,
    make: Callable[[Domain], Mechanism],
    *,
    n: int | None = None,
    k: int | None = None,
    runs: int = 20,
    seed: int = 0,
    level: float = 0.95,
    project: bool = False,
    progress: Progress | None = None,
) -> Study:
    """Run a study on a population named as in `deniable.datasets.resolve`; `make` gives the mechanism for its domain.

    `project` keeps the projected estimates in `shares`; the measured errors are always of both kinds.
    """
    require(runs >= 1, "runs", runs, "an integer >= 1")
    require(0 < level < 1, "level", level, "between 0 and 1", "95 % is level=0.95.")
    root = simulation(seed)
    synthetic = data not in NAMES
    population = resolve(data, n=PEOPLE if synthetic and n is None else n, k=k, rng=root.spawn(1)[0])
    m = make(Domain.of(population.k if synthetic else population.labels))
    hint = "Use m.privatize(...) in Python, or `deniable reproduce`."
    require(m.takes == "values", "mechanism", m.name, f"one for single values; this one takes {m.takes}", hint)
    measured: list[tuple[float, float, float, float]] = []
    shares = []
    for run, rng in enumerate(root.spawn(runs), start=1):
        numbers, share = _run(m, population, rng, level, project)
        measured.append(numbers)
        shares.append(share)
        if progress is not None:
            progress(run, runs)
    mse, projected, largest, coverage = np.array(measured).T
    return Study(m, population, seed, level, mse, projected, largest, coverage, tuple(shares))


def tally_population(m: Mechanism, population: Population, rng: Stream) -> Tally:
    """Everyone in the population reports once; their reports as a tally, chunk by chunk."""
    jobs = with_streams(_items(population, chunk_size(m)), rng)
    parts = ahead(lambda job: m.tally(m.privatize_items(*job)), jobs)
    return sum(parts, m.empty(simulated=rng.simulated))


def _items(population: Population, size: int) -> Iterator[IntArray]:
    """The people's items in their order, `size` people at a time."""
    ends = np.cumsum(population.counts)
    for start in range(0, population.n, size):
        people = np.arange(start, min(start + size, population.n))
        yield np.searchsorted(ends, people, side="right").astype(np.int64)


def _run(
    m: Mechanism, population: Population, rng: Simulation, level: float, project: bool
) -> tuple[tuple[float, float, float, float], Shares]:
    truth = population.frequencies
    raw = m.estimate(tally_population(m, population, rng))
    projected = raw.project()
    error = raw.value - truth
    numbers = (
        float(np.mean(error**2)),
        float(np.mean((projected.value - truth) ** 2)),
        float(np.abs(error).max()),
        float(raw.interval(level).covers(truth).mean()),
    )
    return numbers, Shares.of(projected if project else raw, level=level, truth=truth)
