"""A study by simulation: privatise a population of known frequencies, estimate, compare with the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from deniable.collect.tally import Tally
from deniable.core.domain import Domain
from deniable.core.types import IntArray
from deniable.core.values import is_missing
from deniable.datasets.population import Population
from deniable.datasets.spec import resolve
from deniable.datasets.synthetic import apportion
from deniable.datasets.tables import NAMES
from deniable.errors import require
from deniable.kernels.parallel import ahead
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.protocol import Protocol
from deniable.randomness import Simulation, Stream, simulation
from deniable.run.files import Progress, encode, read_values
from deniable.run.inputs import INPUTS, chunk_size, with_streams
from deniable.run.results import Shown
from deniable.run.studies.study import PEOPLE, Study, against, averaged, check_study, is_file, repeated

__all__ = ["simulate", "tally_population"]

_CHUNK = 1 << 16
"""Values of a file that are read at a time."""


def simulate(
    data: str,
    make: Callable[[Domain], Mechanism | Protocol[IntArray]],
    *,
    n: int | None = None,
    k: int | None = None,
    runs: int = 20,
    seed: int = 0,
    level: float = 0.95,
    project: bool = False,
    column: str | None = None,
    progress: Progress | None = None,
) -> Study:
    """Run a study of shares on a population named as in `deniable.datasets.resolve`, or on a column of a file.

    The values of a file are numbers from 0 to k-1 if `k` is given; else whatever occurs in it are the labels.
    `make` gives the mechanism, or a protocol for single values, for its domain. `project` keeps the projected estimates
    in `shown`; the measured errors are always of both kinds. The predicted one is that of the mechanism's own formulas
    for the integers that are sampled, None for protocols.
    """
    check_study(runs, level)
    root, own = simulation(seed), is_file(data)
    require(own or column is None, "column", column, "left out: only a file has columns")
    synthetic = data not in NAMES and not own
    if own:
        population = _counted(data, column, n, k)
    else:
        population = resolve(data, n=PEOPLE if synthetic and n is None else n, k=k, rng=root.spawn(1)[0])
    m = make(Domain.of(population.k if synthetic or (own and k is not None) else population.labels))
    predicted = None
    if not isinstance(m, Protocol):
        known = "column" in INPUTS[m.takes].columns
        hint = "Use m.privatize(...) in Python, or `deniable reproduce`."
        require(known, "mechanism", m.name, f"one for single values; this one takes {m.takes}", hint)
        predicted = float(m.effective(population.n)["mse"])
    found = repeated(lambda rng: _run(m, population, rng, level, project), root, runs, progress)
    mse, projected, largest, coverage = np.array([numbers for numbers, _ in found]).T
    measured = {
        **against("mse", mse, predicted),
        "max_abs_error": float(largest.mean()),
        "level": level,
        **averaged("coverage", coverage),
        "mse_projected": float(projected.mean()),
    }
    shown = tuple(shown for _, shown in found)
    return Study(made=m, data=population.name, n=population.n, seed=seed, runs=runs, measured=measured, shown=shown)


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


def _counted(source: str, column: str | None, n: int | None, k: int | None) -> Population:
    """The people of a file, by the value that each has; scaled to n people if that is given."""
    found: Counter[str] = Counter()
    for chunk in read_values(source, _CHUNK, column=column):
        if k is not None:
            found.update(map(str, encode(Domain.of(k), chunk).tolist()))
            continue
        for i, cell in enumerate(chunk.cells):
            require(not is_missing(cell) and str(cell) != "", "data", chunk.place(i), "a file without missing values")
        found.update(map(str, chunk.cells))
    labels = tuple(map(str, range(k))) if k is not None else tuple(sorted(found))
    require(len(labels) >= 2, "data", source, "a file with at least two different values")
    counts = [found[label] for label in labels]
    if n is None or n == sum(counts):
        return Population(source, labels, np.array(counts))
    require(n >= 1, "n", n, "an integer >= 1", f"Leave it out for all {sum(counts)} people.")
    return Population(f"{source}, scaled to {n}", labels, apportion(counts, n))


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
