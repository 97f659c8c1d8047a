"""Estimates that are no closed form of a tally: values with covariances, and where the covariances come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from deniable.core.intervals import Interval, wald_interval
from deniable.core.types import FloatArray, Target
from deniable.errors import ParameterError
from deniable.estimate.em import smooth
from deniable.estimate.evidence import Evidence
from deniable.estimate.result import Shares

__all__ = ["MATRIX_MAX", "FittedPart", "Spread", "bootstrap_spread", "information_spread", "smoothed_spread"]

MATRIX_MAX = 2048
"""For more values than this no covariance matrix is made."""

_VISIBLE = 1e-8
"""Share of an item's direction in what reports cannot tell apart, from which on its variance counts as infinite."""


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Variances and, where there are not too many values, covariances, for both targets."""

    population: FloatArray
    reporters: FloatArray

    @property
    def unknown(self) -> int:
        """How many values have an infinite variance."""
        return int(np.isinf(self.variance("population")).sum())

    def matrix(self, target: Target) -> FloatArray:
        """The covariance matrix."""
        found = self.population if target == "population" else self.reporters
        if found.ndim == 1:
            raise ParameterError(
                f"no covariance matrix is made for {found.size} values; the most is {MATRIX_MAX}.",
                "Variances are there: estimate.variance(), estimate.stderr.",
            )
        return found

    def variance(self, target: Target) -> FloatArray:
        """The variances."""
        found = self.population if target == "population" else self.reporters
        return found if found.ndim == 1 else np.diagonal(found).copy()


@dataclass(frozen=True, slots=True, eq=False)
class FittedPart(Shares):
    """Fitted frequencies with a spread, if one was asked for; intervals are value +- z stderr, cut to [0, 1]."""

    value: FloatArray
    spread: Spread | None

    def variance(self, target: Target) -> FloatArray:
        return self._known().variance(target)

    def covariance(self, target: Target) -> FloatArray:
        return self._known().matrix(target)

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        stderr = np.sqrt(self.variance(target))
        ends = wald_interval(self.value, stderr, level=level, target=target, simultaneous=simultaneous)
        return replace(ends, low=np.clip(ends.low, 0, 1), high=np.clip(ends.high, 0, 1))

    def _known(self) -> Spread:
        if self.spread is None:
            raise ParameterError(
                "this estimate was fitted without standard errors.",
                "Fit again with stderr='information' or stderr='bootstrap'.",
            )
        return self.spread


def information_spread(evidence: Evidence, f: FloatArray) -> Spread:
    """From the inverse of the information on the tangent space of the simplex, at the maximum f.

    All directions count, those out of the simplex too: the spread is that of an estimate free to leave it, larger than
    that of one that stays. For the reporters, what drawing them from the population adds is taken off [Louis82].
    """
    matrix = evidence.information(f)
    inverse, unseen = _tangent_inverse(matrix)
    posterior = f / (matrix @ f / evidence.n)
    own = (np.diag(posterior) - np.outer(posterior, posterior) / posterior.sum()) / evidence.n
    return Spread(_hidden(inverse, unseen), _hidden(_clean(inverse - own), unseen))


def smoothed_spread(evidence: Evidence, f: FloatArray) -> Spread:
    """Of a fixed point f = S(f g(f)) of smoothed EM, by the delta method; for both targets that of the population.

    With J = diag(g) - diag(f) B/n, B the information: df = (1 - S J)^-1 S d(f g), and n Var[f g] = diag(f) B/n diag(f)
    - (f g)(f g)'.
    """
    n, matrix = evidence.n, evidence.information(f) / evidence.n
    g = matrix @ f
    smoothing = np.apply_along_axis(smooth, 0, np.eye(f.size))
    score = f[:, None] * matrix * f[None, :] - np.outer(f * g, f * g)
    turned = np.eye(f.size) - smoothing @ (np.diag(g) - f[:, None] * matrix)
    influence = np.linalg.solve(turned, smoothing)
    spread = influence @ score @ influence.T / n
    return Spread(spread, spread)


def bootstrap_spread(fits: Sequence[FloatArray]) -> Spread:
    """Covariance of fits to reports drawn again; for both targets that of the population."""
    values = np.stack(fits)
    wide = values.shape[1] > MATRIX_MAX
    found = values.var(axis=0, ddof=1) if wide else np.atleast_2d(np.cov(values, rowvar=False))
    return Spread(found, found)


def _tangent_inverse(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The inverse of a non-negative matrix on vectors that sum to 0, and which items are in what it does not see."""
    k = len(matrix)
    centred = matrix - matrix.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh((centred + centred.T) / 2)
    rounding = max(values[-1], 4 * float(np.abs(matrix).max())) * k * np.finfo(np.float64).eps  # of all its entries
    seen = values > rounding
    kept = vectors[:, seen]
    blind = vectors[:, ~seen]
    hidden = (blind**2).sum(axis=1) - 1 / k  # the constant vector is never seen and is no direction
    return (kept / values[seen]) @ kept.T, hidden > _VISIBLE


def _clean(matrix: FloatArray) -> FloatArray:
    """Rounding may leave a variance of zero a little below it."""
    np.fill_diagonal(matrix, np.maximum(np.diagonal(matrix), 0.0))
    return matrix


def _hidden(matrix: FloatArray, unseen: FloatArray) -> FloatArray:
    """Infinite variances for items that reports do not tell from others, and no covariances with them."""
    matrix = matrix.copy()
    matrix[unseen, :] = np.nan
    matrix[:, unseen] = np.nan
    matrix[unseen, unseen] = np.inf
    return matrix
