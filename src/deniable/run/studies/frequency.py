"""A study by simulation: privatise a population of known frequencies, estimate, compare with the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.domain import Domain
from deniable.core.types import IntArray
from deniable.datasets.population import Population
from deniable.errors import require
from deniable.kernels.parallel import ahead
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.protocol import Protocol
from deniable.randomness import Simulation, Stream, simulation
from deniable.run.files import Progress
from deniable.run.inputs import INPUTS, chunk_size, with_streams
from deniable.run.layout import FORMATS, Layout
from deniable.run.results import Shown
from deniable.run.studies.people import check_source, met
from deniable.run.studies.study import Study, against, averaged, check_study, repeated

__all__ = ["simulate", "tally_population"]


def simulate(
    data: str | Population,
    make: Callable[[Domain], Mechanism | Protocol[IntArray]],
    *,
    n: int | None = None,
    domain: Domain | None = None,
    runs: int = 20,
    seed: int = 0,
    level: float = 0.95,
    project: bool = False,
    column: str | None = None,
    format: str | Layout = FORMATS[0],
    progress: Progress | None = None,
    only: range | None = None,
) -> Study:
    """Run a study of shares on a population, or one named as in `deniable.datasets.resolve`, or a column of a file.

    The values of a file, and of a table, are sorted into the `domain` if one is given; else whatever occurs in it are
    the labels. `format` says how a file lies.
    `make` gives the mechanism, or a protocol for single values, for its domain. `project` keeps the projected estimates
    in `shown`; the measured errors are always of both kinds. The predicted one is that of the mechanism's own formulas
    for the integers that are sampled, None for protocols.
    """
    check_study(runs, level, n)
    root, layout = simulation(seed), Layout.of(format)
    check_source(data, column, layout)
    population, answers = met(data, n, domain, column, layout, root.spawn(1)[0])
    m = make(answers)
    predicted = None
    if not isinstance(m, Protocol):
        known = "column" in INPUTS[m.takes].columns
        hint = "Use m.privatize(...) in Python, or `deniable reproduce`."
        require(known, "mechanism", m.name, f"one for single values; this one takes {m.takes}", hint)
        closed = m.effective(population.n).get("mse")  # where there is none, the first estimate says why
        predicted = None if closed is None else float(closed)
    found = repeated(lambda rng: _run(m, population, rng, level, project), root, runs, progress, only)
    mse, projected, largest, coverage = np.array([numbers for numbers, _ in found]).T
    measured = {
        **against("mse", mse, predicted),
        "max_abs_error": float(largest.mean()),
        "level": level,
        **averaged("coverage", coverage),
        "mse_projected": float(projected.mean()),
    }
    shown = tuple(shown for _, shown in found)
    return Study(
        made=m, data=population.name, n=population.n, seed=seed, runs=len(found), measured=measured, shown=shown
    )


def tally_population(m: Mechanism, population: Population, rng: Stream, items: IntArray | None = None) -> Tally:
    """Everyone in the population reports once; their reports as a tally, chunk by chunk.

    `items` are what the population's values are in the domain of the mechanism, where they are not its first ones.
    """
    held = _items(population, chunk_size(m))
    jobs = with_streams(held if items is None else (items[own] for own in held), rng)
    parts = ahead(lambda job: m.tally(m.privatize_items(*job)), jobs)
    return sum(parts, m.empty(simulated=rng.simulated))


def _items(population: Population, size: int) -> Iterator[IntArray]:
    """The people's items in their order, `size` people at a time."""
    ends = np.cumsum(population.counts)
    for start in range(0, population.n, size):
        people = np.arange(start, min(start + size, population.n))
        yield np.searchsorted(ends, people, side="right").astype(np.int64)


def _run(
    m: Mechanism | Protocol[IntArray], population: Population, rng: Simulation, level: float, project: bool
) -> tuple[tuple[float, float, float, float], Shown]:
    truth = population.frequencies
    if isinstance(m, Protocol):
        raw = m.run(population.values(), rng)[0]
    else:
        raw = m.estimate(tally_population(m, population, rng))
    projected = raw.project()
    error = raw.value - truth
    numbers = (
        float(np.mean(error**2)),
        float(np.mean((projected.value - truth) ** 2)),
        float(np.abs(error).max()),
        float(raw.interval(level).covers(truth).mean()),
    )
    return numbers, Shown.of(projected if project else raw, level=level, truth=truth)
