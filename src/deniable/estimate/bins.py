"""Shares of numbers in bins: as many equal ones as the reports can tell apart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.types import FloatArray, IntArray, Target
from deniable.errors import ParameterError, whole
from deniable.estimate.fitted import FittedPart, Spread

if TYPE_CHECKING:
    from deniable.estimate.result import Estimate, Part

__all__ = ["binned", "edges_of", "is_fine"]

_FINE = 20
"""Distributions on more points are drawn in bins."""
_SUMMED = "summed in"
"""How the step begins that says so."""
_MOST = 64
"""More bins than this are not told from each other by eye."""
_CLEAR = 7.0
"""An even share of a bin is so many standard errors of any of them: flat data then look flat."""
_EVEN = 20
"""Points in a bin from which on one more or less does not show."""


def _interval_of(design: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The domain of a design, if that is an interval of numbers with points."""
    domain = design.get("domain")
    return domain if isinstance(domain, Mapping) and "interval" in domain and "points" in domain else None


def is_fine(estimate: Estimate) -> bool:
    """Whether these are shares of so many numbers that single ones say nothing."""
    shares = next(iter(estimate.parts)) == "frequency" and _interval_of(estimate.design) is not None
    return shares and len(estimate.labels) > _FINE and edges_of(estimate) is None


def edges_of(estimate: Estimate) -> FloatArray | None:
    """Where the bins begin and end, if these are shares in bins."""
    domain = _interval_of(estimate.design)
    if domain is None or not any(step.startswith(_SUMMED) for step in estimate.steps):
        return None
    return _edges(domain, len(estimate.labels))


def binned(estimate: Estimate, bins: int | None = None) -> Estimate:
    """The shares of numbers, summed over `bins` equal parts of their interval; as many as the reports can show.

    That is the largest number, up to 64, of which an even share is at least seven standard errors of any bin.
    """
    domain = _interval_of(estimate.design)
    name, part = next(iter(estimate.parts.items()))
    if domain is None or name != "frequency":
        raise ParameterError("only the distribution of numbers of an interval can be put into bins.", _HINT)
    k, known = len(estimate.labels), _spreads(part)
    if bins is None:
        bins = next((b for b in _numbers_of_bins(k) if _clear(known["population"], k, b)), 2)
    bins = whole("bins", bins, 1, k, f"an integer from 1 to {k}, the number of points")
    starts = _starts(k, bins)
    value = np.add.reduceat(part.value, starts)
    made = FittedPart(value, Spread(*(_summed(known[target], starts) for target in ("population", "reporters"))))
    edges = _edges(domain, bins)
    labels = tuple(f"{low:.6g} to {high:.6g}" for low, high in pairwise(edges.tolist()))
    steps = (*estimate.steps, f"{_SUMMED} {bins} bins")
    return replace(estimate, labels=labels, parts={name: made}, steps=steps)


_HINT = "Fit it first: m.fit(reports, method='ems') with sw; means and lists of answers have no bins."


def _edges(domain: Mapping[str, Any], bins: int) -> FloatArray:
    """Where so many bins of an interval begin and end."""
    (low, high), k = domain["interval"], domain["points"]
    cells = np.append(_starts(k, bins), k).astype(np.float64)
    share = cells / k if domain["layout"] == "midpoints" else np.clip((cells - 0.5) / (k - 1), 0.0, 1.0)
    return np.asarray(low + share * (high - low))


def _numbers_of_bins(k: int) -> list[int]:
    """From many to few; those that do not divide the points evenly only where nobody sees it."""
    return [b for b in range(min(_MOST, k), 1, -1) if k % b == 0 or k // b >= _EVEN]


def _starts(k: int, bins: int) -> IntArray:
    return np.round(np.arange(bins) * (k / bins)).astype(np.int64)


def _clear(spread: FloatArray, k: int, bins: int) -> bool:
    """Whether the standard error of every bin is small beside an even share."""
    found = _summed(spread, _starts(k, bins))
    squares = found if found.ndim == 1 else np.diagonal(found)
    return bool(math.sqrt(float(squares.max())) * _CLEAR <= 1 / bins)


def _spreads(part: Part) -> dict[Target, FloatArray]:
    """Covariances, or variances where there is no matrix of them."""
    targets: tuple[Target, ...] = ("population", "reporters")
    try:
        return {target: part.covariance(target) for target in targets}
    except ParameterError:
        return {target: part.variance(target) for target in targets}


def _summed(spread: FloatArray, starts: IntArray) -> FloatArray:
    """The same of sums from each start to the next; without covariances the most that they can be."""
    if spread.ndim == 1:
        return np.asarray(np.add.reduceat(np.sqrt(spread), starts) ** 2)
    found = np.add.reduceat(np.add.reduceat(spread, starts, axis=0), starts, axis=1)
    np.fill_diagonal(found, np.maximum(np.diagonal(found), 0.0))  # rounding may leave a zero a little below it
    return np.asarray(found)
