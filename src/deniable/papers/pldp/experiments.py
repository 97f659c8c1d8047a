"""The PLDP paper's experiments: each computed once, for the figures and for the claims."""

from __future__ import annotations

import numpy as np

from deniable.core.types import FloatArray
from deniable.datasets.population import Population
from deniable.datasets.synthetic import apportion
from deniable.datasets.tables import load
from deniable.papers.paper import Context, shared
from deniable.papers.pldp.study import LEVELS, Errors, power_law, study, uniform_shares

__all__ = [
    "BUDGETS",
    "DATA",
    "SHARES",
    "by_budget",
    "by_budget_often",
    "by_size",
    "by_size_fitted",
    "by_size_often",
    "few_values",
    "largest",
    "more_people",
    "nine_jobs",
    "sizes",
    "ten_levels",
    "ten_levels_often",
    "two_levels",
    "two_levels_often",
]

DATA = {"Education": "adult-education", "Job": "bank-job", "Country": "adult-country"}
SHARES = ("uniform", "power law")
"""Distributions of people over the levels."""
BUDGETS = tuple(round(0.1 * i, 1) for i in range(1, 11))
PAIR = (0.1, 0.2)

_SIZES = {"Education": (4, 8, 12, 16), "Job": (3, 6, 9, 12), "Country": (10, 20, 30, 42)}
_CLAIMED = (0.1, 0.2, 0.3, 0.4, 1.0)
"""Budgets that claims are about, with more runs."""
_PLAIN = ("auem", "auem projected", "apldp", "rcf", "rcf projected", "ppda", "self projected")
_CODED = ("auem as coded", "emoa as coded")
_TWO = ("pbp", "pbp random", "auem")
_SLOW = ("em", "emoa printed", "emoa normalised")
"""Methods; the last ones read every report, which takes long."""


def _shares(kind: str, levels: tuple[float, ...]) -> FloatArray:
    return uniform_shares(len(levels)) if kind == "uniform" else power_law(levels)


def largest(population: Population, k: int) -> Population:
    """The people who hold one of the k most frequent values."""
    kept = np.sort(np.argsort(-population.counts, kind="stable")[:k])
    return Population(population.name, tuple(population.labels[i] for i in kept), population.counts[kept])


def sizes(context: Context, data: str) -> tuple[int, ...]:
    """Numbers of values that are looked at; the two largest in a quick run."""
    return _SIZES[data][-2:] if context.quick else _SIZES[data]


@shared
def by_budget(context: Context, data: str, budget: float) -> Errors:
    """Fig. 2: AUEM at one budget of the level, and what it would be with the true shares of the levels."""
    runs = 20 if context.quick else 120 if budget in _CLAIMED else 50
    stream = context.stream(f"budget {data} {budget}")
    return study(load(DATA[data]), runs, stream, level_epsilon=budget, methods=("auem", "pbp"))


@shared
def by_budget_often(context: Context, data: str, budget: float) -> Errors:
    """The same with many more runs, for what is decided by how large the ratio of both is."""
    runs, stream = 20 if context.quick else 400, context.stream(f"budget {data} {budget}, often")
    return study(load(DATA[data]), runs, stream, level_epsilon=budget, methods=("auem", "pbp"))


@shared
def by_size_often(context: Context, data: str, k: int) -> Errors:
    """Fig. 3 and 4: the schemes that the paper compares there, with many more runs."""
    runs, people = 20 if context.quick else 1000, largest(load(DATA[data]), k)
    context.progress(f"pldp: {runs} collections of {k} values of {data}, of schemes that take little time")
    stream, methods = context.stream(f"size {data} {k}, often"), ("auem", "emoa as coded", "rcf", "ppda", "apldp")
    return study(people, runs, stream, methods=methods)


@shared
def by_size(context: Context, data: str, k: int) -> Errors:
    """Fig. 3 and 4: the k most frequent values; methods that take long have fewer runs, of other reports."""
    runs = 9 if context.quick else 60
    context.progress(f"pldp: {runs} collections of {k} values of {data}")
    people = largest(load(DATA[data]), k)
    many = study(people, runs, context.stream(f"size {data} {k}"), methods=_PLAIN + _CODED)
    few = by_size_fitted(context, data, k)
    mse, mae = ({method: errors[method] for method in _SLOW} for errors in (few.mse, few.mae))
    return Errors({**many.mse, **mse}, {**many.mae, **mae}, few.sums, few.seconds)


@shared
def by_size_fitted(context: Context, data: str, k: int) -> Errors:
    """Fig. 3 and 4: the methods that take long and AUEM on the same reports."""
    runs, people = 3 if context.quick else 20, largest(load(DATA[data]), k)
    context.progress(f"pldp: {runs} fits to {k} values of {data}")
    return study(people, runs, context.stream(f"size {data} {k}, fitted"), methods=("auem", *_SLOW))


@shared
def few_values(context: Context, data: str, k: int, runs: int) -> Errors:
    """Both baselines that see the levels, AUEM and EMOA as coded, on the k most frequent values, with many runs."""
    methods = ("apldp", "apldp adaptive", "rcf", "auem", "emoa as coded")
    return study(largest(load(DATA[data]), k), runs, context.stream(f"few {data} {k}"), methods=methods)


@shared
def more_people(context: Context, n: int) -> Errors:
    """The schemes with little noise on Job, scaled to so many people."""
    job = load(DATA["Job"])
    scaled = Population(job.name, job.labels, apportion(job.counts.tolist(), n))
    runs = 40 if context.quick else 1600
    context.progress(f"pldp: {runs} collections of Job, scaled to {n} people")
    return study(scaled, runs, context.stream(f"people {n}"), methods=("rcf", "ppda"))


@shared
def two_levels(context: Context, data: str, kind: str) -> Errors:
    """Fig. 5 and 6: levels 0.1 and 0.2."""
    methods, runs = ("auem projected", *_TWO, *_CODED, *_SLOW), 6 if context.quick else 50
    return _of_pair(context, data, kind, runs, f"two {data} {kind}", methods)


@shared
def two_levels_often(context: Context, data: str, kind: str) -> Errors:
    """The same for the schemes that the paper compares there, with many more runs."""
    runs = 20 if context.quick else 800
    context.progress(f"pldp: {runs} collections of {data}, {kind} levels, two of them")
    return _of_pair(context, data, kind, runs, f"two {data} {kind}, often", (*_TWO, "emoa as coded"))


@shared
def nine_jobs(context: Context, people: int | None) -> Errors:
    """The same on the nine most frequent jobs, as many values as the paper has, scaled to so many people if given."""
    nine, rho = largest(load(DATA["Job"]), 9), _shares("uniform", PAIR)
    if people is not None:
        nine = Population(nine.name, nine.labels, apportion(nine.counts.tolist(), people))
    stream, runs = context.stream(f"nine jobs {people}"), 20 if context.quick else 800
    return study(nine, runs, stream, levels=PAIR, shares=rho, level_epsilon=0.1, methods=(*_TWO, "emoa as coded"))


def _of_pair(context: Context, data: str, kind: str, runs: int, name: str, methods: tuple[str, ...]) -> Errors:
    people, rho = load(DATA[data]), _shares(kind, PAIR)
    return study(people, runs, context.stream(name), levels=PAIR, shares=rho, level_epsilon=0.1, methods=methods)


@shared
def ten_levels(context: Context, data: str, kind: str) -> Errors:
    """Fig. 7 and 8: levels from 0.1 to 1."""
    runs, rho = 6 if context.quick else 120, _shares(kind, LEVELS)
    context.progress(f"pldp: {runs} collections of {data}, {kind} levels")
    stream = context.stream(f"ten {data} {kind}")
    return study(load(DATA[data]), runs, stream, shares=rho, methods=_PLAIN + _CODED + _SLOW)


@shared
def ten_levels_fitted(context: Context, data: str, kind: str) -> Errors:
    """The same for EM on the true likelihood and the scheme it is held against, with more runs."""
    runs, rho = 6 if context.quick else 400 if data == "Education" else 240, _shares(kind, LEVELS)
    context.progress(f"pldp: {runs} fits to {data}, {kind} levels")
    stream = context.stream(f"ten {data} {kind}, fitted")
    return study(load(DATA[data]), runs, stream, shares=rho, methods=("rcf", "rcf projected", "em"))


@shared
def ten_levels_often(context: Context, data: str, kind: str) -> Errors:
    """The same for the schemes that the paper compares there, with many more runs."""
    runs, rho = 20 if context.quick else 800, _shares(kind, LEVELS)
    context.progress(f"pldp: {runs} collections of {data}, {kind} levels, ten of them")
    stream, methods = context.stream(f"ten {data} {kind}, often"), ("auem", "emoa as coded", "rcf", "ppda", "apldp")
    return study(load(DATA[data]), runs, stream, shares=rho, methods=methods)
