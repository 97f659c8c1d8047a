"""Repeated collections of a known population: do error and best guess come out as the closed forms say?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deniable.collect.reports import Reports
from deniable.core.types import FloatArray, IntArray
from deniable.datasets import Population
from deniable.kernels.bits import get_bits
from deniable.kernels.reference import popcounts
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.support import SupportMechanism
from deniable.papers.paper import silent
from deniable.randomness import Simulation

__all__ = ["Trials", "collect_often"]


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """What came out of several collections with one mechanism."""

    mechanism: Mechanism
    population: Population
    errors: FloatArray
    """For each collection, the squared error averaged over the items."""
    hits: int
    """How many values were guessed from their reports."""

    @property
    def name(self) -> str:
        """Which mechanism and budget."""
        return f"{self.mechanism.name} epsilon={self.mechanism.epsilon:g}"

    @property
    def guesses(self) -> int:
        """Number of values that were guessed at."""
        return self.errors.size * self.population.n

    def seen(self, quantity: str) -> float:
        """Simulated `mse` (averaged over the collections) or `asr` (share of the values that were guessed)."""
        return float(self.errors.mean()) if quantity == "mse" else self.hits / self.guesses

    def expected(self, quantity: str) -> float:
        """The exact value for the integers that are sampled."""
        return float(self.mechanism.effective(self.population.n)[quantity])

    def pvalue(self, quantity: str, expected: float) -> float:
        """Two-sided p-value of `expected` as the true value."""
        return self._mse_pvalue(expected) if quantity == "mse" else self._asr_pvalue(expected)

    def _mse_pvalue(self, expected: float) -> float:
        """The errors are normal up to O(1/sqrt(n)), so their squares add up to a mixture of chi-square laws.

        The one chi-square law with the same mean and variance, from the exact covariance, stands for it. Where few
        people answer otherwise than they are (large epsilon, small n) errors are counts of rare events, and their
        squares vary more than that: then the variance that the collections showed counts.
        """
        from scipy.stats import chi2

        covariance = self._covariance()
        freedom = self.errors.size * float(np.trace(covariance)) ** 2 / float((covariance**2).sum())
        if self.errors.size > 1 and (varied := float(self.errors.var(ddof=1))) > 0:
            freedom = min(freedom, 2 * self.errors.size * float(self.errors.mean()) ** 2 / varied)
        law, seen = chi2(freedom), freedom * self.seen("mse") / expected
        return float(min(1.0, 2 * min(law.cdf(seen), law.sf(seen))))

    def _covariance(self) -> FloatArray:
        """Exact covariance of the estimates; where reports support no items, noise is independent between them."""
        m, people = self.mechanism, self.population
        if isinstance(m, SupportMechanism):
            return m.support_effective.covariance(people.frequencies, people.n)
        return np.eye(people.k) * self.expected("mse")

    def _asr_pvalue(self, expected: float) -> float:
        """Guesses are independent and all succeed with the same chance: the binomial test is exact."""
        from scipy.stats import binomtest

        return float(binomtest(self.hits, self.guesses, expected).pvalue)


def collect_often(
    mechanism: Mechanism,
    population: Population,
    runs: int,
    stream: Simulation,
    progress: Callable[[str], None] = silent,
) -> Trials:
    """Collect the population `runs` times, each time with a stream of its own; estimate, and attack every report."""
    items, truth = population.values(), population.frequencies
    errors, hits = np.empty(runs), 0
    progress(f"collecting {population.name} {runs} times with {mechanism.name}, epsilon {mechanism.epsilon:g}")
    for run, (report, guess) in enumerate(zip(stream.spawn(runs), stream.spawn(runs), strict=True)):
        reports = mechanism.privatize_items(items, report)
        estimate = mechanism.estimate(mechanism.tally(reports))
        errors[run] = np.mean((estimate.value - truth) ** 2)
        hits += _hits(mechanism, reports, items, guess)
    return Trials(mechanism, population, errors, hits)


def _hits(mechanism: Mechanism, reports: Reports, items: IntArray, stream: Simulation) -> int:
    """How many values the best attack guesses: any of the likeliest items.

    Only whether the guess is right matters, so it is drawn with the chance it has: 1/(number of likeliest items) if the
    own item is among them. Those are the supported items, or all where none is supported.
    """
    if isinstance(mechanism, SupportMechanism):
        rows = mechanism.bulk.supported(reports.columns)
        own, size = get_bits(rows, items), popcounts(rows)
        chance = np.where(size > 0, own / np.maximum(size, 1), 1 / mechanism.k)
    else:
        likelihood = mechanism.bulk.reader.likelihood(reports.columns)
        best = likelihood == likelihood.max(axis=1, keepdims=True)
        chance = best[np.arange(items.size), items] / best.sum(axis=1)
    return int(np.count_nonzero(stream.generator().random(items.size) < chance))
