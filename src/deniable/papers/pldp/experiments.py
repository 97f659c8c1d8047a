"""The PLDP paper's experiments: each computed once, for the figures and for the claims."""

from __future__ import annotations

import numpy as np

from deniable.core.types import FloatArray
from deniable.datasets.population import Population
from deniable.datasets.tables import load
from deniable.papers.paper import Context
from deniable.papers.pldp.study import LEVELS, Errors, power_law, study, uniform_shares

__all__ = [
    "BUDGETS",
    "DATA",
    "SHARES",
    "by_budget",
    "by_size",
    "few_values",
    "largest",
    "sizes",
    "ten_levels",
    "two_levels",
]

DATA = {"Education": "adult-education", "Job": "bank-job", "Country": "adult-country"}
SHARES = ("uniform", "power law")
"""Distributions of people over the levels."""
BUDGETS = tuple(round(0.1 * i, 1) for i in range(1, 11))
PAIR = (0.1, 0.2)

_SIZES = {"Education": (4, 8, 12, 16), "Job": (3, 6, 9, 12), "Country": (10, 20, 30, 42)}
_NEW = ("auem", "auem projected", "apldp", "rcf", "rcf projected", "ppda", "self projected", "em")
_PRINTED = ("emoa printed", "emoa normalised", "auem as coded", "emoa as coded")


def _shares(kind: str, levels: tuple[float, ...]) -> FloatArray:
    return uniform_shares(len(levels)) if kind == "uniform" else power_law(levels)


def largest(population: Population, k: int) -> Population:
    """The people who hold one of the k most frequent values."""
    kept = np.sort(np.argsort(-population.counts, kind="stable")[:k])
    return Population(population.name, tuple(population.labels[i] for i in kept), population.counts[kept])


def sizes(context: Context, data: str) -> tuple[int, ...]:
    """Numbers of values that are looked at; the two largest in a quick run."""
    return _SIZES[data][-2:] if context.quick else _SIZES[data]


def by_budget(context: Context, data: str, budget: float) -> Errors:
    """Fig. 2: AUEM at one budget of the level."""
    return context.once(_by_budget, data, budget)


def _by_budget(context: Context, data: str, budget: float) -> Errors:
    runs = 20 if context.quick else 50
    stream = context.stream(f"budget {data} {budget}")
    return study(load(DATA[data]), runs, stream, level_epsilon=budget, methods=("auem",))


def by_size(context: Context, data: str, k: int) -> Errors:
    """Fig. 3 and 4: the k most frequent values."""
    return context.once(_by_size, data, k)


def _by_size(context: Context, data: str, k: int) -> Errors:
    runs = 3 if context.quick else 20
    context.progress(f"pldp: {runs} collections of {k} values of {data}")
    return study(largest(load(DATA[data]), k), runs, context.stream(f"size {data} {k}"), methods=_NEW + _PRINTED)


def few_values(context: Context, data: str, k: int, runs: int) -> Errors:
    """The two baselines that see the levels, on the k most frequent values."""
    return context.once(_few_values, data, k, runs)


def _few_values(context: Context, data: str, k: int, runs: int) -> Errors:
    return study(largest(load(DATA[data]), k), runs, context.stream(f"few {data} {k}"), methods=("apldp", "rcf"))


def two_levels(context: Context, data: str, kind: str) -> Errors:
    """Fig. 5 and 6: levels 0.1 and 0.2."""
    return context.once(_two_levels, data, kind)


def _two_levels(context: Context, data: str, kind: str) -> Errors:
    methods = ("pbp", "pbp random", "auem", "auem projected", "em", *_PRINTED)
    runs, rho = 6 if context.quick else 50, _shares(kind, PAIR)
    stream = context.stream(f"two {data} {kind}")
    return study(load(DATA[data]), runs, stream, levels=PAIR, shares=rho, level_epsilon=0.1, methods=methods)


def ten_levels(context: Context, data: str, kind: str) -> Errors:
    """Fig. 7 and 8: levels from 0.1 to 1."""
    return context.once(_ten_levels, data, kind)


def _ten_levels(context: Context, data: str, kind: str) -> Errors:
    runs, rho = 6 if context.quick else 50, _shares(kind, LEVELS)
    context.progress(f"pldp: {runs} collections of {data}, {kind} levels")
    stream = context.stream(f"ten {data} {kind}")
    return study(load(DATA[data]), runs, stream, shares=rho, methods=_NEW + _PRINTED)
