"""Maximum likelihood of values and levels together, from reports at hidden levels [replaces PLDP Algorithm 1].

A report supports some items; given its class (the reported level and, for independent bits, the number of ones) its
likelihood has one value for the items it supports and one for the others, at each level. Where harmless items are
disclosed now and then, a hidden report has a third one for all of these; a disclosed one tells its item and, by its
chance, something about the level. Derivations: docs/maths/personal.md, sections 6 and 8.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from deniable.core.types import Bytes, FloatArray, IntArray
from deniable.errors import require
from deniable.estimate.em import Climb, ConvergenceWarning, Move, squarem
from deniable.estimate.fit import FitOptions
from deniable.estimate.fitted import MATRIX_MAX, FittedPart, Spread
from deniable.kernels import loops
from deniable.kernels.parallel import blocks, run, shares

__all__ = ["LevelEvidence", "Levelled", "UtilityLevelEvidence", "fit_levels"]

_TOLERANCE = 0.02
"""Nats between the likelihood and its maximum over the frequencies, at which iterations stop."""
_SCORE_CELLS = 1 << 20
"""Most numbers of scores that are held at a time."""
_SCORED = 1 << 17
"""Of more reports than this, evenly spaced ones stand for all in the covariance of the scores: off by 1 % or so."""
_TINY = 1e-300
_MANY = 1 << 15
"""Fewer reports than this are worked on by one thread."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One evaluation: factors of the frequencies and of the shares of levels, and the log-likelihood."""

    f: FloatArray
    """An EM step takes f_x to f_x times this."""
    rho: FloatArray
    loglik: float


@dataclass(frozen=True, slots=True, eq=False)
class LevelEvidence:
    """Reports as packed rows of supported items, each with its class and how often it counts.

    high[i, c] and low[i, c] are the likelihoods of class c at level i for supported and for other items, the level
    report included, up to a factor of the class whose logarithm is in `scale`.
    """

    rows: Bytes
    weights: FloatArray
    kinds: IntArray
    high: FloatArray
    low: FloatArray
    scale: FloatArray
    k: int

    @property
    def n(self) -> int:
        """Number of reports."""
        return round(float(self.weights.sum()))

    @property
    def levels(self) -> int:
        """Number of levels."""
        return len(self.high)

    @classmethod
    def of(
        cls, rows: Bytes, weights: FloatArray, kinds: IntArray, high: FloatArray, low: FloatArray, k: int
    ) -> LevelEvidence:
        """From logarithms of likelihoods; each class is scaled by its largest one."""
        scale = np.maximum(high.max(axis=0), low.max(axis=0))
        return cls(rows, weights, kinds, np.exp(high - scale), np.exp(low - scale), scale, k)

    def step(self, f: FloatArray, rho: FloatArray) -> Step:
        """The EM step of frequencies and shares, and the log-likelihood there."""
        high, low = rho @ self.high, rho @ self.low
        items, inside, outside, log = self.sums(f, high, low)
        n = self.n
        rest = float(low @ (inside + outside))
        return Step((items + rest) / n, (self.high @ inside + self.low @ outside) / n, log)

    def sums(
        self, f: FloatArray, high: FloatArray, low: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        """`em_levels` over all reports, for blended likelihoods of the classes; the logarithm with the scales."""

        def work(part: slice) -> tuple[FloatArray, FloatArray, FloatArray, float]:
            found: tuple[FloatArray, FloatArray, FloatArray, float] = loops().em_levels(
                f, self.rows[part], self.weights[part], self.kinds[part], high, low
            )
            return found

        parts = shares(len(self.rows)) if len(self.rows) >= _MANY else [slice(None)]
        found = run(work, parts)
        items, inside, outside = (np.asarray(sum(arrays)) for arrays in list(zip(*found, strict=True))[:3])
        counts = np.bincount(self.kinds, weights=self.weights, minlength=len(self.scale))
        return items, inside, outside, sum(sums[3] for sums in found) + float(counts @ self.scale)

    def thinned(self) -> tuple[LevelEvidence, float]:
        """Evenly spaced reports that stand for all where there are very many, and for how many each of them does."""
        stride = -(-len(self.rows) // _SCORED)
        if stride <= 1:
            return self, 1.0
        few = replace(self, rows=self.rows[::stride], weights=self.weights[::stride], kinds=self.kinds[::stride])
        return few, float(self.weights.sum() / few.weights.sum())

    def scores(self, f: FloatArray, rho: FloatArray) -> FloatArray:
        """Sum over reports of the outer products of their scores, frequencies first, then shares."""
        few, factor = self.thinned()
        if few is not self:
            return np.asarray(few.scores(f, rho) * factor)
        size = self.k + self.levels
        total = np.zeros((size, size))
        high, low = rho @ self.high, rho @ self.low
        for part in blocks(len(self.rows), max(1, _SCORE_CELLS // size)):
            member = np.unpackbits(self.rows[part], axis=1, count=self.k, bitorder="little").astype(np.float64)
            kind = self.kinds[part]
            share = member @ f
            den = low[kind] + (high - low)[kind] * share
            own = low[kind][:, None] + (high - low)[kind][:, None] * member
            level = self.high[:, kind].T * share[:, None] + self.low[:, kind].T * (1 - share)[:, None]
            score = np.hstack([own, level]) * (np.sqrt(self.weights[part]) / den)[:, None]
            total += score.T @ score
        return total


@dataclass(frozen=True, slots=True, eq=False)
class UtilityLevelEvidence:
    """Hidden reports by the sensitive items they support, and counts of disclosed items by reported level.

    `mid` is the likelihood of hidden reports' classes for harmless items, on the scale of `hidden`; `told` is that of
    disclosing at each reported level. Rows of both are the levels.
    """

    hidden: LevelEvidence
    mid: FloatArray
    disclosed: FloatArray
    """A row for each reported level, a column for each harmless item."""
    told: FloatArray
    items: tuple[IntArray, IntArray]
    """Numbers of the sensitive and of the harmless items."""

    @property
    def k(self) -> int:
        """Number of items."""
        return self.items[0].size + self.items[1].size

    @property
    def n(self) -> int:
        """Number of reports."""
        return self.hidden.n + round(float(self.disclosed.sum()))

    @property
    def levels(self) -> int:
        """Number of levels."""
        return len(self.told)

    def step(self, f: FloatArray, rho: FloatArray) -> Step:
        """The EM step of frequencies and shares, and the log-likelihood there."""
        own, rest = f[self.items[0]], f[self.items[1]]
        t, theta = float(own.sum()), float(rest.sum())
        high, low, mid = (rho @ part for part in (self.hidden.high, self.hidden.low, self.mid))
        base = t * low + theta * mid
        gained, inside, outside, log = self.hidden.sums(own, base + high - low, base)
        each = inside + outside  # sums of 1/likelihood by class
        factor = np.empty(self.k)
        factor[self.items[0]] = gained + float(low @ each)
        counts, seen = self.disclosed.sum(axis=0), self.disclosed.sum(axis=0) > 0
        factor[self.items[1]] = float(mid @ each) + np.divide(counts, rest, out=np.zeros(rest.size), where=seen)
        level = self.hidden.high @ inside + self.hidden.low @ (t * each - inside) + theta * (self.mid @ each)
        heard, blend = self.disclosed.sum(axis=1), rho @ self.told
        level = level + self.told @ (heard / blend)
        log += float(counts[seen] @ np.log(rest[seen])) + float(heard @ np.log(blend))
        return Step(factor / self.n, np.asarray(level / self.n), log)

    def scores(self, f: FloatArray, rho: FloatArray) -> FloatArray:
        """Sum over reports of the outer products of their scores, frequencies first, then shares."""
        return self._hidden_scores(f, rho) + self._disclosed_scores(f, rho)

    def _disclosed_scores(self, f: FloatArray, rho: FloatArray) -> FloatArray:
        rest, k = self.items[1], self.k
        total = np.zeros((k + self.levels, k + self.levels))
        counts = self.disclosed.sum(axis=0)
        own = np.divide(1.0, f[rest], out=np.zeros(rest.size), where=counts > 0)
        total[rest, rest] = counts * own**2
        level = (self.told / (rho @ self.told)).T  # a row for each reported level
        total[k:, k:] = level.T @ (self.disclosed.sum(axis=1)[:, None] * level)
        cross = (self.disclosed * own).T @ level
        total[rest, k:] = cross
        total[k:, rest] = cross.T
        return total

    def _hidden_scores(self, f: FloatArray, rho: FloatArray) -> FloatArray:
        hidden, k = self.hidden, self.k
        few, factor = hidden.thinned()
        if few is not hidden:
            return np.asarray(replace(self, hidden=few)._hidden_scores(f, rho) * factor)
        own, rest = self.items
        high, low, mid = (rho @ part for part in (hidden.high, hidden.low, self.mid))
        t, theta = float(f[own].sum()), float(f[rest].sum())
        total = np.zeros((k + self.levels, k + self.levels))
        for part in blocks(len(hidden.rows), max(1, _SCORE_CELLS // (k + self.levels))):
            member = np.unpackbits(hidden.rows[part], axis=1, count=own.size, bitorder="little").astype(np.float64)
            kind = hidden.kinds[part]
            share = (member @ f[own])[:, None]
            score = np.empty((len(kind), k + self.levels))
            score[:, own] = low[kind][:, None] + (high - low)[kind][:, None] * member
            score[:, rest] = mid[kind][:, None]
            by_level = (hidden.high[:, kind].T, hidden.low[:, kind].T, self.mid[:, kind].T)
            score[:, k:] = by_level[0] * share + by_level[1] * (t - share) + by_level[2] * theta
            den = score[:, k:] @ rho
            score *= (np.sqrt(hidden.weights[part]) / den)[:, None]
            total += score.T @ score
        return total


Levelled: TypeAlias = LevelEvidence | UtilityLevelEvidence
"""What reports at hidden levels say about frequencies and shares of the levels."""


def fit_levels(
    evidence: Levelled, start: FloatArray, options: FitOptions, *, known: bool = False, origin: FloatArray
) -> tuple[FittedPart, FloatArray, tuple[str, ...]]:
    """Frequencies, shares of the levels and what was done; from shares `start` and frequencies `origin`.

    `known`: the shares are known to be `start` and stay so.
    """
    tolerance = _TOLERANCE if options.tolerance is None else options.tolerance
    k, n = evidence.k, evidence.n
    climb = squarem(
        _move(evidence, known),
        np.concatenate([origin, start]),
        tolerance=tolerance,
        max_steps=options.max_steps,
        blocks=[k, evidence.levels],
        progress=options.progress,
    )
    f, rho = climb.value[:k], climb.value[k:]
    spread = None
    if options.stderr is not None:
        require(options.stderr == "information", "stderr", options.stderr, "'information' or None for levels")
        require(k <= MATRIX_MAX, "k", k, f"at most {MATRIX_MAX} with stderr='information'", "Use stderr=None.")
        spread = _spread(evidence, f, rho, known)
    return FittedPart(f, spread), rho, _told(climb, n, tolerance, options)


def _move(evidence: Levelled, known: bool) -> Callable[[FloatArray], Move]:
    """EM on frequencies and shares. For fixed shares the likelihood is concave in f, which gives the certificate.

    Shares must have settled too: the log-likelihood gains at least the divergence of the new weights from the old ones.
    """
    k, n = evidence.k, evidence.n

    def move(theta: FloatArray) -> Move:
        f, rho = theta[:k], theta[k:]
        found = evidence.step(f, rho)
        certificate = n * (float(found.f.max()) - 1)
        to = np.concatenate([f * found.f, rho if known else rho * found.rho])
        gain = n * float(np.sum(to * np.log(np.maximum(to, _TINY) / np.maximum(theta, _TINY))))
        return Move(theta, to, found.loglik, max(certificate, gain), found.loglik)

    return move


def _told(climb: Climb, n: int, tolerance: float, options: FitOptions) -> tuple[str, ...]:
    end = f"at most {climb.gap:.2g} nats below the maximum over all frequencies"
    if not climb.met:
        end = f"not at the maximum: possibly {climb.gap:.2g} nats below it"
        hint = f"raise max_steps (now {options.max_steps}) or the tolerance ({tolerance:g})"
        warnings.warn(f"{end}; {hint}.", ConvergenceWarning, stacklevel=4)
    text = f"maximum likelihood of values and levels by EM from {n} reports: {climb.steps} steps, {end}"
    if options.stderr is None:
        return (text, "no standard errors were asked for; the estimate is biased near the edge of the simplex")
    return (text, "standard errors: covariance of the scores; intervals are approximate and cut to [0, 1]")


def _spread(evidence: Levelled, f: FloatArray, rho: FloatArray, known: bool) -> Spread:
    """From the inverse of the scores' covariance on the tangent space, the shares of levels being unknown too."""
    k, n = evidence.k, evidence.n
    matrix = evidence.scores(f, rho)
    if known:
        matrix = matrix[:k, :k]
    sizes = [k] if known else [k, evidence.levels]
    centre = np.eye(len(matrix))
    ends = np.cumsum([0, *sizes])
    for first, last in pairwise(ends.tolist()):
        centre[first:last, first:last] -= 1 / (last - first)
    inside = centre @ matrix @ centre
    values, vectors = np.linalg.eigh((inside + inside.T) / 2)
    seen = values > values[-1] * len(values) * np.finfo(np.float64).eps
    kept = vectors[:, seen]
    population = ((kept / values[seen]) @ kept.T)[:k, :k]
    own = (np.diag(f) - np.outer(f, f)) / n
    reporters = population - own
    np.fill_diagonal(reporters, np.maximum(np.diagonal(reporters), 0.0))
    return Spread(population, reporters)
