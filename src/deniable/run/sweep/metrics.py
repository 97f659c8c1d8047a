"""What a sweep measures of every run: one table of metrics by name, and metrics of one's own as functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from deniable.core.types import FloatArray
from deniable.errors import ParameterError, is_whole, meant, require, show
from deniable.estimate.scores import f1_top, mean_absolute, mean_square, ncr_top, ndcg_top, wasserstein

__all__ = ["GUESS", "LOSS", "METRICS", "Metric", "OwnMetric", "metrics_of", "number_of"]

OwnMetric: TypeAlias = Callable[[FloatArray, FloatArray], float]
"""A metric of one's own: from the estimated and the true numbers to a number."""

GUESS, LOSS = "best guess", "loss"
_TOP = 20
"""So many items are the most frequent ones, unless told otherwise; all if there are fewer."""


@dataclass(frozen=True, slots=True)
class Metric:
    """What is measured: a name, in words, how it is computed of one run, and how it is drawn."""

    name: str
    about: str
    of: Callable[..., float] | None
    """From estimates and truth, and the number of items where that matters; None where reports are looked at."""
    ranked: bool = False
    """Whether it is about the most frequent items."""
    log: bool = True
    """Whether it is best seen on an axis with logarithms."""
    top: int | None = None
    more: bool | None = False
    """Whether more is better; None if nobody said so, as of a function."""

    def measure(self, value: FloatArray, truth: FloatArray) -> float:
        """Of one run."""
        assert self.of is not None
        if self.ranked:
            return float(self.of(value, truth, self.top or min(_TOP, value.size)))
        return float(self.of(value, truth))


METRICS: Mapping[str, Metric] = {
    m.name: m
    for m in (
        Metric("mse", "mean squared error", mean_square),
        Metric("mae", "mean absolute error", mean_absolute),
        Metric("wasserstein", "Wasserstein distance", wasserstein),
        Metric("ndcg", "NDCG of the most frequent answers", ndcg_top, ranked=True, log=False, more=True),
        Metric("f1", "F1 of the most frequent answers", f1_top, ranked=True, log=False, more=True),
        Metric("ncr", "NCR of the most frequent answers", ncr_top, ranked=True, log=False, more=True),
        Metric(GUESS, "best guess from a report is right", None, log=False),
        Metric(LOSS, "mean loss of a report", None),
    )
}
"""By name."""


def metrics_of(given: object, usual: str) -> tuple[tuple[Metric, ...], Mapping[str, OwnMetric]]:
    """The metrics that are asked for, by name (`ndcg:10` for the ten most frequent) or as functions; the `usual` one.

    Own functions come back apart, by their names: other processes need not know them.
    """
    if given is None:
        return (METRICS[usual],), {}
    if isinstance(given, Mapping):
        listed: Sequence[Any] = [given]
    else:
        one = isinstance(given, str) or callable(given) or not isinstance(given, Iterable)
        listed = [given] if one else list(given)  # type: ignore[call-overload]
    require(len(listed) > 0, "metrics", given, "at least one metric")
    named: list[Metric] = []
    own: dict[str, OwnMetric] = {}
    for each in listed:
        if isinstance(each, str):
            named.append(_named(each))
        elif isinstance(each, Mapping) and all(map(callable, each.values())):
            own |= {str(name): function for name, function in each.items()}
        elif callable(each):
            own[str(getattr(each, "__name__", type(each).__name__)).strip("<>")] = each
        else:
            hint = f"Names are {', '.join(METRICS)}; a function takes the estimated and the true numbers."
            raise ParameterError(f"metrics must be names or functions, got {show(each)}.", hint)
    names = [*(m.name for m in named), *own]
    twice = sorted(name for name in names if names.count(name) > 1)
    require(not twice, "metrics", twice, "different from each other", "Name functions: metrics={'mine': function}.")
    return tuple(named), own


def number_of(name: str, function: OwnMetric, value: FloatArray, truth: FloatArray) -> float | None:
    """What a function of somebody's own makes of a run; None where it says that it is not known (NaN)."""
    try:
        found = function(value, truth)
    except Exception as error:
        got = f"{type(error).__name__}: {error}"
        hint = "It takes the estimated and the true numbers, two arrays. See the error before this one."
        raise ParameterError(f"metric {name} must be a function of two arrays, got {got}.", hint) from error
    try:
        number = float(found)
    except (TypeError, ValueError):
        number = math.inf
    need = "a function that gives one number, or NaN where it is not known"
    require(abs(number) != math.inf, f"metric {name}", found, need)
    return None if number != number else number


def _named(text: str) -> Metric:
    """`mse`, `ndcg`, `ndcg:10`."""
    name, colon, number = text.strip().partition(":")
    name = name.strip().lower().replace("_", " ").replace("-", " ")
    found = METRICS.get(name)
    if found is None:
        raise ParameterError(
            f"metrics must be some of {', '.join(METRICS)}, or functions, got {text!r}.", meant(name, METRICS)
        )
    if not colon:
        return found
    whole = found.ranked and number.strip().isdecimal() and is_whole(int(number), 1)
    require(whole, "metrics", text, "without a number, or with one of the most frequent answers, as in ndcg:10")
    top = int(number)
    told = found.about.replace("the most", f"the {top} most")
    return Metric(f"{name}:{top}", told, found.of, ranked=True, log=False, top=top, more=found.more)
