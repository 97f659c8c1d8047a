"""Checks of what is really drawn: exact binomial p-values, a stated false alarm rate, and proof of power.

Every count that is looked at is binomial exactly, so the p-values need no approximation; the smallest of them is
multiplied by their number (Bonferroni). Half of the false alarm rate goes to two pooled counts, which know how well a
wrong epsilon shows; the other half to all cells, which would show any other fault.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeVar, cast

import numpy as np
from scipy.stats import binom, norm

from deniable.collect.codec import dump, load
from deniable.collect.tally import Tally
from deniable.core.channel import Channel
from deniable.core.circle import Circle
from deniable.core.grid import Grid
from deniable.core.types import Columns, FloatArray, IntArray
from deniable.errors import ParameterError, require
from deniable.estimate.result import Estimate
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.support import SupportMechanism
from deniable.randomness import simulation
from deniable.testing.exact import (
    check_estimator_reads_support,
    check_exact_expectation,
    enumerated,
    enumerated_pairs,
    supports_items,
)
from deniable.testing.profiles import Profiles, counts_by_value, distinct
from deniable_client.packing import pack_bits

__all__ = [
    "check_power",
    "check_sampler",
    "check_unbiased",
    "law_pvalue",
    "reports_needed",
    "stronger",
    "two_sided",
    "untestable",
    "watched_values",
]

REPORTS_MAX = 1 << 26
"""More reports than this are not drawn to check one mechanism once."""

M = TypeVar("M", bound=Mechanism)
_POOLED = 2
_NONE = 1e-12


def watched_values(k: int, most: int = 8) -> list[int]:
    """All values of a small domain; else values spread over it, both ends among them."""
    return sorted({round(i * (k - 1) / (most - 1)) for i in range(most)}) if k > most else list(range(k))


def stronger(m: M, excess: float) -> M:
    """The same mechanism with `excess` times the epsilon: what a careless implementation might sample."""
    return m.at(m.epsilon * excess)


def untestable(m: Mechanism) -> str | None:
    """Why the law of reports cannot be tested, or None if it can."""
    if supports_items(m):
        return None
    if enumerated(m) is None:
        return "neither support probabilities nor few enough outputs to enumerate"
    try:
        m.bulk.reader.likelihood(m.privatize_items(np.zeros(1, np.int64), simulation(0)).columns)
    except ParameterError as error:
        return str(error)
    return None


def law_pvalue(m: Mechanism, batches: Mapping[int, Columns]) -> float:
    """p-value of "these reports, by the value they were made from, follow the law of `m`", over all counts together.

    Reports may come from anywhere: the bulk sampler, a device, another implementation. A report that `m` cannot make
    has p-value 0.
    """
    return _support_pvalue(m, batches) if supports_items(m) else _profile_pvalue(m, batches)


def _profile_pvalue(m: Mechanism, batches: Mapping[int, Columns]) -> float:
    channel = m.channel()
    profiles = Profiles.of(channel)
    counts = counts_by_value(m, profiles, batches)
    if counts is None:
        return 0.0
    laws = {x: profiles.chances(channel, x) for x in counts}
    cells = np.concatenate([two_sided(c, int(c.sum()), laws[x]) for x, c in counts.items()])
    own = np.array([[c[profiles.points_to(x)].sum(), c.sum()] for x, c in counts.items()], np.int64)
    chances = np.array([laws[x][profiles.points_to(x)].sum() for x in counts])
    if np.ptp(chances) < _NONE:  # the same for all values: one count
        own, chances = own.sum(axis=0, keepdims=True), chances[:1]
    events = np.concatenate([two_sided(own[i : i + 1, 0], int(own[i, 1]), chances[i : i + 1]) for i in range(len(own))])
    return float(min(1.0, 2 * min(events.size * events.min(), cells.size * cells.min())))


def _support_pvalue(m: SupportMechanism, batches: Mapping[int, Columns]) -> float:
    channel = enumerated(m)
    supports = {x: m.bulk.support_counts(m.bulk.count(columns)) for x, columns in batches.items()}
    sizes = {x: len(next(iter(columns.values()))) for x, columns in batches.items()}
    s = m.support_effective
    total = sum(sizes.values())
    own = sum(int(counts[x]) for x, counts in supports.items())
    next_one = sum(int(counts[(x + 1) % m.k]) for x, counts in supports.items())
    pooled = two_sided(np.array([own, next_one]), total, np.array([s.p, s.q]))
    if channel is not None and channel.supported is not None:
        cells = [_cells_of_sets(m, channel, x, columns) for x, columns in batches.items()]
    else:
        items = np.arange(m.k)
        cells = [two_sided(c, sizes[x], np.where(items == x, s.p, s.q)) for x, c in supports.items()]
    every = np.concatenate(cells)
    return float(min(1.0, 2 * min(_POOLED * pooled.min(), every.size * every.min())))


def two_sided(counts: IntArray, n: int, p: FloatArray) -> FloatArray:
    """Exact two-sided binomial p-values: twice the smaller tail."""
    tail = np.minimum(binom.cdf(counts, n, p), binom.sf(counts - 1, n, p))
    return np.asarray(np.minimum(1.0, 2 * tail), dtype=np.float64)


def check_sampler(m: Mechanism, *, alpha: float, n: int, seed: int) -> str:
    """`n` bulk reports of each watched value follow the law. A right mechanism fails with probability <= alpha."""
    reason = untestable(m)
    if reason is not None:
        return f"does not apply: {reason}"
    found = law_pvalue(m, _draw(m, n, seed))
    assert found > alpha, f"{n} reports per value do not follow the law (p = {found:.3g}, false alarm rate {alpha:g})"
    return f"{n} reports of each of {len(watched_values(m.k))} values follow the law (p = {found:.3g})"


def check_power(m: Mechanism, *, alpha: float, n: int, seed: int, excess: float = 1.1) -> str:
    """The same test with the same `n` rejects reports drawn with `excess` times the epsilon."""
    reason = untestable(m)
    if reason is not None:
        return f"does not apply: {reason}"
    wrong = stronger(m, excess)
    found = law_pvalue(m, _draw(wrong, n, seed))
    assert found <= alpha, (
        f"the test has no power: {n} reports per value with {excess:g} times the epsilon pass (p = {found:.3g})"
    )
    return f"{n} reports per value with {excess:g} times the epsilon are rejected (p = {found:.3g})"


def check_unbiased(m: Mechanism, *, alpha: float, n: int, seed: int) -> str:
    """The expected estimate is the truth: exactly where the channel is enumerable, and in one run of the pipeline.

    The run privatises a skewed population of `n` and sends its tally through bytes. Support mechanisms: each estimate
    is turned back into the count it stands for, whose law (a sum of two binomials) is known exactly. Others: estimates
    are compared by their own standard errors (normal approximation). A right mechanism fails with chance <= alpha.
    """
    if "parts" in m.design:
        return "does not apply: each part has estimates of its own; check the parts"
    channel = None
    if supports_items(m):
        check_estimator_reads_support(m)
        channel = enumerated_pairs(m)
        if channel is not None:
            check_exact_expectation(m, channel)
    holders = _skewed(m.k, n)
    items = np.repeat(np.arange(m.k), holders)
    sent = load(dump(m.tally(m.privatize_items(items, simulation(seed)))))
    assert isinstance(sent, Tally)
    try:
        estimate = m.estimate(sent)
    except ParameterError as error:
        return f"does not apply: {error}"
    each = _estimate_pvalues(m, estimate, holders)
    found = each.size * float(each.min())
    assert found > alpha, f"an estimate is too far from the truth (p = {found:.3g}, false alarm rate {alpha:g})"
    return f"{'exactly, and ' if channel else ''}in a run of {n} reports (p = {min(1.0, found):.3g})"


def _estimate_pvalues(m: Mechanism, estimate: Estimate, holders: IntArray) -> FloatArray:
    """p-value of each item's estimate, given how many people hold it; of the mean where that is all there is."""
    n = int(holders.sum())
    if not supports_items(m):
        truth, name = (holders if m.bulk.stands_for is None else holders @ m.bulk.stands_for) / n, "frequency"
        if isinstance(m.domain, Circle):
            return _vector_pvalue(estimate, truth @ m.domain.coordinates())
        if "frequency" not in estimate.parts and isinstance(m.domain, Grid):
            truth, name = np.array([truth @ m.domain.points]), "mean"
        if "interaction" in estimate.parts:
            truth, name = cast(Any, m).interaction_of(truth), "interaction"
        off, spread = estimate[name].value - truth, estimate[name].stderr
        sure = spread < _NONE  # nothing is random about it: it must be right
        return np.where(sure, np.abs(off) < 1e3 * _NONE, 2 * norm.sf(np.abs(off) / np.where(sure, 1.0, spread)))
    p, q = m.support_effective.p, m.support_effective.q
    counts = (n * (q + (p - q) * estimate.value)).tolist()
    return np.array([_pvalue_of_sum(c, h, n, p, q) for c, h in zip(counts, holders.tolist(), strict=True)])


def _vector_pvalue(estimate: Estimate, truth: FloatArray) -> FloatArray:
    """p-value of the mean vector of directions."""
    part: Any = estimate.parts["mean"]
    off = np.array([part.vector.cos, part.vector.sin]) - truth
    return np.array([math.exp(-float(off @ np.linalg.solve(part.vector.reporters, off)) / 2)])


def reports_needed(m: Mechanism, *, alpha: float, miss: float, excess: float = 1.1) -> float:
    """Reports per watched value so that `check_sampler` rejects `excess` times the epsilon with chance >= 1 - miss.

    Computed from the laws before anything is drawn: exact binomial power of the one count that shows it best. A whole
    number, or infinite where more than `REPORTS_MAX` would be needed.
    """
    require(0 < alpha < 1 and 0 < miss < 1, "alpha and miss", (alpha, miss), "between 0 and 1")
    if not supports_items(m):
        return _profile_size(m, stronger(m, excess), alpha, miss)
    right, other = m.support_effective, stronger(m, excess).support_effective
    level = alpha / (2 * _POOLED)
    total = min(_binomial_size(right.p, other.p, level, miss), _binomial_size(right.q, other.q, level, miss))
    return math.inf if math.isinf(total) else math.ceil(total / len(watched_values(m.k)))


def _profile_size(m: Mechanism, wrong: Mechanism, alpha: float, miss: float) -> float:
    """Reports per value so that the share of those that point to their value shows a wrong epsilon."""
    channel, other = m.channel(), wrong.channel()
    profiles, values = Profiles.of(channel), watched_values(m.k)
    own = [[profiles.chances(c, x)[profiles.points_to(x)].sum() for c in (channel, other)] for x in values]
    together = bool(np.ptp(np.array(own), axis=0).max() < _NONE)
    events = own[:1] if together else own
    size = min(_binomial_size(p, q, alpha / 2 / len(events), miss) for p, q in events)
    return math.inf if math.isinf(size) else math.ceil(size / (len(values) if together else 1))


def _binomial_size(p: float, other: float, level: float, miss: float) -> float:
    """Draws so that a two-sided exact test of `p` at `level` rejects `other` with probability >= 1 - miss."""
    if p == other:
        return math.inf
    z = norm.isf(level / 2) * math.sqrt(p * (1 - p)) + norm.isf(miss) * math.sqrt(other * (1 - other))
    size = max(30.0, (z / (p - other)) ** 2)
    while size <= REPORTS_MAX:
        n = math.ceil(size)
        low, high = binom.ppf(level / 2, n, p) - 1, binom.isf(level / 2, n, p) + 1
        if binom.cdf(low, n, other) + binom.sf(high - 1, n, other) >= 1 - miss:
            return n
        size *= 1.05
    return math.inf


def _draw(m: Mechanism, n: int, seed: int) -> dict[int, Columns]:
    values = watched_values(m.k)
    streams = simulation(seed).spawn(len(values))
    people = {x: np.full(n, x, np.int64) for x in values}
    return {x: m.privatize_items(people[x], rng).columns for x, rng in zip(values, streams, strict=True)}


def _cells_of_sets(m: SupportMechanism, channel: Channel, x: int, columns: Columns) -> FloatArray:
    """p-value of how often each set of items was supported; 0 for a set that no output supports."""
    law: dict[bytes, int] = {}
    for row, items in zip(channel.weights, channel.supported or (), strict=True):
        key = pack_bits(items, m.k)
        law[key] = law.get(key, 0) + row[x]
    sets = m.bulk.supported(columns)
    first, counts = distinct(sets)
    seen = {key.tobytes(): int(count) for key, count in zip(sets[first], counts, strict=True)}
    if not seen.keys() <= law.keys():
        return np.zeros(1)
    chances = np.array([float(Fraction(weight, channel.total)) for weight in law.values()])
    return two_sided(np.array([seen.get(key, 0) for key in law]), int(counts.sum()), chances)


def _skewed(k: int, n: int) -> IntArray:
    """How many of n people hold each item: half the first, a tenth the last, the others alike."""
    holders = np.full(k, (n - n // 2 - n // 10) // max(1, k - 2), np.int64)
    holders[0], holders[-1] = n // 2, n // 10
    holders[0] += n - holders.sum()
    return holders


def _pvalue_of_sum(count: float, holders: int, n: int, p: float, q: float) -> float:
    """Exact two-sided p-value of `count` under Binomial(holders, p) + Binomial(n - holders, q)."""
    start, law = _sum_law(holders, n, p, q)
    below, above = math.floor(count + 0.5) - start, math.ceil(count - 0.5) - start
    return float(min(1.0, 2 * min(law[: max(0, below + 1)].sum(), law[max(0, above) :].sum())))


@lru_cache(maxsize=16)
def _sum_law(holders: int, n: int, p: float, q: float) -> tuple[int, FloatArray]:
    """First value and probabilities of the sum of two binomials, all but a mass below 1e-30."""
    (first, law), (second, other) = _binomial_law(holders, p), _binomial_law(n - holders, q)
    return first + second, np.convolve(law, other)


def _binomial_law(size: int, chance: float) -> tuple[int, FloatArray]:
    spread = 40 + 15 * math.sqrt(size * chance * (1 - chance))
    low, high = (min(size, max(0, math.floor(size * chance + d))) for d in (-spread, spread))
    return low, np.asarray(binom.pmf(np.arange(low, high + 1), size, chance), dtype=np.float64)
