"""Estimates of several groups of people as one: weighted by how many there are in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.core.types import FloatArray, Target
from deniable.errors import InWords, MergeError, require
from deniable.estimate.result import Estimate, NormalPart, Part

__all__ = ["pool"]


@dataclass(frozen=True, slots=True, eq=False)
class PooledPart(NormalPart):
    """The same quantity estimated in groups that do not overlap; unbiased for all people together."""

    parts: tuple[Part, ...]
    weights: tuple[float, ...]
    """Share of the people in each group."""

    @property
    def value(self) -> FloatArray:
        return np.asarray(sum(w * part.value for w, part in zip(self.weights, self.parts, strict=True)))

    def variance(self, target: Target) -> FloatArray:
        """See `Part.variance`: the groups' reports are independent of each other."""
        return np.asarray(sum(w * w * p.variance(target) for w, p in zip(self.weights, self.parts, strict=True)))

    @property
    def several(self) -> bool:
        return self.parts[0].several

    @property
    def range(self) -> tuple[float, float] | None:
        return self.parts[0].range

    def covariance(self, target: Target) -> FloatArray:
        return np.asarray(sum(w * w * p.covariance(target) for w, p in zip(self.weights, self.parts, strict=True)))


def pool(estimates: Sequence[Estimate], weights: Sequence[float] | None = None) -> Estimate:
    """One estimate from those of several groups, each weighted by its number of reports, or in proportion to `weights`.

    It is about the first quantity of the estimates: shares, or the mean of numbers.
    """
    require(len(estimates) > 0, "estimates", InWords("none"), "at least one")
    if len({e.labels for e in estimates}) != 1:
        raise MergeError("only estimates of the same labels, in the same order, can be pooled.")
    n = sum(e.n for e in estimates)
    told = [float(e.n) for e in estimates] if weights is None else list(weights)
    whole = sum(told)
    require(len(told) == len(estimates) and whole > 0, "weights", told, f"{len(estimates)} numbers, not all of them 0")
    name = next(iter(estimates[0].parts))
    part = PooledPart(tuple(e.parts[name] for e in estimates), tuple(w / whole for w in told))
    steps = (*estimates[-1].steps, f"pooled with {len(estimates) - 1} other group(s), {n} reports in all")
    simulated = any(e.simulated for e in estimates)
    bias = tuple(dict.fromkeys(word for e in estimates for word in e.bias))
    return Estimate(estimates[0].labels, {name: part}, n, estimates[-1].design, simulated, steps, bias)
