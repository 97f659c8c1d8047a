"""Maximum likelihood of values and levels together, from reports at hidden levels [replaces PLDP Algorithm 1].

A report supports some items; given its class (the reported level and, for independent bits, the number of ones) its
likelihood has one value for the items it supports and one for the others, at each level. Derivation:
docs/maths/personal.md, section 6.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

import numpy as np

from deniable.core.types import Bytes, FloatArray, IntArray
from deniable.errors import require
from deniable.estimate.em import Climb, ConvergenceWarning, Move, squarem
from deniable.estimate.fit import FitOptions
from deniable.estimate.fitted import MATRIX_MAX, FittedPart, Spread
from deniable.kernels import loops
from deniable.kernels.parallel import blocks, run, shares

__all__ = ["SCORE_CELLS", "LevelEvidence", "Levelled", "Step", "fit_levels"]

_TOLERANCE = 0.02
"""Nats between the likelihood and its maximum over the frequencies, at which iterations stop."""
SCORE_CELLS = 1 << 20
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


class Levelled(Protocol):
    """What reports at hidden levels say about frequencies and shares of the levels."""

    @property
    def k(self) -> int:
        """Number of items."""
        ...

    @property
    def n(self) -> int:
        """Number of reports."""
        ...

    @property
    def levels(self) -> int:
        """Number of levels."""
        ...

    def step(self, f: FloatArray, rho: FloatArray) -> Step:
        """The EM step of frequencies and shares, and the log-likelihood there."""
        ...

    def scores(self, f: FloatArray, rho: FloatArray) -> FloatArray:
        """Sum over reports of the outer products of their scores, frequencies first, then shares."""
        ...


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
        for part in blocks(len(self.rows), max(1, SCORE_CELLS // size)):
            member = np.unpackbits(self.rows[part], axis=1, count=self.k, bitorder="little").astype(np.float64)
            kind = self.kinds[part]
            share = member @ f
            den = low[kind] + (high - low)[kind] * share
            own = low[kind][:, None] + (high - low)[kind][:, None] * member
            level = self.high[:, kind].T * share[:, None] + self.low[:, kind].T * (1 - share)[:, None]
            score = np.hstack([own, level]) * (np.sqrt(self.weights[part]) / den)[:, None]
            total += score.T @ score
        return total


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
