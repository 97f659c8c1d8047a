"""A study of means by simulation: numbers that are known, privatised, averaged, compared with the truth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deniable.mechanisms.numeric.base import Numeric
from deniable.randomness import simulation
from deniable.run.files import Progress
from deniable.run.layout import FORMATS, Layout
from deniable.run.results import Shown
from deniable.run.studies.frequency import tally_population
from deniable.run.studies.people import at_points, check_source
from deniable.run.studies.study import Study, against, averaged, check_study, repeated

__all__ = ["simulate_mean"]


def simulate_mean(
    data: str,
    make: Callable[[], Numeric],
    *,
    n: int | None = None,
    runs: int = 20,
    seed: int = 0,
    level: float = 0.95,
    column: str | None = None,
    format: str | Layout = FORMATS[0],
    progress: Progress | None = None,
    only: range | None = None,
) -> Study:
    """Estimate a mean `runs` times. `make` gives the mechanism, which brings its grid.

    `data` is a column of a file, or a population as in `deniable.datasets.resolve`: a table whose labels are numbers,
    which are rounded to the grid, or a made-up one over the points of the grid. The predicted error is for these very
    people.
    """
    check_study(runs, level, n)
    m, root, layout = make(), simulation(seed), Layout.of(format)
    check_source(data, column, layout)
    grid, items = m.coarse
    told = ", such as adult-age with --interval 0,100"
    people = at_points(data, grid, n, column, layout, root.spawn(1)[0], told)
    weights = people.frequencies
    truth = np.array([weights @ grid.points])
    held = np.flatnonzero(people.counts)
    noise = np.array([float(m.law_exact.noise(x)) for x in items[held].tolist()])
    found = repeated(lambda rng: m.estimate(tally_population(m, people, rng, items)), root, runs, progress, only)
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
    return Study(made=m, data=people.name, n=people.n, seed=seed, runs=len(found), measured=measured, shown=shown)
