"""A study of single answers by simulation: how far reports are from the values they stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.codes import Codes
from deniable.core.domain import Domain
from deniable.core.grid import Grid
from deniable.core.types import FloatArray, IntArray
from deniable.datasets.population import Population
from deniable.datasets.spec import resolve
from deniable.datasets.tables import NAMES
from deniable.errors import ParameterError
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.metric.base import MetricMechanism
from deniable.randomness import Simulation, Stream, simulation
from deniable.run.files import Progress
from deniable.run.studies.study import PEOPLE, Study, against, check_study, repeated

__all__ = ["ReleaseStudy", "simulate_release"]

FINE = 1000
"""Different numbers that people of a made-up population on an interval have: the middles of so many equal parts."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleaseStudy(Study):
    """A study of single answers, by the losses of their reports."""

    unit: str
    losses: FloatArray
    """Mean loss of every run."""
    remapped: FloatArray
    """The same with every report taken for the best answer under the population's own frequencies."""
    predicted: float
    """The expected loss for these very people and the integers that are sampled."""
    predicted_remapped: float

    def measured(self) -> dict[str, Any]:
        return {
            "unit": self.unit,
            **against("loss", self.losses, self.predicted),
            "loss_remapped": float(self.remapped.mean()),
            "loss_remapped_predicted": self.predicted_remapped,
        }

    def rows(self) -> list[dict[str, Any]]:
        """One row per run."""
        pairs = zip(self.losses.tolist(), self.remapped.tolist(), strict=True)
        return [{"run": run, "loss": a, "loss_remapped": b} for run, (a, b) in enumerate(pairs, start=1)]


@dataclass(frozen=True, slots=True, eq=False)
class _People:
    """Kinds of people: how many there are of each, the item they hand in, and what each report costs them."""

    population: Population
    items: IntArray
    losses: FloatArray
    """A row for each kind, a column for each report."""
    answers: FloatArray
    """The same with a column for each answer that a report may be taken for."""


def simulate_release(
    data: str,
    make: Callable[[Domain | None], Mechanism],
    *,
    n: int | None = None,
    k: int | None = None,
    placed: bool = False,
    runs: int = 20,
    seed: int = 0,
    progress: Progress | None = None,
) -> ReleaseStudy:
    """Release every person's value `runs` times and measure the mean loss.

    `data` is a population as in `deniable.datasets.resolve`. `make` gives the mechanism for its domain or, if it is
    `placed`, for None the one whose own options say what the domain is.
    """
    check_study(runs)
    root = simulation(seed)
    m, people = _meet(data, make, n, k, placed, root.spawn(1)[0])
    weights = people.population.frequencies
    channel = m.bulk.matrix[people.items]
    joint = weights[:, None] * channel
    table = (joint.T @ people.answers).argmin(axis=1)
    after = people.answers[:, table]
    kinds = np.repeat(np.arange(weights.size), people.population.counts)

    def one(rng: Simulation) -> tuple[float, float]:
        reports = m.privatize_items(people.items[kinds], rng).columns["value"].astype(np.int64)
        return float(people.losses[kinds, reports].mean()), float(after[kinds, reports].mean())

    losses, remapped = np.array(repeated(one, root, runs, progress)).T
    return ReleaseStudy(
        made=m,
        data=people.population.name,
        n=people.population.n,
        seed=seed,
        runs=runs,
        unit=m.losses.unit,
        losses=losses,
        remapped=remapped,
        predicted=float((joint * people.losses).sum()),
        predicted_remapped=float((joint * after).sum()),
    )


def _meet(
    data: str, make: Callable[[Domain | None], Mechanism], n: int | None, k: int | None, placed: bool, rng: Stream
) -> tuple[MetricMechanism, _People]:
    """The mechanism and the people, whichever of them says what the domain is."""
    table = data in NAMES
    count = PEOPLE if n is None and not table else n
    if not placed:
        population = resolve(data, n=count, k=k, rng=rng)
        m = make(Domain.of(population.labels if table else population.k))
    else:
        m = make(None)
        numbers = isinstance(m.domain, Grid | Codes)
        size = None if table and numbers else FINE if numbers else m.k
        population = resolve(data, n=count, k=size, rng=rng)
    assert isinstance(m, MetricMechanism)
    return m, _people(m, population)


def _people(m: MetricMechanism, population: Population) -> _People:
    domain = m.domain
    if not isinstance(domain, Grid | Codes):
        return _People(population, np.arange(m.k), m.loss_matrix(), m.losses.matrix())
    numbers = _numbers(domain, population)
    try:
        items = domain.encode(numbers)
    except ParameterError as error:
        hint = "Take a wider --interval, or --clip."
        raise ParameterError(f"{population.name} has numbers outside: {error.message}", hint) from error
    answers = np.abs(numbers[:, None] - np.asarray(m.answers(), np.float64)[None, :])
    points = m.output_points
    return _People(population, items, answers if points is None else answers[:, points], answers)


def _numbers(domain: Grid | Codes, population: Population) -> FloatArray:
    """The numbers that people have: a table's own, or the middles of equal parts of the interval."""
    if population.name not in NAMES:
        return Grid.of(domain.low, domain.high, population.k).points
    try:
        return np.array([float(label) for label in population.labels])
    except ValueError:
        hint = "Take a table of numbers, such as adult-age with --interval 0,100, or a made-up population."
        raise ParameterError(f"data must have numbers for an interval, got {population.name}.", hint) from None
