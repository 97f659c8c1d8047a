"""Collections with personal levels, repeated: every method reads the same reports of a run."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from deniable.collect.reports import Reports
from deniable.collect.tally import Tally
from deniable.core.domain import Domain
from deniable.core.types import FloatArray, IntArray
from deniable.datasets.population import Population
from deniable.estimate.simplex import project_simplex
from deniable.mechanisms.personal.estimate import blend, estimate_shares, linear
from deniable.mechanisms.personal.laws import LevelLaw
from deniable.mechanisms.personal.plain import Personal
from deniable.mechanisms.personal.published import emoa, pbp, ppda, rcf, response_is_better
from deniable.papers.evidence import Sampled
from deniable.papers.pldp.printed import auem_as_coded, emoa_as_coded
from deniable.randomness import Simulation

__all__ = ["LEVELS", "METHODS", "Errors", "apldp", "power_law", "study", "uniform_shares"]

LEVELS = tuple(round(0.1 * i, 1) for i in range(1, 11))
"""The levels of the paper's experiments."""

METHODS = (
    "auem",
    "auem projected",
    "self",
    "self projected",
    "em",
    "rcf",
    "rcf projected",
    "apldp",
    "apldp adaptive",
    "pbp",
    "pbp random",
    "ppda",
    "emoa printed",
    "emoa normalised",
    "auem as coded",
    "emoa as coded",
)
"""What is compared. RCF and APLDP see the levels; with SUE for all, as in the paper's experiments, they are the same,
and "adaptive" is APLDP with the better of two protocols at each level. PBP
sees the shares, or random ones as in the paper; PPDA has k bits of
nobody. "As coded" is what the authors' published code computes, which is not what the paper prints."""


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """Mean squared and mean absolute errors over the values: an array over the runs for each method."""

    mse: Mapping[str, FloatArray]
    mae: Mapping[str, FloatArray]
    sums: FloatArray
    """Sums of the printed EMOA's output."""
    seconds: FloatArray
    """Of each EM fit."""

    @property
    def runs(self) -> int:
        """Of the methods that take little time; others may have fewer."""
        return int(next(iter(self.mse.values())).size)

    def mean(self, method: str) -> float:
        """Mean over the runs of the mean squared error."""
        return float(self.mse[method].mean())

    def log_ratio(self, one: str, two: str, error: str = "mse") -> Sampled:
        """Paired mean of the logarithms of the ratios of two methods' errors."""
        errors: Mapping[str, FloatArray] = getattr(self, error)
        return Sampled.over_runs(np.log(errors[one]) - np.log(errors[two]))

    def difference(self, one: str, two: str) -> tuple[float, float]:
        """Paired mean difference of the squared errors of two methods, and its standard error."""
        d = self.mse[one] - self.mse[two]
        return float(d.mean()), float(d.std(ddof=1) / np.sqrt(d.size))


def uniform_shares(t: int) -> FloatArray:
    """All levels alike."""
    return np.full(t, 1 / t)


def power_law(levels: tuple[float, ...], exponent: float = 0.6) -> FloatArray:
    """More people at stronger protection: shares in proportion to level^-exponent (the authors' code has 0.6)."""
    weights = np.array(levels) ** -exponent
    return np.asarray(weights / weights.sum())


def study(
    population: Population,
    runs: int,
    rng: Simulation,
    *,
    levels: tuple[float, ...] = LEVELS,
    shares: FloatArray | None = None,
    level_epsilon: float = 0.3,
    base: str = "sue",
    methods: tuple[str, ...] = METHODS,
    progress: Callable[[int], None] | None = None,
) -> Errors:
    """Collect from the population `runs` times, levels drawn anew each time, and measure every method's error."""
    rho = uniform_shares(len(levels)) if shares is None else shares
    m = Personal(
        epsilon=max(levels),
        domain=Domain.of(population.k),
        levels=levels,
        base=base,
        level_epsilon=level_epsilon,
        shares=tuple(rho.tolist()),
    )
    truth = population.frequencies
    found: dict[str, list[FloatArray]] = {method: [] for method in methods}
    sums, seconds = [], []
    for run, stream in enumerate(rng.spawn(runs)):
        values, total, took = _run(m, population.counts, stream, methods)
        for method in methods:
            found[method].append(values[method] - truth)
        sums.append(total)
        seconds.append(took)
        if progress is not None:
            progress(run + 1)
    errors = {method: np.array(rows) for method, rows in found.items()}
    return Errors(
        {method: (rows**2).mean(axis=1) for method, rows in errors.items()},
        {method: np.abs(rows).mean(axis=1) for method, rows in errors.items()},
        np.array(sums),
        np.array(seconds),
    )


_WHOLE = {"em", "emoa printed", "emoa normalised"}
"""Methods that read reports one by one; all others read counts."""


@dataclass(frozen=True, slots=True, eq=False)
class _Collected:
    """What came in: the tally, by true level who holds what and whom reports support, and the reports if needed."""

    tally: Tally
    held: IntArray
    support: IntArray
    reports: Reports | None = None


def _reported(m: Personal, held: IntArray, rng: Simulation) -> _Collected:
    """Everybody reports."""
    t = len(m.levels)
    true, items = (np.repeat(at, held.ravel()) for at in np.divmod(np.arange(held.size), m.k))
    reports = m.privatize_items(items, rng, levels=np.array(m.levels)[true])
    data = {f.name: reports.columns[f.name] for f in m.bases[0].fields}
    apart = [m.bases[0].bulk.count({name: column[true == i] for name, column in data.items()}) for i in range(t)]
    support = np.concatenate([part["support"] for part in apart])
    return _Collected(m.tally(reports), held, support, reports)


def _drawn(m: Personal, held: IntArray, rng: Simulation) -> _Collected:
    """The same counts from their law, without reports: of a unary encoding the bits are independent."""
    law, draw = m.law_effective, rng.generator()
    told = draw.multinomial(held, law.channel[:, None, :])  # true level, item, told level
    people = told.sum(axis=1)
    own = draw.binomial(told, law.of("p")[:, None, None])
    others = draw.binomial(people[:, None, :] - told, law.of("q")[:, None, None])
    seen = own + others
    cells = {"n": people.sum(axis=0), "support": np.ascontiguousarray(seen.sum(axis=0).T)}
    tally = Tally(m.design, m.bulk.strata, cells, simulated=True)
    return _Collected(tally, held, seen.sum(axis=2))


def _run(
    m: Personal, people: IntArray, rng: Simulation, methods: tuple[str, ...]
) -> tuple[dict[str, FloatArray], float, float]:
    """The estimates of one run by method, the printed EMOA's sum, and the seconds that EM took."""
    t = len(m.levels)
    held = np.ascontiguousarray(rng.generator().multinomial(people, np.array(m.shares)).T)
    collect = _drawn if m.base in ("sue", "oue") and not _WHOLE & set(methods) else _reported
    found = collect(m, held, rng)
    counts, out = m.level_counts(found.tally), dict[str, FloatArray]()
    p, q = blend(counts)
    out["auem"] = np.asarray((counts.share - q) / (p - q))  # as published: without the guard
    if m.base != "grr":
        out["self"] = linear(counts, "self")[0].value
    by_level = held.sum(axis=1)
    out["rcf"] = out["apldp"] = rcf(m.law_effective, by_level, found.support)
    out["pbp"] = pbp(m.law_effective, counts.share, np.array(m.shares))
    out["pbp random"] = pbp(m.law_effective, counts.share, rng.generator().dirichlet(np.ones(t)))
    if m.base == "sue":
        out["ppda"] = ppda_drawn(m.law_effective, counts.share, by_level, m.k, rng)
        out["apldp adaptive"] = apldp(m.law_effective, np.array(m.levels), held, found.support, rng)
        budget = m.level_epsilon or 0.0
        out["auem as coded"] = auem_as_coded(m.law_effective, counts.share, by_level, budget, rng)
        out["emoa as coded"] = emoa_as_coded(m.law_effective, counts.share)
    out |= {f"{name} projected": project_simplex(out[name]) for name in ("auem", "self", "rcf") if name in out}
    took, total = 0.0, 0.0
    if "em" in methods:
        assert found.reports is not None
        start = time.perf_counter()
        out["em"] = m.fit(found.reports, stderr=None).value
        took = time.perf_counter() - start
    if "emoa printed" in methods or "emoa normalised" in methods:
        assert found.reports is not None
        sets = np.unpackbits(m.bases[0].bulk.supported(found.reports.columns), axis=1, count=m.k, bitorder="little")
        told = project_simplex(estimate_shares(counts))
        out["emoa printed"] = emoa(sets.astype(np.float64), m.law_effective, out["auem projected"], told)
        total = float(out["emoa printed"].sum())
        out["emoa normalised"] = out["emoa printed"] / total
    return out, total, took


# ---- schemes that the paper compares with, where they draw what its own reports do not have (PLDP, Appendix A.5)


def apldp(law: LevelLaw, levels: FloatArray, held: IntArray, support: IntArray, rng: Simulation) -> FloatArray:
    """Randomised response or SUE at each level, whichever is better there; combined as RCF does.

    `held` and `support` have a row for each true level: who holds which value, and whom the SUE reports support. For
    levels that keep SUE it reads the same reports as RCF, and it is RCF where all of them do: so in the experiments,
    where the paper takes SUE ("uniformly", Sec. 7.1).
    """
    draw, k = rng.generator(), held.shape[1]
    total, weight = np.zeros(k), 0.0
    for level, people, ones, q, gap in zip(levels, held, support, law.of("q"), law.of("gap"), strict=True):
        n = int(people.sum())
        if n == 0:
            continue
        if response_is_better(k, float(level)):
            e = math.exp(level)
            q, gap = 1 / (e + k - 1), (e - 1) / (e + k - 1)
            chances = (np.ones((k, k)) + (e - 1) * np.eye(k)) / (e + k - 1)
            ones = draw.multinomial(people, chances).sum(axis=0)
        precision = n * gap**2 / (q * (1 - q))
        total, weight = total + precision * (ones / n - q) / gap, weight + precision
    return np.asarray(total / weight)


def ppda_drawn(law: LevelLaw, share: FloatArray, people: IntArray, extra: int, rng: Simulation) -> FloatArray:
    """PPDA, whose `extra` bits of nobody are drawn here; `people` by true level."""
    draw = rng.generator()
    ones = sum(int(draw.binomial(int(n) * extra, q)) for n, q in zip(people, law.of("q"), strict=True))
    return ppda(share, ones / (int(people.sum()) * extra))
