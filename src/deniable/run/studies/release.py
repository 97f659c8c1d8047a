"""A study of single answers by simulation: how far reports are from the values they stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deniable.core.codes import Codes
from deniable.core.domain import Domain
from deniable.core.grid import Grid
from deniable.core.types import FloatArray, IntArray
from deniable.datasets.population import Population
from deniable.datasets.spec import resolve
from deniable.datasets.tables import NAMES
from deniable.errors import ParameterError
from deniable.mechanisms.metric.base import MetricMechanism
from deniable.randomness import Simulation, Stream, simulation
from deniable.run.files import Progress
from deniable.run.layout import FORMATS, Layout
from deniable.run.studies.people import check_source, counted, has_own_values, met
from deniable.run.studies.study import PEOPLE, Study, against, check_study, repeated

__all__ = ["simulate_release"]

FINE = 1000
"""Different numbers that people of a made-up population on an interval have: the middles of so many equal parts."""


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
    make: Callable[[Domain | None], MetricMechanism],
    *,
    n: int | None = None,
    domain: Domain | None = None,
    placed: bool = False,
    column: str | None = None,
    format: str | Layout = FORMATS[0],
    runs: int = 20,
    seed: int = 0,
    progress: Progress | None = None,
    only: range | None = None,
) -> Study:
    """Release every person's value `runs` times and measure the mean loss, of reports and of what they are taken for.

    Remapped, every report is taken for the best answer under the population's own frequencies; predicted are the
    expected losses of these very people for the integers that are sampled.
    `data` is a column of a file, or a population as in `deniable.datasets.resolve`. `make` gives the mechanism for its
    domain or, if it is `placed`, for None the one whose own options say what the domain is.
    """
    check_study(runs, n=n)
    root, layout = simulation(seed), Layout.of(format)
    check_source(data, column, layout)
    rng = root.spawn(1)[0]
    if placed:
        m = make(None)
        people = _people(m, *_placed(m, data, n, column, layout, rng))
    else:
        population, answers = met(data, n, domain, column, layout, rng)
        m = make(answers)
        people = _people(m, population, own=has_own_values(data, layout))
    weights = people.population.frequencies
    channel = m.bulk.matrix[people.items]
    joint = weights[:, None] * channel
    table = (joint.T @ people.answers).argmin(axis=1)
    after = people.answers[:, table]
    kinds = np.repeat(np.arange(weights.size), people.population.counts)

    def one(rng: Simulation) -> tuple[float, float]:
        reports = m.privatize_items(people.items[kinds], rng).columns["value"].astype(np.int64)
        return float(people.losses[kinds, reports].mean()), float(after[kinds, reports].mean())

    found = repeated(one, root, runs, progress, only)
    losses, remapped = np.array(found).T
    measured = {
        "unit": m.losses.unit,
        **against("loss", losses, float((joint * people.losses).sum())),
        "loss_remapped": float(remapped.mean()),
        "loss_remapped_predicted": float((joint * after).sum()),
    }
    rows = [{"loss": loss, "loss_remapped": other} for loss, other in found]
    who = people.population
    return Study(made=m, data=who.name, n=who.n, seed=seed, runs=len(found), measured=measured, numbers=rows)


def _placed(
    m: MetricMechanism, data: str, n: int | None, column: str | None, layout: Layout, rng: Stream
) -> tuple[Population, bool]:
    """The people where the mechanism says what the domain is, and whether their values are their own."""
    own, numbers = has_own_values(data, layout), isinstance(m.domain, Grid | Codes)
    if own and data not in NAMES:
        return counted(data, n, None if numbers else m.domain, column, layout), own
    size = None if own and numbers else FINE if numbers else m.k
    return resolve(data, n=PEOPLE if n is None and not own else n, k=size, rng=rng), own


def _people(m: MetricMechanism, population: Population, own: bool) -> _People:
    domain = m.domain
    if not isinstance(domain, Grid | Codes):
        return _People(population, np.arange(m.k), m.loss_matrix(), m.losses.matrix())
    numbers = _numbers(population) if own else Grid.of(domain.low, domain.high, population.k).points
    try:
        items = domain.encode(numbers)
    except ParameterError as error:
        hint = "Take a wider --interval, or --clip."
        raise ParameterError(f"{population.name} has numbers outside: {error.message}", hint) from error
    answers = np.abs(numbers[:, None] - np.asarray(m.answers(), np.float64)[None, :])
    points = m.output_points
    return _People(population, items, answers if points is None else answers[:, points], answers)


def _numbers(population: Population) -> FloatArray:
    """The numbers that people have."""
    try:
        return np.array([float(label) for label in population.labels])
    except ValueError:
        hint = "Take a table of numbers, such as adult-age with --interval 0,100, or a made-up population."
        raise ParameterError(f"data must have numbers for an interval, got {population.name}.", hint) from None
