"""Frequencies from counts of all reports, where the channel has an inverse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.core.intervals import Interval, curve_interval, drawn, mixed
from deniable.core.types import FloatArray, IntArray, Target
from deniable.errors import ParameterError
from deniable.estimate.result import Shares
from deniable.estimate.simplex import project_simplex

__all__ = ["best_inverse", "inverse_part"]

_CONDITION_MAX = 1e8
"""Channels that are nearer than this to having no inverse are refused: rounding would be part of the estimate."""


@dataclass(frozen=True, slots=True, eq=False)
class InversePart(Shares):
    """Unbiased frequencies: the share of each report, through the (pseudo-)inverse of the channel."""

    share: FloatArray
    """Share of the reports that are each output."""
    matrix: FloatArray
    """Pr[output | value], a row for each value."""
    inverse: FloatArray
    n: float

    @property
    def value(self) -> FloatArray:
        return np.asarray(self.share @ self.inverse)

    def variance(self, target: Target) -> FloatArray:
        """See `Part.variance`: plugged in, and never below 0."""
        return np.asarray(np.maximum(np.diag(self._covariance(target)), 0.0))

    def covariance(self, target: Target) -> FloatArray:
        matrix = self._covariance(target)
        np.fill_diagonal(matrix, self.variance(target))
        return matrix

    def _covariance(self, target: Target) -> FloatArray:
        """Of counts: diag(mu) minus, for a population mu mu', for the reporters the sum of f_x P_x P_x'."""
        if target == "population":
            minus = np.outer(self.share, self.share)
        else:
            minus = (self.matrix.T * self.value) @ self.matrix
        counts = np.diag(self.share) - minus
        return np.asarray(self.inverse.T @ counts @ self.inverse / self.n)

    def interval(self, level: float, target: Target, simultaneous: bool) -> Interval:
        """See `Part.interval`: the score test's variance at a frequency, the others being in their proportion."""
        f = project_simplex(self.value)
        given = self.matrix @ self.inverse**2 - np.eye(f.size)
        curve = drawn(mixed(np.diag(given), f @ given, f, self.n), self.n, target)
        return curve_interval(self.value, curve, level=level, target=target, simultaneous=simultaneous, n=self.n)


def inverse_part(
    counts: IntArray, matrix: FloatArray, n: int, name: str, prior: FloatArray | None = None
) -> InversePart:
    """The estimate from counts of all outputs; `ParameterError` where the channel has no (good) inverse.

    Of the inverses that a channel with more outputs than values has: the one that is best at a `prior`, else the
    pseudo-inverse.
    """
    return InversePart(counts / n, matrix, best_inverse(matrix, name, prior), n)


def best_inverse(matrix: FloatArray, name: str, prior: FloatArray | None = None) -> FloatArray:
    """A row of unbiased scores for each output, of least summed variance at a prior (docs/maths/written.md, section 4).

    It is the pseudo-inverse after each output is scaled by one over the root of its probability.
    """
    scale = np.ones(matrix.shape[1])
    if prior is not None:
        seen = prior @ matrix
        scale = np.divide(1.0, np.sqrt(seen), out=np.zeros_like(seen), where=seen > 0)
    scaled = matrix * scale
    sizes = np.linalg.svd(scaled, compute_uv=False)
    k = matrix.shape[0]
    rank = int((sizes > sizes[0] * 1e-13 * max(matrix.shape)).sum())
    if rank < k:
        raise no_inverse(name, rank, k)
    if sizes[0] > _CONDITION_MAX * sizes[-1]:
        raise ParameterError(
            f"the channel of {name} has the condition number {sizes[0] / sizes[-1]:.3g}, above {_CONDITION_MAX:g}: an "
            "unbiased estimate would be rounding errors.",
            "Use fit(method='em'), which needs no inverse.",
        )
    return np.asarray(scale[:, None] * np.linalg.pinv(scaled), np.float64)


def no_inverse(name: str, rank: int, k: int) -> ParameterError:
    """Why nothing can be estimated without bias from reports of a channel of so low a rank."""
    return ParameterError(
        f"no unbiased estimate exists: the channel of {name} has rank {rank}, below the {k} answers, so that different "
        "populations make the same reports.",
        "Use fit(method='em') or fit(method='ems') for a likely population (on the command line estimate --method em), "
        "or another mechanism for statistics.",
    )
