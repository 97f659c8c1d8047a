"""What is compared: every row of the registry that answers the question, as it is and with its parameter chosen."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.types import FloatArray
from deniable.errors import DeniableError
from deniable.mechanisms import registry
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.entry import FREQUENCY, Curve, Entry
from deniable.plan.answer import made, rows_for
from deniable.plan.prediction import forged_gain
from deniable.plan.request import Request
from deniable.plan.scoring import Score

__all__ = ["Recipe", "Wish", "check_given", "make", "recipes"]

_CHOICES = ("rounding",)
"""Options whose choices are all tried; other encodings have rows of their own."""
_ROUNDS, _PLACES = 5, 257
"""How often, and at how many places, the surroundings of the best value are looked at more closely."""
_FEW = 65
"""Places where a prior makes every look costly."""
_MARGIN = {"mse": 1e-12, "asr": 1e-12, "poisoning": 1e-12}
"""Arrays and numbers may round differently: a choice on the limit stays this little inside it."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A row with options; if `tuned`, its own parameter is chosen on its curve."""

    name: str
    entry: Entry
    options: Mapping[str, Any]
    tuned: bool = False
    at_default: bool = False
    """Whether its options say what epsilon is."""

    @property
    def ruled(self) -> bool:
        """Whether the row's own rule strikes a balance, which is no answer to what the least error takes."""
        return not self.tuned and "select" in self.entry.options


@dataclass(frozen=True, slots=True)
class Wish:
    """What a parameter is chosen by: limits on columns, and a weighted sum of columns."""

    request: Request
    n: float
    limits: Mapping[str, float]
    score: Score


def recipes(given: Mapping[str, Any]) -> Iterator[Recipe]:
    """All of the registry that the planner can make with the options that are given."""
    for name, entry in rows_for(FREQUENCY):
        if entry.kind != "mechanism":
            continue
        known = {option: value for option, value in given.items() if option in entry.options}
        if set(entry.needed) <= set(known):
            yield Recipe(name, entry, known)
            for option in _CHOICES:
                choices = registry.OPTIONS[option].choices if option in entry.options else ()
                yield from (Recipe(name, entry, known | {option: choice}) for choice in choices[1:])
        if entry.traits.curve is not None:
            yield Recipe(name, entry, {}, tuned=True)


def check_given(request: Request) -> None:
    """Refuse what is given at once if no mechanism that takes it can be made with it."""
    for option in request.given:
        errors = []
        for recipe in recipes(request.given):
            if option in recipe.options:
                try:
                    epsilon = request.epsilon or (recipe.entry.default_epsilon or (lambda _: 1.0))(recipe.options)
                    made(recipe.name, epsilon=epsilon, domain=request.domain, **recipe.options)
                    break
                except DeniableError as error:
                    errors.append(error)
        else:
            if errors:
                raise errors[0]


def make(recipe: Recipe, epsilon: float, wish: Wish) -> tuple[Mechanism, dict[str, Any]]:
    """The mechanism, refused if it cannot draw reports, and the options that make it."""
    options = dict(recipe.options) | (_tuned(recipe, epsilon, wish) if recipe.tuned else {})
    level = None if recipe.at_default else epsilon
    return made(recipe.name, epsilon=level, domain=wish.request.domain, **options), options


def _tuned(recipe: Recipe, epsilon: float, wish: Wish) -> dict[str, Any]:
    """The value on the curve that meets the limits best, looked at ever closer around."""
    curve_of, k = recipe.entry.traits.curve, wish.request.k
    assert curve_of is not None
    curve: Curve = curve_of(epsilon, k)
    if wish.request.prior is not None:
        curve = curve_of(epsilon, k, _thin(curve.values, _FEW))
    whole = np.issubdtype(curve.values.dtype, np.integer)
    i = _best(curve, recipe, epsilon, wish)
    for _ in range(_ROUNDS):
        low, high = curve.values[max(i - 1, 0)], curve.values[min(i + 1, curve.values.size - 1)]
        if curve.option == "prime" or (whole and high - low <= 2):
            break
        places = _between(low, high, whole, _PLACES if wish.request.prior is None else _FEW)
        curve = curve_of(epsilon, k, np.unique(np.append(places, curve.values[i])))
        i = _best(curve, recipe, epsilon, wish)
    return curve.options(i)


def _thin(values: Any, count: int) -> Any:
    return values[np.unique(np.linspace(0, values.size - 1, min(count, values.size)).astype(np.int64))]


def _between(low: Any, high: Any, whole: bool, count: int) -> Any:
    if whole and high - low < 1 << 24:
        return _thin(np.arange(low, high + 1), count)
    places = np.linspace(low, high, count)
    return places.astype(int) if whole else places


def _best(curve: Curve, recipe: Recipe, epsilon: float, wish: Wish) -> int:
    """The best position within the limits, or else the one that comes closest to them."""
    columns = _columns(curve, recipe, epsilon, wish)
    excess = np.zeros(curve.values.shape)
    for name, most in wish.limits.items():
        ratio = columns[name] / (most * (1 - _MARGIN.get(name, 0.0)))
        excess = np.maximum(excess, np.where(np.isfinite(ratio), ratio, np.inf))
    inside = excess <= 1
    if not inside.any():
        return int(np.argmin(excess))
    value = np.where(inside, wish.score.total(columns), np.inf)
    return int(np.argmin(value if np.isfinite(value).any() else np.where(inside, columns["mse"], np.inf)))


def _columns(curve: Curve, recipe: Recipe, epsilon: float, wish: Wish) -> dict[str, FloatArray]:
    """What limits and weights speak of, at every value of the curve."""
    traits, r = recipe.entry.traits, wish.request.targets
    found = {"mse": np.asarray(curve.mse) / wish.n, "asr": curve.asr, "bits": curve.bits, "bytes": curve.bytes}
    wanted = {*wish.limits, *wish.score.weights.columns}
    if wish.request.prior is not None and "asr" in wanted:
        found["asr"] = _guesses(curve, recipe, epsilon, wish.request)
    if "work" in wanted:
        found["work"] = math.inf if traits.work is None else traits.work(curve.own, wish.n)
    if "poisoning" in wanted:
        found["poisoning"] = math.inf if traits.pull is None else forged_gain(traits.pull(curve.own, r))
    return {name: np.broadcast_to(np.asarray(x, np.float64), curve.values.shape) for name, x in found.items()}


def _guesses(curve: Curve, recipe: Recipe, epsilon: float, request: Request) -> FloatArray:
    """Success of the best guess under a prior, value by value."""
    every = (
        registry.mechanism(recipe.name, epsilon=epsilon, domain=request.domain, **curve.options(i))
        for i in range(curve.values.size)
    )
    return np.array([m.guess(request.prior).success for m in every])
