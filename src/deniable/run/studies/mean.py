"""A study of means by simulation: numbers that are known, privatised, averaged, compared with the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.datasets.population import Population
from deniable.datasets.spec import resolve
from deniable.datasets.tables import NAMES
from deniable.errors import ParameterError, require
from deniable.estimate.metrics import spread
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.numeric.base import Numeric
from deniable.randomness import simulation
from deniable.run.files import Progress
from deniable.run.results import Shares
from deniable.run.studies.frequency import PEOPLE, tally_population

__all__ = ["NumberStudy", "simulate_numbers"]


@dataclass(frozen=True, slots=True, eq=False)
class NumberStudy:
    """What `runs` independent collections of the same numbers gave."""

    mechanism: Numeric
    population: Population
    seed: int
    level: float
    truth: float
    errors: FloatArray
    """Estimated minus true mean of every run."""
    covered: FloatArray
    """1 for the runs whose interval holds the truth, else 0."""
    predicted: float
    """The squared error that the formulas promise for these very people."""
    shares: tuple[Shares, ...]

    def document(self) -> dict[str, Any]:
        """As plain data; standard errors over the runs are None where there is only one."""
        m, first, squares = self.mechanism, self.shares[0].document(), self.errors**2
        return {
            "mechanism": m.name,
            "epsilon": m.epsilon,
            "params": m.params,
            "data": self.population.name,
            "interval": [m.grid.low, m.grid.high],
            "k": m.k,
            "n": self.population.n,
            "runs": self.errors.size,
            "seed": self.seed,
            "simulated": True,
            "truth": self.truth,
            "bias": float(self.errors.mean()),
            "bias_stderr": spread(self.errors),
            "mse": float(squares.mean()),
            "mse_predicted": self.predicted,
            "ratio": float(squares.mean()) / self.predicted,
            "ratio_stderr": spread(squares / self.predicted),
            "level": self.level,
            "coverage": float(self.covered.mean()),
            "coverage_stderr": spread(self.covered),
            "first": {key: first[key] for key in ("labels", "truth", "value", "stderr", "low", "high", "biased")},
        }

    def rows(self) -> list[dict[str, Any]]:
        """One row per run."""
        return [{"run": run, **row} for run, s in enumerate(self.shares, start=1) for row in s.rows()]


def simulate_numbers(
    data: str,
    make: Callable[[], Mechanism],
    *,
    n: int | None = None,
    runs: int = 20,
    seed: int = 0,
    level: float = 0.95,
    progress: Progress | None = None,
) -> NumberStudy:
    """Estimate a mean `runs` times. `make` gives the mechanism, which brings its grid.

    `data` is a population as in `deniable.datasets.resolve`: a table whose labels are numbers, which are rounded to the
    grid, or a made-up one over the points of the grid.
    """
    require(runs >= 1, "runs", runs, "an integer >= 1")
    require(0 < level < 1, "level", level, "between 0 and 1", "95 % is level=0.95.")
    m, root = make(), simulation(seed)
    assert isinstance(m, Numeric)
    people = _people(data, m, n, root.spawn(1)[0])
    weights = people.frequencies
    truth = float(weights @ m.grid.points)
    noise = np.array([float(m.law_exact.noise(x)) for x in np.flatnonzero(people.counts).tolist()])
    predicted = float(noise @ weights[people.counts > 0]) * m.grid.step**2 / people.n
    errors, covered, shares = [], [], []
    for run, rng in enumerate(root.spawn(runs), start=1):
        found = m.estimate(tally_population(m, people, rng))
        errors.append(float(found.value[0]) - truth)
        covered.append(float(found.interval(level).covers(np.array([truth]))[0]))
        shares.append(Shares.of(found, level=level, truth=np.array([truth])))
        if progress is not None:
            progress(run, runs)
    return NumberStudy(m, people, seed, level, truth, np.array(errors), np.array(covered), predicted, tuple(shares))


def _people(data: str, m: Numeric, n: int | None, rng: Any) -> Population:
    """How many people have each number of the grid."""
    labels = m.grid.labels_or_numbers
    if data not in NAMES:
        made = resolve(data, n=PEOPLE if n is None else n, k=m.k, rng=rng)
        return Population(made.name, labels, made.counts)
    table = resolve(data, n=n)
    try:
        items: IntArray = m.domain.encode(list(table.labels))
    except ParameterError as error:
        hint = "Take a table of numbers, such as adult-age with --interval 0,100, or a made-up population."
        raise ParameterError(f"{data} has values that are not on this grid: {error.message}", hint) from error
    return Population(table.name, labels, np.bincount(items, table.counts, minlength=m.k).astype(np.int64))
