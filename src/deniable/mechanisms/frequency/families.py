"""Families of designs with one free parameter: their objectives for many values of it at once, and the search in it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.frontier import (
    best_subset_size,
    mixture_mse,
    mixture_success,
)
from deniable.core.guess import (
    covered_by_independent,
    first_of_independent,
    first_of_subset,
    prior_success,
    ranked,
    uniform_success,
)
from deniable.core.laws import epsilon_to, hashing, subset, thresholded, unary
from deniable.core.selection import Criterion, Preference, select
from deniable.core.support import Support
from deniable.core.types import FloatArray
from deniable.errors import ParameterError, require
from deniable.mechanisms.frequency.options import METRICS, Metric

__all__ = ["FAMILIES", "MIXTURES", "Chosen", "Family", "choose"]

_WHOLE = 1 << 17
"""Up to so many whole numbers are all looked at; of more, some first and then those around the best."""
_STEPS = 2001
"""Points of a continuous parameter that are looked at together."""
_FEW = 65
"""The same at least, where every look is costly."""
_CELLS = 1 << 23
"""Under a prior, so many pairs of a place and of a likely value are looked at together, or `_FEW` places."""
_ELBOW_END = 0.999999
"""Where the authors' range of p ends; the elbow depends on the end, so it is looked for up to here."""
_LOGIT_END = 40 * math.log(2)
_RANGE_END = (1 << 31) - 1

Laws = Callable[[int, float, FloatArray], tuple[Support[Any], Any, Any]]
"""Of k, epsilon and places: support, w = e^-(epsilon spent), chance that a blind report supports some item."""

First = Callable[[int, FloatArray, Support[Any], int], FloatArray]
"""Of k, places, their support and a number of ranks: chances that an item of that rank is the first one supported."""


@dataclass(frozen=True, slots=True)
class Family:
    """One free parameter: where it is searched (a place per value), and the laws at many places at once."""

    name: str
    parameter: str
    whole: bool
    ends: Callable[[int, float], tuple[float, float]]
    grid: Callable[[int, float], FloatArray]
    """The authors' grid, as values."""
    laws: Laws
    first: First
    value: Callable[[Any], Any] = lambda place: place
    """The value of the parameter at places."""
    place: Callable[[Any], Any] = lambda value: value
    elbow_end: Callable[[int, float], float] | None = None
    """Where the search for an elbow ends, which depends on the end, if not where that of the others does."""
    prior_start: float | None = None
    """Where the search starts under a prior, if earlier: there smaller supports can be harder to guess from."""

    def objectives(
        self, k: int, epsilon: float, places: FloatArray, metric: Metric, likely: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """ASR and MSE of one report at places; under a prior if its `likely` values are given, the largest first."""
        if likely is not None:
            return self._guessed(k, epsilon, places, likely), self.laws(k, epsilon, places)[0].mse(k)
        support, w, covered = self.laws(k, epsilon, places)
        if metric == "exact":
            return uniform_success(support, w, covered, k), support.mse(k)
        if self.parameter == "g":  # as if every bucket held k/g items but at least one [AdaptiveLDP Eq. 15]
            return support.p / np.maximum(k / places, 1), support.mse_approx()
        return uniform_success(support, w, covered, k), support.mse_approx()

    def _guessed(self, k: int, epsilon: float, places: FloatArray, likely: FloatArray) -> FloatArray:
        """ASR at places under a prior. Values that are unlikely by more than e^epsilon are never guessed."""
        ranks = int(np.count_nonzero(likely > likely[0] * epsilon_to(epsilon)[0]))
        parts = np.array_split(places, max(1, min(places.size, places.size * ranks // (_CELLS // 4))))
        found = []
        for part in parts:
            support, w, _ = self.laws(k, epsilon, part)
            found.append(prior_success(support, w, likely, self.first(k, part, support, ranks)))
        return np.concatenate(found)


@dataclass(frozen=True, slots=True)
class MixtureFamily(Family):
    """The frontier itself: a place is a size plus the share of the next one."""

    def objectives(
        self, k: int, epsilon: float, places: FloatArray, metric: Metric, likely: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """ASR and exact MSE of one report at places; a report shows its size, so that guesses mix as sizes do."""
        require(metric == "exact", "objectives", metric, "exact for mixtures", "The authors have no such family.")
        (w, v), size = epsilon_to(epsilon), np.floor(places)
        share, mse = places - size, mixture_mse(w, v, k, size, places - size)
        if likely is None:
            return mixture_success(w, k, size, share), mse
        low = float(size.min())
        sizes = np.arange(low, min(float(size.max()) + 1, k - 1) + 1)
        asr = np.append(self._guessed(k, epsilon, sizes, likely), likely[0])  # the last: of all k, which says nothing
        one, more = (asr[np.minimum(at - low, sizes.size).astype(np.int64)] for at in (size, size + 1))
        return one + share * (more - one), mse


@dataclass(frozen=True, slots=True)
class Chosen:
    """The chosen value of a family's parameter, with its objectives and the record of how it was chosen."""

    value: float
    asr: float
    mse: float
    objective: float
    """What was made small."""
    looked_at: int
    fallback: str


def choose(
    family: Family,
    k: int,
    epsilon: float,
    preference: Preference,
    *,
    metric: Metric = "exact",
    n: float = 1,
    continuous: bool | None = None,
    prior: FloatArray | None = None,
) -> Chosen:
    """The value of a family's parameter that a preference chooses, with MSEs for n reports.

    ASRs are those under the prior, or of equally likely values. On the authors' grid for their metric, in the whole
    range for the exact one, unless `continuous` says otherwise.
    """
    require(metric in METRICS, "objectives", metric, f"one of {', '.join(METRICS)}")
    require(n >= 1, "n", n, "a number >= 1", "It is the number of reports.")
    likely = None if prior is None else ranked(prior)
    steps = _STEPS if likely is None else min(_STEPS, max(_FEW, _CELLS // k))

    def at(places: FloatArray) -> tuple[FloatArray, FloatArray]:
        asr, mse = family.objectives(k, epsilon, places, metric, likely)
        return asr, mse / n

    search = metric == "exact" if continuous is None else continuous
    places = (
        _first_places(family, k, epsilon, preference, steps, prior is not None)
        if search
        else family.place(family.grid(k, epsilon))
    )
    if places.size == 0:
        raise ParameterError(f"the {family.name} grid is empty for k = {k}.")
    least = _zoom(family, places, int(np.argmin(at(places)[1])), at, lambda a, m: m, steps) if search else None
    anchor = None if least is None else (float(at(least)[0][0]), float(at(least)[1][0]))
    picked = select(*at(places), preference, anchor=anchor)
    best = places[picked.index : picked.index + 1]
    best = _zoom(family, places, picked.index, at, picked.criterion, steps) if search else best
    asr, mse = (float(x[0]) for x in at(best))
    value = float(family.value(best)[0] if search else family.grid(k, epsilon)[picked.index])
    return Chosen(value, asr, mse, float(picked.criterion(asr, mse)), places.size, picked.fallback)


_At = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def _zoom(family: Family, places: FloatArray, start: int, at: _At, criterion: Criterion, steps: int) -> FloatArray:
    """The best place between the neighbours of `start`, looked at ever closer."""

    def value(x: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.asarray(criterion(*at(x)))

    here, best = start, places[start : start + 1]
    while True:
        low, high = places[max(here - 1, 0)], places[min(here + 1, places.size - 1)]
        places = _between(family, float(low), float(high), steps)
        values = value(places)
        here = int(np.argmin(values))
        best = places[here : here + 1] if values[here] <= value(best)[0] else best
        if high - low <= (2 if family.whole else 1e-12 * max(1.0, abs(high))):
            return best


def _between(family: Family, low: float, high: float, steps: int) -> FloatArray:
    if not family.whole:
        return np.linspace(low, high, steps)
    most = _WHOLE * steps // _STEPS
    if high - low < most:
        return np.arange(low, high + 1, dtype=np.float64)
    return np.unique(np.rint(np.geomspace(low, high, most)))


def _first_places(
    family: Family, k: int, epsilon: float, preference: Preference, steps: int, known: bool
) -> FloatArray:
    low, high = family.ends(k, epsilon)
    low = family.prior_start if known and family.prior_start is not None else low
    if preference.select == "elbow" and family.elbow_end is not None:
        high = family.elbow_end(k, high)
    return _between(family, low, high, steps)


# ---- the families of AdaptiveLDP Sec. V, and the frontier


def _subset_laws(k: int, epsilon: float, size: FloatArray) -> tuple[Support[Any], Any, Any]:
    w, v = epsilon_to(epsilon)
    return subset(w, v, k, size), w, 1.0


def _unary_laws(k: int, epsilon: float, logit: FloatArray) -> tuple[Support[Any], Any, Any]:
    w, v = epsilon_to(epsilon)
    p_not = 1 / (1 + np.exp(logit))
    support = unary(1 / (1 + np.exp(-logit)), p_not, w, v)
    return support, w, covered_by_independent(k, support.q)


def _hashing_laws(k: int, epsilon: float, g: FloatArray) -> tuple[Support[Any], Any, Any]:
    w, v = epsilon_to(epsilon)
    return hashing(w, v, g), w, covered_by_independent(k, 1 / g)


def _threshold_laws(k: int, epsilon: float, theta: FloatArray) -> tuple[Support[Any], Any, Any]:
    support = thresholded(epsilon, theta)
    w = support.p_not * support.q / (support.p * support.q_not)
    return support, w, covered_by_independent(k, support.q)


def _subset_first(k: int, size: FloatArray, _: Support[Any], ranks: int) -> FloatArray:
    return first_of_subset(k, size, ranks)


def _bits_first(_: int, places: FloatArray, support: Support[Any], ranks: int) -> FloatArray:
    return first_of_independent(ranks, support.q)


def _hashed_first(_: int, g: FloatArray, support: Support[Any], ranks: int) -> FloatArray:
    return first_of_independent(ranks, 1 / g)


def _largest_range(k: int, epsilon: float) -> float:
    """max(k, e + 1 rounded), as far as hash values reach."""
    return float(min(max(k, round(math.exp(min(epsilon, 40.0))) + 1), _RANGE_END))


def _counting(low: float, high: float) -> FloatArray:
    require(high - low < 1 << 26, "k", high, "at most 67 million for the authors' grid", "Use the exact objectives.")
    return np.arange(low, high + 1, dtype=np.float64)


FAMILIES = {
    "ass": Family(
        "ass", "size", True, lambda k, e: (1, k - 1), lambda k, e: _counting(1, k - 1), _subset_laws, _subset_first
    ),
    "aue": Family(
        "aue",
        "p",
        False,
        lambda k, e: (0.0, _LOGIT_END),
        lambda k, e: np.linspace(0.5, _ELBOW_END, 100),
        _unary_laws,
        _bits_first,
        lambda place: 1 / (1 + np.exp(-place)),
        lambda value: np.log(value) - np.log1p(-value),
        lambda k, high: math.log(_ELBOW_END) - math.log1p(-_ELBOW_END),
        -_LOGIT_END / 4,
    ),
    "alh": Family(
        "alh",
        "g",
        True,
        lambda k, e: (2, _largest_range(k, e)),
        lambda k, e: _counting(2, _largest_range(k, e)),
        _hashing_laws,
        _hashed_first,
    ),
    "athe": Family(
        "athe",
        "theta",
        False,
        lambda k, e: (0.5, 1.0),
        lambda k, e: np.linspace(0.5, 1, 100),
        _threshold_laws,
        _bits_first,
    ),
}
"""The four families whose parameter is a decision, by registry name."""

MIXTURES = MixtureFamily(
    "ssmix",
    "size",
    False,
    lambda k, e: (float(best_subset_size(k, e)), math.nextafter(k, 0)),
    lambda k, e: np.arange(best_subset_size(k, e), k, dtype=np.float64),
    _subset_laws,
    _subset_first,
    elbow_end=lambda k, high: k - 1.0,
    prior_start=1.0,
)
"""The frontier, from the size of least error to that which says next to nothing."""
