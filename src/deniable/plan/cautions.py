"""What a newcomer should hear beside an answer: weak promises, errors that hide all, targets that say nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from deniable.core.protection import times
from deniable.plan.prediction import figure
from deniable.plan.scoring import BESIDE

__all__ = [
    "about_epsilon",
    "about_keys",
    "about_mean",
    "about_people",
    "about_rounding",
    "about_saved",
    "about_shares",
    "about_target",
    "about_weights",
]

_WEAK = 4.0
"""Above it a report nearly gives an answer away."""
_COARSE = 0.1
"""Targets from here on are no use for shares."""
_VAGUE, _TOLD = 0.25, 0.01
"""Parts of a range: from this standard error on a mean may lie nearly anywhere in it; one that tells something."""
_LITTLE = 0.1
"""Saving less of the loss of a constant answer is hardly worth a question."""
_SAME = 1e-9
"""Parts of the loss of a constant answer that make no difference."""
_PEOPLE = 8_000_000_000
"""About as many as there are."""


def about_epsilon(epsilon: float) -> Iterator[str]:
    """A promise that is hardly one."""
    if epsilon > _WEAK:
        yield (
            f"Caution: epsilon {epsilon:g} protects little, since a report may be {times(epsilon)} as likely for one "
            f"answer as for another. Values from 0.5 to {_WEAK:g} are usual."
        )


def about_weights(weights: Mapping[str, float], limits: Mapping[str, float]) -> Iterator[str]:
    """Weights of which the error has none, if no target limits it either."""
    if weights and set(weights) <= set(BESIDE) and not {"stderr", "loss"} & set(limits):
        yield "Caution: the error has no weight, so it may be of any size. Give it some, or limit it by a target."


def about_target(target: float | None) -> Iterator[str]:
    """A target error that tells nothing about shares."""
    if target is not None and target >= _COARSE:
        yield (
            f"Caution: a standard error of {100 * target:g} percentage points tells next to nothing about shares. "
            "A usual target is 1 point: 0.01."
        )


def _points(x: float) -> str:
    shown = figure(x)
    return f"{shown} point{'s' * (shown != '1')}"


def about_shares(k: int, n: int, stderr: float) -> Iterator[str]:
    """An error above the share that an answer has on average."""
    if stderr * k > 1:
        yield (
            f"Caution: the error is larger than the average share of an answer ({_points(100 / k)}), so most answers "
            f"cannot be distinguished from answers that nobody gives. {_need(n, stderr * k, 'reports')}; fewer "
            "possible answers or a larger epsilon help too."
        )


def about_keys(k: int, length: int, n: int, stderr: float) -> Iterator[str]:
    """The same of keys, where a person has up to `length` of them."""
    times_over = stderr * k / min(length, k)
    if times_over > 1:
        yield (
            f"Caution: the error is larger than the average frequency of a key ({_points(100 * min(length, k) / k)} "
            f"at most), so most keys cannot be distinguished from keys that nobody has. "
            f"{_need(n, times_over, 'people')}; fewer keys or a larger epsilon help too."
        )


def about_mean(low: float, high: float, n: int, stderr: float) -> Iterator[str]:
    """An error of a mean that leaves open where in the range it is."""
    part = stderr / (high - low)
    if part >= _VAGUE:
        yield (
            f"Caution: the error is {100 * part:.3g} % of the range, so the mean may lie nearly anywhere between "
            f"{figure(low, 6)} and {figure(high, 6)}. About {_round(n * (part / _TOLD) ** 2)} people would bring it "
            f"down to {100 * _TOLD:g} % of the range; a larger epsilon helps too."
        )


def about_rounding(points: int, rounding: float, stderr: float) -> Iterator[str]:
    """A grid so coarse that it counts for more than the noise."""
    if rounding > stderr:
        yield (
            f"Caution: numbers are rounded to {points:,} points first, which may move the mean by up to "
            f"{figure(rounding)}: more than the standard error, which does not count it. More points help."
        )


def about_saved(saved: float | None) -> Iterator[str]:
    """Near answers that tell hardly anything, or less than nothing."""
    if saved is not None and saved < _LITTLE:
        much = "worse than" if saved < -_SAME else "no better than" if saved < _SAME else "hardly better than"
        told = f"Caution: the reports are {much} one constant answer for everybody, without any question."
        yield f"{told} A larger epsilon helps."


def about_people(n: int) -> Iterator[str]:
    """More reports than anybody can collect."""
    if n > _PEOPLE:
        yield "Caution: there are fewer people than that. A coarser target or a larger epsilon takes fewer."


def _need(n: int, times_over: float, who: str) -> str:
    return f"About {_round(n * times_over**2)} {who} would bring it down to that"


def _round(n: float) -> str:
    return f"{float(f'{n:.2g}'):,.0f}"
