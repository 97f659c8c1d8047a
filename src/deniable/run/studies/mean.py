"""A study of means by simulation: numbers that are known, privatised, averaged, compared with the truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from deniable.core.types import IntArray
from deniable.datasets.population import Population
from deniable.datasets.spec import resolve
from deniable.datasets.tables import NAMES
from deniable.errors import ParameterError
from deniable.mechanisms.numeric.base import Numeric
from deniable.randomness import simulation
from deniable.run.files import Progress
from deniable.run.results import Shown
from deniable.run.studies.frequency import tally_population
from deniable.run.studies.study import PEOPLE, Study, against, averaged, check_study, repeated

__all__ = ["simulate_mean"]


def simulate_mean(
    data: str,
    make: Callable[[], Numeric],
    *,
    n: int | None = None,
    runs: int = 20,
    seed: int = 0,
    level: float = 0.95,
    progress: Progress | None = None,
) -> Study:
    """Estimate a mean `runs` times. `make` gives the mechanism, which brings its grid.

    `data` is a population as in `deniable.datasets.resolve`: a table whose labels are numbers, which are rounded to the
    grid, or a made-up one over the points of the grid. The predicted error is for these very people.
    """
    check_study(runs, level)
    m, root = make(), simulation(seed)
    people = _people(data, m, n, root.spawn(1)[0])
    weights = people.frequencies
    truth = np.array([weights @ m.grid.points])
    noise = np.array([float(m.law_exact.noise(x)) for x in np.flatnonzero(people.counts).tolist()])
    found = repeated(lambda rng: m.estimate(tally_population(m, people, rng)), root, runs, progress)
    errors = np.array([e.value[0] - truth[0] for e in found])
    covered = np.array([float(e.interval(level).covers(truth)[0]) for e in found])
    measured = {
        "interval": [m.grid.low, m.grid.high],
        "truth": float(truth[0]),
        **averaged("bias", errors),
        **against("mse", errors**2, float(noise @ weights[people.counts > 0]) * m.grid.step**2 / people.n),
        "level": level,
        **averaged("coverage", covered),
    }
    shown = tuple(Shown.of(e, level=level, truth=truth) for e in found)
    return Study(made=m, data=people.name, n=people.n, seed=seed, runs=runs, measured=measured, shown=shown)


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
