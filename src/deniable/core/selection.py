"""Choosing one design on a trade-off between the best guess (ASR) and the error (MSE): filter, criteria, selectors.

Six selectors with the semantics of AdaptiveLDP App. B: all look for the smallest value of a criterion on the designs
that no other one beats, and the first of several equal ones wins. Both objectives are to be small.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from deniable.core.types import FloatArray, IntArray
from deniable.errors import is_number, require

__all__ = [
    "NORMALISED",
    "NORMALIZATIONS",
    "SELECTORS",
    "Normalize",
    "Preference",
    "SelectionWarning",
    "Selector",
    "pareto",
    "select",
]

Selector: TypeAlias = Literal["utopia", "weighted", "elbow", "epsilon-constraint", "hypervolume", "tchebycheff"]
Normalize: TypeAlias = Literal["none", "anchor", "log"]
SELECTORS: tuple[str, ...] = get_args(Selector)
NORMALIZATIONS: tuple[str, ...] = get_args(Normalize)
NORMALISED = ("weighted", "tchebycheff")
"""The selectors whose objectives can be put on a scale of their own; the others read them as they are."""

Criterion = Callable[[Any, Any], Any]
"""Of arrays of ASR and MSE; smaller is better."""


class SelectionWarning(UserWarning):
    """A selector had nothing to choose by and another one took its place."""


@dataclass(frozen=True, slots=True)
class Preference:
    """How one design is chosen. `weight` is that of the ASR, the MSE has the rest; `limit` is the largest allowed ASR.

    `reference` is the corner, ASR and MSE, from which hypervolumes are measured; `rho` the share of the plain sum that
    the augmented Tchebycheff criterion adds to the largest weighted objective.

    `normalize`: "anchor" divides both objectives by those of the design of least error, "log" compares their
    logarithms; both make the choice free of units, hence of n. They apply to weighted and tchebycheff; the other
    selectors read raw objectives, whose balance depends on n.
    """

    select: Selector = "weighted"
    normalize: Normalize = "anchor"
    weight: float = 0.5
    limit: float = 0.1
    reference: tuple[float, float] = (1.0, 1.0)
    rho: float = 1e-6

    def __post_init__(self) -> None:
        require(self.select in SELECTORS, "select", self.select, f"one of {', '.join(SELECTORS)}")
        require(self.normalize in NORMALIZATIONS, "normalize", self.normalize, f"one of {', '.join(NORMALIZATIONS)}")
        require(is_number(self.weight) and 0 <= self.weight <= 1, "weight", self.weight, "from 0 to 1 (the ASR's)")
        share = is_number(self.limit) and 0 < self.limit <= 1
        require(share, "limit", self.limit, "above 0 and at most 1 (of the ASR)")
        object.__setattr__(self, "reference", _corner(self.reference))
        require(is_number(self.rho) and 0 <= self.rho <= 1, "rho", self.rho, "from 0 to 1", "Usually it is near 0.")

    @property
    def scaled(self) -> bool:
        """Whether `normalize` has an effect."""
        return self.select in NORMALISED and self.normalize != "none"


def _corner(given: object) -> tuple[float, float]:
    """The corner of hypervolumes: two numbers, or a text with a comma between them."""
    parts = given.split(",") if isinstance(given, str) else given
    try:
        asr, mse = (float(part) for part in parts)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        asr = mse = math.nan
    need = "two numbers, the largest ASR (above 0, at most 1) and the largest MSE (above 0) that count"
    require(0 < asr <= 1 and 0 < mse < math.inf, "reference", given, need, "For example 0.5,2.")
    return asr, mse


@dataclass(frozen=True, slots=True)
class Picked:
    """The chosen position, what was made small there, and why another selector took the place of the one asked for."""

    index: int
    criterion: Criterion
    fallback: str = ""


def pareto(asr: FloatArray, mse: FloatArray) -> IntArray:
    """Positions of the points that no other point beats, in their order; equal points do not beat each other.

    By one sort: a point is beaten if an earlier one in the order of (ASR, MSE) has no larger MSE.

    >>> pareto(np.array([0.1, 0.2, 0.2, 0.3]), np.array([3.0, 2.0, 2.5, 2.0])).tolist()
    [0, 1]
    """
    order = np.lexsort((mse, asr))
    a, m = asr[order], mse[order]
    new = np.ones(order.size, np.bool_)
    new[1:] = (a[1:] != a[:-1]) | (m[1:] != m[:-1])
    group = np.cumsum(new) - 1  # equal points are one group
    least = np.minimum.accumulate(m[new])
    beaten = np.zeros(least.size, np.bool_)
    beaten[1:] = least[:-1] <= m[new][1:]
    return np.sort(order[~beaten[group]]).astype(np.int64)


def select(
    asr: FloatArray, mse: FloatArray, preference: Preference, *, anchor: tuple[float, float] | None = None
) -> Picked:
    """Choose one of the points; `anchor`: ASR and MSE of the design of least error (of the points unless given).

    >>> asr, mse = np.array([0.9, 0.5, 0.3, 0.1]), np.array([0.1, 0.2, 0.5, 2.0])
    >>> [select(asr, mse, Preference(how, "none")).index for how in SELECTORS]
    [1, 1, 2, 3, 1, 1]
    """
    require(asr.size == mse.size > 0, "asr and mse", (asr.size, mse.size), "of the same length, with a point at least")
    front = pareto(asr, mse)
    a, m = asr[front], mse[front]
    best = int(np.argmin(mse))
    criterion, fallback = _criterion(a, m, preference, anchor or (float(asr[best]), float(mse[best])))
    if fallback:
        warnings.warn(fallback, SelectionWarning, stacklevel=2)
    order: IntArray = np.argsort(a, kind="stable") if preference.select == "elbow" and a.size > 2 else np.arange(a.size)
    with np.errstate(over="ignore"):  # what is beyond all numbers is not the smallest
        values = criterion(a, m)[order]
    return Picked(int(front[order[np.argmin(values)]]), criterion, fallback)


def _criterion(a: FloatArray, m: FloatArray, how: Preference, anchor: tuple[float, float]) -> tuple[Criterion, str]:
    """What is to be small on the non-dominated points (a, m), and why it is not what was asked for, if so."""
    if how.select in NORMALISED:
        return _scaled(how, anchor, (float(a.min()), float(m.min()))), ""
    if how.select == "utopia":
        return np.hypot, ""
    if how.select == "elbow":
        return _elbow(a, m)
    if how.select == "epsilon-constraint":
        if a.min() > how.limit:
            return np.hypot, (
                f"no design has an ASR of at most {how.limit:g} (the least is {a.min():.4g}); utopia chose instead."
            )
        return lambda x, y: np.where(x <= how.limit, y, np.inf), ""
    return _hypervolume(a, m, *how.reference)


def _hypervolume(a: FloatArray, m: FloatArray, asr: float, mse: float) -> tuple[Criterion, str]:
    """The rectangle of a single point up to the corner (asr, mse), as a criterion."""

    def negative(x: Any, y: Any) -> Any:
        return -np.maximum(0, asr - x) * np.maximum(0, mse - y)

    if negative(a, m).any():
        return negative, ""
    out = f"every MSE is at least {mse:g}" if m.min() >= mse else f"no design is below ASR {asr:g} and MSE {mse:g}"
    return np.hypot, (
        f"{out}, so no design covers any hypervolume (the least MSE is {m.min():.4g}); "
        "utopia chose instead. A larger n gives smaller errors."
    )


def _elbow(a: FloatArray, m: FloatArray) -> tuple[Criterion, str]:
    """Distance to the chord between both ends, as a criterion; with two points or fewer there is no elbow."""
    if a.size <= 2:
        return np.hypot, ""
    first, last = int(np.argmin(a)), int(np.argmax(a))  # equal ones are equal in both
    da, dm = float(a[last] - a[first]), float(m[last] - m[first])
    start = float(a[first]), float(m[first])
    return lambda x, y: -np.abs(da * (y - start[1]) - dm * (x - start[0])), ""


def _scaled(how: Preference, anchor: tuple[float, float], least: tuple[float, float]) -> Criterion:
    """The weighted sum, or the augmented largest weighted objective, of scaled objectives."""

    def combine(x: Any, y: Any) -> Any:
        return x + y if how.select == "weighted" else np.maximum(x, y) + how.rho * (x + y)

    one, two = how.weight, 1 - how.weight
    if how.normalize == "none":
        return lambda x, y: combine(one * x, two * y)
    if how.normalize == "anchor":
        return lambda x, y: combine(one * (x / anchor[0]), two * (y / anchor[1]))
    return lambda x, y: combine(one * np.log(x / least[0]), two * np.log(y / least[1]))
